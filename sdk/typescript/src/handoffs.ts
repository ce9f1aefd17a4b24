/** The calls on handoffs: send an envelope to an agent, see what became of it, and deal with what was parked. @module */
import type { CallOptions } from "./caller.js";
import { Envelope, envelopeId, type EnvelopeId } from "./envelope.js";
import { EnvelopeCalls } from "./envelopes.js";
import { HandoffConflict, ProtocolError } from "./errors.js";
import type * as wire from "./generated/types.js";
import { apart } from "./memories.js";
import { Pages } from "./pages.js";
import { backoffMs, mayRecover, now, sleep } from "./transport.js";
import { toWire } from "./wire.js";

/** One delivery of one envelope to one agent, as it was when it was read. */
export type Handoff = wire.HandoffStatus;

/** An envelope, its id, or what one is to be packed from: it is packed and sent in one step. */
export type Sendable = EnvelopeId | (Omit<wire.Handoff, "targetAgent"> & { readonly targetAgent?: string | undefined });

/** How an envelope is delivered. */
export type DeliveryOptions = Omit<wire.Deliver, "envelopeId" | "envelope" | "to" | "waitS">;

/** Options of `send`. */
export interface SendOptions extends DeliveryOptions, CallOptions {
	/** Who gets it; else whom it is addressed to. */
	readonly to?: string | undefined;
	readonly idempotencyKey?: string | undefined;
}

/** Options of `deliverHandoff`. */
export interface DeliverOptions extends Omit<DeliveryOptions, "notBefore" | "queueTimeoutS">, CallOptions {
	/** Seconds to wait for the ack: 15, and 600 at most. (The time for the call itself comes on top.) */
	readonly timeoutS?: number | undefined;
}

/** Options of what is decided about a handoff. */
export interface DecideOptions extends CallOptions {
	readonly why?: string | undefined;
	/** Who decides. */
	readonly by?: string | undefined;
}

/** A handoff, or its id. */
export type HandoffId = string | { readonly id: string };

type Asked<Name extends "listHandoffs" | "listParked"> = NonNullable<wire.Operations[Name]["input"]["query"]>;

/** Which handoffs are listed. */
export interface HandoffFilters extends Omit<Asked<"listHandoffs">, "envelopeId" | "pageToken">, CallOptions {
	readonly envelope?: EnvelopeId | undefined;
}

/** Which parked handoffs are listed. */
export interface ParkedFilters extends Omit<Asked<"listParked">, "envelopeId" | "pageToken">, CallOptions {
	readonly envelope?: EnvelopeId | undefined;
}

/** The shortest wait that is one, in seconds. */
const WAIT_MIN_S = 0.001;

/** The id of a handoff. @internal */
export function idOf(handoff: HandoffId): string {
	const id = typeof handoff === "string" ? handoff : handoff?.id;
	if (typeof id !== "string" || id === "")
		throw new TypeError(`a handoff is named by its id, such as "ho-17", not ${JSON.stringify(id)}`);
	return id;
}

/** How an envelope goes into a delivery: by its id, or as what it is packed from. @internal */
export function content(envelope: Sendable, to: string | undefined): Pick<wire.Deliver, "envelopeId" | "envelope"> {
	if (typeof envelope === "object" && !(envelope instanceof Envelope) && "taskSummary" in envelope) {
		const { targetAgent = to, ...rest } = envelope;
		return { envelope: toWire({ ...rest, targetAgent }, "Handoff") as wire.Handoff };
	}
	return { envelopeId: envelopeId("envelope", envelope as EnvelopeId) };
}

export abstract class HandoffCalls extends EnvelopeCalls {
	/**
	 * Hands an envelope to an agent without waiting for it. It is durable when this returns; the server does the rest:
	 * it retries, goes on to `fallbacks`, and parks what fails.
	 *
	 * Sending the same envelope to the same agent again never makes a second handoff. Throws {@link HandoffParkedError}.
	 *
	 * @example
	 * await spine.send(await spine.pack("coder", "Implement the retry logic."));
	 */
	async send(envelope: Sendable, options: SendOptions = {}): Promise<wire.Sent> {
		const [{ to, idempotencyKey, ...order }, how] = apart(options);
		return this.request(
			"deliver",
			{ body: { ...order, to, ...content(envelope, to) } },
			{ ...how, idempotencyKey },
		);
	}

	/**
	 * Hands an envelope to an agent and waits until it has acked. A server that restarts meanwhile is waited for.
	 *
	 * Delivering again after an {@link AckTimeoutError} is the next attempt of the same handoff. Also throws
	 * {@link CircuitOpenError} and {@link HandoffParkedError}.
	 */
	async deliverHandoff(envelope: Sendable, target?: string, options: DeliverOptions = {}): Promise<wire.Sent> {
		const { signal, timeoutS = 15, ...order } = options;
		if (!(timeoutS > 0)) throw new RangeError(`timeoutS is ${timeoutS}; it must be positive (send does not wait)`);
		const deadline = now() + timeoutS * 1000;
		const envelopeId = await this.stored(envelope, target, signal);
		for (let attempt = 0, waitS = timeoutS; ; attempt++) {
			try {
				const body = { ...order, to: target, envelopeId, waitS };
				return acked(
					await this.request("deliver", { body }, { signal, waitS, retry: false, noKey: true, safe: true }),
				);
			} catch (error) {
				const pause = backoffMs(attempt);
				waitS = (deadline - now() - pause) / 1000;
				if (!mayRecover(error) || waitS <= WAIT_MIN_S) throw error;
				await sleep(pause, signal);
			}
		}
	}

	/** The id of an envelope, which is packed now where it is not one yet. @internal */
	async stored(envelope: Sendable, target: string | undefined, signal?: AbortSignal): Promise<string> {
		const { envelopeId, envelope: draft } = content(envelope, target);
		if (draft === undefined) return envelopeId as string;
		const { raw } = await this.exchange("handOff", { body: draft }, { signal });
		return String(raw.id);
	}

	/** What became of a handoff: its state, all that happened to it, and its result. */
	async handoff(handoff: HandoffId, options: CallOptions = {}): Promise<wire.HandoffHistory> {
		return this.request("readHandoff", { params: { id: idOf(handoff) } }, options);
	}

	/** The handoffs of the space that pass the filters, the oldest first unless `order` is `newest`. */
	handoffs(options: HandoffFilters = {}): Pages<Handoff> {
		const [{ envelope, pageSize = 100, ...filters }, how] = apart(options);
		const query = {
			...filters,
			pageSize,
			envelopeId: envelope === undefined ? undefined : envelopeId("envelope", envelope),
		};
		return new Pages(async (pageToken) => {
			const answer = await this.request("listHandoffs", { query: { ...query, pageToken } }, how);
			return { items: answer.handoffs, nextPageToken: answer.nextPageToken };
		});
	}

	/** Takes a handoff that nobody has taken yet out of its queue, for good. */
	async cancel(handoff: HandoffId, options: DecideOptions = {}): Promise<Handoff> {
		const [body, how] = apart(options);
		const id = idOf(handoff);
		return this.#decided(
			id,
			(one) => one.state === "discarded",
			() => this.request("cancel", { params: { id }, body }, { ...how, safe: true }),
		);
	}

	/** Gives a handoff that nobody has taken yet to another agent. */
	async move(handoff: HandoffId, to: string, options: DecideOptions = {}): Promise<Handoff> {
		const [said, how] = apart(options);
		const id = idOf(handoff);
		return this.#decided(
			id,
			(one) => one.to === to,
			() => this.request("move", { params: { id }, body: { ...said, to } }, { ...how, safe: true }),
		);
	}

	/** Parks an envelope for a person: whatever of it was not acked is delivered no more, and nothing of it is lost. */
	async parkEnvelope(
		envelope: EnvelopeId,
		reason: string,
		options: CallOptions & { readonly by?: string | undefined } = {},
	): Promise<Handoff> {
		const { by, ...how } = options;
		return this.request("park", { params: { id: envelopeId("envelope", envelope) }, body: { reason, by } }, how);
	}

	/** What is parked in the space and passes the filters, with its reason and what can be done. */
	parked(options: ParkedFilters = {}): Pages<wire.Parked> {
		const [{ envelope, pageSize = 100, ...filters }, how] = apart(options);
		const query = {
			...filters,
			pageSize,
			envelopeId: envelope === undefined ? undefined : envelopeId("envelope", envelope),
		};
		return new Pages(async (pageToken) => {
			const answer = await this.request("listParked", { query: { ...query, pageToken } }, how);
			return { items: answer.parked, nextPageToken: answer.nextPageToken };
		});
	}

	/** Sends what is parked to the same agent again, with new attempts. */
	async redrive(handoff: HandoffId, options: DecideOptions = {}): Promise<Handoff> {
		const [body, how] = apart(options);
		const id = idOf(handoff);
		return this.#decided(id, notParked, () =>
			this.request("redrive", { params: { id }, body }, { ...how, safe: true }),
		);
	}

	/** Sends what is parked to another agent. */
	async reroute(handoff: HandoffId, to: string, options: DecideOptions = {}): Promise<Handoff> {
		const [said, how] = apart(options);
		const id = idOf(handoff);
		return this.#decided(id, notParked, () =>
			this.request("reroute", { params: { id }, body: { ...said, to } }, { ...how, safe: true }),
		);
	}

	/** Packs what is parked anew, within fewer tokens, and sends that. Returns the new handoff. */
	async shrink(
		handoff: HandoffId,
		maxTokens: number,
		options: DecideOptions = {},
	): Promise<wire.Operations["shrink"]["answer"]> {
		const [said, how] = apart(options);
		return this.request("shrink", { params: { id: idOf(handoff) }, body: { ...said, maxTokens } }, how);
	}

	/** Takes what is parked out of the queue for good; it stays visible, as discarded. */
	async discard(handoff: HandoffId, why: string, options: Omit<DecideOptions, "why"> = {}): Promise<Handoff> {
		const [said, how] = apart(options);
		const id = idOf(handoff);
		return this.#decided(id, notParked, () =>
			this.request("discard", { params: { id }, body: { ...said, why } }, { ...how, safe: true }),
		);
	}

	/**
	 * Undoes a decision: what was discarded or cancelled, or redriven or rerouted and not taken since, is parked again.
	 * Throws {@link HandoffConflict} for everything else.
	 */
	async restore(handoff: HandoffId, options: DecideOptions = {}): Promise<Handoff> {
		const [body, how] = apart(options);
		const id = idOf(handoff);
		return this.#decided(id, (one) => !notParked(one), () => this.request("restore", { params: { id }, body }, { ...how, safe: true }));
	}

	/** Where it was carried out and its answer lost, saying it again is refused. Then what became of it is read. */
	async #decided(
		id: string,
		isDone: (present: Handoff) => boolean,
		decide: () => Promise<Handoff>,
	): Promise<Handoff> {
		try {
			return await decide();
		} catch (error) {
			if (!(error instanceof HandoffConflict) || !error.repeated) throw error;
			const present = await this.handoff(id);
			if (!isDone(present)) throw error;
			return present;
		}
	}
}

const notParked = (handoff: Handoff): boolean => handoff.state !== "parked";

function acked(handoff: wire.Sent): wire.Sent {
	if (handoff.state === "acked" || handoff.state === "completed") return handoff;
	throw new ProtocolError(`${handoff.id} is ${handoff.state}, not acked`, { code: "invalid_response" });
}
