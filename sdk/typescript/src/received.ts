/** What a receiver was given: a handoff as it was when it was taken, and its envelope. @module */
import type { Envelope } from "./envelope.js";
import { ServerError } from "./errors.js";
import type { Envelope2News, JsonObject, Taken } from "./generated/types.js";

/** The part of the work in hand that does not change. */
export abstract class Received {
	/** @internal */
	protected readonly taken: Taken;
	readonly #envelope: Envelope | undefined;

	constructor(taken: Taken, envelope: Envelope | undefined) {
		this.taken = taken;
		this.#envelope = envelope;
	}

	/** The handoff's id, such as `ho-12`. */
	get id(): string {
		return this.taken.id;
	}

	/** What the receiving model reads, in Markdown. */
	get prompt(): string {
		if (this.taken.prompt === undefined) throw this.#unreadable();
		return this.taken.prompt;
	}

	/** What was handed over. */
	get envelope(): Envelope {
		if (this.#envelope === undefined) throw this.#unreadable();
		return this.#envelope;
	}

	get envelopeId(): string {
		return this.taken.envelopeId;
	}

	/** The envelope in the flat form of version 1, where the agent accepts nothing newer. */
	get v1(): JsonObject | undefined {
		const raw = this.taken.envelope as JsonObject | null | undefined;
		return raw && !("envelope_version" in raw) ? raw : undefined;
	}

	/** The task that it belongs to; undefined where its envelope cannot be read. */
	get task(): string | undefined {
		return this.#envelope?.task;
	}

	/** What happened after it was packed: to its memories, and which results have come. The prompt ends with those. */
	get since(): readonly Envelope2News[] {
		return this.taken.since ?? [];
	}

	/**
	 * What a reader should know of the envelope: `invisible`, where characters that nobody sees stand in it and no script
	 * or emoji needs them. A model reads them all the same.
	 */
	get flags(): readonly string[] {
		return this.taken.flags ?? [];
	}

	/** Who sent it. */
	get from(): string | null {
		return this.taken.from;
	}

	/** The agent that received it. */
	get to(): string {
		return this.taken.to;
	}

	get channel(): string | null {
		return this.taken.channel;
	}

	get priority(): number {
		return this.taken.priority;
	}

	/** Which attempt this is, from 1. */
	get attempt(): number {
		return this.taken.attempt;
	}

	get maxAttempts(): number {
		return this.taken.maxAttempts;
	}

	/** Whether a receiver has had it before: what is to be done may be done already. */
	get redelivered(): boolean {
		return this.taken.redelivered;
	}

	/** What proves that the handoff is this receiver's, such as `ho-12.1`. */
	get lease(): string {
		return this.taken.lease;
	}

	#unreadable(): ServerError {
		return new ServerError(this.taken.problem ?? "the handoff came without its envelope", {
			code: "envelope_damaged",
		});
	}
}
