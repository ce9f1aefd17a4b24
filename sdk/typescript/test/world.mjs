// What the tests share: a real server, clients in spaces of their own, waiting for something.
import assert from "node:assert/strict";
import { after } from "node:test";
import { Server } from "../../../tests/dashboard/server.mjs";
import { MemorySpine } from "../dist/index.js";

export { Server };

let spaces = 0;

/** A server for the tests of a file. */
export async function useServer(...options) {
	const world = { server: await Server.start(...options), told: [] };
	after(() => world.server.stop());
	/** A client in a space of its own, or in that of another. What it logs is kept, not printed. */
	world.client = (more = {}) => {
		const spine = new MemorySpine({
			endpoint: world.server.url,
			space: more.like?.space ?? `test-${++spaces}`,
			log: (level, text, error) => world.told.push({ level, text, error }),
			...more,
		});
		return spine;
	};
	return world;
}

/** Waits for a condition, never for a time. */
export async function until(what, condition, seconds = 30) {
	const deadline = Date.now() + seconds * 1000;
	for (;;) {
		const value = await condition();
		if (value) return value;
		if (Date.now() > deadline) assert.fail(`in vain: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

export const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The error of a promise that must fail. */
export async function failure(promise) {
	try {
		await promise;
	} catch (error) {
		return error;
	}
	return assert.fail("it did not fail");
}
