import assert from "node:assert/strict";
import { test } from "node:test";
import {
	AckTimeoutError,
	HandoffConflict,
	HandoffParkedError,
	NotFound,
	StaleLeaseError,
	TimeoutError,
	Work,
} from "../dist/index.js";
import { failure, later, until, useServer } from "./world.mjs";

const world = await useServer();

/** Sends n handoffs to an agent. */
async function sendTo(spine, agent, n = 1, more = {}) {
	const sent = [];
	for (let i = 0; i < n; i++) sent.push(await spine.send(await spine.pack(agent, `Do ${i}.`), more));
	return sent;
}

test("a chain of agents: what one returns, the next finds in its prompt", async () => {
	const spine = world.client();
	const first = await spine.send(await spine.pack("coder", "Write the parser.", { intent: "Ship.", from: "lead" }));
	const prompts = [];
	assert.equal(
		await spine.agent("coder").run(
			async (work) => {
				prompts.push(work.prompt);
				const next = await work.handOn("tester", "Test the parser.", {
					result: { patch: "the-patch-text" },
					state: "written",
					priority: 7,
				});
				assert.deepEqual([next.to, next.priority, next.state], ["tester", 7, "queued"]);
			},
			{ limit: 1 },
		),
		1,
	);
	assert.equal(
		await spine.agent("tester").run(
			(work) => {
				prompts.push(work.prompt);
				assert.deepEqual(
					[work.from, work.to, work.envelope.intent, work.envelope.hop],
					["coder", "tester", "Ship.", 2],
				);
				return "all green";
			},
			{ limit: 1 },
		),
		1,
	);
	assert.match(prompts[1], /the-patch-text/);
	const done = await spine.handoff(first);
	assert.deepEqual([done.state, done.result], ["completed", { patch: "the-patch-text" }]);
	assert.match(done.resultMemory, /^ms-/);
	assert.ok(done.events.some((event) => event.event === "handoff.acked"));
});

test("each way of settling is what the server has", async () => {
	const spine = world.client();
	const agent = spine.agent("coder", { instance: "one" });
	const one = async () => (await agent.receive({ waitS: 5 }))[0];
	await sendTo(spine, "coder", 6);
	const acked = await one();
	assert.ok(acked instanceof Work);
	assert.equal((await acked.ack({ gaps: ["a gap"], inputTokens: 5 })).state, "acked");
	assert.equal(acked.settled, "ack");
	const nacked = await one();
	assert.equal((await nacked.nack("not now", { delayS: 3600 })).reason, "not now");
	const released = await one();
	assert.equal((await released.release("a deploy", { delayS: 3600 })).state, "queued");
	assert.equal(released.settled, "release");
	const rejected = await one();
	assert.equal((await rejected.reject("not mine")).state, "parked");
	const completed = await one();
	assert.equal((await completed.complete({ deep: { snake_case: 1 } }, { remember: false })).state, "completed");
	assert.deepEqual((await spine.handoff(completed)).result, { deep: { snake_case: 1 } });
	const working = await one();
	await working.progress("half-way");
	assert.equal(working.handoff.progress, "half-way");
	assert.equal(working.handoff.receiver, "one");
	await working.ack({ workLeaseS: 60 });
	assert.equal(working.handoff.workLease, true);
	await working.complete();
	assert.ok((await failure(working.nack("too late"))) instanceof StaleLeaseError);
});

test("work says what nobody sees in it, and how far its envelope can be trusted", async () => {
	const spine = world.client();
	const seen = await spine.store("from a page", { trust: "external" });
	for (const [summary, refs] of [["Pay.", []], [`Pay\u200b it.`, [seen.id]]])
		await spine.send(await spine.pack("wary", summary, { refs, includeRecent: 0 }));
	const told = [];
	for (const work of await spine.agent("wary").receive({ limit: 2, waitS: 5 })) {
		told.push([work.flags, work.envelope.trust]);
		await work.complete();
	}
	assert.deepEqual(told, [
		[[], "agent"],
		[["invisible"], "external"],
	]);
});

test("work fetches what it needs, stores for its task, and packs on", async () => {
	const spine = world.client();
	const memory = await spine.store("needed");
	await sendTo(spine, "coder");
	const [work] = await spine.agent("coder").receive({ waitS: 5 });
	const { memories, missing } = await work.need([memory.id, "ms-9999"]);
	assert.deepEqual([memories[0].content, missing[0].reason], ["needed", "unknown"]);
	const own = await work.store("found out", { tags: ["t"] });
	assert.deepEqual([own.task, own.agent], [work.task, "coder"]);
	assert.equal((await work.store("for all", { shared: true })).task, null);
	assert.deepEqual(
		(await work.storeMany(["a", { content: "b" }])).map((one) => one.task),
		[work.task, work.task],
	);
	const next = await work.pack("tester", "Go on.");
	assert.deepEqual([next.parent, next.from, next.hop], [work.envelopeId, "coder", 2]);
	const anew = await work.pack("tester", "Begin anew.", { newRoot: true });
	assert.deepEqual([anew.parent, anew.task, anew.from, anew.hop], [null, work.task, "coder", 1]);
	await work.complete();
});

test("the error of a handler reaches the server, and the next handoff follows", async () => {
	const spine = world.client();
	const [bad] = await sendTo(spine, "coder", 1, { maxAttempts: 1 });
	await sendTo(spine, "coder", 1);
	const told = [];
	const count = await spine.agent("coder").run(
		(work) => {
			if (work.id === bad.id) throw new RangeError("no such file: größer");
		},
		{ limit: 1, onError: (work, error) => told.push([work.id, error.message]) },
	);
	assert.equal(count, 1);
	assert.deepEqual(told, [[bad.id, "no such file: größer"]]);
	const parked = await spine.handoff(bad);
	assert.equal(parked.state, "parked");
	assert.match(parked.reason, /RangeError: no such file: größer/);
	world.told.length = 0;
	await sendTo(spine, "logged");
	await spine.agent("logged").run(() => Promise.reject("a text, \ud800 half a pair"), { idleS: 0 });
	assert.ok(world.told.some((one) => one.level === "error" && /failed in its handler/.test(one.text)));
});

test("what onError throws ends the loop, and is thrown by it", async () => {
	const spine = world.client();
	const [sent] = await sendTo(spine, "coder", 2);
	const error = await failure(
		spine.agent("coder").run(
			() => {
				throw new Error("handler");
			},
			{
				onError: (_, one) => {
					throw new Error(`told of ${one.message}`);
				},
			},
		),
	);
	assert.equal(error.message, "told of handler");
	assert.equal((await spine.handoff(sent)).reason, "Error: handler");
	assert.deepEqual(await spine.handoffs({ state: "leased" }).all(), []);
});

test("a receiver keeps nothing of loops that have ended", async () => {
	const spine = world.client();
	const agent = spine.agent("coder");
	const stop = new AbortController();
	let listeners = 0;
	const { addEventListener, removeEventListener } = stop.signal;
	stop.signal.addEventListener = (...args) => (listeners++, addEventListener.apply(stop.signal, args));
	stop.signal.removeEventListener = (...args) => (listeners--, removeEventListener.apply(stop.signal, args));
	for (let i = 0; i < 3; i++) {
		await sendTo(spine, "coder", 2);
		await agent.run(() => undefined, { idleS: 0, signal: stop.signal, concurrency: 2 });
		for await (const work of agent.inbox({ idleS: 0, signal: stop.signal })) assert.fail(work.id);
	}
	assert.equal(listeners, 0);
});

test("several at once take as long as one", async () => {
	const spine = world.client();
	await sendTo(spine, "fetcher", 6);
	let busy = 0;
	let most = 0;
	const count = await spine.agent("fetcher").run(
		async (work) => {
			most = Math.max(most, ++busy);
			await until("all are at work", () => most === 6);
			busy--;
			return work.id;
		},
		{ concurrency: 6, limit: 6 },
	);
	assert.deepEqual([count, most], [6, 6]);
});

test("a limit counts what went well, and no more is taken than wanted", async () => {
	const spine = world.client();
	await sendTo(spine, "coder", 5);
	let calls = 0;
	assert.equal(
		await spine.agent("coder").run(
			() => {
				if (++calls === 1) throw new Error("once");
			},
			{ limit: 2, concurrency: 3, onError: () => undefined },
		),
		2,
	);
	const states = (await spine.handoffs({ to: "coder" }).all()).map((one) => one.state);
	assert.deepEqual(
		states.filter((one) => one === "leased"),
		[],
	);
	assert.equal(states.filter((one) => one === "acked").length, 2);
});

test("a loop over an inbox acks what the body has not settled", async () => {
	const spine = world.client();
	const sent = await sendTo(spine, "coder", 3);
	const seen = [];
	for await (const work of spine.agent("coder").inbox({ limit: 3 })) {
		seen.push(work.id);
		if (seen.length === 2) await work.complete("own");
	}
	assert.deepEqual(
		seen,
		sent.map((one) => one.id),
	);
	assert.deepEqual(
		(await spine.handoffs().all()).map((one) => one.state),
		["acked", "completed", "acked"],
	);
});

test("a loop that is left gives back what is in hand, and does not keep what came on the way", async () => {
	const spine = world.client();
	const sent = await sendTo(spine, "coder", 3);
	for await (const work of spine.agent("coder").inbox()) {
		if (work.id === sent[1].id) break;
	}
	assert.match((await spine.handoff(sent[1])).reason, /left its loop/);
	const error = await failure(
		(async () => {
			for await (const work of spine.agent("coder").inbox()) {
				await work.complete();
				throw new Error("after it was settled");
			}
		})(),
	);
	assert.equal(error.message, "after it was settled");
	assert.deepEqual(await spine.handoffs({ state: "leased" }).all(), []);
	assert.equal((await spine.handoff(sent[2])).state, "completed");
});

test("a loop ends when nothing has come for so long", async () => {
	const spine = world.client();
	await sendTo(spine, "coder", 2);
	assert.equal(await spine.agent("coder").run(() => undefined, { idleS: 0 }), 2);
	assert.equal(await spine.agent("coder").run(() => undefined, { idleS: 0.05, concurrency: 4 }), 0);
});

test("a lease is kept alive while a handler works, and while it works on after an ack", async () => {
	const spine = world.client();
	const [sent, second] = await sendTo(spine, "slow", 2);
	let attempts = 0;
	await spine.agent("slow").run(
		async (work) => {
			attempts++;
			await later(700); // more than two leases
			assert.equal(work.leaseLost, false);
		},
		{ limit: 1, leaseS: 0.3 },
	);
	assert.equal((await spine.handoff(sent)).attempt, 1);
	await spine.agent("slow").run(
		async (work) => {
			assert.equal(work.settled, "ack");
			await later(700);
			return "done";
		},
		{ limit: 1, workLeaseS: 0.3 },
	);
	const done = await spine.handoff(second);
	assert.deepEqual([attempts, done.state, done.result, done.attempt], [1, "completed", "done", 1]);
});

test("who loses a lease is told, and its result is not taken", async () => {
	const spine = world.client();
	const [sent] = await sendTo(spine, "slow");
	const [work] = await spine.agent("slow").receive({ waitS: 5, leaseS: 0.05 });
	await until("it comes again", async () => (await spine.handoff(sent)).state === "queued");
	assert.ok((await failure(work.complete("late"))) instanceof StaleLeaseError);
	assert.equal(work.leaseLost, true);
	assert.equal(work.signal.aborted, true);
	assert.equal((await spine.handoff(sent)).result ?? null, null);
});

test("work.run completes with what the handler returns and nacks with its error, which is thrown on", async () => {
	const spine = world.client();
	const [one, two] = await sendTo(spine, "coder", 2);
	const [first, second] = await spine.agent("coder").receive({ waitS: 5, limit: 2 });
	assert.deepEqual(await first.run(async (work) => ({ id: work.id })), { id: one.id });
	assert.deepEqual((await spine.handoff(one)).result, { id: one.id });
	assert.equal(
		(
			await failure(
				second.run(() => {
					throw new TypeError("broken");
				}),
			)
		).message,
		"broken",
	);
	assert.equal((await spine.handoff(two)).reason, "TypeError: broken");
});

test("a stop finishes what is in hand and takes nothing more", async () => {
	const spine = world.client();
	const sent = await sendTo(spine, "coder", 2);
	const stop = new AbortController();
	let release;
	const running = spine.agent("coder").run(
		async () => {
			stop.abort();
			await new Promise((resolve) => (release = resolve));
			return "finished";
		},
		{ signal: stop.signal },
	);
	await until("it is at work", () => release);
	release();
	assert.equal(await running, 1);
	assert.equal((await spine.handoff(sent[0])).result, "finished");
	assert.equal((await spine.handoff(sent[1])).state, "queued");
});

test("a stop that waits for nothing ends at once", async () => {
	const spine = world.client();
	const agent = spine.agent("idle");
	const began = Date.now();
	setTimeout(() => agent.stop(), 50);
	assert.deepEqual(
		await Promise.all([agent.run(() => undefined), agent.run(() => undefined, { concurrency: 5 })]),
		[0, 0],
	);
	assert.ok(Date.now() - began < 5000);
	const stop = new AbortController();
	stop.abort();
	assert.equal(await agent.run(() => undefined, { signal: stop.signal }), 0);
});

test("what takes longer than the grace is given back, and its handler is told", async () => {
	const spine = world.client();
	const [sent] = await sendTo(spine, "coder");
	const stop = new AbortController();
	const aborted = [];
	let release;
	const running = spine.agent("coder").run(
		async (work) => {
			work.signal.addEventListener("abort", () => aborted.push(work.id));
			stop.abort();
			await new Promise((resolve) => (release = resolve));
			return "too late";
		},
		{ signal: stop.signal, graceS: 0.05 },
	);
	assert.equal(await running, 0);
	assert.deepEqual(aborted, [sent.id]);
	const [again] = await spine.agent("coder").receive({ waitS: 5 });
	assert.deepEqual([again.id, again.attempt], [sent.id, 1]); // nobody has failed at it
	assert.ok(
		(await spine.handoff(sent)).events.some(
			(event) => event.event === "handoff.released" && /stopped/.test(event.note),
		),
	);
	release();
	assert.equal(await again.run(() => "in time"), "in time");
	assert.equal((await spine.handoff(sent)).result, "in time");
});

test("a sender that waits gets the ack, or is told that nobody acked", async () => {
	const spine = world.client();
	const envelope = await spine.pack("coder", "Go.");
	const error = await failure(spine.deliverHandoff(envelope, "coder", { timeoutS: 0.1 }));
	assert.ok(error instanceof AckTimeoutError && error instanceof TimeoutError);
	assert.equal(error.code, "ack_timeout");
	const running = spine.agent("coder").run(() => undefined, { limit: 1 });
	const ack = await spine.deliverHandoff(envelope, "coder", { timeoutS: 10 });
	assert.deepEqual([ack.state, ack.attempt, ack.ackedAt instanceof Date], ["acked", 2, true]);
	await running;
	assert.ok((await failure(spine.deliverHandoff(envelope, "coder", { timeoutS: 0 }))) instanceof RangeError);
});

test("an envelope is packed and sent with one call, and never twice", async () => {
	const spine = world.client({ agent: "lead" });
	const sent = await spine.send(
		{ taskSummary: "Go.", constraints: { in_words: "as is" } },
		{ to: "coder", notBefore: new Date(Date.now() + 3600_000), fallbacks: ["other"] },
	);
	assert.deepEqual(
		[sent.to, sent.from, sent.fallbacks, sent.notBefore instanceof Date],
		["coder", "lead", ["other"], true],
	);
	assert.deepEqual((await spine.envelope(sent.envelopeId)).constraints, { in_words: "as is" });
	assert.equal((await spine.send(sent)).id, sent.id);
	assert.equal((await spine.handoffs({ envelope: sent.envelopeId }).all()).length, 1);
});

test("what is parked shows what can be done, and it is done", async () => {
	const spine = world.client();
	const envelope = await spine.pack("coder", "Go.");
	const [work] = await spine.agent("coder").receive({ waitS: 0 });
	assert.equal(work, undefined);
	await spine.send(envelope);
	const parked = await spine.parkEnvelope(envelope, "a person should look", { by: "me" });
	assert.equal(parked.state, "parked");
	const error = await failure(spine.send(envelope));
	assert.ok(error instanceof HandoffParkedError && error instanceof HandoffConflict);
	assert.ok(error.remedies.includes("redrive"));
	assert.equal(error.handoff, parked.id);
	const [entry] = await spine.parked({ to: "coder", envelope }).all();
	assert.deepEqual([entry.reason, entry.remedies.includes("reroute")], ["a person should look", true]);
	assert.equal((await spine.redrive(entry, { why: "again" })).state, "queued");
	assert.equal((await spine.move(entry, "other", { why: "better" })).to, "other");
	assert.equal((await spine.cancel(entry)).state, "discarded");
	assert.ok((await failure(spine.cancel(entry))) instanceof HandoffConflict);
	const second = await spine.pack("coder", "Go again, with more words than a small budget holds.");
	const again = await spine.parkEnvelope(second, "too large");
	assert.equal((await spine.shrink(again, 2000)).state, "queued");
	const third = await spine.parkEnvelope(await spine.pack("coder", "Third."), "no");
	assert.equal((await spine.reroute(third, "other")).to, "other");
	const fourth = await spine.parkEnvelope(await spine.pack("coder", "Fourth."), "no");
	assert.equal((await spine.discard(fourth, "not needed")).state, "discarded");
	assert.ok((await failure(spine.handoff("ho-99999"))) instanceof NotFound);
});

test("one envelope to many: each has its own handoff, and the join has all results", async () => {
	const spine = world.client();
	const channel = spine.getChannel("reviews");
	const envelope = await spine.pack("broadcast", "Review.");
	const sent = await channel.publish(envelope, { receivers: ["a", "b", "c"] });
	assert.deepEqual(
		sent.map((one) => one.to),
		["a", "b", "c"],
	);
	assert.equal((await channel.join(envelope, { timeoutS: 0.05 })).state, "waiting");
	const joining = channel.join(envelope, { need: "all", timeoutS: 30 });
	for (const name of ["a", "b", "c"]) await spine.agent(name).run((work) => `${work.to}: fine`, { limit: 1 });
	const join = await joining;
	assert.ok(join.joined);
	assert.deepEqual(join.results, { a: "a: fine", b: "b: fine", c: "c: fine" });
	await channel.describe("for reviews");
	assert.deepEqual((await channel.subscribe("d")).subscribers, ["d"]);
	assert.equal((await channel.info()).description, "for reviews");
	assert.deepEqual((await channel.unsubscribe("d")).subscribers, []);
	assert.deepEqual(
		(await spine.channels().all()).map((one) => one.name),
		["reviews"],
	);
});

test("an agent that reads only version 1 gets that, and the client has the newest, too", async () => {
	const spine = world.client();
	await spine.registerAgent("old", { accepts: ["1"] });
	await sendTo(spine, "old");
	const [work] = await spine.agent("old").receive({ waitS: 5 });
	assert.equal(work.v1.target, "old");
	assert.equal(work.envelope.envelopeVersion, "2");
	await work.ack();
});
