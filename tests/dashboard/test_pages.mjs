// Every page shows what there is.
import assert from "node:assert/strict";
import { play } from "./scene.mjs";
import { Server } from "./server.mjs";
import { launch, Stage, until } from "./stage.mjs";

/** Is anything drawn on the canvas but its background? */
function isDrawn(canvas) {
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const seen = new Set();
	for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) seen.add(`${data[i]} ${data[i + 1]} ${data[i + 2]}`);
	return seen.size > 2;
}

/** Is there a row of the canvas with the colour of a threshold over at least a third of its width? */
function hasLine(canvas, tone) {
	const probe = document.createElement("span");
	probe.style.color = `var(--${tone})`;
	document.body.append(probe);
	const [red, green, blue] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
	probe.remove();
	const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const isNear = (a, b) => Math.abs(a - b) < 24;
	for (let y = 0; y < height; y++) {
		let found = 0;
		for (let x = 0; x < width; x++) {
			const i = 4 * (y * width + x);
			if (data[i + 3] > 60 && isNear(data[i], red) && isNear(data[i + 1], green) && isNear(data[i + 2], blue)) found++;
		}
		if (found > width / 3) return true;
	}
	return false;
}

export const tests = {
	async "the overview shows five metrics and the queue, with their figures and thresholds"(t) {
		await play(t.api);
		await t.open("overview");
		for (const [title, value] of [
			["Latency to the ack", / ms|\d s/],
			["Completeness", /threshold 95 %, threshold 80 %/],
			["Failure rate", /threshold 0.5 %, threshold 2 %/],
			["Hop depth", /deepest 3/],
			["Token utilization", /threshold 30 %, threshold 100 %/],
			["Waiting in queues", /parked/],
		]) {
			const card = t.page.locator("figure", { hasText: title });
			const plot = card.getByRole("img");
			await until(async () => value.test(await plot.getAttribute("aria-label")), `${title}: ${value}`);
			await until(() => plot.locator("canvas").evaluate(isDrawn), `a plot of ${title}`);
		}
		const stats = await t.api.get("/v1/stats?window=5m");
		await t.page
			.locator("figure", { hasText: "Waiting in queues" })
			.locator(".card-value")
			.getByText(String(stats.overall.queue.queued))
			.waitFor();
		for (const { agent } of stats.targets) await t.row(agent).first().waitFor();
		await t.button("1m").click();
		await until(
			async () =>
				/last minute/.test(await t.page.locator("figure").first().getByRole("img").getAttribute("aria-label")),
			"the last minute",
		);
	},

	async "thresholds that options set are drawn although nothing has fired"() {
		const [browser, server] = await Promise.all([
			launch(),
			Server.start(
				...["--alert-latency", "250ms", "--alert-completeness", "91%", "--alert-completeness-critical", "62%"],
				...["--alert-failure-rate", "3%", "--alert-failure-rate-critical", "11%"],
			),
		]);
		const t = await Stage.open(browser, server);
		try {
			await t.api.store("Something, so that there is more to see than the welcome.");
			await t.open("overview");
			for (const [title, said, lines] of [
				["Latency to the ack", "threshold 250 ms", ["warn"]],
				["Completeness", "threshold 91 %, threshold 62 %", ["warn", "bad"]],
				["Failure rate", "threshold 3 %, threshold 11 %", ["warn", "bad"]],
			]) {
				const plot = t.page.locator("figure", { hasText: title }).getByRole("img");
				await until(async () => (await plot.getAttribute("aria-label")).includes(said), `${title}: ${said}`);
				for (const tone of lines)
					await until(() => plot.locator("canvas").evaluate(hasLine, tone), `the line ${tone} of ${title}`);
			}
			assert.deepEqual((await t.api.get("/v1/alerts?state=all")).alerts, []);
			await t.page.getByText("When alerts fire").click();
			await t.row("latency high").getByText("above 250 ms").waitFor();
			await t.row("hop depth high").getByText("above the usual, which is not known yet").waitFor();
			await t.row("breaker open").getByText("pages").waitFor();
			assert.deepEqual(await t.accessibility(), []);
			await t.close();
		} finally {
			await browser.close();
			await server.stop();
		}
	},

	async "what needs a person stands on the overview and leads there"(t) {
		await t.api.park("planner", "migrator", "Move the table.", "not enough memory");
		await t.open("overview");
		await t.sees("1 handoff parked");
		await t.sees("not enough memory");
		await t.page.getByRole("link", { name: "Decide: parked" }).click();
		await t.page.getByRole("heading", { name: "Parked", level: 1 }).waitFor();
		await t.row("ho-1").waitFor();
	},

	async "tasks are listed with what the user asked for"(t) {
		await play(t.api);
		await t.open("tasks");
		await t.sees("Customers are charged twice when the network is slow.");
		await t.sees("Translate the release notes");
		const { tasks } = await t.api.get("/v1/tasks");
		assert.equal(await t.page.locator("tbody tr").count(), tasks.length);
	},

	async "a task is a picture of agents and handoffs with latency, tokens, retries and fidelity"(t) {
		const { chain } = await play(t.api);
		const { task } = await t.api.get(`/v1/envelopes/${chain.first.envelope_id}`);
		await t.open("tasks", task.id);
		for (const agent of ["researcher", "analyst", "coder", "reviewer"])
			await t.page.locator(".agent-node", { hasText: agent }).waitFor();
		const second = t.page.locator(".hop-card", { hasText: chain.second.envelope_id });
		const { handoffs, envelopes } = await t.api.get(`/v1/tasks/${task.id}/trace`);
		const packed = envelopes.find((one) => one.id === chain.second.envelope_id);
		const acked = handoffs.find((one) => one.id === chain.second.id);
		await until(async () => {
			const text = await second.innerText();
			return (
				/1 retry/.test(text) &&
				text.includes(`${packed.token_count} tok`) &&
				/kept/.test(text) &&
				/completed/.test(text)
			);
		}, "the figures of the second hop");
		assert.ok(acked.acked_at);
		await t.page
			.getByRole("link", { name: /hop 2: analyst to coder, .* acked after .*, \d+ tokens, 1 retry, kept 100 %/ })
			.waitFor();
	},

	async "a hop shows its prompt, what changed, what was trimmed, missing and waived, and what happened"(t) {
		const { chain } = await play(t.api);
		const { task } = await t.api.get(`/v1/envelopes/${chain.first.envelope_id}`);
		await t.open("tasks", task.id, chain.second.envelope_id);
		const prompt = await (
			await fetch(`${t.server.url}/v1/envelopes/${chain.second.envelope_id}?format=prompt`, {
				headers: { "Spine-Space": t.space },
			})
		).text();
		await until(async () => (await t.page.locator("pre.prompt").textContent()) === prompt, "the prompt, word for word");
		await t.page.getByRole("tab", { name: "Changes" }).click();
		await t.sees("decided how", ".changes");
		await t.page.getByRole("tab", { name: "Left out" }).click();
		await t.sees("ms-900");
		await t.sees("unknown");
		await t.page.getByRole("tab", { name: "Delivery" }).click();
		await t.sees("the model is overloaded");
		await t.sees("retry.py: request id from the order id", "pre");
		await t.page.locator(".hop-card", { hasText: chain.third.envelope_id }).click();
		await t.page.getByRole("tab", { name: "Left out" }).click();
		await t.sees("the test harness is a shell script");
	},

	async "a hop shows what it was chosen from, how relevant each was, and why it was not taken"(t) {
		const task = "blades";
		for (const place of ["roof", "yard", "hall"])
			await t.api.store(`turbine blades corrode on the ${place} ${"and so on ".repeat(60)}`, { task });
		await t.api.store("turbine blades corrode in the tower", { task, pinned: true });
		await t.api.store("turbine blades of another task corrode", { task: "elsewhere" });
		await t.api.store("letters, hats, shoes, gloves, coats, forms, stamps, trains, hotels and one blade", { task: "b" });
		const packed = await t.api.post("/v1/envelopes", {
			target_agent: "painter",
			task_summary: "Find out what makes turbine blades corrode; see ms-700.",
			task,
			include_recent: 2,
			constraints: { max_tokens: 300 },
		});
		const answer = await t.api.get(`/v1/envelopes/${packed.id}/considered`);
		const isIn = (item) => ["full", "summary", "ref"].includes(item.fate);
		await t.open("tasks", task, packed.id);
		await t.page.getByRole("tab", { name: "Considered" }).click();
		await t.sees(`In the prompt: ${answer.considered.filter(isIn).length} memor`);
		for (const item of answer.considered) {
			const row = t.page.getByRole("region", { name: isIn(item) ? "In the prompt" : "Not in the prompt", exact: true });
			const line = row.locator("tbody tr").filter({ has: t.page.locator("th", { hasText: new RegExp(`^${item.id}$`) }) });
			await line.getByText(item.relevance.toFixed(3)).waitFor();
			const width = await line.locator(".bar-fill").evaluate((fill) => fill.style.width);
			assert.ok(Math.abs(parseFloat(width) - 100 * item.relevance) < 0.01, width);
		}
		assert.ok(answer.considered.some((item) => ["budget", "room", "repetition"].includes(item.reason)));
		await t.row("ms-4").getByText("pinned").waitFor();
		await t.sees("beyond include_recent 2");
		await t.page.getByText(/no room( in 300 tokens|, repeats ms-\d)/).first().waitFor();
		await t.row("ms-700").getByText("there is no such memory").waitFor();
		await t.sees("Memories of this task and those without one were looked at.");
		assert.equal(await t.row("ms-5").count(), 0);
		assert.deepEqual(await t.accessibility(), []);
	},

	async "a hop that had nothing to choose from, and one of which nothing was recorded, say so"(t) {
		const packed = await t.api.post("/v1/envelopes", { target_agent: "painter", task_summary: "Begin." });
		await t.open("tasks", packed.task.id, packed.id);
		await t.page.getByRole("tab", { name: "Considered" }).click();
		await t.sees("None: nothing was named or pinned, and nothing was relevant enough.");
		await t.sees("Nothing else has anything to do with the summary.");
		await t.page.route("**/considered", (route) =>
			route.fulfill({ json: { envelope: packed.id, recorded: false, considered: [] } }),
		);
		await t.page.reload();
		await t.page.getByRole("tab", { name: "Considered" }).click();
		await t.sees("this envelope was packed before that was recorded");
		await t.sees("Nothing that is known");
	},

	async "what goes to many agents is drawn side by side, and what is too much is counted"(t) {
		const packed = await t.api.post("/v1/envelopes", {
			target_agent: "everyone",
			task_summary: "Look at this.",
			from: "editor",
		});
		const receivers = Array.from({ length: 15 }, (_, i) => `reader-${i}`);
		await t.api.post("/v1/channels/news/publish", { envelope_id: packed.id, receivers });
		await t.open("tasks", packed.task.id);
		await t.page.locator(".hop-card").nth(11).waitFor();
		await t.sees("and 3 more");
		const boxes = await t.page
			.locator(".hop-card")
			.evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().x));
		assert.equal(new Set(boxes).size, boxes.length);
	},

	async "parked handoffs are listed with their reason, and opened with envelope and history"(t) {
		await play(t.api);
		await t.open("parked");
		const { parked } = await t.api.get("/v1/parked");
		for (const one of parked) await t.row(one.id).getByText(one.reason).waitFor();
		await t.row(parked[0].id).getByRole("link", { name: parked[0].id, exact: true }).click();
		await t.sees("What happened");
		await t.sees("# Handoff to", "pre.prompt");
	},

	async "agents are shown with queue, flight, breaker, versions and fallbacks"(t) {
		await play(t.api);
		await t.open("agents");
		const coder = t.row(/^coder(?!-)/);
		await until(
			async () =>
				/v2\s*v1/.test(await coder.innerText()) &&
				/coder-2/.test(await coder.innerText()) &&
				/closed/.test(await coder.innerText()),
			"the coder",
		);
		await t.sees("http://127.0.0.1:9/inbox");
		await until(
			async () => (await t.row("tester").locator("td").first().innerText()) === "2",
			"two handoffs queued for the tester",
		);
	},

	async "channels and routes are shown"(t) {
		await play(t.api);
		await t.open("channels");
		for (const text of ["reviews", "alice", "carol", "python-work", 'constraint: {"language":"python"}', "always"])
			await t.sees(text);
		const order = await t.page
			.getByRole("region", { name: /Routes/ })
			.locator("tbody tr td:first-child")
			.allInnerTexts();
		assert.deepEqual(order, ["10", "50", "900"]);
	},

	async "memories are searched while one types, with the score explained"(t) {
		await play(t.api);
		await t.open("memories");
		const field = t.page.getByRole("searchbox", { name: "Search memories" });
		await field.pressSequentially("jitter back");
		await until(
			async () => /jitter/.test(await t.page.locator(".memory").first().innerText()),
			"what has the word, before its neighbours",
		);
		await field.pressSequentially("off");
		await t.sees("full jitter", ".memory");
		await t.page.locator(".memory summary").first().click();
		const { memories } = await t.api.get("/v1/memories?query=jitter+backoff&explain=true");
		for (const term of memories[0].explain.terms) await t.sees(term.term, ".terms");
		await t.sees(`text ${memories[0].explain.text.toFixed(2)}`, ".why");
		await field.fill("nothing-like-this");
		await t.sees("Nothing was found");
		await field.fill("");
		await t.page.getByLabel("pinned only").check();
		await t.sees("Make the request id from the order id", ".memory");
		await until(async () => (await t.page.locator(".memory").count()) === 1, "only the pinned one");
	},

	async "a search can be linked to, and the field says what is searched for"(t) {
		await play(t.api);
		await t.open("memories?q=Tuesdays");
		await t.sees("Deploys happen on Tuesdays", ".memory");
		assert.equal(await t.page.getByRole("searchbox").inputValue(), "Tuesdays");
		await t.open("memories?q=jitter");
		await t.sees("full jitter", ".memory");
		assert.equal(await t.page.getByRole("searchbox").inputValue(), "jitter");
	},

	async "a memory shows its versions with their differences"(t) {
		const { policy } = await play(t.api);
		await t.open("memories", policy.id);
		await t.sees("3 versions");
		await t.sees("only for 429 and 503", "ins");
		await t.page.getByLabel("What changed with").selectOption("version 2");
		await until(
			async () => (await t.page.locator(".difference del").allInnerTexts()).join("").includes("5"),
			"what was removed",
		);
	},

	async "every page of an empty space says what would be there"(t) {
		for (const [page, text] of [
			["tasks", "No task yet"],
			["queues", "Nothing is under way"],
			["parked", "Nothing is parked"],
			["agents", "No agent yet"],
			["channels", "No route yet"],
			["memories", "No memory yet"],
		]) {
			await t.open(page);
			await t.sees(text);
		}
		t.mayFail = true; // The browser reports the 404 that is shown.
		await t.open("tasks", "task-77");
		await t.sees("There is no such task");
		await t.open("handoffs", "ho-77");
		await t.sees("There is no such handoff");
	},
};
