/** Lists that come in pages. @module */
import { ProtocolError } from "./errors.js";

/** One page of a list. `nextPageToken` is null on the last one. */
export interface Page<T> {
	readonly items: readonly T[];
	readonly nextPageToken: string | null;
}

/**
 * A list that is read page by page while it is iterated over. Each iteration starts anew.
 *
 * @example
 * for await (const memory of spine.list({ tag: "gateway" })) console.log(memory.id);
 */
export class Pages<T> implements AsyncIterable<T> {
	readonly #read: (token: string | undefined) => Promise<Page<T>>;
	readonly #first: string | undefined;

	constructor(read: (token: string | undefined) => Promise<Page<T>>, first?: string) {
		this.#read = read;
		this.#first = first;
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
		for await (const page of this.pages()) yield* page.items;
	}

	/** The pages themselves. */
	async *pages(): AsyncGenerator<Page<T>, void, undefined> {
		let token = this.#first;
		for (;;) {
			const page = await this.#read(token);
			if (token !== undefined && page.nextPageToken === token)
				throw new ProtocolError("the server answered with the same page again", { code: "invalid_response" });
			yield page;
			if (page.nextPageToken === null) return;
			token = page.nextPageToken;
		}
	}

	/** Everything, read to the end. */
	async all(): Promise<T[]> {
		const items: T[] = [];
		for await (const item of this) items.push(item);
		return items;
	}
}
