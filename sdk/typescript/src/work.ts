/**
 * A handoff in the hands of its receiver: read it, work, settle it.
 *
 * THE LEASE. While it is kept (in `run`, in a loop over an inbox, in `work.run`, or after `keep`) its lease is renewed in
 * the background, at a third of its time. Should that fail, because the server gave the handoff to somebody else or
 * could not be reached for so long that it may have, `leaseLost` is true and `signal` is aborted: what the receiver does
 * from then on may be done twice.
 *
 * @module
 */
import type { CallOptions, Sending } from "./caller.js";
import { DryRun, Envelope } from "./envelope.js";
import { type PackFields, type PackOptions, packing } from "./envelopes.js";
import { ProtocolError, StaleLeaseError } from "./errors.js";
import { fetching } from "./fetching.js";
import { operations } from "./generated/operations.js";
import type { Found, HandoffStatus, JsonObject, Memory, SettleOutcome, Taken } from "./generated/types.js";
import type { DeliveryOptions, Handoff, HandoffCalls } from "./handoffs.js";
import type { Loop } from "./loop.js";
import { apart, type Draft, draftOf, type StoreManyOptions, type StoreOptions } from "./memories.js";
import { withInHand } from "./in-hand.js";
import { fromProblem } from "./problems.js";
import { Received } from "./received.js";
import { backoffMs, mayRecover, now, sleep } from "./transport.js";
import { toWire } from "./wire.js";

/** What a nack may say of an error: enough for a message, too little for a whole prompt or page in it. */
const REASON_MAX = 1000;
const RENEW_MIN_MS = 50;
const RENEW_TIMEOUT_S = 10;

/** How a handoff was settled. */
export type Verb = "ack" | "nack" | "release" | "reject" | "complete";

/** Options of `ack`. */
export interface AckOptions {
	/** It comes again unless it is completed or renewed (`progress`) within so many seconds. */
	readonly workLeaseS?: number | undefined;
	/** What was missing. */
	readonly gaps?: readonly unknown[] | undefined;
	/** How many tokens the receiver's model counted. */
	readonly inputTokens?: number | undefined;
}

/** Options of `complete`. */
export interface CompleteOptions {
	readonly gaps?: readonly unknown[] | undefined;
	readonly inputTokens?: number | undefined;
	/** False: the result becomes no memory of the task. */
	readonly remember?: boolean | undefined;
}

/** Options of `handOn`: what `pack`, `send` and `complete` take. */
export interface HandOnOptions
	extends Omit<PackFields, "from" | "task" | "intent" | "tokenizer">, DeliveryOptions, CompleteOptions {
	/** What came of the work, any JSON; the next agent finds it in its prompt. */
	readonly result?: unknown;
}

/** What a nack says about an error: its kind and its text, in characters that can be sent. */
export function reasonOf(error: unknown): string {
	const said = error instanceof Error ? [error.name, error.message].filter(Boolean).join(": ") : String(error);
	const text = new TextDecoder().decode(new TextEncoder().encode(said)).replaceAll("\0", "");
	return text.length <= REASON_MAX ? text : `${text.slice(0, REASON_MAX - 1)}…`;
}

/** A handoff in the hands of its receiver. `receive`, `inbox` and `run` give it. */
export class Work extends Received {
	readonly #client: HandoffCalls;
	readonly #abort = new AbortController();
	#latest: HandoffStatus;
	#settled: Verb | undefined;
	#isLost = false;
	#leaseUntil = 0;
	#renewAt = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isKept = false;
	/**
	 * A process died while it handled this, so that the effect may have taken place: {@link idempotent} says so to the
	 * handler that it calls again.
	 */
	inDoubt = false;
	/** That it is worked on in. @internal */
	loop: Loop | undefined;
	/** What the loop has next, where that was taken already. @internal */
	following: Work | undefined;

	private constructor(client: HandoffCalls, taken: Taken, envelope: Envelope | undefined) {
		super(taken, envelope);
		this.#client = client;
		this.#latest = taken;
		this.#noteLease(taken, now());
	}

	/** What was taken, with its envelope. An agent that accepts only version 1 got that; the newest form is read. @internal */
	static async of(client: HandoffCalls, taken: Taken): Promise<Work> {
		const raw = taken.envelope as JsonObject | null | undefined;
		if (raw === null || raw === undefined) return new Work(client, taken, undefined);
		const isNew = "envelope_version" in raw;
		return new Work(
			client,
			taken,
			isNew ? new Envelope(client, raw, taken.prompt) : await client.envelope(taken.envelopeId),
		);
	}

	/** The handoff as the server told it last. */
	get handoff(): Handoff {
		return this.#latest;
	}

	/** When the lease, or the work lease, ends unless it is renewed; null where there is none any more. */
	get leaseExpiresAt(): Date | null {
		return this.#settled === undefined || this.#settled === "ack" ? this.#latest.dueAt : null;
	}

	/** Whether somebody else may have the handoff by now, so that it had better be left alone. */
	get leaseLost(): boolean {
		return this.#isLost;
	}

	/** How it was settled; undefined where it was not, yet. */
	get settled(): Verb | undefined {
		return this.#settled;
	}

	/** Aborted when the handoff is not this receiver's any more: its lease was lost, or it was given back. */
	get signal(): AbortSignal {
		return this.#abort.signal;
	}

	// --- Settling --------------------------------------------------------------------------------

	/** Accepts it, and its sender goes on. */
	async ack(options: AckOptions = {}): Promise<Handoff> {
		return this.#settle("ack", { ...options });
	}

	/** The attempt has failed: it comes again, after `delayS` or the server's backoff, while it has attempts left. */
	async nack(reason?: string, options: { readonly delayS?: number | undefined } = {}): Promise<Handoff> {
		return this.#settle("nack", { reason, ...options });
	}

	/** Gives it back unfinished, because this receiver is stopped: no attempt is used, and it keeps its place. */
	async release(reason?: string, options: { readonly delayS?: number | undefined } = {}): Promise<Handoff> {
		return this.#settle("release", { reason, ...options });
	}

	/** Refuses it for good: a fallback agent gets it, or it is parked. */
	async reject(reason: string): Promise<Handoff> {
		return this.#settle("reject", { reason });
	}

	/** Ends it with a result, any JSON. The result becomes a memory of the task, which the next agent finds in its prompt. */
	async complete(result?: unknown, options: CompleteOptions = {}): Promise<Handoff> {
		return this.#settle("complete", { ...options, result });
	}

	/** Says that it is being worked on, which renews the lease or the work lease. */
	async progress(note?: string, options: { readonly workLeaseS?: number | undefined } = {}): Promise<Handoff> {
		return this.#progress({ note, ...options });
	}

	/**
	 * Finishes this handoff and hands the work on to the next agent, in one call: both are done or neither is. Returns
	 * the new handoff. Intent, constraints, history and memories go on by themselves, and so does the result.
	 *
	 * In a loop the next handoff that is ready is taken in the same call: hand on last. Where it is refused
	 * ({@link BudgetTooSmall}, {@link ConstraintConflict}, {@link HopLimit}…) nothing was changed, and it is still in hand.
	 */
	async handOn(to: string, summary: string, options: HandOnOptions = {}): Promise<Handoff> {
		const {
			result,
			gaps,
			inputTokens,
			remember,
			ackTimeoutS,
			maxAttempts,
			fallbacks,
			priority,
			notBefore,
			queueTimeoutS,
			...fields
		} = options;
		const task = fields.newRoot ? this.task : undefined;
		const envelope = packing(to, summary, { ...fields, task });
		const then = {
			envelope,
			...(toWire(
				{ ackTimeoutS, maxAttempts, fallbacks, priority, notBefore, queueTimeoutS },
				"Deliver",
			) as JsonObject),
		};
		const latest = await this.#settleForGood("complete", { result, gaps, inputTokens, remember, then });
		const following = (latest as { readonly then?: Handoff }).then;
		if (following === undefined)
			throw new ProtocolError(
				`${this.id} was finished, but this server does not know how to hand on in the same call: it is too old`,
				{ code: "invalid_response" },
			);
		return following;
	}

	/** Fetches memories that the work needs. Renews the lease, too. */
	async need(refs: readonly string[]): Promise<Found> {
		const params = { id: this.id };
		return fetching(refs, (refs = []) => {
			const said = { params, body: { lease: this.lease, refs } };
			return this.#noticingLoss(() => this.#client.request("need", said, { agent: this.to, safe: true }));
		});
	}

	/** Packs an envelope that continues the work. To finish this handoff and send the next in one call, use `handOn`. */
	pack(to: string, summary: string, options: PackOptions & { readonly dryRun: true }): Promise<DryRun>;
	pack(
		to: string,
		summary: string,
		options?: PackOptions & { readonly dryRun?: false | undefined },
	): Promise<Envelope>;
	pack(to: string, summary: string, options: PackOptions = {}): Promise<Envelope | DryRun> {
		if (options.newRoot && options.parent === undefined)
			return this.#client.pack(to, summary, { task: this.task, from: this.to, ...options });
		return this.#client.pack(to, summary, { parent: this, ...options });
	}

	/** Stores a memory of the task, in the name of the agent that has the work. */
	async store(content: string, options: StoreOptions = {}): Promise<Memory> {
		const [{ idempotencyKey, ...fields }, how] = apart(options);
		return this.#client.request(
			"storeMemory",
			{ body: draftOf({ ...fields, content }) },
			{ ...this.#forIt(how), idempotencyKey },
		);
	}

	/** Stores up to 1,000 memories of the task, all or none. */
	async storeMany(memories: readonly Draft[], options: StoreManyOptions = {}): Promise<readonly Memory[]> {
		const { idempotencyKey, ...how } = options;
		const answer = await this.#client.request(
			"storeMemories",
			{ body: { memories: memories.map(draftOf) } },
			{ ...this.#forIt(how), idempotencyKey },
		);
		return answer.memories;
	}

	#forIt(how: CallOptions): Sending {
		return { ...how, agent: this.to, task: this.task };
	}

	/**
	 * Calls a handler with this, keeps the lease meanwhile, and settles: completes with what it returns, acks where that
	 * is undefined, and nacks with the error where it throws, which is thrown on.
	 *
	 * @example
	 * for (const work of await agent.receive({ waitS: 10 })) await work.run(async () => answer(work.prompt));
	 */
	async run<T>(handler: (work: Work) => T | Promise<T>): Promise<T> {
		this.keep();
		try {
			const result = await this.inHand(() => handler(this));
			await this.succeed(result);
			return result;
		} catch (error) {
			await this.fail(reasonOf(error));
			throw error;
		} finally {
			this.stopKeeping();
		}
	}

	/** Calls it; meanwhile a plain `store` of the client stores for the task, too. @internal */
	inHand<T>(call: () => T | Promise<T>): Promise<T> {
		return withInHand(this.#client, this.task, call);
	}

	// --- For the loops ---------------------------------------------------------------------------

	/** Settles what went well and is not settled: completes what has a result or a work lease, acks the rest. @internal */
	async succeed(result?: unknown): Promise<void> {
		const isWorking = this.#settled === "ack" && this.#latest.workLease;
		if ((result !== undefined || isWorking) && (this.#settled === undefined || this.#settled === "ack"))
			await this.patiently(() => this.#settleForGood("complete", { result }));
		else if (this.#settled === undefined) await this.patiently(() => this.#settleForGood("ack", {}));
	}

	/** Nacks what went wrong and is not settled. @internal */
	async fail(reason: string): Promise<void> {
		await this.#leave(() => this.nack(reason));
	}

	/** Gives back what nobody has failed at, and tells its handler. @internal */
	async giveBack(reason: string): Promise<void> {
		await this.#leave(() => this.release(reason));
		this.#abort.abort(new DOMException(reason, "AbortError"));
	}

	/** That this fails is no matter: the lease runs out. */
	async #leave(settle: () => Promise<Handoff>): Promise<void> {
		try {
			if (this.#isHeld) await settle();
		} catch (error) {
			this.#client.log(
				"warn",
				`${this.id} could not be given back, and comes again when its lease has run out: ${String(error)}`,
			);
		} finally {
			this.stopKeeping();
		}
	}

	/** Settles, and tries again until the lease has ended while the server cannot be reached. @internal */
	async patiently(settle: () => Promise<Handoff>): Promise<Handoff> {
		for (let attempt = 0; ; attempt++) {
			try {
				return await settle();
			} catch (error) {
				const pause = backoffMs(attempt);
				if (!mayRecover(error) || now() + pause >= this.#leaseUntil) throw error;
				await sleep(pause);
			}
		}
	}

	// --- The lease -------------------------------------------------------------------------------

	/** Renews the lease in the background from now on, until it is settled. */
	keep(): void {
		if (this.#isKept) return;
		this.#isKept = true;
		this.#schedule();
	}

	/** Renews the lease no more. */
	stopKeeping(): void {
		this.#isKept = false;
		clearTimeout(this.#timer);
	}

	#schedule(): void {
		clearTimeout(this.#timer);
		if (!this.#isKept || !this.#isHeld) return;
		this.#timer = setTimeout(
			() => void this.#renew().then(() => this.#schedule()),
			Math.max(0, this.#renewAt - now()),
		);
	}

	/** Renews the lease, once; where that fails says when to try again, or that it is lost. */
	async #renew(): Promise<void> {
		try {
			await this.#progress({}, RENEW_TIMEOUT_S);
		} catch (error) {
			if (error instanceof StaleLeaseError) return;
			const at = now();
			if (this.#hasLease && at >= this.#leaseUntil) this.#lose();
			this.#renewAt = at + Math.max(RENEW_MIN_MS, Math.min(1000, (this.#leaseUntil - at) / 3));
		}
	}

	/** Counts from when the request was sent, by the clock of this machine, so as not to trust the server's. */
	#noteLease(latest: HandoffStatus, sentAt: number): void {
		this.#latest = latest;
		if (latest.dueAt === null) return;
		const leaseMs = latest.dueAt.getTime() - latest.changedAt.getTime();
		this.#leaseUntil = sentAt + leaseMs;
		this.#renewAt = sentAt + Math.max(RENEW_MIN_MS, leaseMs / 3);
	}

	get #hasLease(): boolean {
		return this.#settled === undefined || (this.#settled === "ack" && this.#latest.workLease);
	}

	/** Whether there is a lease to renew. */
	get #isHeld(): boolean {
		return !this.#isLost && this.#hasLease;
	}

	#lose(): void {
		if (this.#isLost) return;
		this.#isLost = true;
		this.#abort.abort(
			new DOMException(`the lease of ${this.id} was lost: somebody else may have it by now`, "AbortError"),
		);
	}

	async #noticingLoss<T>(call: () => Promise<T>): Promise<T> {
		try {
			return await call();
		} catch (error) {
			if (error instanceof StaleLeaseError && this.#hasLease) this.#lose();
			throw error;
		}
	}

	async #progress(said: JsonObject, timeoutS?: number): Promise<Handoff> {
		const sentAt = now();
		const settled = this.#settled;
		const latest = await this.#noticingLoss(() => this.#call("progress", said, timeoutS));
		// It may have been settled meanwhile, and that answer knows better what it is now.
		if (this.#settled === settled) this.#noteLease(latest, sentAt);
		return latest;
	}

	async #settle(verb: Verb, said: object): Promise<Handoff> {
		return this.#did(verb, () => this.#settleByItself(verb, said));
	}

	/** Settles, and has the loop's next handoff taken in the same call, where it is in a loop that wants one. */
	async #settleForGood(verb: Verb, said: object): Promise<Handoff> {
		return this.#did(verb, () => this.#settleAndTake(verb, said));
	}

	async #did(verb: Verb, settle: () => Promise<Handoff>): Promise<Handoff> {
		const sentAt = now();
		const latest = await this.#noticingLoss(settle);
		this.#noteLease(latest, sentAt);
		this.#settled = verb;
		this.#isLost = false;
		if (this.#isHeld) this.#schedule();
		else this.stopKeeping();
		return latest;
	}

	/** What gave the handoff back ended its lease, so that saying it again is refused: then what became of it is read. */
	async #settleByItself(verb: Verb, said: object): Promise<Handoff> {
		try {
			return await this.#call(verb, said);
		} catch (error) {
			if (!(error instanceof StaleLeaseError) || !error.repeated || verb === "ack" || verb === "complete")
				throw error;
			return this.#client.handoff(this.id);
		}
	}

	#call(verb: Verb | "progress", said: object, timeoutS?: number): Promise<Handoff> {
		const body = { ...said, lease: this.lease };
		return this.#client.request(verb, { params: { id: this.id }, body }, { agent: this.to, safe: true, timeoutS });
	}

	async #settleAndTake(verb: Verb, said: object): Promise<Handoff> {
		if (this.loop === undefined || this.following !== undefined) return this.#settleByItself(verb, said);
		const entry = {
			id: this.id,
			verb,
			lease: this.lease,
			...(toWire(said, operations[verb]?.body ?? 0) as JsonObject),
		};
		const answer = await this.loop.settleAndTake(entry);
		const next = answer?.taken[0];
		if (next !== undefined) await this.#follow(next);
		return answer?.settled === undefined ? this.#settleByItself(verb, said) : readSettled(answer.settled);
	}

	/** What comes next in the loop. It is kept from now on: what is in hand may not be over yet. */
	async #follow(taken: Taken): Promise<void> {
		try {
			this.following = await Work.of(this.#client, taken);
			this.following.keep();
		} catch (error) {
			this.#client.log("warn", `${taken.id} was taken and could not be read; it comes again: ${String(error)}`);
		}
	}
}

/** What was said of a settling that went along with `receive`: the handoff, or the problem, which is thrown. */
function readSettled(outcome: SettleOutcome): Handoff {
	if (outcome.problem !== undefined)
		throw fromProblem(outcome.problem.status, toWire(outcome.problem, "Problem") as JsonObject);
	if (outcome.handoff === undefined)
		throw new ProtocolError(`this is no settled handoff: ${outcome.id}`, { code: "invalid_response" });
	return outcome.handoff;
}
