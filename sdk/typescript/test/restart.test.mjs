import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { MemorySpine } from "../dist/index.js";
import { later, Server, until } from "./world.mjs";

let server;
let told;
beforeEach(async () => {
	server = await Server.start();
	told = [];
});
afterEach(() => server.stop());

const client = (more = {}) => new MemorySpine({ endpoint: server.url, log: (level, text) => told.push(text), ...more });

test("calls outlive a restart of the server", async () => {
	const spine = client();
	await spine.store("gateway");
	await server.kill();
	const calls = Promise.all([spine.store("during"), spine.search("gateway"), spine.pack("coder", "Go.")]);
	await later(100);
	await server.restart();
	const [stored, found, envelope] = await calls;
	assert.deepEqual([stored.content, found[0].content, envelope.to], ["during", "gateway", "coder"]);
});

test("a receiver outlives a restart, and so does what it has in hand", async () => {
	const spine = client();
	const first = await spine.send(await spine.pack("coder", "One."));
	let wasRestarted = false;
	const running = spine.agent("coder").run(
		async (work) => {
			if (!wasRestarted) {
				await server.kill();
				await server.restart();
				wasRestarted = true;
			}
			return work.id;
		},
		{ limit: 2, leaseS: 10 },
	);
	await until("the first is done", async () => wasRestarted && (await spine.handoff(first)).state === "completed");
	await later(50); // now it waits for the next
	await server.kill();
	await later(100);
	await server.restart();
	const second = await spine.send(await spine.pack("coder", "Two."));
	assert.equal(await running, 2);
	assert.equal((await spine.handoff(second)).result, second.id);
	assert.ok(told.some((text) => /waits for the server/.test(text)));
	assert.ok(told.some((text) => /the server is back/.test(text)));
});

test("a sender that waits for an ack goes on waiting", async () => {
	const spine = client();
	const envelope = await spine.pack("coder", "Go.");
	const delivering = spine.deliverHandoff(envelope, "coder", { timeoutS: 30 });
	await until("it was sent", async () => (await spine.handoffs().all()).length === 1);
	await server.kill();
	await server.restart();
	await spine.agent("coder").run(() => undefined, { limit: 1 });
	assert.equal((await delivering).state, "acked");
});

test("events go on over a restart: none is lost, none comes twice", async () => {
	const spine = client();
	const seen = [];
	const events = spine.events({ after: 0, types: ["memory."] });
	const reading = (async () => {
		for await (const event of events) {
			seen.push(event.subject);
			if (seen.length === 6) break;
		}
	})();
	const stored = [];
	for (let i = 0; i < 3; i++) stored.push((await spine.store(`before ${i}`)).id);
	await until("three came", () => seen.length === 3);
	await server.kill();
	await server.restart();
	for (let i = 0; i < 3; i++) stored.push((await spine.store(`after ${i}`)).id);
	await reading;
	assert.deepEqual(seen, stored);
});
