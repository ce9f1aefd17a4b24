// What npm users get: the packed file, installed in a fresh project, under Node, Deno and Bun, and in a browser's page.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { useServer } from "./world.mjs";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = resolve(here, "../..");
const world = await useServer();
const folder = mkdtempSync(join(tmpdir(), "spine-package-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const npm = (...args) =>
	execFileSync("npm", [...args, "--no-update-notifier", "--no-fund", "--no-audit", "--loglevel=error"], {
		cwd: folder,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "pipe"],
	});

const [packed] = JSON.parse(npm("pack", here, "--json", "--ignore-scripts"));
writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "fresh", private: true, type: "module" }));
npm("install", join(folder, packed.filename), "--offline");
const installed = join(folder, "node_modules/memory-spine");

/** Stores, hands on through two agents, and reads events: a program that anybody could have. */
const PROGRAM = `
import { MemorySpine, NotFound, version } from "memory-spine";
const [url, space, dead] = (globalThis.Deno?.args ?? process.argv.slice(2));
const spine = new MemorySpine({ endpoint: url, space, agent: "lead-ü" });
const memory = await spine.store("The gateway answers 429.");
const sent = await spine.send(await spine.pack("coder", "Go, based on " + memory.id + "."));
await spine.agent("coder").run((work) => work.handOn("tester", "Test.", { result: { by: work.to } }), { limit: 1 });
await spine.agent("tester").run(() => "fine", { limit: 1, concurrency: 2 });
const seen = [];
for await (const event of spine.events({ after: 0, types: ["handoff.completed"] })) if (seen.push(event.subject) === 2) break;
const error = await spine.get("ms-999").catch((error) => error);
const aborted = await spine.agent("idle").receive({ waitS: 30, signal: AbortSignal.timeout(50) }).catch((error) => error.name);
const nobody = await new MemorySpine({ endpoint: dead, retries: 0 }).status().catch((error) => error.code);
const proven = await (await spine.envelope(sent.envelopeId)).verify();
console.log(JSON.stringify({ version, author: memory.agent, result: (await spine.handoff(sent)).result, seen: seen.length, missing: error instanceof NotFound, aborted, nobody, proven }));
`;
const EXPECTED = {
	version: packed.version,
	author: "lead-ü",
	result: { by: "coder" },
	seen: 2,
	missing: true,
	aborted: "TimeoutError",
	nobody: "connect_failed",
	proven: true,
};
writeFileSync(join(folder, "program.mjs"), PROGRAM);

/** An address at which nobody listens any more. */
const gone = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => gone.once("listening", resolve));
const dead = `http://127.0.0.1:${gone.address().port}`;
await new Promise((resolve) => gone.close(resolve));

function runs(command, ...args) {
	const done = spawnSync(
		command,
		[...args, "program.mjs", world.server.url, `package-${args.length}-${command.length}`, dead],
		{ cwd: folder, encoding: "utf8", timeout: 60_000 },
	);
	assert.equal(done.status, 0, done.stderr);
	assert.deepEqual(JSON.parse(done.stdout.trim().split("\n").at(-1)), EXPECTED);
}

test("the packed file holds what npm users expect, and nothing else", () => {
	const names = packed.files.map((one) => one.path);
	for (const name of [
		"README.md",
		"LICENSE",
		"package.json",
		"dist/index.js",
		"dist/index.d.ts",
		"dist/generated/types.d.ts",
	])
		assert.ok(names.includes(name), name);
	assert.deepEqual(
		names.filter(
			(name) => !/^(README\.md|LICENSE|package\.json|dist\/(generated\/)?[\w-]+\.(js|d\.ts))$/.test(name),
		),
		[],
	);
	const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	assert.equal(manifest.version, readFileSync(join(root, "VERSION"), "utf8").trim());
	assert.equal(manifest.dependencies, undefined);
	assert.deepEqual(
		[manifest.type, manifest.license, manifest.engines.node, manifest.exports["."].types],
		["module", "Apache-2.0", ">=20", "./dist/index.d.ts"],
	);
	assert.ok(manifest.keywords.length > 3 && manifest.description);
	assert.ok(packed.size < 200_000, `${packed.size} bytes`);
});

test("it works in a fresh project under Node", () => runs(process.execPath));

test("a type checker takes it as it is, without skipping anything", () => {
	cpSync(join(here, "test/types.ts"), join(folder, "types.ts"));
	const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
	for (const module of ["nodenext", "esnext"]) {
		const resolution = module === "esnext" ? ["--moduleResolution", "bundler"] : [];
		const options = [
			"--noEmit",
			"--strict",
			"--exactOptionalPropertyTypes",
			"--skipLibCheck",
			"false",
			"--target",
			"es2022",
			"--module",
			module,
			...resolution,
		];
		const done = spawnSync(
			process.execPath,
			[compiler, ...options, "--types", "", "--lib", "es2022,dom,dom.iterable,dom.asynciterable", "types.ts"],
			{ cwd: folder, encoding: "utf8" },
		);
		assert.equal(done.status, 0, done.stdout);
	}
});

/** Deno and Bun come from npm, where that can be reached. Undefined where they are there, else why not. */
function runtimesMissing() {
	const place = join(here, "test/runtimes");
	try {
		if (!existsSync(join(place, "node_modules/.package-lock.json")))
			execFileSync("npm", ["ci", "--no-update-notifier", "--no-fund", "--no-audit", "--loglevel=error"], {
				cwd: place,
				stdio: "pipe",
				timeout: 240_000,
			});
		return undefined;
	} catch (error) {
		return `npm cannot bring it: ${String(error.message).split("\n")[0]}`;
	}
}

const missing = runtimesMissing();
for (const [name, program, ...args] of [
	["deno", "@deno/linux-x64-glibc/deno", "run", "--allow-net", "--no-prompt"],
	["bun", "@oven/bun-linux-x64/bin/bun", "run"],
])
	test(`it works under ${name}`, { skip: missing ?? false, timeout: 120_000 }, () =>
		runs(join(here, "test/runtimes/node_modules", program), ...args),
	);

// --- A page ------------------------------------------------------------------------------------

/** The packed files on a port of their own: another origin than the server's. */
async function site() {
	const types = { ".js": "text/javascript", ".html": "text/html" };
	const server = createServer((request, response) => {
		const { pathname } = new URL(request.url, "http://here");
		const file = join(installed, "dist", pathname);
		if (pathname === "/")
			return response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>page</title>");
		if (!existsSync(file)) return response.writeHead(404).end();
		return response
			.writeHead(200, { "Content-Type": types[extname(file)] ?? "text/plain" })
			.end(readFileSync(file));
	});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	after(() => server.close());
	return server.address().port;
}

async function browser() {
	const folder = join(root, "tests/dashboard/node_modules/playwright-core/index.mjs");
	if (!existsSync(folder)) return "playwright-core is not installed: make dashboard-tests";
	const { chromium } = await import(pathToFileURL(folder));
	const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
	if (!executablePath) return "chromium is not installed";
	const launched = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
	after(() => launched.close());
	return launched;
}

/** In the page: what works from another origin. */
async function inPage([url, space]) {
	const { MemorySpine, NotFound, ValidationError } = await import("/index.js");
	const spine = new MemorySpine({ endpoint: url, space, agent: "seite-ü", timeoutS: 5 });
	const memory = await spine.store("Stored by a page.", { idempotencyKey: "page-1" });
	const changed = await spine.update(memory.id, { content: "Changed by a page.", ifVersion: memory.version });
	const agent = await spine.registerAgent("coder", { maxTokens: 3000 });
	const sent = await spine.send(await spine.pack("coder", "Go."));
	await spine.agent("coder").run(() => "done in a page", { limit: 1 });
	let event;
	for await (event of spine.events({ after: 0, types: "handoff.completed" })) break;
	const error = await spine.get("ms-999").catch((one) => one);
	const wrong = await spine.store("x", { importance: "urgent" }).catch((one) => one);
	const result = (await spine.handoff(sent)).result;
	const forPersons = await spine
		.request(
			"waive",
			{ params: { id: "task-1" }, body: { key: "x", reason: "y" } },
			{ person: "Eve", retry: false },
		)
		.catch((one) => one.code);
	return {
		author: memory.agent,
		version: changed.version,
		etag: agent.etag !== null,
		subject: event.subject === sent.id,
		missing: error instanceof NotFound,
		field: wrong instanceof ValidationError && wrong.field,
		result,
		forPersons,
	};
}

test(
	"it works in a page of another loopback origin, and the page cannot speak for a person",
	{ timeout: 120_000 },
	async (t) => {
		const launched = await browser();
		if (typeof launched === "string") return t.skip(launched);
		const port = await site();
		for (const [at, host] of ["127.0.0.1", "localhost"].entries()) {
			const page = await launched.newPage();
			await page.goto(`http://${host}:${port}/`);
			const seen = await page.evaluate(inPage, [world.server.url, `page-${at}`]);
			assert.deepEqual(seen, {
				author: "seite-ü",
				version: 2,
				etag: true,
				subject: true,
				missing: true,
				field: "importance",
				result: "done in a page",
				forPersons: "connection_lost",
			});
			await page.close();
		}
		return undefined;
	},
);

test("a page of a stranger is kept out by the browser and by the server", { timeout: 120_000 }, async (t) => {
	const launched = await browser();
	if (typeof launched === "string") return t.skip(launched);
	const port = await site();
	const page = await launched.newPage();
	await page.route("http://stranger.example/**", async (route) => {
		const answer = await fetch(`http://127.0.0.1:${port}${new URL(route.request().url()).pathname}`);
		await route.fulfill({
			status: answer.status,
			headers: { "Content-Type": answer.headers.get("content-type") },
			body: Buffer.from(await answer.arrayBuffer()),
		});
	});
	await page.goto("http://stranger.example/");
	const code = await page.evaluate(
		async ([url]) => {
			const { MemorySpine } = await import("/index.js");
			return new MemorySpine({ endpoint: url, space: "stranger", retries: 0 }).store("x").then(
				() => "stored",
				(error) => error.detail,
			);
		},
		[world.server.url],
	);
	assert.match(code, /does it allow pages of http:\/\/stranger\.example\?/);
	assert.deepEqual(await world.client({ space: "stranger" }).list().all(), []);
	return undefined;
});
