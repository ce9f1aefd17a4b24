// examples/fan-out, by the commands that its README shows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { useServer } from "./world.mjs";

const folder = resolve(dirname(fileURLToPath(import.meta.url)), "../../../examples/fan-out");
const world = await useServer();

test("the fan-out with a join runs as it stands", { timeout: 120_000 }, () => {
	const run = (...args) =>
		execFileSync("npm", [...args, "--no-update-notifier", "--loglevel=error"], {
			cwd: folder,
			encoding: "utf8",
			env: { ...process.env, SPINE_URL: world.server.url },
			timeout: 60_000,
		});
	run("install", "--offline");
	for (let round = 0; round < 2; round++) {
		const printed = run("start");
		const findings = [...printed.matchAll(/^(security|speed|style)-reviewer: (.+)$/gm)].map(
			([, , finding]) => finding,
		);
		assert.equal(findings.length, 3);
		const [, prompt] = printed.split("# Handoff to writer");
		for (const finding of findings) assert.ok(prompt.includes(finding), finding);
		assert.match(
			printed,
			/^writer: Not yet: blank the card number in the log, lower the timeout to 5 seconds, rename do_it\.$/m,
		);
		assert.match(printed, /^the chain is intact$/m);
	}
});
