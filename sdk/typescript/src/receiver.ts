/** The receiving side of an agent: take handoffs one by one, in a loop, or with a handler. @module */
import type { CallOptions } from "./caller.js";
import type { Taken } from "./generated/types.js";
import type { Handoff, HandoffCalls } from "./handoffs.js";
import { Loop, type LoopOptions } from "./loop.js";
import { reasonOf, Work } from "./work.js";

/** How long handlers may go on after a stop: fewer than the 10 seconds that `docker stop` waits before it kills. */
const GRACE_S = 8;

const LEFT = "the receiver left its loop with this in hand";
const NOT_BEGUN = "the receiver left its loop before it had begun this";
const STOPPED = "the receiver was stopped before this was done";

/** Works on one handoff. What it returns completes it, undefined acks it, an error nacks it. */
export type Handler = (work: Work) => unknown;

/** Options of `receive`. */
export interface ReceiveOptions extends CallOptions {
	/** Seconds to wait for the first where there is none: 0, and 60 at most. */
	readonly waitS?: number | undefined;
	/** How many at most: 1. */
	readonly limit?: number | undefined;
	/** Seconds within which they are to be settled, else they come again. */
	readonly leaseS?: number | undefined;
}

/** Options of `inbox`. */
export type InboxOptions = LoopOptions;

/** Options of `run`. */
export interface RunOptions extends LoopOptions {
	/** How many handlers work at once: 1. */
	readonly concurrency?: number | undefined;
	/** Is told of the error of a handler; else that is logged. */
	readonly onError?: ((work: Work, error: unknown) => void) | undefined;
	/** Seconds that handlers may go on after a stop, before their handoffs are given back: 8. */
	readonly graceS?: number | undefined;
}

/** An agent as a receiver of handoffs. Made by `spine.agent`. */
export class Receiver {
	/** The agent. */
	readonly name: string;
	/** Which of several that share its queue this is, for those who look. */
	readonly instance: string | undefined;
	readonly #client: HandoffCalls;
	readonly #loops = new Set<Loop>();

	constructor(client: HandoffCalls, name: string, instance: string | undefined) {
		this.#client = client;
		this.name = name;
		this.instance = instance;
	}

	/** Takes up to `limit` handoffs. They are to be settled, by `work.run` or by hand. */
	async receive(options: ReceiveOptions = {}): Promise<Work[]> {
		const { waitS = 0, limit = 1, leaseS, ...how } = options;
		const body = { waitS, max: limit, leaseS, instance: this.instance };
		// Safe, although a reply that is lost takes handoffs with it: their lease runs out, and they come again.
		const answer = await this.#client.request(
			"receive",
			{ params: { name: this.name }, body },
			{ ...how, agent: this.name, waitS, safe: true },
		);
		return Promise.all(answer.handoffs.map((taken) => Work.of(this.#client, taken)));
	}

	/**
	 * The handoff that `receive` would give next; undefined where there is none within `waitS` seconds (0; 60 at most).
	 * Nothing is taken, no attempt is used, and the agent does not count as seen. Another receiver may be faster.
	 */
	async peek(options: CallOptions & { readonly waitS?: number | undefined } = {}): Promise<Handoff | undefined> {
		const { waitS = 0, ...how } = options;
		return (await this.#client.request("peek", { params: { name: this.name }, query: { waitS } }, { ...how, waitS })).handoff ?? undefined;
	}

	/**
	 * The handoffs of the agent, to be looped over as they come. Each is acked when the loop comes back for the next one,
	 * unless the body has settled it. A loop that is left, by `break` or by an error, nacks what is in hand: JavaScript
	 * does not tell an iterator which of the two it was. Settle before a `break`; or use `run`, which knows.
	 *
	 * @example
	 * for await (const work of spine.agent("coder").inbox()) await work.complete(await answer(work.prompt));
	 */
	inbox(options: InboxOptions = {}): Inbox {
		return new Inbox(this.#client, this.#loop(options, true), this.#loops);
	}

	/**
	 * Calls a handler with each handoff as it comes, and returns how many went well. What the handler returns completes
	 * the handoff, undefined acks it; an error nacks it, with its kind and text as the reason, and the next one follows.
	 *
	 * The `signal`, or `stop()`, ends it: nothing more is taken, and what is in hand is finished. What takes longer than
	 * `graceS` is given back, and comes again at once for another instance.
	 *
	 * @example
	 * const stop = new AbortController();
	 * process.once("SIGTERM", () => stop.abort());
	 * await spine.agent("coder").run(async (work) => answer(work.prompt), { concurrency: 4, signal: stop.signal });
	 */
	async run(handler: Handler, options: RunOptions = {}): Promise<number> {
		const { concurrency = 1 } = options;
		if (!(concurrency >= 1)) throw new RangeError(`concurrency is ${concurrency}; it must be at least 1`);
		const loop = this.#loop(options, false);
		loop.begin();
		try {
			return await new Crew(this.#client, loop, handler, options).run(concurrency);
		} finally {
			loop.end();
			this.#loops.delete(loop);
		}
	}

	/** Ends the loops of this receiver, each after what is in hand. */
	stop(): void {
		for (const loop of this.#loops) loop.stop();
	}

	#loop(options: LoopOptions, countsTaken: boolean): Loop {
		const loop = new Loop(this.#client, this.name, this.instance, options, countsTaken);
		this.#loops.add(loop);
		return loop;
	}
}

/** The handoffs of an agent, to be looped over. Made by `agent.inbox`. */
export class Inbox implements AsyncIterable<Work> {
	readonly #client: HandoffCalls;
	readonly #loop: Loop;
	readonly #running: Set<Loop>;

	constructor(client: HandoffCalls, loop: Loop, running: Set<Loop>) {
		this.#client = client;
		this.#loop = loop;
		this.#running = running;
	}

	/** Ends the loop after what is in hand. */
	stop(): void {
		this.#loop.stop();
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<Work, void, undefined> {
		this.#running.add(this.#loop);
		this.#loop.begin();
		try {
			yield* this.#works();
		} finally {
			this.#loop.end();
			this.#running.delete(this.#loop);
		}
	}

	async *#works(): AsyncGenerator<Work, void, undefined> {
		let work: Work | undefined;
		for (;;) {
			if (work === undefined) {
				const taken: Taken | undefined = (await this.#loop.next())?.[0];
				if (taken === undefined) return;
				work = await Work.of(this.#client, taken);
			}
			work.loop = this.#loop;
			work.keep();
			const isMine = await this.#loop.accept(work);
			let isBack = !isMine;
			try {
				if (isMine) yield work;
				isBack = true;
			} finally {
				if (!isBack) await this.#leave(work);
			}
			if (isMine) await this.#loop.succeed(work);
			this.#loop.ended(work);
			work = work.following;
		}
	}

	async #leave(work: Work): Promise<void> {
		await work.fail(LEFT);
		this.#loop.ended(work);
		await dropFollowing(work, this.#loop);
	}
}

/** What was taken on the way is not begun any more. */
async function dropFollowing(work: Work, loop: Loop): Promise<void> {
	const { following } = work;
	work.following = undefined;
	if (following === undefined) return;
	await following.giveBack(NOT_BEGUN);
	loop.ended(following);
}

/** Handlers at work. One call at a time waits for new handoffs, for as many as there are free hands. */
class Crew {
	readonly #client: HandoffCalls;
	readonly #loop: Loop;
	readonly #handler: Handler;
	readonly #options: RunOptions;
	readonly #busy = new Set<{ work: Work }>();
	/** Of `onError` itself: they end the loop. */
	readonly #errors: unknown[] = [];
	/** Wakes up `run`, the only one that waits for a change. */
	#ring: () => void = () => undefined;

	constructor(client: HandoffCalls, loop: Loop, handler: Handler, options: RunOptions) {
		this.#client = client;
		this.#loop = loop;
		this.#handler = handler;
		this.#options = options;
	}

	async run(concurrency: number): Promise<number> {
		const { stopped } = this.#loop;
		const onStop = (): void => this.#ring();
		stopped.addEventListener("abort", onStop);
		try {
			for (;;) {
				await this.#until(
					() =>
						stopped.aborted ||
						this.#busy.size === 0 ||
						(this.#busy.size < concurrency && this.#loop.room() > 0),
				);
				const taken = await this.#loop.next(concurrency - this.#busy.size);
				if (taken === undefined) break;
				for (const one of taken) this.#start(await Work.of(this.#client, one));
			}
			await this.#until(() => stopped.aborted || this.#busy.size === 0);
		} finally {
			await this.#finish();
			stopped.removeEventListener("abort", onStop);
		}
		if (this.#errors.length > 0) throw this.#errors[0];
		return this.#loop.done;
	}

	async #until(isSo: () => boolean): Promise<void> {
		while (!isSo()) await new Promise<void>((resolve) => (this.#ring = resolve));
	}

	#start(work: Work): void {
		const hand = { work };
		this.#busy.add(hand);
		work.keep();
		const onEnd = (): void => {
			this.#busy.delete(hand);
			this.#ring();
		};
		const onError = (error: unknown): void => {
			this.#errors.push(error);
			this.#loop.stop();
			onEnd();
		};
		this.#handleAll(hand).then(onEnd, onError);
	}

	/** Waits for what is in hand, no longer than the grace; then it is given back. */
	async #finish(): Promise<void> {
		const { graceS = GRACE_S } = this.#options;
		this.#loop.stop();
		let isOver = false;
		const timer = setTimeout(() => {
			isOver = true;
			this.#ring();
		}, graceS * 1000);
		await this.#until(() => isOver || this.#busy.size === 0);
		clearTimeout(timer);
		await Promise.all(Array.from(this.#busy, ({ work }) => work.giveBack(STOPPED)));
	}

	/** One handoff, and those that were taken on the way. */
	async #handleAll(hand: { work: Work }): Promise<void> {
		for (let work: Work | undefined = hand.work; work !== undefined; work = work.following) {
			hand.work = work;
			work.loop = this.#loop;
			await this.#handle(work);
			this.#loop.ended(work);
			if (this.#loop.stopped.aborted) return dropFollowing(work, this.#loop);
		}
	}

	async #handle(work: Work): Promise<void> {
		try {
			work.keep();
			if (await this.#loop.accept(work)) await this.#loop.succeed(work, await work.inHand(() => this.#handler(work)));
		} catch (error) {
			await work.fail(reasonOf(error));
			this.#tell(work, error);
		} finally {
			work.stopKeeping();
		}
	}

	#tell(work: Work, error: unknown): void {
		if (this.#options.onError) this.#options.onError(work, error);
		else this.#client.log("error", `${work.id} to ${work.to} failed in its handler`, error);
	}
}
