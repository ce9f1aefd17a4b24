// What people look at and decide: queues, many handoffs at once, waivers, agents that go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Conflict, HandoffConflict, MemorySpine, NotFound, ValidationError } from "../dist/index.js";
import { failure, useServer } from "./world.mjs";

const world = await useServer();

async function times(count, make) {
	const made = [];
	for (let i = 0; i < count; i++) made.push(await make());
	return made;
}
const sent = (spine, agent, count = 1, fields = {}) => times(count, async () => spine.send(await spine.pack(agent, "Go.", fields)));
const parked = (spine, agent, count = 1, reason = "on hold") => times(count, async () => spine.parkEnvelope(await spine.pack(agent, "Go."), reason));
const states = (spine, handoffs) => Promise.all(handoffs.map(async (one) => (await spine.handoff(one)).state));

test("what was sent says its task", async () => {
	const spine = world.client();
	assert.equal((await spine.send(await spine.pack("coder", "Go.", { task: "parser" }))).task, "parser");
	assert.match((await spine.send({ taskSummary: "Go." }, { to: "tester" })).task, /^task-/);
});

test("queues tell what waits for whom, since when, and why", async () => {
	const spine = world.client();
	assert.deepEqual(await spine.queues().all(), []);
	const [first] = await sent(spine, "coder", 2);
	const later = await spine.send(await spine.pack("coder", "Later."), { notBefore: new Date(Date.now() + 3_600_000) });
	const [coder] = await spine.queues({ pageSize: 1 }).all();
	assert.deepEqual([coder.agent, coder.queued, coder.why, coder.presence], ["coder", 3, "empty_chair", "never_seen"]);
	const entries = await spine.queue("coder", { pageSize: 2 }).all();
	assert.deepEqual(entries.map((one) => one.position), [1, 2, 3]);
	assert.deepEqual([entries[0].id, entries[0].why, entries[0].summary], [first.id, "empty_chair", "Go."]);
	assert.deepEqual([entries[2].id, entries[2].why, entries[2].until], [later.id, "deferred", later.notBefore]);
	assert.ok((await failure(spine.queue("nobody").all())) instanceof NotFound);
});

test("a look at what comes next takes nothing", async () => {
	const spine = world.client();
	const coder = spine.agent("coder");
	assert.equal(await coder.peek(), undefined);
	const looking = coder.peek({ waitS: 20 });
	const [first] = await sent(spine, "coder");
	assert.equal((await looking).id, first.id);
	assert.equal((await coder.peek()).id, first.id);
	assert.equal((await spine.handoff(first)).leases, 0);
});

test("many leave by redrive, reroute and discard, and come back", async () => {
	const spine = world.client();
	const coder = await parked(spine, "coder", 3);
	const tester = await parked(spine, "tester", 2, "No budget left");
	const preview = await spine.redriveMany({ to: "coder", dryRun: true });
	assert.deepEqual([preview.action, preview.dryRun, preview.matched, preview.more], ["redrive", true, 3, false]);
	assert.deepEqual(preview.done.map((one) => one.id), coder.map((one) => one.id));
	assert.deepEqual(await states(spine, coder), ["parked", "parked", "parked"]);
	const done = await spine.redriveMany({ to: "coder", why: "it is back", by: "ops", since: new Date(Date.now() - 3_600_000) });
	assert.deepEqual([done.matched, done.done.length, done.refused.length, done.done[0].state], [3, 3, 0, "queued"]);
	const moved = await spine.rerouteMany({ reason: "budget", rerouteTo: "generalist" });
	assert.deepEqual(moved.done.map((one) => one.to), ["generalist", "generalist"]);
	assert.equal((await spine.restoreMany(moved.done, { why: "a mistake" })).action, "restore");
	assert.deepEqual(await states(spine, tester), ["parked", "parked"]);
	assert.equal((await spine.discardMany({ ids: await spine.parked().all(), why: "superseded" })).done.length, 2);
	assert.equal((await spine.restore(tester[0], { why: "after all" })).state, "parked");
	const again = await failure(spine.restore(tester[0]));
	assert.ok(again instanceof HandoffConflict);
	assert.equal(again.code, "not_restorable");
});

test("all that is queued is moved and cancelled, a hundred at a time", async () => {
	const spine = world.client();
	await sent(spine, "coder", 105);
	const [kept] = await sent(spine, "tester", 1, { task: "t" });
	assert.equal((await spine.moveMany({ to: "coder", moveTo: "reviewer" })).done.length, 105);
	const part = await spine.cancelMany({ to: "reviewer", limit: 2 });
	assert.deepEqual([part.matched, part.done.length, part.more], [105, 2, true]);
	const rest = await spine.cancelMany({ to: "reviewer" });
	assert.deepEqual([rest.matched, rest.done.length, rest.more], [103, 103, false]);
	assert.deepEqual(await states(spine, [kept]), ["queued"]);
	assert.equal((await spine.cancelMany({ task: "t", dryRun: true })).matched, 1);
	assert.equal((await spine.cancelMany({ all: true })).matched, 1);
});

test("one that is refused does not keep the others", async () => {
	const spine = world.client();
	const [one] = await parked(spine, "coder");
	const [other] = await sent(spine, "coder");
	const done = await spine.redriveMany({ ids: [one.id, other] });
	assert.deepEqual(done.done.map((entry) => entry.id), [one.id]);
	assert.deepEqual(done.refused.map((entry) => [entry.id, entry.code]), [[other.id, "not_parked"]]);
});

test("nothing is decided about everything by leaving something out", async () => {
	const spine = world.client();
	const [one] = await parked(spine, "coder");
	const refused = await failure(spine.discardMany({ why: "x" }));
	assert.ok(refused instanceof ValidationError);
	assert.equal(refused.field, "all");
	assert.ok((await failure(spine.discardMany({ ids: [one], to: "coder", why: "x" }))) instanceof ValidationError);
	assert.ok((await failure(spine.redriveMany({ all: true, limit: 0 }))) instanceof RangeError);
	assert.deepEqual((await spine.discardMany({ ids: [], why: "x" })).done, []);
	assert.deepEqual(await states(spine, [one]), ["parked"]);
});

test("more ids than a call takes are several calls", async () => {
	const bodies = [];
	const answering = async (_, { body }) => {
		bodies.push(JSON.parse(body));
		return Response.json({ action: "restore", dry_run: false, matched: bodies.at(-1).ids.length, done: [], refused: [], next_after: null });
	};
	const spine = new MemorySpine({ endpoint: "http://127.0.0.1:1", fetch: answering });
	assert.equal((await spine.restoreMany(Array.from({ length: 1500 }, (_, n) => `ho-${n}`))).matched, 1500);
	assert.deepEqual(bodies.map((body) => body.ids.length), [1000, 500]);
});

test("a person waives a constraint of a task", async () => {
	const spine = world.client({ agent: "form" });
	const packed = await spine.pack("coder", "Go.", { task: "t", constraints: { region: "eu" }, locked: ["region"] });
	const waiver = await spine.waive("t", "region", "the client has moved", { by: "Ada" });
	assert.deepEqual([waiver.key, waiver.value, waiver.by, waiver.envelope, waiver.unauthenticated], ["region", "eu", "Ada", packed.id, true]);
	assert.equal((await spine.pack("tester", "Go on.", { parent: packed })).waived[0].by, "Ada");
	assert.ok((await failure(spine.waive("t", "regoin", "a slip", { by: "Ada" }))) instanceof ValidationError);
});

test("an agent without open work is deleted", async () => {
	const spine = world.client();
	const [one] = await sent(spine, "coder");
	const busy = await failure(spine.deleteAgent("coder"));
	assert.ok(busy instanceof Conflict);
	assert.equal(busy.code, "agent_busy");
	await spine.cancel(one);
	await spine.deleteAgent("coder");
	assert.ok((await failure(spine.agentInfo("coder"))) instanceof NotFound);
});
