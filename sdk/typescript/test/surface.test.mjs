// What the package shows: every call of the protocol, the names of the Python client, types without holes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as package_ from "../dist/index.js";
import { operations } from "../dist/generated/operations.js";
import { useServer } from "./world.mjs";

const { Channel, Envelope, Events, HandoffClient, Inbox, MemorySpine, Receiver, Work } = package_;
const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = resolve(here, "../..");
const world = await useServer();
const read = (path) => readFileSync(join(here, path), "utf8");

/** The names of what an object of the class shows. */
function shown(kind) {
	const names = new Set();
	for (let at = kind.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at))
		for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
	return names;
}

// Each call of the protocol, by its name in /openapi.json, with the methods that make it.
const methods = {
	listMemories: ["list", "search"],
	storeMemory: ["store"],
	storeMemories: ["storeMany"],
	fetchMemories: ["fetch"],
	readMemory: ["get"],
	changeMemory: ["update"],
	forgetMemory: ["forget"],
	listVersions: ["versions"],
	pinMemory: ["pin"],
	unpinMemory: ["unpin"],
	revertMemory: ["revert"],
	handOff: ["pack", "agentHandoff"],
	readEnvelope: ["envelope"],
	verifyEnvelope: ["verify"],
	resolveEnvelope: ["resolve"],
	listReceipts: ["receipts"],
	readConsidered: ["considered"],
	compareEnvelopes: ["diff"],
	listTasks: ["tasks"],
	readTask: ["task"],
	readFidelity: ["fidelity"],
	blame: ["blame"],
	waive: ["waive"],
	traceTask: ["trace"],
	listAgents: ["agents"],
	readAgent: ["agentInfo"],
	registerAgent: ["registerAgent"],
	resetBreaker: ["resetBreaker"],
	deleteAgent: ["deleteAgent"],
	deliver: ["send", "deliverHandoff"],
	listHandoffs: ["handoffs"],
	readHandoff: ["handoff"],
	cancel: ["cancel"],
	move: ["move"],
	park: ["parkEnvelope"],
	listParked: ["parked"],
	redrive: ["redrive"],
	reroute: ["reroute"],
	shrink: ["shrink"],
	discard: ["discard"],
	restore: ["restore"],
	redriveMany: ["redriveMany"],
	rerouteMany: ["rerouteMany"],
	discardMany: ["discardMany"],
	restoreMany: ["restoreMany"],
	cancelMany: ["cancelMany"],
	moveMany: ["moveMany"],
	listQueues: ["queues"],
	readQueue: ["queue"],
	listChannels: ["channels"],
	listRoutes: ["routes"],
	readRoute: ["route"],
	putRoute: ["putRoute"],
	deleteRoute: ["deleteRoute"],
	watchEvents: ["events"],
	audit: ["audit"],
	stats: ["stats"],
	listAlerts: ["alerts", "alertRules"],
	ackAlert: ["ackAlert"],
	silenceAlert: ["silenceAlert"],
	listSpaces: ["spaces"],
	readSpace: ["spaceInfo"],
	setSpace: ["setSpace"],
	quarantine: ["quarantine"],
	releaseQuarantined: ["releaseQuarantined"],
	purge: ["purge"],
	listQuarantined: ["quarantined"],
	deleteSpace: ["deleteSpace"],
	createKey: ["createKey"],
	listKeys: ["keys"],
	readKey: ["key"],
	rotateKey: ["rotateKey"],
	revokeKey: ["revokeKey"],
	readSession: ["session"],
	countTokens: ["tokens"],
	status: ["status"],
	readCluster: ["cluster"],
	health: ["healthy"],
	readiness: ["ready"],
	receive: [Receiver, "receive", "inbox", "run"],
	peek: [Receiver, "peek"],
	ack: [Work, "ack"],
	nack: [Work, "nack"],
	release: [Work, "release"],
	reject: [Work, "reject"],
	progress: [Work, "progress"],
	complete: [Work, "complete", "handOn"],
	need: [Work, "need"],
	readChannel: [Channel, "info"],
	makeChannel: [Channel, "describe"],
	subscribe: [Channel, "subscribe"],
	unsubscribe: [Channel, "unsubscribe"],
	publish: [Channel, "publish"],
	join: [Channel, "join"],
};
// Reached with `request`: what describes the server, what `spine export --whole` and `spine import` do, and the cookie of pages.
const byRequest = [
	...["metrics", "listSchemas", "readSchema", "openapi", "exportRows", "importRows"],
	...["openSession", "closeSession"],
];
// The stream of handoffs is what `inbox` does, with receive.
const notReached = ["streamHandoffs"];

test("every call of the protocol is reached", async () => {
	const document = await (await fetch(`${world.server.url}/openapi.json`)).json();
	const names = Object.values(document.paths).flatMap((path) =>
		Object.values(path)
			.map((one) => one.operationId)
			.filter(Boolean),
	);
	assert.ok(names.length > 60);
	assert.deepEqual(Object.keys(operations).sort(), names.filter((name) => !notReached.includes(name)).sort());
	assert.deepEqual([...Object.keys(methods), ...byRequest].sort(), Object.keys(operations).sort());
	for (const [name, [first, ...rest]] of Object.entries(methods)) {
		const [kind, wanted] = typeof first === "string" ? [MemorySpine, [first, ...rest]] : [first, rest];
		for (const method of wanted) assert.ok(shown(kind).has(method), `${name} has no method ${method}`);
	}
	// And no method that makes none.
	const made = new Set(
		Object.values(methods)
			.filter(([first]) => typeof first === "string")
			.flat(),
	);
	const others = ["agent", "getChannel", "request", "exchange", "stream", "stored"];
	assert.deepEqual([...shown(MemorySpine)].filter((name) => !made.has(name)).sort(), others.sort());
});

test("a call without a method is made by its name", async () => {
	const spine = world.client();
	const { queues } = await spine.request("listQueues", {});
	assert.deepEqual(queues, []);
	assert.match(await spine.request("metrics", {}), /^# HELP/m);
});

test("the calls have the names of the Python client, in camelCase", () => {
	const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
	const source = readFileSync(join(root, "sdk/python/memory_spine/client.py"), "utf8");
	const names = [...source.matchAll(/^ {4}(\w+) = blocking/gm)].map(([, name]) => camel(name));
	assert.ok(names.length > 50);
	assert.deepEqual(
		names.filter((name) => !shown(MemorySpine).has(name)),
		[],
	);
	const errors = [
		...readFileSync(join(root, "sdk/python/memory_spine/errors.py"), "utf8").matchAll(/^class (\w+)\(/gm),
	].map(([, name]) => name);
	assert.deepEqual(
		errors.filter((name) => !(name in package_)),
		[],
	);
	for (const name of errors)
		assert.equal(Object.create(package_[name].prototype) instanceof package_.SpineError, true, name);
});

test("the functions of the Python package are here, too", () => {
	const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
	const source = readFileSync(join(root, "sdk/python/memory_spine/__init__.py"), "utf8").split("__all__ = [")[1];
	const names = [...source.matchAll(/^ {4}"([a-z]\w+)",$/gm)].map(([, name]) => camel(name));
	assert.ok(names.includes("idempotent"));
	assert.deepEqual(
		names.filter((name) => typeof package_[name] !== "function"),
		[],
	);
});

test("every kind of problem has the class that Python gives it", () => {
	const python = readFileSync(join(root, "sdk/python/memory_spine/errors.py"), "utf8");
	const table = (text) =>
		Object.fromEntries([...text.matchAll(/^\s*"?(\w+)"?: (\w+),$/gm)].map(([, code, name]) => [code, name]));
	const ours = table(readFileSync(join(here, "src/problems.ts"), "utf8").split("const classOfCode")[1]);
	assert.deepEqual(ours, table(python.split("_CLASS_OF_CODE")[1].split("def ")[0]));
});

test("what the objects show is told in the README, and nothing else", () => {
	const told = [...read("README.md").matchAll(/`[^`\n]+`/g)].join(" ");
	const own = new Set(["of", "loop", "following", "succeed", "fail", "giveBack", "patiently", "inHand"]);
	for (const kind of [Work, Receiver, Inbox, Events, Channel, HandoffClient, Envelope])
		for (const name of shown(kind))
			if (!own.has(name)) assert.match(told, new RegExp(`\\b${name}\\b`), `${kind.name}.${name}`);
	for (const name of made()) assert.match(told, new RegExp(`\\b${name}\\b`), name);
});

const made = () =>
	Object.values(methods)
		.filter(([first]) => typeof first === "string")
		.flat();

test("types have no holes, and every member that people see is explained", () => {
	for (const name of readdirSync(join(here, "dist")).filter((one) => one.endsWith(".d.ts"))) {
		const text = read(`dist/${name}`);
		assert.doesNotMatch(text.replace(/\/\*[\s\S]*?\*\/|"[^"]*"/g, ""), /\bany\b/, name);
	}
	for (const name of ["memories", "envelopes", "handoffs", "many", "operating", "channel", "receiver", "work"]) {
		const lines = read(`dist/${name}.d.ts`).split("\n");
		const seen = new Set(["constructor"]); // of several forms of a method the first is explained
		lines.forEach((line, at) => {
			const method = /^ {4}(\w+)[<(]/.exec(line)?.[1];
			if (method && !seen.has(method)) assert.match(lines[at - 1], /\*\/$/, `${name}: ${line.trim()}`);
			seen.add(method);
		});
	}
});

test("it imports nothing but itself", () => {
	for (const name of readdirSync(join(here, "src")).filter((one) => one.endsWith(".ts")))
		for (const [, from] of read(`src/${name}`).matchAll(/^(?!\s*\*).*from "([^"]+)"/gm))
			assert.match(from, /^\.\/(generated\/)?[\w-]+\.js$/, name);
	const manifest = JSON.parse(read("package.json"));
	assert.equal(manifest.dependencies, undefined);
	assert.deepEqual(Object.keys(manifest.devDependencies), ["typescript"]);
});

test("the version is the project's", () => {
	const version = readFileSync(join(root, "VERSION"), "utf8").trim();
	assert.equal(package_.version, version);
	assert.equal(JSON.parse(read("package.json")).version, version);
	assert.equal(JSON.parse(read("package-lock.json")).version, version);
});

test("the generated files are those of the descriptions as they are now", () => {
	const before = ["types", "operations"].map((name) => read(`src/generated/${name}.ts`));
	const copy = mkdtempSync(join(tmpdir(), "spine-generated-"));
	after(() => rmSync(copy, { recursive: true, force: true }));
	cpSync(join(here, "generate.mjs"), join(copy, "sdk/typescript/generate.mjs"), { recursive: true });
	for (const name of ["envelope-1", "envelope-2"])
		cpSync(join(root, `schemas/${name}.json`), join(copy, `schemas/${name}.json`), { recursive: true });
	cpSync(join(root, "schemas/openapi.json"), join(copy, "schemas/openapi.json"));
	cpSync(join(root, "VERSION"), join(copy, "VERSION"));
	execFileSync(process.execPath, [join(copy, "sdk/typescript/generate.mjs")]);
	assert.deepEqual(
		["types", "operations"].map((name) =>
			readFileSync(join(copy, `sdk/typescript/src/generated/${name}.ts`), "utf8"),
		),
		before,
	);
});
