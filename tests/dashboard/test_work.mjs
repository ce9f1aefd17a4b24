// People work from these lists: what is where, why it waits, and what can be done about one or many.
import assert from "node:assert/strict";
import { until } from "./stage.mjs";

const state = async (t, id) => (await t.api.get(`/v1/handoffs/${id}`)).state;

/** The rows of the table, by what stands in their head. */
const heads = (t) => t.page.locator("tbody th a").allInnerTexts();

async function shows(t, wanted, what) {
	const rows = t.page.locator("tbody tr");

	await until(async () => {
		const found = await rows.locator("th a:first-child").first().allInnerTexts();
		return (await rows.count()) === wanted.length && found[0] === wanted[0];
	}, `${what}: ${wanted.join(", ")}`);
}

async function parkSome(t, n, to = "worker") {
	const ids = [];
	for (let i = 0; i < n; i++)
		ids.push((await t.api.park("planner", to, `Piece of work number ${i + 1}.`, `reason ${i + 1}`)).id);
	return ids;
}

/** Three handoffs in a row that use up their attempts. */
async function openBreaker(t, agent) {
	for (let i = 0; i < 3; i++) {
		await t.api.send("planner", agent, `Try ${i}.`, {}, { max_attempts: 1 });
		await t.api.settle(await t.api.take(agent), "nack", { reason: "broken", delay_s: 0 });
	}
	await until(async () => (await t.api.get(`/v1/agents/${agent}`)).breaker.state === "open", "an open breaker");
}

/** One task in each state: waiting, working, held, parked, done. */
async function fiveTasks(t) {
	await t.api.send("planner", "sleeper", "Wait for somebody.", { task: "waits", intent: "A nap for everybody." });
	await t.api.send("planner", "worker", "Do it now.", { task: "works" });
	await t.api.settle(await t.api.take("worker"), "ack", { work_lease_s: 600 });
	await t.api.send("planner", "quick", "Be quick.", { task: "done" });
	await t.api.complete("quick", "done");
	await t.api.park("planner", "picky", "Take the green one.", "there is no green one", { task: "parked" });
	await openBreaker(t, "flaky");
	await t.api.send("planner", "flaky", "Behind the breaker.", { task: "held" });
}

export const tests = {
	async "tasks are filtered by state and agent, and searched"(t) {
		await fiveTasks(t);
		await t.open("tasks");
		for (const [button, tasks] of [
			["waiting", ["waits"]],
			["working", ["works"]],
			["held", ["held"]],
			["done", ["done"]],
		]) {
			await t.button(button, ".search").click();
			await shows(t, tasks, button);
			for (const name of tasks) await t.row(name).locator(".state").getByText(button).waitFor();
		}
		await t.button("parked", ".search").click();
		await t.row("parked").getByText("Take the green one.").waitFor();
		await t.button("all", ".search").click();
		await t.page.getByLabel("Agent").selectOption("worker");
		await shows(t, ["works"], "of the worker");
		assert.match(t.page.url(), /agent=worker/);
		await t.page.reload();
		await shows(t, ["works"], "of the worker, after a reload");
		await t.button("Clear").click();
		await t.page.getByRole("searchbox", { name: "Search tasks" }).fill("nap");
		await shows(t, ["waits"], "what has the word");
		await t.page.getByRole("searchbox", { name: "Search tasks" }).fill("no such word");
		await t.sees("No task fits");
		await t.button("Clear").click();
		await t.page.getByLabel("Age", { exact: true }).selectOption("over 1 hour");
		await t.sees("No task fits");
	},

	async "a task says who has it, how old it is, its hops, tokens and last event, as it happens"(t) {
		await t.open("tasks");
		await t.live();
		const first = await t.api.send("planner", "worker", "The first step.", { task: "job", intent: "Get it done." });
		const row = t.row("job");
		const says = (pattern) => until(async () => pattern.test(await row.innerText()), String(pattern));
		await says(/waiting[\s\S]*Get it done\.[\s\S]*worker[\s\S]*queued ho-1/);
		const { budget } = await t.api.get(`/v1/envelopes/${first.envelope_id}`);
		await says(new RegExp(`\\b1\\s+${budget.token_count}\\b`));
		const taken = await t.api.take("worker");
		await says(/working[\s\S]*leased ho-1/);
		await t.api.settle(taken, "complete", { result: 1 });
		await says(/done[\s\S]*completed ho-1/);
		await t.api.send("worker", "checker", "The second step.", { parent: first.envelope_id, state: "half" });
		await says(/waiting[\s\S]*The second step\.[\s\S]*checker[\s\S]*\b2\b[\s\S]*queued ho-2/);
		await t.api.settle(await t.api.take("checker"), "reject", { reason: "no" });
		await says(/parked/);
		await row.getByRole("link", { name: "1 handoff parked" }).click();
		await t.page.getByRole("heading", { name: "Parked", level: 1 }).waitFor();
		await shows(t, ["ho-2"], "what is parked of the task");
	},

	async "queues say what waits for whom, and why"(t) {
		await fiveTasks(t);
		await t.api.send("planner", "worker", "When you have time.");
		await t.open("queues");
		await t.row("sleeper").getByText("empty chair").waitFor();
		await t.row("sleeper").getByText("never seen").waitFor();
		await t.row("worker").getByText("busy").waitFor();
		await t.row("worker").getByText("working").waitFor();
		await t.row("flaky").getByText(/until \d\d:\d\d/).waitFor();
		await t.row("picky").getByRole("link", { name: "1", exact: true }).waitFor();
		await t.row("flaky").getByRole("link", { name: "flaky" }).click();
		await t.page.getByRole("heading", { name: "Queue of flaky" }).waitFor();
		await t.row(/ho-\d+/).getByText("Behind the breaker.").waitFor();
		await t.row(/ho-\d+/).locator(".pill", { hasText: "held" }).waitFor();
		await t.button("Reset the breaker of flaky").click();
		await t.page.locator(".breaker").getByText("closed").waitFor();
		await t.row(/ho-\d+/).locator(".pill", { hasText: "held" }).waitFor({ state: "detached" });
		await t.open("queues?agent=worker");
		await t.page.getByRole("region", { name: "At work on" }).getByText("Do it now.").waitFor();
		await t.row(/ho-\d+/).getByText("When you have time.").waitFor();
	},

	async "a deferred handoff says until when"(t) {
		const later = new Date(Date.now() + 3_600_000).toISOString();
		const sent = await t.api.send("planner", "worker", "Tomorrow is soon enough.", {}, { not_before: later });
		await t.open("queues?agent=worker");
		await t.row(sent.id).getByText("deferred").waitFor();
		await t.row(sent.id).getByText(/until/).waitFor();
		await t.open("handoffs", sent.id);
		await t.sees("Not before");
	},

	async "queued work is moved to another agent, moved back, and cancelled; one or many"(t) {
		const ids = [];
		for (let i = 0; i < 4; i++) ids.push((await t.api.send("planner", "worker", `Piece ${i + 1}.`)).id);
		const owner = async (id) => (await t.api.get(`/v1/handoffs/${id}`)).to;
		await t.open("queues?agent=worker");
		for (const id of ids.slice(0, 3)) await t.page.getByLabel(`Choose ${id}`, { exact: true }).check();
		await t.button("Move…", ".bulk").click();
		await t.sees("Move 3 handoffs", "dialog");
		await t.page.getByLabel("To which agent").fill("helper");
		for (const id of ids.slice(0, 3)) await t.sees(id, "dialog .preview");
		assert.equal(await owner(ids[0]), "worker");
		await t.button("Move", "dialog").click();
		await t.sees("3 handoffs moved");
		for (const id of ids.slice(0, 3)) assert.equal(await owner(id), "helper");
		assert.equal(await owner(ids[3]), "worker");
		await shows(t, [ids[3]], "what is left");
		await t.button("Undo").click();
		await t.sees("3 handoffs moved back");
		for (const id of ids) assert.equal(await owner(id), "worker");
		await until(async () => (await t.page.locator("tbody tr").count()) === 4, "all of them again");
		await t.page.getByLabel("Choose all").check();
		await t.button("Cancel…", ".bulk").click();
		await t.sees("Cancel 4 handoffs", "dialog");
		await t.page.getByLabel("Why (optional)").fill("nobody needs it");
		await t.page.locator("dialog button[type=submit]").click();
		await t.sees("4 handoffs cancelled");
		for (const id of ids) assert.equal(await state(t, id), "discarded");
		await t.sees("Nothing waits.");
		await t.button("Undo").last().click();
		await t.sees("4 handoffs parked again");
		for (const id of ids) assert.equal(await state(t, id), "parked");
	},

	async "all that are parked can be reached, and how many there are is told"(t) {
		const ids = await parkSome(t, 58);
		await t.open("parked");
		await t.sees("58 handoffs", ".title");
		await t.sees("50 of 58 shown");
		assert.equal(await t.page.locator("tbody tr").count(), 50);
		await t.button("Show more").click();
		await until(async () => (await t.page.locator("tbody tr").count()) === 58, "the rest");
		await t.row(ids[57]).getByText("Piece of work number 58.").waitFor();
		assert.equal(await t.button("Show more").count(), 0);
		await t.page.getByLabel("First").selectOption("the newest");
		await until(async () => (await heads(t))[0] === ids[57], "the newest first");
	},

	async "what is parked is filtered by agent, words of the reason, time and task"(t) {
		const [first] = await parkSome(t, 2);
		const other = await t.api.park("planner", "other", "Something else.", "The Model is OVERLOADED", { task: "else" });
		const worker = async (what) =>
			until(async () => (await t.page.locator("tbody tr").count()) === 2 && (await t.row(first).count()) === 1, what);
		await t.open("parked");
		await t.page.getByLabel("Agent").selectOption("worker");
		await worker("those of the worker");
		await t.sees("2 handoffs of this filter");
		await t.button("Clear").click();
		await t.page.getByRole("searchbox", { name: "Search the reasons" }).fill("model is over");
		await until(async () => (await t.page.locator("tbody tr").count()) === 1, "the reason");
		await t.row(other.id).waitFor();
		await t.button("Clear").click();
		await t.page.getByLabel("Parked", { exact: true }).selectOption("over an hour ago");
		await t.sees("Nothing that is parked fits");
		await t.page.getByLabel("Parked", { exact: true }).selectOption("in the last hour");
		await until(async () => (await t.page.locator("tbody tr").count()) === 3, "those of the last hour");
		await t.open("parked?task=else");
		await until(async () => (await t.page.locator("tbody tr").count()) === 1, "those of the task");
		await t.open("parked?agent=worker");
		await worker("those of the worker, by a link");
	},

	async "what would be done is shown first; then all that a filter finds is redriven, and that is undone"(t) {
		const ids = await parkSome(t, 55);
		const [other] = await parkSome(t, 1, "other");
		const parked = async (to) => (await t.api.get(`/v1/parked?to=${to}&page_size=1`)).total;
		await t.open("parked?agent=worker");
		await t.sees("55 handoffs");
		await t.page.getByLabel("Choose all").check();
		await t.sees("50 chosen");
		await t.button("Choose all 55").click();
		await t.sees("All 55 chosen");
		assert.ok(await t.button("Shrink…", ".bulk").isDisabled());
		await t.button("Redrive", ".bulk").click();
		await t.sees("Redrive 55 handoffs", "dialog");
		await t.sees("55 handoffs", "dialog .preview");
		await t.sees(ids[0], "dialog .preview");
		await t.sees("and 49 more", "dialog .preview");
		assert.equal(await parked("worker"), 55);
		await t.page.keyboard.press("Escape");
		await t.page.locator("dialog").waitFor({ state: "detached" });
		assert.equal(await parked("worker"), 55);
		await t.button("Redrive", ".bulk").click();
		await t.button("Redrive", "dialog").click();
		await t.sees("55 handoffs sent again");
		assert.equal(await parked("worker"), 0);
		assert.equal(await state(t, other), "parked");
		await t.sees("Nothing that is parked fits");
		const taken = await t.api.take("worker");
		await t.button("Undo").click();
		await t.sees("54 handoffs parked again");
		await t.page.locator(".note.bad", { hasText: taken.id }).waitFor();
		assert.equal(await parked("worker"), 54);
	},

	async "a preview says what will stay as it is, and why"(t) {
		const sent = await t.api.park("planner", "worker", "For both.", "no");
		await t.api.post("/v1/handoffs", { envelope_id: sent.envelope_id, to: "both" }, "planner");
		const [free] = await parkSome(t, 1);
		await t.open("parked");
		await t.page.getByLabel("Choose all").check();
		await t.button("Reroute…", ".bulk").click();
		await t.page.getByLabel("To which agent").fill("both");
		await t.sees("1 handoff will stay:", "dialog .preview");
		await t.page.locator("dialog .preview .listed").nth(1).getByText(sent.id).waitFor();
		await t.button("Reroute", "dialog").click();
		await t.sees("1 handoff sent to another agent");
		assert.equal((await t.api.get(`/v1/handoffs/${free}`)).to, "both");
		assert.equal(await state(t, sent.id), "parked");
	},

	async "what was discarded is brought back, at once or from its own page"(t) {
		const [one, two] = await parkSome(t, 2);
		await t.open("parked");
		await t.page.getByLabel("Choose all").check();
		await t.button("Discard…", ".bulk").click();
		await t.page.getByLabel("Why").fill("a mistake");
		await t.button("Discard", "dialog").click();
		await t.sees("2 handoffs discarded");
		await t.button("Undo").click();
		await t.sees("2 handoffs parked again");
		await t.row(one).waitFor();
		await t.api.post(`/v1/parked/${two}/discard`, { why: "another mistake" });
		await t.open("handoffs", two);
		await t.page.getByRole("heading", { level: 1 }).getByText("discarded").waitFor();
		await t.button("Restore").click();
		await t.page.getByRole("heading", { level: 1 }).getByText("parked").waitFor();
		assert.equal(await state(t, two), "parked");
	},

	async "a handoff has a page with its attempts and their errors, lease, events, envelope and result"(t) {
		const sent = await t.api.send("planner", "worker", "Paint the door.", { task: "door" });
		await t.api.settle(await t.api.take("worker", { instance: "worker-1" }), "nack", {
			reason: "the brush is missing",
			delay_s: 0,
		});
		const taken = await t.api.take("worker", { instance: "worker-2" });
		await t.open("handoffs", sent.id);
		await t.page.getByRole("heading", { level: 1 }).getByText("leased").waitFor();
		const attempts = t.page.getByRole("region", { name: "Attempts" }).locator("li");
		await attempts.first().getByText("nacked").waitFor();
		await attempts.first().getByText("the brush is missing").waitFor();
		await attempts.first().getByText("worker-1").waitFor();
		await attempts.nth(1).getByText("under way").waitFor();
		await t.page.locator(".facts", { hasText: "Lease" }).getByText(`${taken.lease}, `).waitFor();
		await t.sees("worker-2", ".facts");
		await t.sees("# Handoff to worker", "pre.prompt");
		for (const event of ["queued", "leased", "nacked"]) await t.sees(event, ".events");
		await t.api.settle(taken, "complete", { result: { colour: "green" }, gaps: ["the hinges"] });
		await t.page.getByRole("heading", { level: 1 }).getByText("completed").waitFor();
		const result = t.page.getByRole("region", { name: "Result", exact: true });
		await result.locator("pre").getByText('"colour": "green"').waitFor();
		await result.getByText("the hinges").waitFor();
		await attempts.nth(1).getByText("completed").waitFor();
		await t.page.getByRole("link", { name: "← Task door" }).click();
		await t.page.getByRole("tab", { name: "Delivery" }).click();
		await t.page.locator(".delivery").getByRole("link", { name: sent.id }).click();
		await t.page.getByRole("heading", { name: `Handoff ${sent.id}` }).waitFor();
	},

	async "a handoff can be decided about on its own page"(t) {
		const sent = await t.api.send("planner", "worker", "Wait.");
		await t.open("handoffs", sent.id);
		await t.button("Move…").click();
		await t.page.getByLabel("To which agent").fill("helper");
		await t.button("Move", "dialog").click();
		await t.page.locator(".facts").getByRole("link", { name: "helper" }).waitFor();
		await t.api.settle(await t.api.take("helper"), "reject", { reason: "not mine" });
		await t.button("Redrive").click();
		await t.button("Redrive", "dialog").click();
		await until(async () => (await state(t, sent.id)) === "queued", "queued again");
		await t.button("Cancel…").click();
		await t.page.locator("dialog button[type=submit]").click();
		await t.page.getByRole("heading", { level: 1 }).getByText("discarded").waitFor();
	},

	async "agents that nobody has seen are shown as such, with the nearest name; the others with what they do"(t) {
		await t.api.send("planner", "coder", "Write it.", { task: "code" });
		await t.api.settle(await t.api.take("coder"), "ack", { work_lease_s: 600 });
		await t.api.send("planner", "codr", "Write it, too.");
		await t.api.send("planner", "quick", "Be quick.");
		await t.api.complete("quick");
		await t.open("agents");
		await t.row(/^codr/).getByText("never seen").waitFor();
		await t.row(/^codr/).getByText("did you mean coder?").waitFor();
		await t.row(/^coder/).getByText("working").waitFor();
		await t.row(/^coder/).getByRole("link", { name: "ho-1" }).waitFor();
		await t.row(/^coder/).getByText("Write it.").waitFor();
		await t.row("quick").getByText("away").waitFor();
		const waiting = t.api.post("/v1/agents/patient/receive", { wait_s: 30 }, "patient");
		await until(async () => (await t.api.get("/v1/agents/patient")).presence === "waiting", "somebody who waits");
		await t.open("overview");
		await t.sees("1 handoff for codr, which nobody has ever seen; did you mean coder?");
		await t.open("agents");
		await t.row("patient").getByText("waiting").waitFor();
		await t.row("patient").getByText("1 receiver").waitFor();
		await t.api.send("planner", "patient", "At last.");
		await waiting;
	},

	async "an agent without open work is deleted; one with open work cannot be"(t) {
		await t.api.put("/v1/agents/retired", { description: "Nobody needs it" });
		await t.api.send("planner", "busy", "Wait.");
		await t.open("agents");
		await t.row("retired").waitFor();
		await parkSome(t, 1, "stopped");
		await t.row("stopped").getByText("1", { exact: true }).first().waitFor();
		for (const name of ["busy", "stopped"]) assert.ok(await t.button(`Delete ${name}`).isDisabled(), name);
		await t.button("Delete retired").click();
		await t.button("Delete", "dialog").click();
		await t.sees("retired is deleted");
		await t.row("retired").waitFor({ state: "detached" });
		const { agents } = await t.api.get("/v1/agents");
		assert.deepEqual(
			agents.map((agent) => agent.name).filter((name) => name === "retired"),
			[],
		);
	},

	async "an alert tells the figures of now, and leads to where it is mended"(t) {
		const ids = await parkSome(t, 2);
		await t.open("overview");
		const alert = t.page.locator(".alert", { hasText: "handoffs parked" });
		await alert.getByText("2 handoffs of worker are parked").waitFor();
		await t.api.post("/v1/parked/discard", { ids: [ids[0]], why: "over" });
		await alert.getByText("1 handoff of worker is parked").waitFor();
		await alert.getByRole("link", { name: /^Decide/ }).click();
		await t.page.getByRole("heading", { name: "Parked", level: 1 }).waitFor();
		assert.equal(await t.page.getByLabel("Agent").inputValue(), "worker");
		await shows(t, [ids[1]], "what is left");
	},

	async "focus is never lost: a dialog gives it back, or hands it to the title"(t) {
		const active = () => t.page.evaluate(() => document.activeElement.textContent);
		await parkSome(t, 2);
		await t.open("parked");
		await t.page.getByLabel("Choose all").check();
		await t.button("Redrive", ".bulk").focus();
		await t.page.keyboard.press("Enter");
		await t.page.locator("dialog .preview").waitFor();
		await t.page.keyboard.press("Escape");
		await until(async () => (await active()) === "Redrive", "the focus where it was");
		await t.page.keyboard.press("Enter");
		await t.page.locator("dialog .preview").waitFor();
		await t.page.keyboard.press("Enter");
		await t.sees("2 handoffs sent again");
		await until(async () => (await active()) === "Parked", "the focus on the title");
		await t.page.getByRole("link", { name: "Queues" }).focus();
		await t.page.keyboard.press("Enter");
		await until(async () => (await active()) === "Queues", "the title of the queues");
		await t.page.getByRole("link", { name: "worker" }).focus();
		await t.page.keyboard.press("Enter");
		await until(async () => (await active()) === "Queue of worker", "the title of the queue");
		await t.page.getByRole("link", { name: "ho-1", exact: true }).focus();
		await t.page.keyboard.press("Enter");
		await until(async () => /^Handoff ho-1/.test(await active()), "the title of the handoff");
	},

	"on a phone a row is a card with all of its figures, and what is open comes first": {
		options: { viewport: { width: 390, height: 780 } },
		async run(t) {
			const ids = await parkSome(t, 3);
			await t.open("parked");
			const row = t.row(ids[0]);
			await row.waitFor();
			const box = await row.boundingBox();
			assert.ok(box.width <= 390 && box.height > 60, JSON.stringify(box));
			await row.getByText("Piece of work number 1.").waitFor();
			await row.getByText("reason 1").waitFor();
			await row.getByRole("link", { name: ids[0], exact: true }).click();
			await t.page.getByRole("heading", { name: new RegExp(`^${ids[0]}`) }).waitFor();
			await t.button("Redrive", "main .panel").waitFor();
			await row.waitFor({ state: "hidden" });
			await t.page.getByRole("link", { name: "← All that are parked" }).click();
			await row.waitFor();
		},
	},
};
