// The examples of the README, in their order: they compile under the strictest rules, run, and print what they say.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { useServer } from "./world.mjs";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const world = await useServer();
export const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

test("what the README shows is true", () => {
	const folder = mkdtempSync(join(tmpdir(), "spine-readme-"));
	after(() => rmSync(folder, { recursive: true, force: true }));
	mkdirSync(join(folder, "node_modules"));
	symlinkSync(here, join(folder, "node_modules/memory-spine"));
	writeFileSync(join(folder, "package.json"), '{"type":"module"}');
	const blocks = [...readFileSync(join(here, "README.md"), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(
		([, code]) => code,
	);
	assert.ok(blocks.length > 8);
	const expected = [...blocks.join("").matchAll(/console\.log\(.*\);\s*\/\/ -> (.*)$/gm)].map(([, text]) => text);
	assert.ok(expected.length > 10);
	// Node's process is the one name that the examples take from outside.
	writeFileSync(
		join(folder, "process.d.ts"),
		"declare const process: { once(event: string, listener: () => void): void };",
	);
	writeFileSync(join(folder, "readme.ts"), blocks.join("\n"));
	const options = [
		"--strict",
		"--target",
		"es2022",
		"--module",
		"nodenext",
		"--lib",
		"es2022,dom,dom.iterable,dom.asynciterable",
		"--types",
		"",
	];
	const compiled = spawnSync(process.execPath, [compiler, ...options, "readme.ts", "process.d.ts"], {
		cwd: folder,
		encoding: "utf8",
	});
	assert.equal(compiled.status, 0, compiled.stdout);
	const printed = execFileSync(process.execPath, ["readme.js"], {
		cwd: folder,
		encoding: "utf8",
		env: { ...process.env, SPINE_URL: world.server.url },
		timeout: 60_000,
	});
	assert.deepEqual(printed.trim().split("\n"), expected);
});
