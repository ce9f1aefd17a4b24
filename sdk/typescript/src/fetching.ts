/**
 * Memories by their ids, however many answers that takes: `fetch`, `resolve` and `need` ask so. An answer has 8 MiB of text
 * at most. What it has no room for is missing as `not_given`; it is asked for again. @module
 */
import type { Found } from "./generated/types.js";

/** All of them, put together. `ask` makes one call; without ids it asks for what the server thinks fit. @internal */
export async function fetching<Answer extends Found>(
	ids: readonly string[] | undefined,
	ask: (ids: readonly string[] | undefined) => Promise<Answer>,
): Promise<Answer> {
	let found = await ask(ids);
	let { memories, missing } = found;
	for (;;) {
		const later = found.missing.filter((one) => one.reason === "not_given").map((one) => one.id);
		// Each answer gives one at least: so it ends.
		if (later.length === 0 || found.memories.length === 0) return { ...found, memories, missing };
		found = await ask(later);
		memories = [...memories, ...found.memories];
		missing = [...missing.filter((one) => one.reason !== "not_given"), ...found.missing];
	}
}
