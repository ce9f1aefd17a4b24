// Handlers that have their effect once, although handoffs come more than once, also where processes are killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { idempotent } from "../dist/index.js";
import { failure, Server, until, useServer } from "./world.mjs";

const world = await useServer();
const here = dirname(fileURLToPath(import.meta.url));

function folder() {
	const path = mkdtempSync(join(tmpdir(), "spine-handled-"));
	after(() => rmSync(path, { recursive: true, force: true }));
	return path;
}

async function send(spine, count = 1) {
	const sent = [];
	for (let at = 0; at < count; at++) sent.push(await spine.send(await spine.pack("coder", "Go."), { maxAttempts: 10 }));
	return sent;
}

/** Gives a handoff back, as if its ack had been lost. */
const again = (work) => work.nack("its ack was lost", { delayS: 0 });

/** Brings back at once what a process took and never settled, instead of after its lease and the backoff. */
async function bringBack(spine, sent) {
	await spine.parkEnvelope(sent.envelopeId, "take it away");
	await spine.redrive(sent);
}

const never = () => assert.fail("it is handled already");

/** A receiver in a process of its own; `effects` has the ids of the handoffs whose effect took place. */
function program(spine, path, body) {
	const log = join(path, "effects");
	const code = `
import { appendFileSync } from "node:fs";
import { idempotent, MemorySpine } from "../dist/index.js";
const effect = (work) => appendFileSync(${JSON.stringify(log)}, work.id + "\\n");
const die = () => process.kill(process.pid, "SIGKILL");
const spine = new MemorySpine();
const options = { path: ${JSON.stringify(path)}, name: "h" };
const [work] = await spine.agent("coder").receive();
${body}`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
		cwd: here,
		env: { ...process.env, SPINE_URL: world.server.url, SPINE_SPACE: spine.space },
		stdio: ["pipe", "pipe", "inherit"],
	});
	after(() => child.kill("SIGKILL"));
	const lines = [];
	createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
	return {
		child,
		ended: new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code))),
		said: (what) => until(what, () => lines.includes(what)),
		effects: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []),
	};
}

test("a handler is called once, and its result is remembered", async () => {
	const spine = world.client();
	const [sent] = await send(spine);
	let calls = 0;
	const handle = idempotent(() => ({ made: ++calls }), { path: folder(), name: "h" });
	const [first] = await spine.agent("coder").receive();
	assert.deepEqual(await handle(first), { made: 1 });
	await again(first);
	assert.equal(await spine.agent("coder").run(handle, { limit: 1 }), 1);
	const told = await spine.handoff(sent);
	assert.deepEqual([calls, told.state, told.result], [1, "completed", { made: 1 }]);
});

test("nothing is remembered as well as something, and acks", async () => {
	const spine = world.client();
	const [sent] = await send(spine);
	let calls = 0;
	const handle = idempotent(() => void calls++, { path: folder(), name: "h" });
	const [first] = await spine.agent("coder").receive();
	assert.equal(await handle(first), undefined);
	await again(first);
	assert.equal(await spine.agent("coder").run(handle, { limit: 1 }), 1);
	assert.deepEqual([calls, (await spine.handoff(sent)).state], [1, "acked"]);
});

test("each handoff is another, and each handler", async () => {
	const spine = world.client();
	const path = folder();
	const calls = [];
	const sent = await send(spine, 3);
	const handle = idempotent((work) => void calls.push(work.id), { path, name: "one" });
	await spine.agent("coder").run(handle, { idleS: 0, concurrency: 2 });
	assert.deepEqual(calls.sort(), sent.map((one) => one.id).sort());
	const [other] = await send(spine);
	const [work] = await spine.agent("coder").receive();
	for (const name of ["one", "two"]) await idempotent(() => void calls.push(name), { path, name })(work);
	assert.deepEqual(calls.slice(3), ["one", "two"], other.id);
	await work.ack();
});

test("the same id on another server is another handoff", async () => {
	const calls = [];
	const handle = idempotent((work) => void calls.push(work.id), { path: folder(), name: "h" });
	for (let at = 0; at < 2; at++) {
		const server = await Server.start();
		after(() => server.stop());
		const spine = world.client({ endpoint: server.url, space: "default" });
		await send(spine);
		await spine.agent("coder").run(handle, { limit: 1 });
	}
	assert.deepEqual(calls, ["ho-1", "ho-1"]);
});

test("a handler that throws has not handled", async () => {
	const spine = world.client();
	await send(spine);
	const seen = [];
	const handle = idempotent(
		(work) => {
			seen.push(work.inDoubt);
			if (seen.length === 1) throw new RangeError("not now");
			return seen.length === 2 ? 1n : "done";
		},
		{ path: folder(), name: "h", inDoubt: "reject" },
	);
	for (const kind of [RangeError, TypeError]) {
		const [work] = await spine.agent("coder").receive();
		assert.ok((await failure(handle(work))) instanceof kind);
		await again(work);
	}
	const [work] = await spine.agent("coder").receive();
	assert.equal(await handle(work), "done");
	assert.deepEqual(seen, [false, false, false]);
	await work.ack();
});

test("what the handler has settled itself is not settled with its result once more", async () => {
	const spine = world.client();
	const path = folder();
	const [sent] = await send(spine);
	const handle = idempotent((work) => work.handOn("reviewer", "Review it.", { result: "patch" }), { path, name: "h" });
	assert.equal(await spine.agent("coder").run(handle, { limit: 1 }), 1);
	assert.equal((await spine.handoff(sent)).result, "patch");
	const [name] = readdirSync(join(path, "done"));
	assert.equal("result" in JSON.parse(readFileSync(join(path, "done", name), "utf8")), false);
});

test("what was handled long ago can be forgotten", async () => {
	const spine = world.client();
	await send(spine, 2);
	const handle = idempotent(() => undefined, { path: folder(), name: "h" });
	await spine.agent("coder").run(handle, { idleS: 0 });
	assert.equal(await handle.handled.forgetOlder(3600), 0);
	assert.equal(await handle.handled.forgetOlder(-1), 2);
});

test("what cannot be a handler, or remember, is refused", async () => {
	assert.throws(() => idempotent(() => undefined, { path: folder() }), /has no name to be remembered by/);
	assert.throws(() => idempotent(() => undefined, { name: "h", inDoubt: "guess" }), /expected "run" or "reject"/);
	for (const path of ["", ":memory:"])
		assert.throws(() => idempotent(() => undefined, { name: "h", path }), /in a folder: name one/);
	const spine = world.client();
	await send(spine);
	const [work] = await spine.agent("coder").receive();
	const long = join(folder(), "x".repeat(100));
	assert.match((await failure(idempotent(never, { name: "h", path: long })(work))).message, /name a shorter one/);
	await work.ack();
});

test("two at once do not handle the same: the second gives it back for later", async () => {
	const spine = world.client();
	const [sent] = await send(spine);
	let begun;
	let goOn;
	const hasBegun = new Promise((resolve) => (begun = resolve));
	const calls = [];
	const handle = idempotent(
		async (work) => {
			calls.push(work.lease);
			begun();
			await new Promise((resolve) => (goOn = resolve));
			return "done";
		},
		{ path: folder(), name: "h" },
	);
	const [first] = await spine.agent("coder").receive();
	const result = handle(first);
	await hasBegun;
	await again(first);
	const [second] = await spine.agent("coder").receive();
	assert.equal(await handle(second), undefined);
	const told = await spine.handoff(sent);
	assert.deepEqual([told.state, told.reason], ["queued", "another process is still working on it"]);
	goOn();
	assert.equal(await result, "done");
	assert.deepEqual(calls, [first.lease]);
});

test("two processes do not handle the same at once, and what one did the other knows", async () => {
	const spine = world.client();
	const path = folder();
	const [sent] = await send(spine);
	const process_ = program(
		spine,
		path,
		`const handle = idempotent(async (work) => {
			effect(work);
			console.log("begun");
			await new Promise((resolve) => process.stdin.once("data", resolve));
			return "done";
		}, options);
		console.log(await handle(work));
		process.stdin.destroy();`,
	);
	await process_.said("begun");
	await bringBack(spine, sent);
	const handle = idempotent(never, { path, name: "h" });
	const [work] = await spine.agent("coder").receive();
	assert.equal(await handle(work), undefined);
	assert.equal(work.settled, "nack");
	process_.child.stdin.write("go on\n");
	await process_.said("done");
	assert.equal(await process_.ended, 0, "nothing of it keeps a process from ending");
	await bringBack(spine, sent);
	assert.equal(await spine.agent("coder").run(handle, { limit: 1 }), 1);
	const told = await spine.handoff(sent);
	assert.deepEqual([told.state, told.result, process_.effects()], ["completed", "done", [sent.id]]);
});

test("a crash between effect and ack does not repeat the effect", async () => {
	const spine = world.client();
	const path = folder();
	const [sent] = await send(spine);
	const process_ = program(
		spine,
		path,
		`await idempotent((work) => { effect(work); return "done"; }, options)(work);
		die();`,
	);
	assert.equal(await process_.ended, "SIGKILL");
	await bringBack(spine, sent);
	assert.equal(await spine.agent("coder").run(idempotent(never, { path, name: "h" }), { limit: 1 }), 1);
	assert.equal((await spine.handoff(sent)).result, "done");
	assert.deepEqual(process_.effects(), [sent.id]);
});

const MIDDLE = `await idempotent(async (work) => { effect(work); die(); await new Promise(() => setTimeout(() => 0, 1e6)); }, options)(work);`;

test("a crash in the middle is told to the next try", async () => {
	const spine = world.client();
	const path = folder();
	const [sent] = await send(spine);
	assert.equal(await program(spine, path, MIDDLE).ended, "SIGKILL");
	await bringBack(spine, sent);
	const handle = idempotent((work) => [work.inDoubt, work.redelivered], { path, name: "h" });
	assert.equal(await spine.agent("coder").run(handle, { limit: 1 }), 1);
	assert.deepEqual((await spine.handoff(sent)).result, [true, true]);
	assert.deepEqual(readdirSync(join(path, "begun")), []);
});

test("a crash in the middle parks where twice is worse than never", async () => {
	const spine = world.client();
	const path = folder();
	const [sent] = await send(spine);
	const process_ = program(spine, path, MIDDLE);
	assert.equal(await process_.ended, "SIGKILL");
	await bringBack(spine, sent);
	const handle = idempotent(never, { path, name: "h", inDoubt: "reject" });
	assert.equal(await spine.agent("coder").run(handle, { limit: 1, idleS: 0 }), 0);
	const told = await spine.handoff(sent);
	assert.equal(told.state, "parked");
	assert.match(told.reason, /a process died/);
	assert.deepEqual(process_.effects(), [sent.id]);
	// A person has looked, and redrives it: that is the decision to do it again.
	await spine.redrive(sent, { why: "it did not take place" });
	const after_ = idempotent((work) => work.inDoubt, { path, name: "h" });
	assert.equal(await spine.agent("coder").run(after_, { limit: 1 }), 1);
	assert.equal((await spine.handoff(sent)).result, false);
});

test("what returned and could not be remembered is in doubt", async () => {
	const spine = world.client();
	const path = folder();
	await send(spine);
	const [first] = await spine.agent("coder").receive();
	const handle = idempotent(
		() => {
			rmSync(join(path, "done"), { recursive: true });
			writeFileSync(join(path, "done"), "no folder any more");
			return "done";
		},
		{ path, name: "h" },
	);
	assert.equal((await failure(handle(first))).code, "ENOTDIR");
	rmSync(join(path, "done"));
	mkdirSync(join(path, "done"));
	await again(first);
	const [second] = await spine.agent("coder").receive();
	assert.equal(await idempotent((work) => work.inDoubt, { path, name: "h" })(second), true);
	await second.ack();
});
