import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { MemorySpine, NotFound, PreconditionFailed, ValidationError } from "../dist/index.js";
import { failure, useServer } from "./world.mjs";

const world = await useServer();

test("a memory comes back as it was stored, with names in camelCase and times as Dates", async () => {
	const spine = world.client({ agent: "researcher" });
	const stored = await spine.store("The gateway answers 429.", {
		kind: "observation",
		tags: ["gateway", "limits"],
		importance: "high",
		trust: "user",
		pinned: true,
		metadata: { source_file: "docs/api.md", nested: { keep_me: [1, { as_is: true }] } },
		expiresAt: new Date("2030-01-01T00:00:00Z"),
	});
	assert.match(stored.id, /^ms-\d+$/);
	assert.equal(stored.agent, "researcher");
	assert.ok(stored.createdAt instanceof Date && stored.expiresAt instanceof Date);
	assert.equal(stored.expiresAt.toISOString(), "2030-01-01T00:00:00.000Z");
	assert.deepEqual(stored.metadata, { source_file: "docs/api.md", nested: { keep_me: [1, { as_is: true }] } });
	assert.equal(stored.supersededBy, null);
	assert.deepEqual(await spine.get(stored.id), stored);
});

test("names and texts in any script arrive as they are", async () => {
	const spine = world.client({ agent: "forscher-ß-研究者-🦜" });
	const stored = await spine.store("Grüße, 世界 🌍 \u2028 \u0001");
	assert.equal(stored.agent, "forscher-ß-研究者-🦜");
	assert.equal((await spine.get(stored.id)).content, "Grüße, 世界 🌍 \u2028 \u0001");
	await spine.registerAgent("日本 / ?&#%", { description: "ö" });
	assert.equal((await spine.agentInfo("日本 / ?&#%")).description, "ö");
});

test("many are stored together, or none", async () => {
	const spine = world.client();
	const stored = await spine.storeMany(["one", { content: "two", kind: "decision", tags: ["x"] }]);
	assert.deepEqual(
		stored.map((one) => [one.content, one.kind]),
		[
			["one", "note"],
			["two", "decision"],
		],
	);
	const error = await failure(spine.storeMany(["three", { content: "four", importance: "urgent" }]));
	assert.ok(error instanceof ValidationError);
	assert.equal(error.field, "memories[1].importance");
	assert.equal((await spine.list().all()).length, 2);
});

test("the same key stores once", async () => {
	const spine = world.client();
	const first = await spine.store("once", { idempotencyKey: "k-1" });
	assert.equal((await spine.store("once", { idempotencyKey: "k-1" })).id, first.id);
	assert.notEqual((await spine.store("once")).id, (await spine.store("once")).id);
});

test("a search finds, explains and filters", async () => {
	const spine = world.client();
	await spine.storeMany([
		{ content: "the gateway limits requests", tags: ["a", "b"], metadata: { team: "payments", tier: 1 } },
		{ content: "the gateway is slow", tags: ["a"], kind: "fact" },
		{ content: "nothing to see", tags: ["b"] },
	]);
	const found = await spine.search("gateway requests", { explain: true, limit: 1 });
	assert.equal(found.length, 1);
	assert.ok(found[0].score > 0 && found[0].relevance <= 1 && found[0].explain.terms.length > 0);
	assert.equal((await spine.search("gateway", { tag: ["a", "b"] })).length, 1);
	assert.equal((await spine.search("gateway", { kind: "fact" })).length, 1);
	assert.equal((await spine.search("gateway", { metadata: { team: "payments", tier: 1 } })).length, 1);
	assert.equal((await spine.search("gateway", { createdAfter: new Date(Date.now() + 60_000) })).length, 0);
	assert.ok((await failure(spine.search("x", { limit: 0 }))) instanceof RangeError);
});

test("a list is read page by page, and can be begun in the middle", async () => {
	const spine = world.client();
	await spine.storeMany(Array.from({ length: 25 }, (_, n) => `memory ${n}`));
	const contents = [];
	for await (const memory of spine.list({ order: "oldest", pageSize: 10 })) contents.push(memory.content);
	assert.deepEqual(
		contents,
		Array.from({ length: 25 }, (_, n) => `memory ${n}`),
	);
	const sizes = [];
	let token;
	for await (const page of spine.list({ pageSize: 10 }).pages()) {
		sizes.push(page.items.length);
		token ??= page.nextPageToken;
	}
	assert.deepEqual(sizes, [10, 10, 5]);
	assert.equal((await spine.list({ pageSize: 10, pageToken: token }).all()).length, 15);
	assert.equal((await spine.search("memory", { limit: 23 })).length, 23);
});

test("a memory is changed, reverted, pinned and forgotten", async () => {
	const spine = world.client();
	const one = await spine.store("first", { summary: "s", tags: ["t"] });
	const two = await spine.update(one.id, { content: "second", summary: null, ifVersion: 1 });
	assert.deepEqual([two.version, two.content, two.summary, two.tags], [2, "second", null, ["t"]]);
	const error = await failure(spine.update(one.id, { content: "third", ifVersion: 1 }));
	assert.ok(error instanceof PreconditionFailed);
	assert.deepEqual([error.currentVersion, error.code, error.status], [2, "precondition_failed", 412]);
	assert.equal((await spine.revert(one.id, 1)).content, "first");
	assert.equal((await spine.get(one.id, { version: 2 })).currentVersion, 3);
	assert.equal((await spine.get(`${one.id}@1`)).content, "first");
	assert.equal((await spine.pin(one.id)).pinned, true);
	assert.equal((await spine.unpin(one.id)).pinned, false);
	assert.deepEqual(
		(await spine.versions(one.id, { pageSize: 2 }).all()).map((each) => each.version),
		[3, 2, 1],
	);
	assert.equal((await spine.forget(one.id, { ifVersion: 3 })).state, "forgotten");
	const { memories, missing } = await spine.fetch([one.id, "ms-99999", (await spine.store("there")).id]);
	assert.deepEqual([memories.length, missing.map((each) => each.reason)], [1, ["forgotten", "unknown"]]);
});

test("a memory says where it came from and what nobody sees in it", async () => {
	const spine = world.client();
	const [plain, hidden] = [await spine.store("plain"), await spine.store("pay\u200bment")];
	assert.deepEqual([plain.flags, hidden.flags], [undefined, ["invisible"]]);
	const { origin } = await spine.get(plain.id);
	assert.deepEqual([origin.key, origin.protocol, origin.claimed], [null, "http", undefined]);
	assert.match(origin.client, /^memory-spine-typescript\//);
});

test("fetch, resolve and need give also what one answer has no room for", async () => {
	const spine = world.client();
	const ids = [];
	for (let n = 0; n < 34; n++) ids.push((await spine.store(`${n} ${"a".repeat(255000)}`)).id);
	const told = ({ memories, missing }) => [memories.map((one) => one.id), missing.map((one) => [one.id, one.reason])];
	assert.deepEqual(told(await spine.fetch([...ids, "ms-9999"])), [ids, [["ms-9999", "unknown"]]]);
	const envelope = await spine.pack("reader", "Read.", { refs: ids, strategy: "lazy", constraints: { max_tokens: 4000 } });
	assert.deepEqual(told(await spine.resolve(envelope)), [ids, []]);
	await spine.send(envelope);
	const [work] = await spine.agent("reader").receive({ waitS: 5 });
	assert.deepEqual(told(await work.need([...ids, "ms-9999"])), [ids, [["ms-9999", "unknown"]]]);
	await work.complete();
});

test("an error says what, where and what to do", async () => {
	const spine = world.client();
	const error = await failure(spine.get("ms-4821"));
	assert.ok(error instanceof NotFound && error instanceof Error);
	assert.deepEqual(
		[error.name, error.code, error.status, error.retryable, error.repeated],
		["NotFound", "memory_not_found", 404, false, false],
	);
	assert.match(error.message, /ms-4821.*\(404 memory_not_found\)/);
	assert.match(error.detail, /ms-4821/);
	assert.deepEqual(error.remedies, []);
	const invalid = await failure(spine.store("x", { importance: "urgent" }));
	assert.ok(invalid instanceof ValidationError);
	assert.deepEqual([invalid.code, invalid.field], ["invalid_field", "importance"]);
});

test("what the server does not know is told, once, where the program wants it", async () => {
	const spine = world.client();
	world.told.length = 0;
	await spine.store("x", { colour: "blue" });
	assert.equal(world.told.length, 1);
	assert.equal(world.told[0].level, "warn");
	assert.match(world.told[0].text, /colour/);
});

test("a wrong argument never leaves the program", async () => {
	assert.throws(() => new MemorySpine({ endpoint: "ftp://x" }), TypeError);
	assert.throws(() => new MemorySpine({ url: "http://127.0.0.1:1" }), /no option "url"; there are endpoint/);
	assert.throws(() => new MemorySpine({ endpoint: "http://u:p@127.0.0.1" }), TypeError);
	assert.throws(() => new MemorySpine({ endpoint: "http://127.0.0.1/path" }), TypeError);
	assert.throws(() => new MemorySpine({ timeoutS: 0 }), RangeError);
	assert.throws(() => new MemorySpine({ agent: " x" }), TypeError);
	assert.throws(() => new MemorySpine().agent(), TypeError);
	assert.throws(() => new MemorySpine({ space: "a\nb" }), TypeError);
	const spine = world.client();
	for (const id of ["", undefined, "..", "."])
		assert.ok((await failure(spine.get(id))) instanceof TypeError, String(id));
});

test("the space, the server, its tokens and alerts can be asked for", async () => {
	const spine = world.client();
	assert.equal((await spine.setSpace({ guard: "redact", keepHandoffsS: 3600 })).keepHandoffsS, 3600);
	assert.equal((await spine.spaceInfo()).guard, "redact");
	assert.ok((await spine.spaces().all()).some((one) => one.name === spine.space));
	assert.equal(await spine.tokens("hello world"), 2);
	assert.ok((await spine.status()).version);
	assert.deepEqual([await spine.healthy(), await spine.ready()], [true, true]);
	assert.ok((await spine.alertRules()).length > 5);
	assert.deepEqual(await spine.alerts().all(), []);
	assert.ok((await spine.stats("1h")).overall);
	assert.ok((await spine.audit({ action: ["space."] }).all()).length > 0);
	assert.equal((await spine.deleteSpace(spine.space, { confirm: spine.space })).name, spine.space);
	assert.ok((await failure(spine.deleteSpace(spine.space, { confirm: spine.space }))) instanceof NotFound);
});

test("settings of an agent that are not named stay, null takes one away, and two at once both hold", async () => {
	const spine = world.client();
	const made = await spine.registerAgent("coder", { maxTokens: 4000, description: "writes", fallbacks: ["other"] });
	assert.deepEqual([made.maxTokens, made.description, made.etag !== null], [4000, "writes", true]);
	assert.equal((await spine.registerAgent("coder", { maxAttempts: 7 })).maxTokens, 4000);
	assert.equal((await spine.registerAgent("coder", { description: null })).description, null);
	await Promise.all([
		spine.registerAgent("coder", { ackTimeoutS: 3 }),
		spine.registerAgent("coder", { queueTimeoutS: 60 }),
	]);
	const now = await spine.agentInfo("coder");
	assert.deepEqual([now.ackTimeoutS, now.queueTimeoutS, now.maxAttempts, now.fallbacks], [3, 60, 7, ["other"]]);
	assert.ok(
		(await failure(spine.registerAgent("coder", { maxTokens: 1, ifMatch: made }))) instanceof PreconditionFailed,
	);
	assert.equal((await spine.registerAgent("coder", { maxTokens: 100, ifMatch: now })).maxTokens, 100);
	assert.equal((await spine.registerAgent("coder", { replace: true })).maxAttempts, 3);
	assert.deepEqual(
		(await spine.agents().all()).map((one) => one.name),
		["coder"],
	);
	await spine.resetBreaker("coder");
});

test("the environment says where, in which space, who, and for which task", async () => {
	const spine = world.client();
	const { task } = await spine.pack("coder", "Go.");
	const program =
		'import { MemorySpine } from "../dist/index.js"; const s = new MemorySpine(); const m = await s.store("x"); console.log(JSON.stringify([s.space, m.agent, m.task]))';
	const run = (more) =>
		JSON.parse(
			execFileSync(process.execPath, ["--input-type=module", "-e", program], {
				cwd: dirname(fileURLToPath(import.meta.url)),
				encoding: "utf8",
				env: { ...process.env, SPINE_URL: world.server.url, ...more },
			}),
		);
	assert.deepEqual(run({ SPINE_SPACE: spine.space, SPINE_AGENT: "shell", SPINE_TASK: task }), [
		spine.space,
		"shell",
		task,
	]);
	assert.deepEqual(run({ SPINE_SPACE: spine.space }), [spine.space, null, null]);
});
