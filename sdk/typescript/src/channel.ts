/** Channels: one envelope to many agents, and what they made of it. @module */
import type { Caller, CallOptions } from "./caller.js";
import { envelopeId, type EnvelopeId } from "./envelope.js";
import { NotFound } from "./errors.js";
import type * as wire from "./generated/types.js";
import type { Handoff } from "./handoffs.js";
import { apart } from "./memories.js";
import { backoffMs, mayRecover, now, sleep } from "./transport.js";

/** The longest that the server waits for a join. */
const JOIN_WAIT_S = 60;
/** How often in a row a server that cannot be reached is asked again. */
const TRIES_MAX = 20;

type Publish = wire.Operations["publish"]["input"]["body"];

/** Options of `publish`. */
export interface PublishOptions extends Omit<Publish, "envelopeId">, CallOptions {
	readonly idempotencyKey?: string | undefined;
}

/** Options of `join`. */
export interface JoinOptions extends CallOptions {
	/** How many must have completed: `all`, `any`, or a number. */
	readonly need?: "all" | "any" | number | undefined;
	/** Seconds to wait; for ever where it is not given. (The time for the call itself comes on top.) */
	readonly timeoutS?: number | undefined;
	/** After it nobody waits any more. */
	readonly deadline?: Date | string | undefined;
}

/** What the receivers of a published envelope made of it. */
export class Join {
	/** `joined`; `failed`: too many were parked or discarded; `deadline` or `waiting`: not yet. */
	readonly state: "waiting" | "joined" | "failed" | "deadline";
	/** How many receivers there are. */
	readonly receivers: number;
	/** How many have completed it. */
	readonly completed: number;
	/** How many must have. */
	readonly need: number;
	/** One for each receiver, with its result. */
	readonly handoffs: wire.Joined["results"];
	/** The results of those that have completed it, by agent. */
	readonly results: { readonly [agent: string]: wire.Json };

	constructor(answer: wire.Joined) {
		this.state = answer.state;
		this.receivers = answer.receivers;
		this.completed = answer.completed;
		this.need = answer.need;
		this.handoffs = answer.results;
		const done = answer.results.filter((one) => one.state === "completed");
		this.results = Object.fromEntries(done.map((one) => [one.to, one.result ?? null]));
	}

	/** Whether as many have completed it as were needed. */
	get joined(): boolean {
		return this.state === "joined";
	}
}

/** A channel. It comes into being when it is first used. Made by `spine.getChannel`. */
export class Channel {
	readonly name: string;
	readonly #caller: Caller;

	constructor(caller: Caller, name: string) {
		this.#caller = caller;
		this.name = name;
	}

	/**
	 * Sends an envelope to each of the receivers, else to each subscriber: to all of them or, on an error, to none.
	 * Publishing the same envelope again sends nothing again and returns the same handoffs.
	 */
	async publish(envelope: EnvelopeId, options: PublishOptions = {}): Promise<readonly Handoff[]> {
		const [{ idempotencyKey, ...said }, how] = apart(options);
		const body = { delivery: "at-least-once" as const, ...said, envelopeId: envelopeId("envelope", envelope) };
		return (
			await this.#caller.request("publish", { params: { name: this.name }, body }, { ...how, idempotencyKey })
		).handoffs;
	}

	/** Waits until enough receivers of an envelope have completed it, or no longer can, or the time is over. */
	async join(envelope: EnvelopeId, options: JoinOptions = {}): Promise<Join> {
		const { need = "all", timeoutS, deadline, signal } = options;
		const until = timeoutS === undefined ? Infinity : now() + timeoutS * 1000;
		const said = { envelopeId: envelopeId("envelope", envelope), need, deadline };
		// Again and again, because the server waits a minute at most.
		for (let attempt = 0; ;) {
			const waitS = Math.max(0, Math.min(JOIN_WAIT_S, (until - now()) / 1000));
			try {
				const answer = await this.#caller.request(
					"join",
					{ params: { name: this.name }, body: { ...said, waitS } },
					{ signal, waitS, retry: false, safe: true },
				);
				attempt = 0;
				if (answer.state !== "waiting" || now() >= until) return new Join(answer);
			} catch (error) {
				const pause = backoffMs(attempt++);
				if (!mayRecover(error) || attempt > TRIES_MAX || now() + pause >= until) throw error;
				await sleep(pause, signal);
			}
		}
	}

	/** From now on the agent gets what is published without naming receivers. */
	async subscribe(agent: string, options: CallOptions = {}): Promise<wire.Channel> {
		return this.#caller.request("subscribe", { params: { name: this.name, agent } }, options);
	}

	/** Undoes `subscribe`. What was published stays the agent's. */
	async unsubscribe(agent: string, options: CallOptions = {}): Promise<wire.Channel> {
		return this.#caller
			.request("unsubscribe", { params: { name: this.name, agent } }, options)
			.catch((error: unknown) => {
				if (error instanceof NotFound && error.repeated) return this.info(options);
				throw error;
			});
	}

	/** The channel and its subscribers. */
	async info(options: CallOptions = {}): Promise<wire.Channel> {
		return this.#caller.request("readChannel", { params: { name: this.name } }, options);
	}

	/** Says what the channel is for. */
	async describe(description: string, options: CallOptions = {}): Promise<wire.Channel> {
		return this.#caller.request("makeChannel", { params: { name: this.name }, body: { description } }, options);
	}
}
