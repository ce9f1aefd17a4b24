// The name that was meant, where somebody has mistyped one. The server warns its sender by the same rule (core/delivery/agent_name.c).
import type { Agent } from "./types";

// A slip is one letter in three at the most, and never more than two: "coder" and "reader" are two names.
const SLIPS_MAX = 2;
const LETTERS_FOR_A_SLIP = 3;

/** How many letters must be changed, added, left out or swapped with their neighbours; Infinity where that is too many to be a slip. */
export function distance(one: string, other: string): number {
	const a = one.toLowerCase();
	const b = other.toLowerCase();
	const longer = Math.max(a.length, b.length);
	const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];

	if (Math.abs(a.length - b.length) > SLIPS_MAX) return Infinity;
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
				least = Math.min(least, rows[i - 2]![j - 2]! + 1);
			row.push(least);
		}
		rows.push(row);
	}
	const found = rows[a.length]![b.length]!;
	return found <= Math.min(SLIPS_MAX, Math.floor(longer / LETTERS_FOR_A_SLIP)) ? found : Infinity;
}

/** Of the agents that somebody has registered or seen, the one whose name is nearest; undefined: none is near. */
export function nearest(name: string, agents: readonly Agent[]): string | undefined {
	// Somebody has written it into the settings of another agent: it is meant.
	if (agents.some((agent) => agent.fallbacks.includes(name))) return undefined;
	let best: string | undefined;
	let least = Infinity;

	for (const agent of agents) {
		if (agent.name === name || (agent.presence === "never_seen" && !agent.registered)) continue;
		const found = distance(name, agent.name);
		if (found < least) [best, least] = [agent.name, found];
	}
	return best;
}
