// Pictures of every page, in light and dark, for the documentation: node screenshots.mjs DIRECTORY
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { shrink } from "./png.mjs";
import { badDay, play } from "./scene.mjs";
import { Api, Server } from "./server.mjs";
import { launch, until } from "./stage.mjs";

const SPACE = "default";
const TRAFFIC_MS = 50_000;
const WIDTH = 1120;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
// The same pictures every time, as far as the clock allows.
let seed = 11;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

/** One piece of work after the other, some slow, some that want what is not there, so that the plots have something to show. */
async function traffic(api, until_ms) {
	const teams = ["analyst", "coder", "reviewer"];
	for (let i = 0; Date.now() < until_ms; i++) {
		const to = teams[i % 3];
		const wave = 0.5 + 0.5 * Math.sin(i / 9);
		const refs = random() < 0.06 ? ", ms-800" : "";
		const sent = await api.send("planner", to, `Piece of work ${i}; see ms-1 and ms-2${refs}.`, {
			constraints: { max_tokens: 700 + Math.floor(1500 * random()) },
		});
		const taken = await api.take(to);
		await pause(20 + 380 * wave * random() ** 3);
		await api.settle(taken, "complete", { result: "done" });
		if (i % 4 === 0) {
			await api.send(to, "archivist-2", "Keep the result.", {
				parent: sent.envelope_id,
				execution_history: [{ agent: to, action: `piece ${i}` }],
			});
			await api.complete("archivist-2");
		}
		await pause(60 + 240 * (1 - wave) * random());
	}
}

/** Work that more memories have to do with than there is room for. */
async function choose(api) {
	const task = "checkout-latency";
	const learned = [
		"The checkout waits for the payment gateway: 2.1 s of 2.6 s at the median.",
		"The checkout calls the payment gateway twice, once to reserve and once to charge.",
		`The connection to the payment gateway is opened anew for every checkout. ${"The handshake takes three round trips. ".repeat(8)}`,
		`Notes of a long meeting about the checkout and the payment gateway. ${"Somebody said something, and somebody agreed. ".repeat(14)}`,
		"The tax service answers in 40 ms and is not to blame for a slow checkout.",
		"The shop has a new logo; it goes onto the checkout, the invoices, letters, vans, shirts, cups, pens and the roof of the office.",
	];
	for (const text of learned) await api.store(text, { kind: "observation", agent: "researcher", task });
	await api.store("Nobody may be charged twice, whatever it costs in speed.", { kind: "decision", importance: "critical", pinned: true, agent: "planner" });
	return api.post("/v1/envelopes", {
		from: "researcher",
		target_agent: "coder",
		task_summary: "Find out why the checkout waits for the payment gateway, and make it faster; ms-990 has the old figures.",
		intent: "The checkout must take less than a second.",
		task,
		include_recent: 6,
		constraints: { max_tokens: 330 },
	});
}

async function save(page, out, name) {
	await writeFile(join(out, `${name}.png`), shrink(await page.screenshot({ animations: "disabled" })));
}

async function shoot(browser, url, out, pages) {
	for (const colorScheme of ["light", "dark"]) {
		const page = await browser.newPage({ viewport: { width: WIDTH, height: 720 }, colorScheme });
		for (const { name, hash, sign, height, before } of pages) {
			await page.setViewportSize({ width: WIDTH, height: height ?? 720 });
			await page.goto(`${url}/${hash}`);
			await page.locator(sign).first().waitFor();
			if (before) await before(page);
			await page.evaluate(() => document.fonts.ready);
			await save(page, out, `${name}-${colorScheme}`);
		}
		await page.close();
	}
	for (const [name, page] of [["phone", "overview"], ["phone-tasks", "tasks?state=open"]]) {
		const phone = await browser.newPage({ viewport: { width: 390, height: 780 }, colorScheme: "light" });
		await phone.goto(`${url}/#/${SPACE}/${page}`);
		await phone.locator("figure canvas, tbody tr").first().waitFor();
		await save(phone, out, `${name}-light`);
		await phone.close();
	}
}

const out = process.argv[2];
if (!out) throw new Error("usage: node screenshots.mjs DIRECTORY");
const server = await Server.start();
const browser = await launch();
try {
	const api = new Api(server.url, SPACE);
	const { chain, policy } = await play(api);
	const { task } = await api.get(`/v1/envelopes/${chain.first.envelope_id}`);
	const considered = await choose(api);
	await traffic(api, Date.now() + TRAFFIC_MS);
	const day = await badDay(api);
	await until(
		async () => (await api.get("/v1/alerts?state=firing")).alerts.some((alert) => alert.name === "breaker_open"),
		"an alert",
	);
	await mkdir(out, { recursive: true });
	await shoot(browser, server.url, out, [
		{
			name: "overview",
			hash: `#/${SPACE}/overview`,
			sign: ".alert",
			height: 900,
			before: async (page) => {
				await page.getByRole("button", { name: "1m", exact: true }).click();
				await until(
					async () =>
						/last minute/.test(await page.locator("figure").first().getByRole("img").getAttribute("aria-label")),
					"the last minute",
				);
			},
		},
		{ name: "task", hash: `#/${SPACE}/tasks/${task.id}/${chain.second.envelope_id}`, sign: "pre.prompt" },
		{
			name: "considered",
			hash: `#/${SPACE}/tasks/${considered.task.id}/${considered.id}`,
			sign: "pre.prompt",
			height: 1040,
			before: async (page) => {
				await page.getByRole("tab", { name: "Considered" }).click();
				await page.getByRole("heading", { name: /^Not in the prompt/ }).waitFor();
			},
		},
		{ name: "tasks", hash: `#/${SPACE}/tasks?state=open`, sign: "tbody tr" },
		{ name: "queues", hash: `#/${SPACE}/queues`, sign: "tbody tr", height: 560 },
		{ name: "queue", hash: `#/${SPACE}/queues?agent=${day.busy}`, sign: "tbody tr" },
		{ name: "handoff", hash: `#/${SPACE}/handoffs/${day.tried}`, sign: "pre.prompt" },
		{ name: "parked", hash: `#/${SPACE}/parked/${day.parked}`, sign: "pre.prompt" },
		{
			name: "preview",
			hash: `#/${SPACE}/parked`,
			sign: "tbody tr",
			before: async (page) => {
				await page.getByLabel("Choose all").check();
				await page.getByRole("button", { name: /^Choose all \d/ }).click();
				await page.locator(".bulk").getByRole("button", { name: "Redrive" }).click();
				await page.locator("dialog .preview").waitFor();
			},
		},
		{ name: "agents", hash: `#/${SPACE}/agents`, sign: "tbody tr" },
		{ name: "channels", hash: `#/${SPACE}/channels`, sign: "tbody tr", height: 520 },
		{ name: "memories", hash: `#/${SPACE}/memories/${policy.id}?q=retry gateway`, sign: ".difference" },
		{ name: "empty", hash: "#/nothing/overview", sign: ".command", height: 560 },
	]);
} finally {
	await browser.close();
	await server.stop();
}
