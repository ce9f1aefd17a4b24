/**
 * What a client is working on: the task that goes with what it stores.
 *
 * A handler that has a handoff in hand says so here, and every `store` of its client carries the handoff's task (the
 * header Spine-Task), wherever in the work it is called: what was said follows the calls that the handler makes and
 * awaits. That needs `AsyncLocalStorage`, which Node, Deno and Bun have. A browser has none: there, and in a loop over an
 * inbox, whose body is not called by anybody here, `work.store` does it.
 *
 * @module
 */
import { builtin } from "./builtin.js";

interface Entry {
	readonly client: object;
	readonly task: string;
	readonly outer: Entry | undefined;
	/** What the handler has left running goes on after it: it stores for the task no more. */
	isOver: boolean;
}

interface Storage {
	run<R>(entry: Entry, call: () => R): R;
	getStore(): Entry | undefined;
}

/** Loaded with the first handler; null where there is none. */
let storage: Storage | null | undefined;

async function load(): Promise<Storage | null> {
	const hooks = await builtin<{ AsyncLocalStorage?: new () => Storage }>("node:async_hooks");
	storage ??= hooks?.AsyncLocalStorage ? new hooks.AsyncLocalStorage() : null;
	return storage;
}

/** Calls it; meanwhile what the client stores belongs to the task. */
export async function withInHand<T>(
	client: object,
	task: string | undefined,
	call: () => T | Promise<T>,
): Promise<T> {
	const kept = storage === undefined ? await load() : storage;
	if (kept === null || task === undefined) return call();
	const entry: Entry = { client, task, outer: kept.getStore(), isOver: false };
	try {
		return await kept.run(entry, async () => call());
	} finally {
		entry.isOver = true;
	}
}

/** The task of what the client has in hand here; of several, of what was begun last. */
export function taskInHand(client: object): string | undefined {
	for (let entry = storage?.getStore(); entry !== undefined; entry = entry.outer)
		if (!entry.isOver && entry.client === client) return entry.task;
	return undefined;
}
