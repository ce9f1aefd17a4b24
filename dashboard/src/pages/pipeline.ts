// Where the agents and the handoffs of a task stand in the picture.
//
// Time goes downwards. An agent is drawn once for every time that work comes to it, so that work that goes back and forth is a
// line, not a knot; what goes to several agents at once spreads to the side. Between an agent and the next stands the handoff.
import type { Handoff, HandoffEvent, Trace, TraceEnvelope } from "../types";

export interface Edge {
	readonly id: string;
	readonly envelope: TraceEnvelope;
	/** None: packed, and not sent (yet). */
	readonly handoff: Handoff | undefined;
	readonly retries: number;
	/** Its middle, and where its line comes from. */
	readonly x: number;
	readonly y: number;
	readonly fromX: number;
	readonly fromY: number;
}

export interface Node {
	readonly id: string;
	readonly agent: string;
	readonly x: number;
	readonly y: number;
	/** What does not fit into the picture any more. */
	readonly more?: number;
}

export interface Picture {
	readonly nodes: readonly Node[];
	readonly edges: readonly Edge[];
	readonly width: number;
	readonly height: number;
}

export const NODE_HEIGHT = 34;
export const CARD_HEIGHT = 72;
export const CARD_WIDTH = 224;
const COLUMN = CARD_WIDTH + 20;
const GAP = 24;
export const LEVEL = NODE_HEIGHT + CARD_HEIGHT + 2 * GAP;
const RECEIVERS_MAX = 12;

const failures = new Set(["handoff.nacked", "handoff.ack_timeout", "handoff.lease_lost", "handoff.work_lost"]);

interface Stop {
	readonly agent: string;
	readonly edge?: { readonly envelope: TraceEnvelope; readonly handoff: Handoff | undefined };
	readonly more?: number;
	readonly next: Stop[];
}

function retriesOf(events: readonly HandoffEvent[]): Map<string, number> {
	const found = new Map<string, number>();

	for (const event of events)
		if (event.handoff && failures.has(event.event)) found.set(event.handoff, (found.get(event.handoff) ?? 0) + 1);
	return found;
}

function group<T>(items: readonly T[], by: (item: T) => string): Map<string, T[]> {
	const groups = new Map<string, T[]>();

	for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
	return groups;
}

/** The agents that an envelope went to. */
function receivers(envelope: TraceEnvelope, handoffs: readonly Handoff[]): Stop[] {
	const shown: Stop[] = handoffs
		.slice(0, RECEIVERS_MAX)
		.map((handoff) => ({ agent: handoff.to, edge: { envelope, handoff }, next: [] }));

	if (handoffs.length === 0) return [{ agent: envelope.to, edge: { envelope, handoff: undefined }, next: [] }];
	if (handoffs.length > RECEIVERS_MAX) shown.push({ agent: "", more: handoffs.length - RECEIVERS_MAX, next: [] });
	return shown;
}

/** The task as trees: one for each sender of a root. */
function trees(trace: Trace): Stop[] {
	const sent = group(trace.handoffs, (handoff) => handoff.envelope_id);
	const arrived = new Map<string, Stop[]>();
	const roots = new Map<string, Stop>();

	// Envelopes come in the order of their making: a parent stands before its children.
	for (const envelope of trace.envelopes) {
		const stops = receivers(
			envelope,
			[...(sent.get(envelope.id) ?? [])].sort((a, b) => Number(a.id.slice(3)) - Number(b.id.slice(3))),
		);
		const before = envelope.parent === null ? undefined : arrived.get(envelope.parent);
		const from = before?.find((stop) => stop.agent === envelope.from) ?? before?.[0];

		arrived.set(envelope.id, stops);
		if (from) {
			from.next.push(...stops);
		} else {
			const name = envelope.from ?? "";
			const root = roots.get(name) ?? { agent: name, next: [] };
			roots.set(name, root);
			root.next.push(...stops);
		}
	}
	return [...roots.values()];
}

export function draw(trace: Trace): Picture {
	const retries = retriesOf(trace.events);
	const nodes: Node[] = [];
	const edges: Edge[] = [];
	let depth = 0;

	const columns = (stop: Stop): number =>
		Math.max(
			1,
			stop.next.reduce((sum, next) => sum + columns(next), 0),
		);
	const put = (stop: Stop, left: number, level: number, from: { x: number; y: number } | undefined): void => {
		const x = (left + columns(stop) / 2) * COLUMN;
		const y = level * LEVEL;
		let at = left;

		depth = Math.max(depth, level);
		nodes.push({ id: `${level} ${left} ${stop.agent}`, agent: stop.agent, x, y, more: stop.more });
		if (stop.edge && from) {
			const { envelope, handoff } = stop.edge;
			edges.push({
				id: `${envelope.id} ${handoff?.id ?? ""}`,
				envelope,
				handoff,
				x,
				y: y - GAP - CARD_HEIGHT / 2,
				fromX: from.x,
				fromY: from.y + NODE_HEIGHT,
				retries: handoff ? Math.max(retries.get(handoff.id) ?? 0, 0) : 0,
			});
		}
		for (const next of stop.next) {
			put(next, at, level + 1, { x, y });
			at += columns(next);
		}
	};
	let left = 0;
	for (const tree of trees(trace)) {
		put(tree, left, 0, undefined);
		left += columns(tree);
	}
	return { nodes, edges, width: Math.max(1, left) * COLUMN, height: depth * LEVEL + NODE_HEIGHT + 8 };
}

/** From the first sending to the ack; null where there was none. */
export function latencyMs(handoff: Handoff | undefined): number | null {
	return handoff?.acked_at ? Date.parse(handoff.acked_at) - Date.parse(handoff.created_at) : null;
}
