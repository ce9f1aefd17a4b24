import assert from "node:assert/strict";
import { test } from "node:test";
import {
	BudgetTooSmall,
	Conflict,
	ConstraintConflict,
	ConstraintLocked,
	DryRun,
	Envelope,
	HopLimit,
	NoRoute,
	ParentUnclear,
	ValidationError,
} from "../dist/index.js";
import { failure, useServer } from "./world.mjs";

const world = await useServer();

test("an envelope carries the work, fits its budget and proves itself", async () => {
	const spine = world.client({ agent: "analyst" });
	const memory = await spine.store("The gateway answers 429.", { task: undefined });
	const envelope = await spine.pack("coder", `Implement the retry logic, based on ${memory.id}.`, {
		intent: "Payments must survive.",
		constraints: { max_tokens: 4000, max_retries: 3, snake_case: { in_here: 1 } },
		state: "begun",
		history: [{ agent: "researcher", action: "read", memoryId: memory.id }],
		openDecisions: ["which?"],
		expectedOutput: { format: "a patch", my_own: 1 },
	});
	assert.ok(envelope instanceof Envelope);
	assert.ok(envelope.tokenCount <= 4000 && envelope.maxTokens === 4000);
	assert.deepEqual(envelope.memoryRefs, [memory.id]);
	assert.deepEqual(envelope.constraints, { max_retries: 3, max_tokens: 4000, snake_case: { in_here: 1 } });
	assert.deepEqual(
		[envelope.from, envelope.to, envelope.intent, envelope.state, envelope.hop],
		["analyst", "coder", "Payments must survive.", "begun", 1],
	);
	assert.equal(envelope.history[0].memoryId, memory.id);
	assert.equal(envelope.expectedOutput.my_own, 1);
	assert.ok(envelope.createdAt instanceof Date);
	assert.match(await envelope.prompt(), /^# Handoff to coder/);
	assert.equal(await envelope.verify(), true);
	const read = await spine.envelope(envelope.id);
	assert.equal(await read.verify(), true);
	assert.equal((await spine.verify(read)).ok, true);
	assert.equal((await envelope.render("v1")).target, "coder");
});

test("an envelope that was changed does not prove itself", async () => {
	const spine = world.client();
	const { raw } = await spine.pack("coder", "Go: ü, 1e3, \u0007.", {
		constraints: { b: 1.5e300, a: -0.001, ä: [null, true] },
	});
	assert.equal(await new Envelope(spine, raw).verify(), true);
	assert.equal(await new Envelope(spine, { ...raw, to: "thief" }).verify(), false);
});

test("the next envelope inherits, and the chain can be looked into", async () => {
	const spine = world.client();
	const first = await spine.pack("coder", "Write it.", {
		intent: "Ship.",
		constraints: { max_files: 3 },
		from: "lead",
	});
	const second = await spine.pack("reviewer", "Review it.", {
		parent: first,
		from: "coder",
		constraints: { max_files: 2 },
	});
	assert.deepEqual(
		[second.intent, second.constraints.max_files, second.path, second.parent],
		["Ship.", 2, ["lead", "coder", "reviewer"], first.id],
	);
	assert.equal((await spine.fidelity(second.task)).hops.length, 2);
	assert.equal((await spine.blame(second.task, "max_files")).verdict !== undefined, true);
	assert.deepEqual(
		(await spine.task(second.task)).envelopes.map((one) => one.envelope),
		[first.id, second.id],
	);
	assert.ok((await spine.diff(first, second)).changes.some((one) => one.fate === "narrowed"));
	assert.ok((await spine.trace(second.task)).envelopes.length === 2);
	assert.ok((await spine.considered(second)).considered);
	assert.deepEqual(
		(await spine.tasks({ pageSize: 1 }).all()).map((one) => one.id),
		[second.task],
	);
	assert.deepEqual(await spine.receipts(second), []);
	assert.deepEqual((await spine.resolve(second)).memories, []);
});

test("a dry run stores nothing and shows other budgets", async () => {
	const spine = world.client();
	const run = await spine.pack("coder", "Go.", { dryRun: true });
	assert.ok(run instanceof DryRun);
	assert.deepEqual([run.id, run.budgets.length > 1, run.budgets[0].maxTokens > 0], ["", true, true]);
	assert.deepEqual(await spine.tasks().all(), []);
	assert.ok((await failure(spine.send(run))) instanceof TypeError);
});

test("what must not happen silently is an error of its own class, and changes nothing", async () => {
	const spine = world.client();
	const first = await spine.pack("coder", "Write it.", {
		constraints: { max_files: 3 },
		locked: ["max_files"],
		maxHops: 2,
		from: "lead",
	});
	const small = await failure(spine.pack("reviewer", "Review.", { parent: first, constraints: { max_tokens: 10 } }));
	assert.ok(small instanceof BudgetTooSmall && small instanceof ValidationError);
	assert.ok(small.minimum > 10);
	const loose = await failure(spine.pack("reviewer", "Review.", { parent: first, constraints: { max_files: 5 } }));
	assert.ok(loose instanceof ConstraintConflict && loose instanceof Conflict);
	const locked = await failure(
		spine.pack("reviewer", "Review.", { parent: first, waive: [{ key: "max_files", reason: "why not" }] }),
	);
	assert.ok(locked instanceof ConstraintLocked);
	const second = await spine.pack("reviewer", "Review.", { parent: first, from: "coder" });
	assert.ok((await failure(spine.pack("tester", "Test.", { parent: second, from: "reviewer" }))) instanceof HopLimit);
	assert.ok((await failure(spine.pack("next", "Go."))) instanceof NoRoute);
	await spine.pack("tester", "Another.", { parent: first, from: "coder" });
	assert.ok((await failure(spine.pack("x", "Which?", { task: first.task }))) instanceof ParentUnclear);
	assert.equal((await spine.pack("x", "Anew.", { task: first.task, newRoot: true })).hop, 1);
});

test("routes lead on", async () => {
	const spine = world.client();
	await spine.putRoute("r", "reviewer", { from: "coder", when: { constraint: { kind: "code" } }, order: 1 });
	assert.equal((await spine.route("r")).to, "reviewer");
	assert.equal((await spine.pack("next", "Go.", { from: "coder", constraints: { kind: "code" } })).to, "reviewer");
	assert.equal((await spine.routes().all()).length, 1);
	await spine.deleteRoute("r");
	assert.equal((await failure(spine.deleteRoute("r"))).status, 404);
});
