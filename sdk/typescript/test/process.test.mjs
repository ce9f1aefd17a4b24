// An agent as a process of its own: what SIGTERM and SIGKILL do to the work in hand.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until, useServer } from "./world.mjs";

const world = await useServer();

/** As the README shows it; it says when it has begun, and goes on when it is told. */
const AGENT = `
import { MemorySpine } from "../dist/index.js";
const stop = new AbortController();
process.once("SIGTERM", () => { console.log("stopping"); stop.abort(); });
const spine = new MemorySpine();
const done = await spine.agent("coder").run(async (work) => {
	console.log("begun");
	await new Promise((resolve) => process.stdin.once("data", resolve));
	return "by " + work.attempt;
}, { signal: stop.signal, graceS: Number(process.env.GRACE_S), leaseS: 0.5 });
console.log("ended " + done);
process.stdin.destroy();
`;

function start(space, graceS) {
	const child = spawn(process.execPath, ["--input-type=module", "-e", AGENT], {
		cwd: dirname(fileURLToPath(import.meta.url)),
		env: { ...process.env, SPINE_URL: world.server.url, SPINE_SPACE: space, GRACE_S: String(graceS) },
		stdio: ["pipe", "pipe", "inherit"],
	});
	const lines = [];
	createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
	const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
	after(() => child.kill("SIGKILL"));
	return { child, ended, said: (what) => until(what, () => lines.includes(what)) };
}

test("SIGTERM finishes what is in hand, and the process ends by itself", async () => {
	const spine = world.client();
	const sent = await spine.send(await spine.pack("coder", "Go."));
	const agent = start(spine.space, 30);
	await agent.said("begun");
	agent.child.kill("SIGTERM");
	await agent.said("stopping");
	const next = await spine.send(await spine.pack("coder", "Not any more."));
	agent.child.stdin.write("go on\n");
	await agent.said("ended 1");
	assert.equal(await agent.ended, 0);
	assert.equal((await spine.handoff(sent)).result, "by 1");
	assert.equal((await spine.handoff(next)).state, "queued");
});

test("SIGTERM gives back what takes too long, and another instance begins it at once", async () => {
	const spine = world.client();
	const sent = await spine.send(await spine.pack("coder", "Go."));
	const agent = start(spine.space, 0.05);
	await agent.said("begun");
	agent.child.kill("SIGTERM");
	await agent.said("ended 0");
	assert.equal(await agent.ended, 0);
	const [again] = await spine.agent("coder").receive({ waitS: 5 });
	assert.deepEqual([again.id, again.attempt], [sent.id, 1]);
	await again.ack();
});

test("an idle agent ends at SIGTERM", async () => {
	const spine = world.client();
	const agent = start(spine.space, 30);
	const waiting = async () => (await spine.request("listQueues", {})).queues.some((one) => one.receiversWaiting > 0);
	await until("it waits for work", () => spine.agentInfo("coder").then((one) => one.receiversWaiting > 0, waiting));
	agent.child.kill("SIGTERM");
	assert.equal(await agent.ended, 0);
});

test("what a killed process had comes again when its lease has run out", async () => {
	const spine = world.client();
	const sent = await spine.send(await spine.pack("coder", "Go."));
	const agent = start(spine.space, 30);
	await agent.said("begun");
	agent.child.kill("SIGKILL");
	assert.equal(await agent.ended, "SIGKILL");
	const [again] = await spine.agent("coder").receive({ waitS: 20 });
	assert.deepEqual([again.id, again.attempt, again.redelivered], [sent.id, 2, true]);
	await again.ack();
});
