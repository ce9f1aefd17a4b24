// How many handoffs wait for a decision, wherever one is. The figures know it at once; the list of them costs the server more, and is
// read where it is shown.
import { call } from "./api";
import { useResource } from "./resource";
import type { Stats } from "./types";

export function useParkedCount(space: string): number {
	const stats = useResource(
		`${space} parked count`,
		async (signal) => {
			const { overall } = await call<Stats>(space, "GET", "v1/stats", { query: { window: "1m" }, signal });
			return overall.queue.parked;
		},
		{ topics: ["handoff."], gapMs: 1_500 },
	);

	return stats.data ?? 0;
}
