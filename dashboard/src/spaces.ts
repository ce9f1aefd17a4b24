// The spaces of the server, in the order in which they were made.
import { call } from "./api";
import type { SpaceEntry } from "./types";

const PAGE = 1000;
const PAGES_MAX = 5;

/** All of them, or the first thousands. */
export async function listSpaces(space: string, signal?: AbortSignal): Promise<readonly SpaceEntry[]> {
	const found: SpaceEntry[] = [];
	let token: string | null | undefined;

	for (let page = 0; page < PAGES_MAX && token !== null; page++) {
		const answer: { spaces: SpaceEntry[]; next_page_token: string | null } = await call(space, "GET", "v1/spaces", {
			query: { page_size: PAGE, page_token: token },
			signal,
		});
		found.push(...answer.spaces);
		token = answer.next_page_token;
	}
	return found;
}
