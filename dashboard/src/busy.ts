// Spaces in which something was handed over today. There is no list of all spaces; these are the ones one would look for.
import { call } from "./api";
import { isSpaceName } from "./settings";
import type { Stats } from "./types";

export async function busySpaces(space: string, signal?: AbortSignal): Promise<string[]> {
	const stats = await call<Stats>(space, "GET", "v1/stats", { query: { space: "all", window: "24h" }, signal });
	return [...new Set(stats.targets.map((target) => target.space ?? ""))].filter(isSpaceName);
}
