// What happens is seen as it happens, and what was missed is caught up with.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Api, binary, Server } from "./server.mjs";
import { launch, Stage, until } from "./stage.mjs";

/** How often the document was loaded: nothing may be seen only because of a new one. */
const loads = (t) =>
	t.page.evaluate(
		() => performance.getEntriesByType("navigation").length + (globalThis.loadedAt ??= performance.timeOrigin),
	);

export const tests = {
	async "every page follows what happens, without being loaded again"(t) {
		await t.api.store("Something, so that the space is not empty.");
		await t.open("overview");
		await t.live();
		const before = await loads(t);
		await t.page.getByRole("link", { name: "Tasks" }).click();
		await t.sees("No task yet");
		const sent = await t.api.send("alice", "bob", "Do the first thing.", { intent: "A thing that the user wants." });
		await t.sees("A thing that the user wants.");
		await t.page.getByRole("link", { name: "task-1" }).click();
		await t.page.locator(".hop-card", { hasText: "queued" }).waitFor();
		const taken = await t.api.take("bob");
		await t.page.locator(".hop-card", { hasText: "leased" }).waitFor();
		await t.api.settle(taken, "complete", { result: 42 });
		await t.page.locator(".hop-card", { hasText: "completed" }).waitFor();
		await t.api.send("bob", "carol", "Do the second thing.", { parent: sent.envelope_id, state: "half done" });
		await t.page.locator(".agent-node", { hasText: "carol" }).waitFor();
		await t.page.getByRole("link", { name: "Agents" }).click();
		await until(async () => (await t.row("carol").locator("td").first().innerText()) === "1", "one queued for carol");
		await t.page.getByRole("link", { name: /^Parked/ }).click();
		await t.sees("Nothing is parked");
		await t.api.settle(await t.api.take("carol"), "reject", { reason: "I do not know how" });
		await t.row("ho-2").getByText("I do not know how").waitFor();
		await t.page.locator("nav .badge", { hasText: "1" }).waitFor();
		await t.page.getByRole("link", { name: "Channels" }).click();
		await t.api.put("/v1/channels/news/subscribers/dora");
		await t.sees("dora");
		await t.api.put("/v1/routes/all", { to: "bob" });
		await t.sees("anybody");
		await t.page.getByRole("link", { name: "Memories" }).click();
		await t.api.store("A fact that came in just now.");
		await t.sees("A fact that came in just now.", ".memory");
		await t.page.getByRole("link", { name: "Overview" }).click();
		await t.sees("handoff.rejected", ".activity");
		await t.api.call("PATCH", "/v1/memories/ms-1", { content: "Something else." });
		await t.sees("memory.updated", ".activity");
		assert.equal(await loads(t), before);
	},

	async "a page listens though the events from before were pruned"(t) {
		for (const text of ["One.", "Two.", "Three."]) await t.api.store(text);
		await t.api.put("/v1/space", { keep_events_s: 1 });
		const old = () => fetch(`${t.api.url}/v1/events?after=1`, { headers: { "Spine-Space": t.space, Accept: "application/json" } });
		await until(async () => (await old()).status === 410, "the events are pruned");
		await t.open("memories");
		await t.live();
		await t.api.store("Stored after that.");
		await t.sees("Stored after that.", ".memory");
	},

	async "a lost connection is said, and what happened meanwhile is caught up with"() {
		// A server of its own: it is killed.
		const [browser, server] = await Promise.all([launch(), Server.start()]);
		const t = await Stage.open(browser, server);
		try {
			await t.api.store("Known before.");
			await t.open("memories");
			await t.live();
			await t.sees("Known before.", ".memory");
			t.mayFail = true; // The browser reports every attempt that fails.
			await server.kill();
			await t.page.getByRole("alert").getByText("The connection to the server is lost.").waitFor();
			await t.sees("Known before.");
			await server.restart();
			await new Api(server.url, t.space).store("Stored while nobody listened.");
			await t
				.button("Try now")
				.click({ timeout: 1_000 })
				.catch(() => undefined); // It may have come back by itself.
			await t.sees("Stored while nobody listened.", ".memory");
			await t.live();
			assert.equal(await t.page.locator(".lost[role=alert]").count(), 0);
			await t.api.store("And live again.");
			await t.sees("And live again.", ".memory");
			await t.close();
		} finally {
			await browser.close();
			await server.stop();
		}
	},

	async "every alert that fires is shown as it does, and goes when it is over"() {
		// Thresholds that a moment is enough for. hop_depth_high needs a history: the tests of the wire make one.
		const options = ["--alert-min-samples", "5", "--alert-latency", "50ms", "--alert-failure-rate", "1%"];
		const [browser, server] = await Promise.all([launch(), Server.start(...options)]);
		const t = await Stage.open(browser, server);
		const pack = (to, more) =>
			t.api.post("/v1/envelopes", { target_agent: to, task_summary: "do it", include_recent: 0, ...more });
		const many = async (count, act) => {
			for (let i = 0; i < count; i++) await act();
		};
		const firing = async () => (await t.api.get("/v1/alerts?state=firing")).alerts.map((one) => one.name);
		const shown = (name) => t.page.locator(".alert", { hasText: name.replaceAll("_", " ") }).first();
		try {
			const { id } = await t.api.store("kept");
			await t.open("overview");
			await t.live();
			await many(3, async () => {
				await t.api.send("alice", "bad", "Try.", { include_recent: 0 }, { max_attempts: 1 });
				await t.api.settle(await t.api.take("bad"), "nack", { reason: "broken", delay_s: 0 });
			});
			await many(6, () => t.api.send("alice", "slow", "Wait.", { include_recent: 0 }));
			await t.api.post("/v1/agents/nobody/receive", { wait_s: 0.06 }); // Time passes.
			await many(6, async () => t.api.settle(await t.api.take("slow"), "ack"));
			await many(60, () => pack("coder", { refs: [id, "ms-999"], constraints: { max_tokens: 8000 } }));
			let budget = 4000;
			await many(8, async () => {
				budget = (await pack("tight", { constraints: { max_tokens: budget } })).budget.token_count;
			});
			await many(20, () => pack("tight", { constraints: { max_tokens: budget } }));
			const expected = [
				"handoff_failed", "consecutive_failures", "breaker_open", "failure_rate_high", "latency_high",
				"completeness_low", "completeness_critical", "utilization_low", "utilization_pinned", "handoffs_parked",
			];
			for (const name of expected) {
				await until(async () => (await firing()).includes(name), `${name} fires`);
				await shown(name).waitFor({ state: "attached" }); // Of many the less severe are folded away.
			}
			await t.page.locator(".alert").first().waitFor();
			await t.page.locator("details:has(.alert) summary").click();
			for (const name of expected) await shown(name).waitFor();
			await t.api.post("/v1/agents/bad/reset");
			await many(700, () => pack("coder", { refs: [id] }));
			for (const name of ["consecutive_failures", "breaker_open", "completeness_low", "completeness_critical"]) {
				await until(async () => !(await firing()).includes(name), `${name} is over`);
				await shown(name).waitFor({ state: "detached" });
			}
			await t.close();
		} finally {
			await browser.close();
			await server.stop();
		}
	},

	async "an empty space says what to do first, and comes alive when the demonstration runs"(t) {
		await t.open("overview");
		await t.sees("Nothing has happened here yet");
		const command = await t.page.locator(".command code").first().innerText();
		assert.equal(command, `build/spine demo --space ${t.space} --url ${t.server.url}`);
		await t.live();
		const [, ...args] = command.split(" ");
		const demo = spawn(binary(), [...args, "--fast"], { stdio: "ignore" });
		await t.page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
		await t.row("reviewer").first().waitFor();
		assert.equal(
			await new Promise((done) => (demo.exitCode === null ? demo.once("exit", done) : done(demo.exitCode))),
			0,
		);
		await t.page.getByRole("link", { name: "Tasks" }).click();
		await t.sees("Customers are charged twice");
	},

	async "commands are copied"(t) {
		await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await t.open("overview");
		await t.page.getByRole("button", { name: /^Copy: build\/spine store/ }).click();
		await t.sees("Copied");
		assert.match(
			await t.page.evaluate(() => navigator.clipboard.readText()),
			/^build\/spine store '.*' --url .* --space /,
		);
	},

	async "work in another space is pointed at, and the space can be changed by typing"(t) {
		const other = new Api(t.server.url, `${t.space}-other`);
		await t.open("overview");
		await t.sees("Nothing has happened here yet");
		await other.send("alice", "bob", "Work in the other space.");
		await t.page.getByRole("link", { name: other.space, exact: true }).click();
		await t.row("bob").first().waitFor();
		await t.page.getByLabel("Space", { exact: true }).fill(t.space);
		await t.page.keyboard.press("Enter");
		await t.sees("Nothing has happened here yet");
		await t.page.getByLabel("Space", { exact: true }).fill("Not A Space!");
		await t.page.keyboard.press("Enter");
		const invalid = () => t.page.getByLabel("Space", { exact: true }).getAttribute("aria-invalid");
		await until(async () => (await invalid()) === "true", "the name is refused");
		assert.ok(t.page.url().includes(`/${t.space}/`));
	},

	async "a space is chosen from the list of all, which says how much is in each"(t) {
		const other = new Api(t.server.url, `${t.space}-chosen`);
		await t.api.store("Here.");
		await other.store("There.");
		await other.store("There, too.");
		await other.park("planner", "migrator", "Move the table.", "not enough memory");
		await t.open("memories");
		await t.button("Choose a space").click();
		const row = t.page.getByRole("dialog").getByRole("row", { name: other.space });
		await row.waitFor();
		assert.deepEqual((await row.getByRole("cell").allInnerTexts()).slice(0, 3), ["2", "0", "1"]);
		assert.deepEqual(await t.accessibility(), []);
		await t.page.keyboard.press("Escape");
		await t.page.getByRole("dialog").waitFor({ state: "detached" });
		await t.button("Choose a space").click();
		await row.getByRole("link", { name: other.space, exact: true }).click();
		await t.page.getByRole("dialog").waitFor({ state: "detached" });
		await until(() => t.page.url().includes(`/${other.space}/`), "the other space");
		const shown = () => t.page.getByLabel("Space", { exact: true }).inputValue();
		await until(async () => (await shown()) === other.space, "the field has the other space");
	},

	async "what one space shows is not shown in another"(t) {
		await t.api.store("Secret of the first space.");
		await t.open("memories");
		await t.sees("Secret of the first space.");
		await t.page.getByLabel("Space", { exact: true }).fill(`${t.space}-two`);
		await t.page.keyboard.press("Enter");
		await t.sees("No memory yet");
		assert.equal(await t.page.getByText("Secret of the first space.").count(), 0);
	},

	async "where more happens than anybody can read, the page hangs up, looks for itself, and listens again"(t) {
		await t.page.clock.install();
		await t.open("memories");
		const pass = (look, what) =>
			until(async () => {
				await t.page.clock.runFor(200);
				return look();
			}, what);
		await pass(async () => (await t.page.locator(".is-live").count()) === 1, "the stream");
		const packed = await t.api.post("/v1/envelopes", {
			target_agent: "everyone",
			task_summary: "Look at this.",
			from: "editor",
		});
		await t.api.post("/v1/channels/news/publish", {
			envelope_id: packed.id,
			receivers: Array.from({ length: 1000 }, (_, i) => `reader-${i}`),
		});
		await pass(async () => (await t.page.locator(".is-busy").count()) === 1, "the end of the stream");
		await t.api.store("Stored in the middle of it.");
		await pass(
			async () => (await t.page.locator(".memory", { hasText: "Stored in the middle of it." }).count()) === 1,
			"what was stored",
		);
		await pass(async () => (await t.page.locator(".is-live").count()) === 1, "the stream again");
		await t.api.store("And afterwards.");
		await pass(
			async () => (await t.page.locator(".memory", { hasText: "And afterwards." }).count()) === 1,
			"what came afterwards",
		);
	},

	async "a tab that nobody looks at gives its connection back"(t) {
		// The page reads the clock and the visibility; both are played.
		await t.page.clock.install();
		await t.open("memories");
		await until(async () => {
			await t.page.clock.runFor(100);
			return (await t.page.locator(".is-live").count()) === 1;
		}, "the stream");
		await t.page.evaluate(() => {
			Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
			document.dispatchEvent(new Event("visibilitychange"));
		});
		await t.page.clock.runFor(25_000);
		await until(async () => {
			await t.page.clock.runFor(100);
			return (await t.page.locator(".is-live").count()) === 0;
		}, "the end of the stream");
		await t.api.store("While nobody looked.");
		await t.page.evaluate(() => {
			Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
			document.dispatchEvent(new Event("visibilitychange"));
		});
		await until(async () => {
			await t.page.clock.runFor(500);
			return (await t.page.locator(".memory", { hasText: "While nobody looked." }).count()) === 1;
		}, "what was missed");
	},

	async "what a node has not seen for long is not told as if it were so"(t) {
		const node = { id: "node-1", url: "http://10.0.0.1:8788", version: "1", lease_left_ms: 0, clock_offset_ms: 1 };
		const shards = Array.from({ length: 64 }, (_, shard) => ({ shard, owner: "node-1", epoch: 1, state: "unknown" }));
		let age = 12_900;
		await t.page.route("**/v1/cluster", (route) => {
			const state = age > 5000 ? "unknown" : "live";
			route.fulfill({ json: { node: "node-1", seen_ms_ago: age, nodes: [{ ...node, state }], shards, standbys: null } });
		});
		await t.open("cluster");
		await t.page.locator("[role=alert]", { hasText: "has not reached the database for 12 s; what follows is from then" }).waitFor();
		await t.page.locator("tbody", { hasText: "unknown" }).waitFor();
		age = 900;
		await t.page.locator("[role=alert]").waitFor({ state: "detached" });
		await t.page.locator("tbody", { hasText: "live" }).waitFor();
	},
};
