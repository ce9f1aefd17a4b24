import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, MemorySpine } from "../dist/index.js";
import { failure, until, useServer } from "./world.mjs";

const world = await useServer("--heartbeat", "50ms");

test("what happens is told as it happens, from now on or from the beginning", async () => {
	const spine = world.client({ agent: "me" });
	const old = await spine.store("old");
	const fromNow = spine.events();
	const seen = [];
	const reading = (async () => {
		for await (const event of fromNow) {
			seen.push(event);
			if (event.event === "memory.pinned") break;
		}
	})();
	await until("it listens", () => fromNow.position !== undefined);
	const memory = await spine.store("new");
	await spine.pin(memory.id);
	await reading;
	assert.deepEqual(
		seen.map((one) => [one.event, one.subject, one.actor]),
		[
			["memory.stored", memory.id, "me"],
			["memory.pinned", memory.id, "me"],
		],
	);
	assert.ok(seen[0].at instanceof Date && Number.isInteger(seen[0].id));
	const all = [];
	for await (const event of spine.events({ after: 0, types: "memory.stored" })) {
		all.push(event.subject);
		if (all.length === 2) break;
	}
	assert.deepEqual(all, [old.id, memory.id]);
});

test("an iteration goes on where the last one was left", async () => {
	const spine = world.client();
	const stored = [await spine.store("a"), await spine.store("b"), await spine.store("c")];
	const events = spine.events({ after: 0, types: ["memory.stored"] });
	const seen = [];
	for (let i = 0; i < 3; i++)
		for await (const event of events) {
			seen.push(event.subject);
			break;
		}
	assert.deepEqual(
		seen,
		stored.map((one) => one.id),
	);
});

test("a stop and a signal end it", async () => {
	const spine = world.client();
	const events = spine.events();
	const abort = new AbortController();
	const ends = [events, spine.events({ signal: abort.signal })].map(async (one) => {
		for await (const event of one) assert.fail(String(event));
	});
	await until("it listens", () => events.position !== undefined);
	events.stop();
	abort.abort();
	await Promise.all(ends);
});

test("a wrong address is an error", async () => {
	const events = new MemorySpine({ endpoint: "http://127.0.0.1:1" }).events();
	assert.ok((await failure(events[Symbol.asyncIterator]().next())) instanceof ConnectionError);
	assert.throws(() => new MemorySpine().events({ after: 1.5 }), TypeError);
});
