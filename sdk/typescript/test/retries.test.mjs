import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, test } from "node:test";
import {
	CircuitOpenError,
	ConnectionError,
	MemorySpine,
	OutcomeUnknown,
	PreconditionFailed,
	ProtocolError,
	SpineError,
	TimeoutError,
	Unavailable,
} from "../dist/index.js";
import { Flaky, faults, refuse } from "./flaky.mjs";
import { failure, until, useServer } from "./world.mjs";

const world = await useServer();
const flaky = await Flaky.before(world.server.url);
after(() => flaky.close());

const { cut, lose, half, hang, pass } = faults;

function through(script, more = {}) {
	flaky.misbehave(...script);
	return world.client({ endpoint: flaky.url, ...more });
}

const keys = () => new Set(flaky.requests.map((one) => one.headers["idempotency-key"]));

test("what creates is sent again with its own key, and is done once", async () => {
	const spine = through([cut, lose, half]);
	const stored = await spine.store("once");
	assert.equal(flaky.requests.length, 4);
	assert.equal(keys().size, 1);
	assert.match([...keys()][0], /^[0-9a-f-]{36}$/);
	assert.deepEqual(
		(await spine.list().all()).map((one) => one.id),
		[stored.id],
	);
	flaky.misbehave(lose);
	const envelope = await spine.pack("coder", "Go.");
	flaky.misbehave(lose);
	const sent = await spine.send(envelope);
	flaky.misbehave(lose);
	assert.equal(
		(await spine.getChannel("c").publish(await spine.pack("broadcast", "All."), { receivers: ["a"] })).length,
		1,
	);
	flaky.misbehave();
	assert.equal((await spine.handoffs({ envelope }).all()).length, 1);
	assert.equal(sent.state, "queued");
});

test("two calls have two keys", async () => {
	const spine = through([]);
	await Promise.all([spine.store("a"), spine.store("b")]);
	assert.equal(keys().size, 2);
});

test("a refusal that says when to come again is waited for", async () => {
	const spine = through([
		refuse(503, "overloaded", { "Retry-After": "0" }),
		refuse(503, "overloaded", {}, { retry_after_ms: 30 }),
		refuse(503, "draining"),
	]);
	const began = Date.now();
	await spine.store("patience");
	assert.equal(flaky.requests.length, 4);
	assert.equal(keys().size, 1);
	assert.ok(Date.now() - began >= 30);
});

test("a space that moves is waited for by who does not wait for work, too", async () => {
	const spine = through([refuse(503, "no_owner", { "Retry-After": "6" })]);
	assert.deepEqual(await spine.agent("mover").receive(), []);
	assert.equal(flaky.requests.length, 2);
});

test("a wait that is refused halfway may wait as long again", async () => {
	const lets = (ms, then) => (...them) => new Promise((done) => setTimeout(() => done(then(...them)), ms));
	const spine = through([lets(1500, refuse(503, "no_owner", { "Retry-After": "0" })), lets(500, pass)], { timeoutS: 1 });
	assert.deepEqual(await spine.agent("waiter").receive({ waitS: 2 }), []);
	assert.equal(flaky.requests.length, 2);
});

test("a refusal that is none for now is told at once", async () => {
	const spine = through([refuse(503, "store_failed", {}, { retryable: false })]);
	assert.ok((await failure(spine.store("x"))) instanceof Unavailable);
	flaky.misbehave(refuse(503, "circuit_open", {}, { retry_after_ms: 60_000 }));
	const open = await failure(spine.deliverHandoff("env-1", "coder"));
	assert.ok(open instanceof CircuitOpenError && open.resetAt > new Date());
	flaky.misbehave(refuse(500, "internal"));
	assert.equal((await failure(spine.store("x"))).status, 500);
	assert.equal(flaky.requests.length, 1);
});

test("what may have happened is never sent again by itself", async () => {
	for (const retryable of [true, false]) {
		const spine = through([refuse(500, "outcome_unknown", {}, { retryable })]);
		const error = await failure(spine.store("x"));
		assert.ok(error instanceof OutcomeUnknown && !(error instanceof Unavailable));
		assert.deepEqual([error.code, error.retryable, flaky.requests.length], ["outcome_unknown", retryable, 1]);
	}
});

test("a wait that is longer than the time is not begun", async () => {
	const spine = through([refuse(503, "overloaded", { "Retry-After": "60" })], { timeoutS: 1 });
	const began = Date.now();
	const error = await failure(spine.store("x"));
	assert.deepEqual([error.code, error.retryAfterS, error.retryable], ["overloaded", 60, true]);
	assert.ok(Date.now() - began < 900);
});

test("retries are bounded where the program says so", async () => {
	const spine = through([cut, cut, cut], { retries: 1 });
	const error = await failure(spine.store("x"));
	assert.ok(error instanceof ConnectionError);
	assert.deepEqual([error.code, flaky.requests.length], ["connection_lost", 2]);
	assert.equal((await failure(through([cut], { retries: 0 }).store("x"))).repeated, false);
});

test("reading and settling are repeated; what cannot be is told that it may have been done", async () => {
	const spine = through([]);
	const memory = await spine.store("one");
	await spine.update(memory.id, { content: "two" });
	flaky.misbehave(lose);
	assert.equal((await spine.get(memory.id)).version, 2);
	flaky.misbehave(lose);
	assert.equal((await spine.update(memory.id, { content: "three", ifVersion: 2 })).version, 3);
	flaky.misbehave(lose);
	assert.equal((await failure(spine.revert(memory.id, 1, { ifVersion: 3 }))).code, "connection_lost");
	assert.equal(flaky.requests.length, 1);
	await spine.send(await spine.pack("coder", "Go."));
	for (const [verb, state] of [
		["nack", "queued"],
		["release", "queued"],
		["reject", "parked"],
	]) {
		const [work] = await spine.agent("coder").receive({ waitS: 5 });
		flaky.misbehave(lose);
		assert.equal((await work[verb]("no", { delayS: 0 })).state, state);
	}
	const [parked] = await spine.parked().all();
	flaky.misbehave(lose);
	assert.equal((await spine.redrive(parked)).state, "queued");
	flaky.misbehave(lose);
	assert.equal((await spine.cancel(parked)).state, "discarded");
});

test("a memory that somebody else has changed meanwhile is not taken for one's own", async () => {
	const spine = through([]);
	const memory = await spine.store("one");
	flaky.misbehave(async (_, request) => {
		await spine.update(memory.id, { content: "theirs" });
		request.socket.destroy();
	});
	assert.ok(
		(await failure(spine.update(memory.id, { content: "mine", ifVersion: 1 }))) instanceof PreconditionFailed,
	);
});

test("a loop settles over lost answers, and nothing is done twice", async () => {
	const spine = through([]);
	for (let i = 0; i < 3; i++) await spine.send(await spine.pack("coder", `Do ${i}.`));
	let calls = 0;
	flaky.misbehave(pass, lose, cut, pass, lose);
	assert.equal(
		await spine.agent("coder").run(
			async (work) => {
				calls++;
				await work.handOn("tester", "Test.", { result: work.id });
			},
			{ limit: 3, leaseS: 5 },
		),
		3,
	);
	flaky.misbehave();
	assert.equal(calls, 3);
	assert.equal((await spine.handoffs({ to: "tester" }).all()).length, 3);
});

test("an answer that does not come in time is told so", async () => {
	const spine = through([hang], { timeoutS: 0.2 });
	const error = await failure(spine.store("x"));
	assert.ok(error instanceof TimeoutError);
	assert.deepEqual([error.code, error.retryable], ["timeout", true]);
	flaky.misbehave(hang);
	assert.ok((await failure(through([hang]).get("ms-1", { timeoutS: 0.1 }))) instanceof TimeoutError);
});

test("a call that is aborted throws the signal's reason, while it waits and while it pauses", async () => {
	for (const fault of [hang, refuse(503, "overloaded", { "Retry-After": "20" })]) {
		const spine = through([fault]);
		const abort = new AbortController();
		const reason = new Error("enough");
		const call = failure(spine.store("x", { signal: abort.signal }));
		await until("it was sent", () => flaky.requests.length === 1);
		abort.abort(reason);
		assert.equal(await call, reason);
	}
	assert.equal(await failure(world.client().get("ms-1", { signal: AbortSignal.abort("before") })), "before");
});

test("nobody at the address is told by name, and asked again while there is time", async () => {
	const listener = createServer().listen(0, "127.0.0.1");
	await new Promise((resolve) => listener.once("listening", resolve));
	const { port } = listener.address();
	await new Promise((resolve) => listener.close(resolve));
	const error = await failure(new MemorySpine({ endpoint: `http://127.0.0.1:${port}`, timeoutS: 0.3 }).store("x"));
	assert.ok(error instanceof ConnectionError);
	assert.equal(error.code, "connect_failed");
	assert.match(error.detail, new RegExp(`127.0.0.1:${port}.*spine serve`));
	const spine = new MemorySpine({ endpoint: `http://127.0.0.1:${port}` });
	assert.deepEqual([await spine.healthy(), await spine.ready()], [false, false]);
});

test("what is no answer of the protocol is told so", async () => {
	const html = (_, request, response) =>
		response.writeHead(200, { "Content-Type": "application/json" }).end("<html>");
	const spine = through([html]);
	const error = await failure(spine.get("ms-1"));
	assert.ok(error instanceof ProtocolError);
	assert.equal(error.code, "invalid_response");
	const bare = await failure(through([(_, request, response) => response.writeHead(418).end("teapot")]).get("ms-1"));
	assert.ok(bare instanceof SpineError);
	assert.deepEqual([bare.code, bare.status], ["http_418", 418]);
	const large = through(
		[
			(_, request, response) =>
				response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify("x".repeat(5000))),
		],
		{ maxResponseBytes: 1000 },
	);
	assert.equal((await failure(large.get("ms-1"))).code, "response_too_large");
	const away = through(
		[(_, request, response) => response.writeHead(302, { Location: "http://evil.example/" }).end()],
		{ retries: 0 },
	);
	assert.ok((await failure(away.get("ms-1"))) instanceof ConnectionError);
});

test("a program says who it is", async () => {
	await through([], { agent: "me" }).status();
	const [{ headers }] = flaky.requests;
	assert.match(headers["user-agent"], /^memory-spine-typescript\/\d/);
	assert.equal(headers["spine-agent"], "me");
});
