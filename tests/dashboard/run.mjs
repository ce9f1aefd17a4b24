// Tests of the dashboard in a real browser: node run.mjs [WORD…] runs those whose name holds one of the words. Ends with "N passed, N failed".
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Server } from "./server.mjs";
import { launch, Stage } from "./stage.mjs";

const TEST_TIMEOUT_MS = 60_000;
const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const browser = await launch();
const server = await Server.start();
let passed = 0;
let failed = 0;

function late() {
	let timer;
	const promise = new Promise(
		(_, reject) =>
			(timer = setTimeout(() => reject(new Error(`not done after ${TEST_TIMEOUT_MS / 1000} s`)), TEST_TIMEOUT_MS)),
	);
	return { promise, stop: () => clearTimeout(timer) };
}

async function run(name, test) {
	const limit = late();
	const began = performance.now();
	let stage;

	try {
		stage = await Stage.open(browser, server, test.options);
		await Promise.race([test.run ? test.run(stage) : test(stage), limit.promise]);
		await stage.close();
		passed++;
		if (process.env.VERBOSE) console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
	} catch (error) {
		failed++;
		console.log(`FAIL  ${name}\n${error.stack}`);
		if (process.env.SHOTS && stage)
			await stage.page.screenshot({ path: join(process.env.SHOTS, `${failed}.png`) }).catch(() => undefined);
		await stage?.close().catch((fault) => console.log(fault.message));
	} finally {
		limit.stop();
	}
}

try {
	for (const file of (await readdir(here)).filter((name) => /^test_.*\.mjs$/.test(name)).sort()) {
		const { tests } = await import(pathToFileURL(join(here, file)));
		for (const [name, test] of Object.entries(tests))
			if (words.length === 0 || words.some((word) => `${file} ${name}`.includes(word))) await run(name, test);
	}
} finally {
	await browser.close();
	await server.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
