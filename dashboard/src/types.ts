// The shapes of docs/protocol.md, as far as they are shown.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Status {
	readonly version: string;
	readonly status: string;
	readonly uptime_s: number;
	readonly memories: number;
	readonly store: { readonly engine: string; readonly bytes: number; readonly data: string };
}

/** How a version came, as the server saw it. */
export interface Origin {
	readonly client: string | null;
	readonly key: string | null;
	readonly protocol: string;
	/** Of one that was moved here: what its file told. */
	readonly claimed?: Origin | null;
}

export interface Memory {
	readonly id: string;
	readonly version: number;
	readonly state: "active" | "superseded" | "expired" | "forgotten";
	readonly content: string | null;
	readonly summary: string | null;
	readonly kind: string | null;
	readonly tags: readonly string[];
	readonly importance: string | null;
	readonly agent: string | null;
	readonly task: string | null;
	readonly pinned: boolean;
	readonly trust: string | null;
	readonly origin: Origin | null;
	readonly flags?: readonly string[];
	readonly metadata: { readonly [name: string]: Json };
	readonly expires_at: string | null;
	readonly supersedes: string | null;
	readonly superseded_by: string | null;
	readonly digest: string | null;
	readonly created_at: string;
	readonly updated_at: string;
	readonly score?: number;
	readonly relevance?: number;
	readonly explain?: Explain;
}

export interface Explain {
	readonly text: number;
	readonly neighbours: number;
	readonly importance: number;
	readonly pinned: number;
	readonly recency: number;
	readonly terms: readonly { readonly term: string; readonly score: number; readonly count: number }[];
}

export interface Queue {
	readonly queued: number;
	readonly leased: number;
	readonly working: number;
	readonly parked: number;
}

export type BreakerState = "closed" | "open" | "half_open";

export interface Agent {
	readonly name: string;
	readonly accepts: readonly string[];
	readonly tokenizer: string | null;
	readonly max_tokens: number | null;
	readonly description: string | null;
	readonly fetch_hint: "mcp" | "command" | "http" | null;
	readonly ack_timeout_s: number;
	readonly max_attempts: number;
	readonly fallbacks: readonly string[];
	readonly webhook: string | null;
	readonly queue: Queue;
	readonly breaker: { readonly state: BreakerState; readonly failures: number; readonly reset_at: string | null };
	readonly last_seen_at: string | null;
	readonly presence: Presence;
	readonly receivers_waiting: number;
	/** At most ten. */
	readonly working_on: readonly {
		readonly id: string;
		readonly task: string | null;
		readonly summary: string | null;
		readonly since: string;
		readonly receiver: string | null;
	}[];
	readonly registered: boolean;
}

export type Presence = "never_seen" | "waiting" | "working" | "away";

/** Why something waits in a queue. */
export type Why = "empty_chair" | "busy" | "held" | "backoff" | "deferred";

/** What waits for one agent, in short. */
export interface QueueSummary extends Queue {
	readonly agent: string;
	readonly breaker: Agent["breaker"];
	readonly presence: Presence;
	readonly receivers_waiting: number;
	readonly last_seen_at: string | null;
	readonly oldest_at: string | null;
	readonly why: Why | null;
	readonly until: string | null;
}

/** A handoff in a queue. */
export interface Queued extends Handoff {
	readonly position: number;
	readonly since: string;
	readonly why: Why;
	readonly until: string | null;
}

export type TaskState = "working" | "waiting" | "held" | "parked" | "done";

export interface TaskRow {
	readonly id: string;
	readonly state: TaskState;
	readonly agent: string | null;
	readonly handoff: string | null;
	readonly created_at: string;
	readonly changed_at: string;
	readonly envelopes: number;
	readonly hops: number;
	readonly tokens: number;
	readonly open: number;
	readonly parked: number;
	readonly intent: string | null;
	readonly summary: string | null;
	readonly last_event: HandoffEvent | null;
}

export interface Attempt {
	readonly attempt: number;
	readonly agent: string;
	readonly receiver: string | null;
	readonly taken_at: string | null;
	readonly acked_at: string | null;
	readonly ended_at: string | null;
	readonly outcome: string;
	readonly error: string | null;
}

export interface Lease {
	readonly number: number;
	readonly receiver: string | null;
	readonly since: string;
	readonly expires_at: string;
}

/** What a person has decided about many, or would. */
export interface Decided {
	readonly action: string;
	readonly dry_run: boolean;
	readonly matched: number;
	readonly done: readonly {
		readonly id: string;
		readonly task: string | null;
		readonly summary: string | null;
		readonly to: string;
		readonly state: string;
		readonly reason: string | null;
	}[];
	readonly refused: readonly { readonly id: string; readonly code: string; readonly detail: string }[];
	readonly next_after: string | null;
}

export interface Handoff {
	readonly id: string;
	readonly envelope_id: string;
	readonly state: string;
	readonly from: string | null;
	readonly to: string;
	readonly target: string;
	readonly channel: string | null;
	readonly attempt: number;
	readonly max_attempts: number;
	readonly receiver: string | null;
	readonly progress: string | null;
	readonly reason: string | null;
	readonly created_at: string;
	readonly changed_at: string;
	readonly acked_at: string | null;
	readonly due_at: string | null;
	readonly task?: string | null;
	readonly summary?: string | null;
	/** Behind an open breaker until then. */
	readonly held_until?: string | null;
	/** Its sender wants it later. */
	readonly not_before?: string | null;
	readonly events?: readonly HandoffEvent[];
	readonly result?: Json;
	readonly result_memory?: string | null;
	readonly result_state?: string;
	readonly gaps?: readonly Json[];
}

/** One handoff, with all that is known of it. */
export interface WholeHandoff extends Handoff {
	readonly attempts: readonly Attempt[];
	readonly lease: Lease | null;
}

export interface Parked extends Handoff {
	readonly remedies?: readonly string[];
}

export interface HandoffEvent {
	readonly id: number;
	readonly at: string;
	readonly event: string;
	readonly handoff?: string;
	readonly envelope_id?: string;
	readonly attempt?: number;
	readonly agent: string | null;
	readonly actor: string | null;
	readonly key?: string;
	readonly note: string | null;
}

export interface TraceEnvelope {
	readonly id: string;
	readonly from: string | null;
	readonly to: string;
	readonly parent: string | null;
	readonly hop: number;
	readonly created_at: string;
	readonly token_count: number;
	readonly max_tokens: number;
	readonly summary: string;
	readonly refs: number;
	readonly missing: number;
	readonly trimmed: number;
}

/** What a person has waived for a whole task. */
export interface Waiver {
	readonly waiver: number;
	readonly key: string;
	readonly reason: string;
	readonly by: string;
	readonly unauthenticated: boolean;
	readonly at: string;
}

/** A task, without its envelopes. */
export interface TaskAbout {
	readonly intent: string | null;
	readonly newest: string;
	readonly waivers: readonly Waiver[];
}

export interface Trace {
	readonly task: string;
	readonly envelopes: readonly TraceEnvelope[];
	readonly handoffs: readonly Handoff[];
	readonly events: readonly HandoffEvent[];
	readonly next_page_token: string | null;
}

export interface Change {
	readonly kind: string;
	readonly fate: string;
	readonly key?: string;
	readonly before?: Json;
	readonly after?: Json;
	readonly reason?: string;
	readonly by?: string;
	readonly unauthenticated?: boolean;
}

export interface Difference {
	readonly score: number;
	readonly kept: number;
	readonly total: number;
	readonly changes: readonly Change[];
}

export interface Fidelity {
	readonly score: number | null;
	readonly intent_and_constraints: number | null;
	readonly hops: readonly (Partial<Difference> & { readonly envelope: string })[];
}

export interface Envelope {
	readonly id: string;
	readonly digest: string;
	readonly from: string | null;
	readonly to: string;
	readonly created_at: string;
	readonly task: {
		readonly id: string;
		readonly intent: string | null;
		readonly state: string | null;
		readonly summary: string;
	};
	readonly memory: {
		readonly refs: readonly {
			readonly id: string;
			readonly version: number;
			readonly why: string;
			readonly form: string;
			readonly tokens: number;
			readonly relevance?: number;
		}[];
		readonly missing: readonly { readonly id: string; readonly reason: string }[];
	};
	readonly constraints: Readonly<Record<string, Json>>;
	readonly waived: readonly {
		readonly key: string;
		readonly value: Json;
		readonly by: string | null;
		readonly reason: string;
		readonly at_hop: number;
		readonly waiver?: number;
		readonly unauthenticated?: boolean;
	}[];
	readonly locked?: readonly string[];
	readonly guard: {
		readonly policy: string;
		readonly findings: readonly { readonly kind: string; readonly where: string }[];
	} | null;
	readonly lineage: {
		readonly parent: string | null;
		readonly root: string;
		readonly hop: number;
		readonly max_hops: number;
		readonly path: readonly string[];
	};
	readonly budget: {
		readonly max_tokens: number;
		readonly token_count: number;
		readonly tokenizer: string;
		readonly strategy: string;
		readonly utilization: number;
		readonly trimmed: readonly {
			readonly id: string;
			readonly tokens: number;
			readonly reason: string;
			readonly form: string;
			readonly why?: string;
			readonly relevance?: number;
		}[];
		readonly worth?: number;
	};
	readonly completeness: { readonly requested: number; readonly resolved: number; readonly score: number };
	readonly since?: readonly {
		readonly id: string | null;
		readonly event: string;
		readonly version?: number;
		readonly by?: string;
		readonly handoff?: string;
		readonly agent?: string;
	}[];
}

export interface ConsideredMemory {
	readonly id: string;
	readonly why: string;
	readonly relevance: number;
	readonly fate: string;
	readonly reason: string | null;
	readonly repeats?: string;
	readonly tokens: number | null;
	readonly text: string | null;
}

/** What an envelope was chosen from. Without a record of it the members in the middle are absent. */
export interface Considered {
	readonly envelope: string;
	readonly recorded: boolean;
	readonly floor?: number;
	readonly include_recent?: number;
	readonly scope?: string;
	readonly considered: readonly ConsideredMemory[];
}

export interface Channel {
	readonly name: string;
	readonly description: string | null;
	readonly subscriber_count: number;
	readonly subscribers?: readonly string[];
	readonly created_at: string;
}

export interface Route {
	readonly name: string;
	readonly from: string | null;
	readonly to: string;
	readonly when: { readonly [name: string]: Json } | null;
	readonly order: number;
	readonly description: string | null;
}

export interface Metrics {
	readonly handoffs: number;
	readonly acked: number;
	readonly completed: number;
	readonly failed: number;
	readonly failure_rate: number | null;
	readonly latency_ms: {
		readonly count: number;
		readonly p50: number | null;
		readonly p95: number | null;
		readonly p99: number | null;
		readonly max: number | null;
	};
	readonly completeness: { readonly count: number; readonly mean: number | null; readonly min: number | null };
	readonly utilization: {
		readonly count: number;
		readonly mean: number | null;
		readonly p50: number | null;
		readonly pinned: number | null;
		readonly low: number | null;
	};
	readonly hops: {
		readonly count: number;
		readonly mean: number | null;
		readonly max: number | null;
		readonly histogram: readonly (readonly [number, number])[];
	};
	readonly retries: number;
	readonly leases_lost: number;
	readonly waivers: number;
	readonly queue: Queue;
}

export interface Point {
	readonly at: string;
	readonly handoffs: number;
	readonly acked: number;
	readonly failed: number;
	readonly p50: number | null;
	readonly p99: number | null;
	readonly completeness: number | null;
	readonly utilization: number | null;
	readonly hop_mean: number | null;
	readonly queued: number | null;
}

export interface Stats {
	readonly window: string;
	readonly now: string;
	readonly overall: Metrics;
	/** space: only where all spaces were asked for. */
	readonly targets: readonly (Metrics & {
		readonly agent: string;
		readonly breaker: BreakerState;
		readonly space?: string;
	})[];
	readonly series: { readonly step_s: number; readonly points: readonly Point[] };
}

/** One of all spaces. */
export interface SpaceEntry {
	readonly name: string;
	readonly memories: number;
	readonly handoffs_open: number;
	readonly parked: number;
	readonly created_at: string;
}

export interface Alert {
	readonly id: string;
	readonly name: string;
	readonly severity: "info" | "warning" | "critical";
	readonly pages: boolean;
	readonly state: "firing" | "resolved";
	readonly agent: string | null;
	readonly summary: string;
	readonly value: number | null;
	readonly threshold: number | null;
	readonly since: string;
	readonly resolved_at: string | null;
	readonly acknowledged_by: string | null;
	readonly acknowledged_at: string | null;
	readonly silenced_until: string | null;
	/** The page on which it is mended, such as "/#/default/parked?agent=a". */
	readonly url?: string | null;
}

/** When an alert fires, as it is in force in the space. Shares are 0 to 1. */
export interface Rule {
	readonly name: string;
	readonly severity: Alert["severity"];
	readonly pages: boolean;
	readonly of: "agent" | "space";
	readonly measures: string;
	readonly unit: "handoffs" | "share" | "ms" | "hops";
	readonly comparison: "above" | "below" | "at_least";
	/** null: what is usual is not known yet. */
	readonly threshold: number | null;
	readonly window_s: number | null;
	readonly min_samples: number;
	readonly hold_s: number;
}

export interface AlertsAnswer {
	readonly alerts: readonly Alert[];
	readonly rules: readonly Rule[];
}

/** A CloudEvent of GET /v1/events. */
export interface LiveEvent {
	readonly id: string;
	readonly type: string;
	readonly time: string;
	readonly subject?: string;
	readonly data?: {
		readonly handoff?: string | null;
		readonly envelope_id?: string | null;
		readonly agent?: string | null;
		readonly actor?: string | null;
		readonly key?: string;
		readonly attempt?: number;
		readonly note?: string | null;
	};
}

/** The servers that share a database; one that keeps everything itself is the only one. */
export interface Cluster {
	readonly node: string;
	/** null: it has seen nothing. Missing in answers of older servers. */
	readonly seen_ms_ago?: number | null;
	readonly nodes: readonly ClusterNode[];
	readonly shards: readonly ClusterShard[];
	/** null: not known, or not allowed to be seen. */
	readonly standbys?: readonly ClusterStandby[] | null;
}

/** Of PostgreSQL's. */
export interface ClusterStandby {
	readonly name: string;
	readonly state: string;
	readonly sync_state: string;
	readonly lag_ms: number | null;
	readonly lag_bytes: number | null;
}

export interface ClusterNode {
	readonly id: string;
	readonly url: string;
	readonly version: string;
	readonly state: "live" | "leaving" | "gone" | "unknown";
	readonly lease_left_ms: number | null;
	readonly clock_offset_ms: number | null;
	readonly shards: number;
	readonly same_url_as?: string | null;
}

export interface ClusterShard {
	readonly shard: number;
	readonly owner: string | null;
	readonly epoch: number;
	readonly state: "owned" | "open" | "moving" | "idle" | "none" | "unknown";
}
