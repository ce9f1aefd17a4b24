/** Handoffs with retries, for senders that want an ack or an error and nothing in between. @module */
import type { MemorySpine } from "./client.js";
import { ConnectionError, HandoffError, NotFound, SpineError, TimeoutError, Unavailable } from "./errors.js";
import type { Agent, Sent } from "./generated/types.js";
import type { Sendable } from "./handoffs.js";
import { sleep } from "./transport.js";

const BACKOFF_MAX_S = 30;

/** Options of a {@link HandoffClient}. */
export interface HandoffClientOptions {
	/** How often it is tried: 3. */
	readonly maxRetries?: number | undefined;
	/** Seconds that each attempt waits for the ack: 15. */
	readonly timeoutS?: number | undefined;
}

/**
 * Delivers with up to `maxRetries` attempts. Each is an attempt of one and the same handoff, so that retrying makes no
 * duplicates. The circuit breaker is the server's: there is one for each target, and all senders of a space share it.
 *
 * @example
 * const client = new HandoffClient(spine, { maxRetries: 3, timeoutS: 15 });
 * const ack = await client.sendHandoff(envelope, "code-generator");
 */
export class HandoffClient {
	readonly spine: MemorySpine;
	readonly maxRetries: number;
	readonly timeoutS: number;

	constructor(spine: MemorySpine, options: HandoffClientOptions = {}) {
		const { maxRetries = 3, timeoutS = 15 } = options;
		if (!(maxRetries >= 1) || !(timeoutS > 0))
			throw new RangeError("maxRetries must be at least 1, and timeoutS positive");
		this.spine = spine;
		this.maxRetries = maxRetries;
		this.timeoutS = timeoutS;
	}

	/**
	 * Delivers an envelope, or has the server park it and throws a {@link HandoffError}, whose `handoff` is the id of
	 * what is parked. A {@link CircuitOpenError} parks nothing.
	 */
	async sendHandoff(
		envelope: Sendable,
		targetAgent: string,
		options: { readonly signal?: AbortSignal | undefined } = {},
	): Promise<Sent> {
		const { signal } = options;
		const id = await this.spine.stored(envelope, targetAgent, signal);
		let last: SpineError | undefined;
		for (let attempt = 1; attempt <= this.maxRetries; attempt++) {
			if (last !== undefined) await sleep(pauseAfter(attempt - 1), signal);
			try {
				return await this.spine.deliverHandoff(id, targetAgent, {
					signal,
					timeoutS: this.timeoutS,
					maxAttempts: this.maxRetries,
				});
			} catch (error) {
				if (!isWorthAnother(error)) throw error;
				last = error;
			}
		}
		return this.#park(id, targetAgent, last as SpineError);
	}

	async #park(id: string, target: string, last: SpineError): Promise<Sent> {
		let parked: string;
		try {
			parked = (await this.spine.parkEnvelope(id, causeOf(last))).id;
		} catch (error) {
			if (!(error instanceof SpineError)) throw error;
			// Somebody else delivered it meanwhile.
			if (error.code === "already_settled")
				return this.spine.deliverHandoff(id, target, { timeoutS: this.timeoutS });
			throw this.#failure(target, error.detail, error);
		}
		throw this.#failure(
			target,
			`${causeOf(last)}. It is parked as ${parked}: redrive, reroute, shrink or discard it`,
			last,
			parked,
		);
	}

	#failure(target: string, why: string, cause: SpineError, handoff?: string): HandoffError {
		const problem = handoff === undefined ? cause.problem : { ...cause.problem, handoff };
		return new HandoffError(`Handoff to ${target} failed after ${this.maxRetries} attempts: ${why}`, {
			code: cause.code,
			status: cause.status,
			problem,
			cause,
		});
	}

	/** The circuit breaker of a target, as the server has it. */
	async circuit(targetAgent: string): Promise<Agent["breaker"]> {
		try {
			return (await this.spine.agentInfo(targetAgent)).breaker;
		} catch (error) {
			if (error instanceof NotFound) return { state: "closed", failures: 0, resetAt: null };
			throw error;
		}
	}
}

/** 2, 4, 8… seconds at most, and half of that at least: senders that failed together do not retry together. */
function pauseAfter(attempt: number): number {
	return Math.min(2 ** attempt, BACKOFF_MAX_S) * 1000 * (0.5 + Math.random() / 2);
}

function isWorthAnother(error: unknown): error is SpineError {
	return error instanceof TimeoutError || error instanceof ConnectionError || error instanceof Unavailable;
}

/** What went wrong, without the server's advice, which follows a semicolon: here it has been taken already. */
function causeOf(error: SpineError): string {
	return error.detail.split(";")[0] ?? error.detail;
}
