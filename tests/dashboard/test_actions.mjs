// What a person decides is done.
import assert from "node:assert/strict";
import { until } from "./stage.mjs";

async function parkSome(t, n) {
	const sent = [];
	for (let i = 0; i < n; i++)
		sent.push(await t.api.park("planner", "worker", `Piece of work number ${i + 1}.`, `reason ${i + 1}`));
	return sent.map((one) => one.id);
}

const state = async (t, id) => (await t.api.get(`/v1/handoffs/${id}`)).state;

/** Three handoffs in a row that use up their attempts. */
async function openBreaker(t, agent) {
	for (let i = 0; i < 3; i++) {
		await t.api.send("planner", agent, `Try ${i}.`, {}, { max_attempts: 1 });
		await t.api.settle(await t.api.take(agent), "nack", { reason: "broken", delay_s: 0 });
	}
	await until(async () => (await t.api.get(`/v1/agents/${agent}`)).breaker.state === "open", "an open breaker");
}

export const tests = {
	async "redrive sends a parked handoff again, and says who and why"(t) {
		const [id] = await parkSome(t, 1);
		await t.open("parked", id);
		await t.button("You", "header").or(t.button("Say who you are")).first().click();
		await t.page.getByLabel("Your name").fill("Zoë");
		await t.button("Save").click();
		await t.button("Redrive", "main .panel").click();
		await t.page.getByLabel("Why (optional)").fill("memory was added");
		await t.button("Redrive", "dialog").click();
		await t.sees("1 handoff sent again");
		await until(async () => (await state(t, id)) === "queued", "queued again");
		const { events } = await t.api.get(`/v1/handoffs/${id}`);
		const redriven = events.find((event) => event.event === "handoff.redriven");
		assert.equal(redriven.actor, "Zoë");
		assert.match(redriven.note, /memory was added/);
		await t.sees("Nothing is parked");
	},

	async "reroute gives it to another agent"(t) {
		const [id] = await parkSome(t, 1);
		await t.open("parked", id);
		await t.button("Reroute…", "main .panel").click();
		await t.page.getByLabel("To which agent").fill("other worker");
		await t.button("Reroute", "dialog").click();
		await until(async () => (await t.api.get(`/v1/handoffs/${id}`)).to === "other worker", "the other agent");
	},

	async "shrink replaces it by a smaller envelope; what cannot be is said in the dialog"(t) {
		for (let i = 0; i < 8; i++)
			await t.api.store(`Fact ${i} about the work: ${"it is long and says little. ".repeat(20)}`, {
				importance: "high",
			});
		const sent = await t.api.park("planner", "worker", "Use ms-1 through ms-8.", "too long");
		await t.open("parked", sent.id);
		await t.button("Shrink…", "main .panel").click();
		await t.page.getByLabel("Tokens at most").fill("5");
		t.mayFail = true; // The browser reports the refusal that the dialog shows.
		await t.button("Shrink", "dialog").click();
		await t.page.locator("dialog [role=alert]").waitFor();
		assert.equal(await state(t, sent.id), "parked");
		await t.page.getByLabel("Tokens at most").fill("600");
		await t.button("Shrink", "dialog").click();
		await until(async () => (await state(t, sent.id)) !== "parked", "the replacement");
		const { handoffs } = await t.api.get("/v1/handoffs?to=worker");
		const made = await t.api.get(`/v1/envelopes/${handoffs.find((one) => one.id !== sent.id).envelope_id}`);
		assert.ok(made.budget.token_count <= 600);
	},

	async "several are decided about at once"(t) {
		const ids = await parkSome(t, 4);
		await t.open("parked");
		for (const id of ids.slice(0, 3)) await t.page.getByLabel(`Choose ${id}`, { exact: true }).check();
		await t.sees("3 chosen");
		await t.button("Discard…", ".bulk").click();
		await t.sees("Discard 3 handoffs", "dialog");
		await t.page.getByLabel("Why").fill("not needed any more");
		await t.button("Discard", "dialog").click();
		await t.sees("3 handoffs discarded");
		for (const id of ids.slice(0, 3)) assert.equal(await state(t, id), "discarded");
		assert.equal(await state(t, ids[3]), "parked");
		await until(async () => (await t.page.locator("tbody tr").count()) === 1, "one that is left");
		await t.page.getByLabel("Choose all").check();
		await t.button("Redrive", ".bulk").click();
		await t.button("Redrive", "dialog").click();
		await until(async () => (await state(t, ids[3])) === "queued", "the last one");
	},

	async "discarding wants a reason, and Escape does nothing but close"(t) {
		const [id] = await parkSome(t, 1);
		await t.open("parked", id);
		await t.button("Discard…", "main .panel").click();
		await t.button("Discard", "dialog").click();
		assert.equal(await t.page.locator("dialog input:invalid").count(), 1);
		await t.page.keyboard.press("Escape");
		await t.page.locator("dialog").waitFor({ state: "detached" });
		assert.equal(await state(t, id), "parked");
	},

	async "an open breaker is seen, fires an alert that is acknowledged and silenced, and is reset"(t) {
		await openBreaker(t, "flaky");
		await t.open("overview");
		const alert = t.page.locator(".alert.critical", { hasText: "breaker open" });
		await alert.waitFor();
		await alert.getByText("pages").waitFor();
		await alert.getByRole("button", { name: "Acknowledge" }).click();
		await alert.getByText("acknowledged by").waitFor();
		const find = async () =>
			(await t.api.get("/v1/alerts?state=all")).alerts.find((one) => one.name === "breaker_open");
		assert.equal((await find()).acknowledged_by, "dashboard");
		await alert.getByRole("button", { name: "Silence…" }).click();
		await t.page.getByLabel("For how many hours").fill("2");
		await t.page.getByLabel("Why").fill("known, being repaired");
		await t.button("Silence", "dialog").click();
		await alert.getByText("silent").waitFor();
		assert.ok(Date.parse((await find()).silenced_until) > Date.now() + 3_600_000);
		await t.sees("the breaker of");
		await t.page.getByRole("link", { name: "Look: breaker flaky" }).click();
		await t.button("Reset the breaker of flaky").click();
		await until(async () => (await t.api.get("/v1/agents/flaky")).breaker.state === "closed", "a closed breaker");
		await t.page.locator(".breaker").getByText("closed").waitFor();
		await t.open("overview");
		await until(
			async () => (await t.page.locator(".alert", { hasText: "breaker open" }).count()) === 0,
			"the alert to resolve by itself",
		);
	},

	async "a memory is pinned, superseded and forgotten"(t) {
		const memory = await t.api.store("Deploys happen on Fridays.", { kind: "fact", tags: ["deploy"] });
		await t.open("memories", memory.id);
		await t.button("Pin").click();
		await t.button("Unpin").waitFor();
		assert.equal((await t.api.get(`/v1/memories/${memory.id}`)).pinned, true);
		await t.button("Supersede…").click();
		await t.page.getByLabel("What is true now").fill("Deploys happen on Tuesdays.");
		await t.button("Supersede", "dialog").click();
		await t.sees(`ms-2 supersedes ${memory.id}`);
		const made = await t.api.get("/v1/memories/ms-2");
		assert.deepEqual(
			[made.supersedes, made.kind, made.tags, made.content, made.agent],
			[memory.id, "fact", ["deploy"], "Deploys happen on Tuesdays.", "dashboard"],
		);
		await t.page.getByRole("heading", { name: "ms-2" }).waitFor();
		await t.button("Forget…").click();
		await t.page.getByLabel("Type ms-2 to go on").fill("ms-1");
		await t.button("Forget", "dialog").click();
		await t.sees("Type ms-2 to forget it");
		assert.equal((await t.api.get("/v1/memories/ms-2")).state, "active");
		await t.page.getByLabel("Type ms-2 to go on").fill("ms-2");
		await t.button("Forget", "dialog").click();
		await t.sees("It was forgotten.");
		assert.equal((await t.api.get("/v1/memories/ms-2")).state, "forgotten");
	},

	async "what has changed meanwhile is not forgotten by mistake"(t) {
		const memory = await t.api.store("First.");
		await t.open("memories", memory.id);
		await t.button("Forget…").click();
		// The page learns of the change, too; the dialog was opened before.
		await t.page.route("**/v1/memories/**", (route) =>
			route.request().method() === "GET" ? route.abort() : route.continue(),
		);
		t.mayFail = true;
		await t.api.call("PATCH", `/v1/memories/${memory.id}`, { content: "Second." });
		await t.page.getByLabel(`Type ${memory.id} to go on`).fill(memory.id);
		await t.button("Forget", "dialog").click();
		await t.page.locator("dialog [role=alert]", { hasText: "precondition" }).waitFor();
		assert.equal((await t.api.get(`/v1/memories/${memory.id}`)).state, "active");
	},

	async "a memory goes back to an earlier version"(t) {
		const memory = await t.api.store("Three retries.");
		await t.api.call("PATCH", `/v1/memories/${memory.id}`, { content: "Four retries." });
		await t.open("memories", memory.id);
		await t.button("Go back to version 1").click();
		await until(
			async () => (await t.api.get(`/v1/memories/${memory.id}`)).content === "Three retries.",
			"the old text",
		);
		await t.sees("3 versions");
	},
};
