// What a handler stores belongs to the task that it has in hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useServer } from "./world.mjs";

const world = await useServer();

const begin = async (spine, task, to = "coder") => spine.send(await spine.pack(to, "Go.", { task }));

test("a plain store in a handler is of the task in hand, however deep it is called", async () => {
	const spine = world.client();
	await begin(spine, "task-a");
	await begin(spine, "task-b");
	const deep = async (text) => {
		await new Promise((resolve) => setTimeout(resolve, 1));
		const [many] = await spine.storeMany([`${text}, many`]);
		return [(await spine.store(text)).task, many.task];
	};
	const seen = [];
	let both;
	const bothBegun = new Promise((resolve) => (both = resolve));
	let begun = 0;
	await spine.agent("coder").run(
		async (work) => {
			if (++begun === 2) both();
			await bothBegun;
			seen.push([work.task, ...(await deep(work.task))]);
		},
		{ limit: 2, concurrency: 2 },
	);
	assert.deepEqual(seen.sort(), [
		["task-a", "task-a", "task-a"],
		["task-b", "task-b", "task-b"],
	]);
});

test("work.run has the task in hand, too; the loop over an inbox has work.store", async () => {
	const spine = world.client();
	await begin(spine, "task-1");
	const [work] = await spine.agent("coder").receive();
	assert.equal((await work.run(() => spine.store("by hand"))).task, "task-1");
	await begin(spine, "task-2");
	for await (const one of spine.agent("coder").inbox({ limit: 1 }))
		assert.equal((await one.store("in a loop")).task, "task-2");
});

test("what is named, shared, or stored by another client is not of the task in hand", async () => {
	const spine = world.client();
	const other = world.client({ space: spine.space });
	await begin(spine, "task-1");
	await spine.agent("coder").run(
		async () => {
			assert.equal((await spine.store("of another", { task: "task-9" })).task, "task-9");
			assert.equal((await spine.store("of all", { shared: true })).task ?? null, null);
			assert.equal((await other.store("of another client")).task ?? null, null);
		},
		{ limit: 1, onError: (_, error) => assert.fail(error) },
	);
});

test("what a handler has left running stores for its task no more", async () => {
	const spine = world.client();
	await begin(spine, "task-1");
	let goOn;
	let left;
	await spine.agent("coder").run(
		() => {
			left = new Promise((resolve) => (goOn = resolve)).then(() => spine.store("afterwards"));
		},
		{ limit: 1 },
	);
	goOn();
	assert.equal((await left).task ?? null, null);
	assert.equal((await spine.store("outside")).task ?? null, null);
});
