/** Envelopes: what one agent packs for the next. @module */
import type { Caller, CallOptions } from "./caller.js";
import { digestOf } from "./digest.js";
import type * as wire from "./generated/types.js";
import type { Json, JsonObject } from "./generated/types.js";
import { fromWire } from "./wire.js";

/** What is not part of what the digest is made of: itself, and what the server says beside the envelope. */
const NOT_DIGESTED = new Set(["digest", "since", "warnings"]);

/** The parts of an envelope, flat. What they mean is told beside each in `Envelope2`. */
abstract class EnvelopeParts {
	/** Its name in the space, such as `env-17`; empty in a dry run. */
	readonly id: string;
	/** The SHA-256 of all that it says; empty in a dry run. */
	readonly digest: string;
	readonly envelopeVersion: string;
	readonly envelopeMinor: number;
	readonly createdAt: Date;
	readonly from: string | null;
	readonly to: string;
	/** The id of the task that it belongs to. */
	readonly task: string;
	/** The user's own words, the same at every hop. */
	readonly intent: string | null;
	/** What the receiver is to accomplish. */
	readonly summary: string;
	/** Where the work stands. */
	readonly state: string | null;
	readonly openDecisions: readonly Json[];
	/** The ids of the memories in it; `refs` has them whole. */
	readonly memoryRefs: readonly string[];
	readonly refs: readonly wire.Envelope2Ref[];
	/** What was named and could not be found. */
	readonly missing: readonly wire.Envelope2Missing[];
	/** The share of the memories named that were found. */
	readonly completeness: number;
	readonly history: readonly wire.Envelope2Step[];
	/** What must hold, at every later hop, too. */
	readonly constraints: JsonObject;
	/** What no longer does, by whom and why. */
	readonly waived: readonly wire.Envelope2Waiver[];
	/** The keys of constraints that no agent may waive. */
	readonly locked: readonly string[];
	readonly expectedOutput: JsonObject;
	/** What was found in a handoff that had to be free of credentials; null where nobody asked for that. */
	readonly guard: wire.Envelope2Guard | null;
	/** How far what it carries can be trusted, the least of its parts; null in an envelope of minor 0 or 1. */
	readonly trust: wire.Trust | null;
	readonly fetchHint: "mcp" | "command" | "http" | null;
	/** The id of the envelope that this one continues. */
	readonly parent: string | null;
	/** The id of the first one of the chain; empty where that is a dry run. */
	readonly root: string;
	/** Which handoff of the chain this is, from 1. */
	readonly hop: number;
	readonly maxHops: number;
	/** The agents that the work went through, this receiver last. */
	readonly path: readonly string[];
	/** Of the prompt, counted exactly; never more than `maxTokens`. */
	readonly tokenCount: number;
	readonly maxTokens: number;
	readonly tokenizer: string;
	readonly strategy: string;
	readonly utilization: number;
	/** What all that the prompt carries is worth together; null in an old one. */
	readonly worth: number | null;
	/** What is not there in full, because of the budget. */
	readonly trimmed: readonly wire.Envelope2Trim[];
	/** What became of its memories after it was packed; known where it was read again. */
	readonly since: readonly wire.Envelope2News[];
	/** The envelope as the server sent it. */
	readonly raw: JsonObject;

	constructor(raw: JsonObject) {
		const one = fromWire(raw, "Envelope2") as wire.Envelope2;
		this.id = one.id ?? "";
		this.digest = one.digest ?? "";
		this.envelopeVersion = one.envelopeVersion;
		this.envelopeMinor = one.envelopeMinor;
		this.createdAt = one.createdAt;
		this.from = one.from;
		this.to = one.to;
		this.task = one.task.id;
		this.intent = one.task.intent;
		this.summary = one.task.summary;
		this.state = one.task.state;
		this.openDecisions = one.task.openDecisions;
		this.memoryRefs = one.memory.refs.map((ref) => ref.id);
		this.refs = one.memory.refs;
		this.missing = one.memory.missing;
		this.completeness = one.completeness.score;
		this.history = one.history;
		this.constraints = one.constraints;
		this.waived = one.waived;
		this.locked = one.locked ?? [];
		this.expectedOutput = one.expectedOutput;
		this.guard = one.guard;
		this.trust = one.trust ?? null;
		this.fetchHint = one.fetchHint ?? null;
		this.parent = one.lineage.parent;
		this.root = one.lineage.root ?? "";
		this.hop = one.lineage.hop;
		this.maxHops = one.lineage.maxHops;
		this.path = one.lineage.path;
		this.tokenCount = one.budget.tokenCount;
		this.maxTokens = one.budget.maxTokens;
		this.tokenizer = one.budget.tokenizer;
		this.strategy = one.budget.strategy;
		this.utilization = one.budget.utilization;
		this.worth = one.budget.worth ?? null;
		this.trimmed = one.budget.trimmed;
		this.since = one.since ?? [];
		this.raw = raw;
	}
}

/** What one agent hands to the next. It never changes; whoever adds something makes a new one with this as parent. */
export class Envelope extends EnvelopeParts {
	readonly #caller: Caller;
	#prompt: Promise<string> | undefined;

	constructor(caller: Caller, raw: JsonObject, prompt?: string) {
		super(raw);
		this.#caller = caller;
		this.#prompt = prompt === undefined ? undefined : Promise.resolve(prompt);
	}

	/** What the receiving model reads, in Markdown. It is fetched once. */
	prompt(options: CallOptions = {}): Promise<string> {
		const read = async (): Promise<string> => {
			const { value } = await this.#caller.exchange(
				"readEnvelope",
				{ params: { id: this.id }, query: { format: "prompt" } },
				options,
			);
			return String(value);
		};
		this.#prompt ??= read().catch((error: unknown) => {
			this.#prompt = undefined;
			throw error;
		});
		return this.#prompt;
	}

	/** The envelope for agents of version `v1`; `both` has that and version 2, as members `v1` and `v2`. */
	async render(form: "v1" | "both", options: CallOptions = {}): Promise<JsonObject> {
		const { raw } = await this.#caller.exchange(
			"readEnvelope",
			{ params: { id: this.id }, query: { format: form } },
			options,
		);
		return raw;
	}

	/**
	 * Whether the digest is that of what the envelope says. Checked here, without asking the server.
	 *
	 * It is not, either, where the text of a memory was forgotten since; `spine.verify` tells that apart, and follows
	 * the whole chain.
	 */
	async verify(): Promise<boolean> {
		const said = Object.fromEntries(Object.entries(this.raw).filter(([name]) => !NOT_DIGESTED.has(name)));
		return this.digest !== "" && this.digest === (await digestOf(said));
	}
}

/** The envelope that a handoff would make, what it was chosen from, and what the usual budgets would lose. */
export class DryRun extends EnvelopeParts {
	/** What other budgets would lose. */
	readonly budgets: wire.DryRun["budgets"];
	/** What it was chosen from. */
	readonly considered: wire.Considered;

	constructor(raw: JsonObject) {
		super(raw.envelope as JsonObject);
		const one = fromWire(raw, "DryRun") as wire.DryRun;
		this.budgets = one.budgets;
		this.considered = one.considered;
	}
}

/** An envelope, or its id, or the work that brought it. */
export type EnvelopeId = string | Envelope | { readonly envelopeId: string };

/** @internal */
export function envelopeId(what: string, envelope: EnvelopeId): string {
	const id: unknown =
		typeof envelope === "string" ? envelope : envelope instanceof Envelope ? envelope.id : envelope?.envelopeId;
	if (typeof id !== "string" || id === "")
		throw new TypeError(
			`${what} is an envelope or its id, such as "env-17"${envelope instanceof DryRun ? "; that of a dry run was not stored" : ""}`,
		);
	return id;
}
