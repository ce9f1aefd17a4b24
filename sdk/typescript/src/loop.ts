/**
 * What the loops of a receiver go by: how many to take, when to end, and settling one while taking the next in one call.
 *
 * ONE CALL. `receive` takes what is to be settled along: finishing a handoff, handing it on and taking the next one are
 * one call and one commit. The loop does that where it wants another one. It does not wait in that call: whether the
 * result was taken is known at once, and where nothing is ready the loop waits in a call of its own.
 *
 * WHAT COUNTS. `limit` of `run` counts what went well, so that a handler that fails does not use it up; that of an inbox
 * counts what was taken. What is on its way is counted as taken until the answer says otherwise, so that workers that
 * ask at the same time do not take too many together.
 *
 * @module
 */
import type { Caller } from "./caller.js";
import type { JsonObject, SettleOutcome, Taken } from "./generated/types.js";
import { backoffMs, mayRecover, now, sleep } from "./transport.js";
import type { Work } from "./work.js";

/** The longest that the server lets a receiver wait, and the most that one call can take. */
const WAIT_S = 60;
const TAKE_MAX = 100;

/** Options of a loop over the handoffs of an agent. */
export interface LoopOptions {
	/** Ends the loop after that many: of `run`, that went well; of `inbox`, that were taken. */
	readonly limit?: number | undefined;
	/** Ends it when nothing has come for so many seconds; 0: when nothing is waiting. */
	readonly idleS?: number | undefined;
	/** How long the server waits for a sign of life, in seconds; it is given while the work goes on. */
	readonly leaseS?: number | undefined;
	/** Acks each at once, so that its sender goes on, and completes it when it is done; for so many seconds at a time. */
	readonly workLeaseS?: number | undefined;
	/** Ends the loop: nothing more is taken, and what is in hand is finished. */
	readonly signal?: AbortSignal | undefined;
}

export class Loop {
	readonly #caller: Caller;
	readonly #agent: string;
	readonly #instance: string | undefined;
	readonly #options: LoopOptions;
	readonly #countsTaken: boolean;
	readonly #stop = new AbortController();
	readonly #onAbort = (): void => this.stop();
	#wasReached = false;
	#taken = 0;
	#inHand = 0;
	done = 0;

	constructor(
		caller: Caller,
		agent: string,
		instance: string | undefined,
		options: LoopOptions,
		countsTaken: boolean,
	) {
		if ((options.limit ?? 0) < 0) throw new RangeError(`limit is ${options.limit}; it must not be negative`);
		this.#caller = caller;
		this.#agent = agent;
		this.#instance = instance;
		this.#options = options;
		this.#countsTaken = countsTaken;
	}

	/** From now on the caller's signal stops it; until `end`. */
	begin(): void {
		if (this.#options.signal?.aborted) this.stop();
		this.#options.signal?.addEventListener("abort", this.#onAbort);
	}

	end(): void {
		this.#options.signal?.removeEventListener("abort", this.#onAbort);
	}

	stop(): void {
		this.#stop.abort();
	}

	/** Aborted when the loop was told to end. */
	get stopped(): AbortSignal {
		return this.#stop.signal;
	}

	// --- How many --------------------------------------------------------------------------------

	/** How many more may be taken now; 0 also where what is in hand has to end first. */
	room(): number {
		if (this.#stop.signal.aborted) return 0;
		const { limit = Infinity } = this.#options;
		return Math.max(0, limit - (this.#countsTaken ? this.#taken : this.done + this.#inHand));
	}

	#reserve(free: number): number {
		const room = Math.min(free, this.room(), TAKE_MAX);
		this.#taken += room;
		this.#inHand += room;
		return room;
	}

	#giveUp(count: number): void {
		this.#taken -= count;
		this.#inHand -= count;
	}

	/** The work is out of hand; it counts where it went well. */
	ended(work: Work): void {
		this.#inHand -= 1;
		if (work.settled === "ack" || work.settled === "complete") this.done += 1;
	}

	// --- Taking ----------------------------------------------------------------------------------

	/** Waits for up to `free` handoffs. Undefined where the loop is over; empty where what is in hand has to end first. */
	async next(free = 1): Promise<readonly Taken[] | undefined> {
		const { idleS } = this.#options;
		const beganAt = now();
		const untilIdle = idleS === undefined ? Infinity : beganAt + idleS * 1000;
		for (let attempt = 0; !this.#stop.signal.aborted;) {
			const room = this.#reserve(free);
			if (room === 0) return this.#inHand > 0 ? [] : undefined;
			let found: readonly Taken[] = [];
			try {
				found = await this.#receive(room, Math.max(0, Math.min(WAIT_S, (untilIdle - now()) / 1000)));
			} catch (error) {
				if (this.#stop.signal.aborted) return undefined;
				if (!this.#mayGoOn(error, beganAt)) throw error;
				if (attempt === 0) this.#caller.log("warn", `${this.#agent} waits for the server: ${String(error)}`);
				await sleep(backoffMs(attempt++), this.#stop.signal).catch(() => undefined);
				continue;
			} finally {
				this.#giveUp(room - found.length);
			}
			if (attempt > 0) this.#caller.log("warn", `${this.#agent} goes on: the server is back`);
			attempt = 0;
			this.#wasReached = true;
			if (found.length > 0) return found;
			if (now() >= untilIdle) return undefined;
		}
		return undefined;
	}

	/** A server that was never reached is waited for no longer than any call waits. */
	#mayGoOn(error: unknown, beganAt: number): boolean {
		const patienceMs = this.#caller.retries === 0 ? 0 : this.#caller.timeoutS * 1000;
		return mayRecover(error) && (this.#wasReached || now() - beganAt < patienceMs);
	}

	async #receive(max: number, waitS: number): Promise<readonly Taken[]> {
		const body = { waitS, max, leaseS: this.#options.leaseS, instance: this.#instance };
		const how = { agent: this.#agent, waitS, retry: false, safe: true, signal: this.#stop.signal };
		return (await this.#caller.request("receive", { params: { name: this.#agent }, body }, how)).handoffs;
	}

	/** Settles, and takes the next one that is ready in the same call. Undefined where none is wanted: nothing was done. */
	async settleAndTake(
		settle: JsonObject,
	): Promise<{ settled: SettleOutcome | undefined; taken: readonly Taken[] } | undefined> {
		const room = this.#reserve(1);
		if (room === 0) return undefined;
		let taken: readonly Taken[] = [];
		try {
			const body = {
				waitS: 0,
				max: 1,
				leaseS: this.#options.leaseS,
				instance: this.#instance,
				settle: [settle as never],
			};
			// Said again it is answered as before, because a settling is known by its lease.
			const answer = await this.#caller.request(
				"receive",
				{ params: { name: this.#agent }, body },
				{ agent: this.#agent, safe: true },
			);
			taken = answer.handoffs;
			return { settled: answer.settled?.[0], taken };
		} finally {
			this.#giveUp(room - taken.length);
		}
	}

	// --- Settling --------------------------------------------------------------------------------

	/** Acks with a work lease, where that is wanted. False where the handoff is not this receiver's any more. */
	async accept(work: Work): Promise<boolean> {
		const { workLeaseS } = this.#options;
		if (workLeaseS === undefined) return true;
		try {
			await work.patiently(() => work.ack({ workLeaseS }));
			return true;
		} catch (error) {
			this.#caller.log("warn", `${work.id} was lost before it was begun: ${String(error)}`);
			work.stopKeeping();
			return false;
		}
	}

	/** Settles what went well. That this fails must not end the loop: the handoff comes again. */
	async succeed(work: Work, result?: unknown): Promise<void> {
		try {
			await work.succeed(result);
		} catch (error) {
			this.#caller.log(
				"warn",
				`${work.id} was handled but could not be settled, and may come again: ${String(error)}`,
			);
		} finally {
			work.stopKeeping();
		}
	}
}
