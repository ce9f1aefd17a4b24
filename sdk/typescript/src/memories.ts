/** The calls on memories. @module */
import { Caller, type CallOptions } from "./caller.js";
import { PreconditionFailed } from "./errors.js";
import type { Found, JsonObject, Memory, MemoryInput, MemoryPatch, Operations } from "./generated/types.js";
import { fetching } from "./fetching.js";
import { Pages } from "./pages.js";

const PAGE_MAX = 1000;

/** What a memory is stored with, beside its content. */
export interface MemoryFields extends Omit<MemoryInput, "content" | "scope"> {
	/** It belongs to no task: it is for the whole space. */
	readonly shared?: boolean | undefined;
}

/** Options of `store`. */
export interface StoreOptions extends MemoryFields, CallOptions {
	/** Storing again with the same key and the same fields within a day returns the memory that is there. */
	readonly idempotencyKey?: string | undefined;
}

/** A memory to store: its content, or all of its fields. */
export type Draft = string | (MemoryFields & { readonly content: string });

/** Options of `storeMany`. */
export interface StoreManyOptions extends CallOptions {
	readonly idempotencyKey?: string | undefined;
}

/** Options of the calls that change a memory. */
export interface ChangeOptions extends CallOptions {
	/** Only where this is still its version, else {@link PreconditionFailed}. */
	readonly ifVersion?: number | undefined;
}

/** What an update changes; `null` clears a field. */
export interface UpdateOptions extends MemoryPatch, ChangeOptions {}

type ListQuery = NonNullable<Operations["listMemories"]["input"]["query"]>;

/** Which memories are looked at. Of several values of `tag` all must be there, of the other filters any. */
export interface MemoryFilters extends Omit<ListQuery, "query" | "order" | "explain" | "pageSize" | "pageToken"> {
	/** Values that members of the metadata must have. */
	readonly metadata?: { readonly [key: string]: string | number | boolean } | undefined;
}

/** Options of `search`. */
export interface SearchOptions extends MemoryFilters, CallOptions {
	/** How many at most: 20. */
	readonly limit?: number | undefined;
	/** Each result tells how its score came about. */
	readonly explain?: boolean | undefined;
}

/** Options of `list`. */
export interface ListOptions extends MemoryFilters, CallOptions {
	readonly order?: "newest" | "oldest" | undefined;
	readonly pageSize?: number | undefined;
	readonly pageToken?: string | undefined;
}

/** A call's own options, apart from what it says. @internal */
export function apart<T extends CallOptions>(options: T): [Omit<T, keyof CallOptions>, CallOptions] {
	const { signal, timeoutS, ...said } = options;
	return [said, { signal, timeoutS }];
}

/** @internal */
export function draftOf(entry: Draft): MemoryInput {
	if (typeof entry === "string") return { content: entry };
	const { shared, ...fields } = entry;
	return shared ? { ...fields, scope: "space" } : fields;
}

function queryOf(filters: MemoryFilters): ListQuery {
	const { metadata, ...query } = filters;
	const asked = Object.entries(metadata ?? {}).map(([key, value]) => [`metadata.${key}`, String(value)]);
	return { ...query, ...Object.fromEntries(asked) };
}

const etag = (id: string, version: number | undefined): string | undefined =>
	version === undefined ? undefined : `"${id}@${version}"`;

export abstract class MemoryCalls extends Caller {
	/**
	 * Stores a memory. It is durable when this returns.
	 *
	 * @example
	 * const limit = await spine.store("The gateway answers 429.", { kind: "observation", tags: ["gateway"] });
	 */
	async store(content: string, options: StoreOptions = {}): Promise<Memory> {
		const [{ idempotencyKey, ...fields }, how] = apart(options);
		return this.request("storeMemory", { body: draftOf({ ...fields, content }) }, { ...how, idempotencyKey });
	}

	/** Stores up to 1,000 memories, all or none. */
	async storeMany(memories: readonly Draft[], options: StoreManyOptions = {}): Promise<readonly Memory[]> {
		const answer = await this.request("storeMemories", { body: { memories: memories.map(draftOf) } }, options);
		return answer.memories;
	}

	/** Reads a memory: its newest version, or the one asked for. The id may name the version itself: `ms-4821@2`. */
	async get(id: string, options: CallOptions & { readonly version?: number | undefined } = {}): Promise<Memory> {
		const { version, ...how } = options;
		return this.request("readMemory", { params: { id: version === undefined ? id : `${id}@${version}` } }, how);
	}

	/** All versions of a memory, the newest first. */
	versions(id: string, options: CallOptions & { readonly pageSize?: number | undefined } = {}): Pages<Memory> {
		const { pageSize = 20, ...how } = options;
		return new Pages(async (pageToken) => {
			const answer = await this.request("listVersions", { params: { id }, query: { pageSize, pageToken } }, how);
			return { items: answer.versions, nextPageToken: answer.nextPageToken };
		});
	}

	/** Replaces the fields given, `null` clears one, and makes a new version where that changes anything. */
	async update(id: string, options: UpdateOptions): Promise<Memory> {
		const [{ ifVersion, ...changes }, how] = apart(options);
		try {
			return await this.request(
				"changeMemory",
				{ params: { id }, body: changes },
				{ ...how, ifMatch: etag(id, ifVersion), safe: true },
			);
		} catch (error) {
			// Where the answer to the first was lost, its own change is what has moved it on.
			if (!(error instanceof PreconditionFailed) || !error.repeated) throw error;
			const present = await this.get(id, how);
			if (present.version !== (ifVersion ?? 0) + 1 || !says(present, changes)) throw error;
			return present;
		}
	}

	/** Makes a new version that says what an old one said. */
	async revert(id: string, version: number, options: ChangeOptions = {}): Promise<Memory> {
		const { ifVersion, ...how } = options;
		return this.request(
			"revertMemory",
			{ params: { id }, body: { version } },
			{ ...how, ifMatch: etag(id, ifVersion), safe: ifVersion === undefined },
		);
	}

	/** Pins a memory: it goes with every handoff and ranks higher. Makes no version. */
	async pin(id: string, options: ChangeOptions = {}): Promise<Memory> {
		const { ifVersion, ...how } = options;
		return this.request("pinMemory", { params: { id } }, { ...how, ifMatch: etag(id, ifVersion), safe: true });
	}

	/** Undoes `pin`. */
	async unpin(id: string, options: ChangeOptions = {}): Promise<Memory> {
		const { ifVersion, ...how } = options;
		return this.request("unpinMemory", { params: { id } }, { ...how, ifMatch: etag(id, ifVersion), safe: true });
	}

	/** Removes what every version says, for good, and returns the tombstone. Forgetting again changes nothing. */
	async forget(id: string, options: ChangeOptions = {}): Promise<Memory> {
		const { ifVersion, ...how } = options;
		return this.request("forgetMemory", { params: { id } }, { ...how, ifMatch: etag(id, ifVersion), safe: true });
	}

	/**
	 * Reads up to 1,000 memories, in the order of the ids (`ms-1`, `ms-2@1`); says which are missing. An answer holds 8 MiB
	 * at most: what it did not give is asked for again, so that all of it is here.
	 */
	async fetch(ids: readonly string[], options: CallOptions = {}): Promise<Found> {
		return fetching(ids, (ids = []) => this.request("fetchMemories", { body: { ids } }, { ...options, safe: true }));
	}

	/** The best memories for the words of a query, each with its `score`, the highest first. */
	async search(query: string, options: SearchOptions = {}): Promise<readonly Memory[]> {
		const [{ limit = 20, explain, ...filters }, how] = apart(options);
		if (!(limit >= 1)) throw new RangeError(`limit is ${limit}; it must be at least 1`);
		const found: Memory[] = [];
		const asked = {
			...queryOf(filters),
			query,
			explain: explain || undefined,
			pageSize: Math.min(limit, PAGE_MAX),
		};
		for await (const page of this.#pages(asked, undefined, how).pages()) {
			found.push(...page.items);
			if (found.length >= limit) break;
		}
		return found.slice(0, limit);
	}

	/** All memories that pass the filters, the newest first unless `order` is `oldest`. */
	list(options: ListOptions = {}): Pages<Memory> {
		const [{ order, pageSize = 100, pageToken, ...filters }, how] = apart(options);
		return this.#pages({ ...queryOf(filters), order, pageSize }, pageToken, how);
	}

	#pages(query: ListQuery, first: string | undefined, how: CallOptions): Pages<Memory> {
		return new Pages(async (pageToken) => {
			const answer = await this.request("listMemories", { query: { ...query, pageToken } }, how);
			return { items: answer.memories, nextPageToken: answer.nextPageToken };
		}, first);
	}
}

/** Whether a memory is what a change was to make of it. What it does not show (`ttlS`) cannot tell. */
function says(memory: Memory, changes: MemoryPatch): boolean {
	const has = memory as unknown as JsonObject;
	return Object.entries(changes).every(
		([name, value]) => !(name in has) || JSON.stringify(has[name]) === JSON.stringify(value),
	);
}
