/**
 * What can go wrong. Every error of this package is a {@link SpineError}, but for two: a wrong argument that never
 * leaves the program is a `TypeError` or a `RangeError`, and a call that was aborted throws the reason of its signal.
 *
 * @module
 */
import type { JsonObject } from "./generated/types.js";

/** What an error is made of. */
export interface ErrorParts {
	readonly code: string;
	readonly status?: number | undefined;
	readonly field?: string | undefined;
	readonly retryable?: boolean | undefined;
	readonly retryAfterS?: number | undefined;
	readonly problem?: JsonObject | undefined;
	readonly cause?: unknown;
}

/** The base of all errors. */
export class SpineError extends Error {
	/** A name for programs: the server's own (docs/protocol.md lists them), or one that its class names. */
	readonly code: string;
	/** The HTTP status; undefined where there was no answer. */
	readonly status: number | undefined;
	/** A sentence for people. */
	readonly detail: string;
	/** The place in the request that the error is about. */
	readonly field: string | undefined;
	/** Whether the same request may succeed later. */
	readonly retryable: boolean;
	/** Seconds after which it is worth trying again. */
	readonly retryAfterS: number | undefined;
	/** The whole problem as the server sent it; empty where it sent none. */
	readonly problem: JsonObject;
	/** What can be done about it, in the words of the protocol, such as `redrive`; often empty. */
	readonly remedies: readonly string[];
	/** The id of the handoff that it is about. */
	readonly handoff: string | undefined;
	/** Whether the request was sent before and its answer lost: it may have been carried out then. */
	repeated = false;

	constructor(detail: string, parts: ErrorParts) {
		const status = parts.status === undefined ? "" : `${parts.status} `;
		super(`${detail} (${status}${parts.code})`, parts.cause === undefined ? undefined : { cause: parts.cause });
		this.name = new.target.name;
		this.detail = detail;
		this.code = parts.code;
		this.status = parts.status;
		this.field = parts.field;
		this.retryable = parts.retryable ?? false;
		this.retryAfterS = parts.retryAfterS;
		this.problem = parts.problem ?? {};
		const { remedies, handoff } = this.problem;
		this.remedies = Array.isArray(remedies) ? remedies.map(String) : [];
		this.handoff = typeof handoff === "string" ? handoff : undefined;
	}

	/** A number that the problem has beside the usual members. @internal */
	protected number(name: string): number | undefined {
		const value = this.problem[name];
		return typeof value === "number" ? value : undefined;
	}
}

/** 401: the server asks for a key, or the one that was sent is unknown, expired or revoked. It is not tried again. */
export class Unauthorized extends SpineError {}

/**
 * 403: the key may not do this: too little scope, another space, another agent's name. The text says what is missing,
 * `field` what it is about. Also a page or a host that the server does not allow.
 */
export class Forbidden extends SpineError {}

/** 404: no such memory, version, envelope, handoff, task, agent, channel, route or call. */
export class NotFound extends SpineError {}

/** 409: the object is in a state that does not allow this. Also an Idempotency-Key used for two requests. */
export class Conflict extends SpineError {}

/** A handoff would change or loosen a constraint of its parent. Waive it, with a reason, or leave it as it is. */
export class ConstraintConflict extends Conflict {}

/** A handoff would waive a constraint that is locked. No agent can; a person may, for the whole task. */
export class ConstraintLocked extends ConstraintConflict {}

/** The task has more than one envelope that this one could continue. Name one as `parent`, or begin anew: `newRoot`. */
export class ParentUnclear extends Conflict {}

/** An envelope was sent back changed. Send it as it came, or pack from it as the `parent`. */
export class LineageUnverified extends Conflict {}

/** 412: the memory has moved on since `ifVersion`, or the agent since `ifMatch`. */
export class PreconditionFailed extends SpineError {
	/** The version that the memory has now. */
	get currentVersion(): number | undefined {
		return this.number("current_version");
	}
}

/** 400, 413, 414, 415, 422, 431: the request is wrong or too large; `field` says where. */
export class ValidationError extends SpineError {}

/** Not even the task with its constraints fits into the budget, or not everything with `strategy: "full"`. */
export class BudgetTooSmall extends ValidationError {
	/** The budget that would do. */
	get minimum(): number | undefined {
		return this.number("minimum");
	}
}

/** A handoff that must be free of credentials is not. */
export class CredentialsFound extends ValidationError {}

/** `to: "next"`, and no route leads on from here. */
export class NoRoute extends ValidationError {}

/** 429: the space has as much of something as it may have; `field` says of what. Nothing was changed. */
export class QuotaExceeded extends SpineError {
	/** How much it may have. */
	get limit(): number | undefined {
		return this.number("limit");
	}
}

/** 5xx: the server failed. */
export class ServerError extends SpineError {}

/** 503: overloaded, shutting down, or its store has failed. */
export class Unavailable extends ServerError {}

/**
 * The server's disk failed while this was being stored: whether it is there shows when the server was restarted. Nothing
 * sends it again by itself. `retryable` is true where the request had an Idempotency-Key, which the detail names: the
 * same request with the same key, after the restart, is carried out once.
 */
export class OutcomeUnknown extends ServerError {}

/** The peer did not answer as the protocol says: code `invalid_response`, or `response_too_large`. */
export class ProtocolError extends SpineError {}

/** No answer. Code `connect_failed`: the request was not sent; `connection_lost`: it may have been carried out. */
export class ConnectionError extends SpineError {}

/**
 * No secure connection could be made: code `tls_failed`. The text says why (an authority that is not trusted here,
 * another host's certificate, a client certificate that is asked for) and what to do. It is not tried again.
 */
export class TlsError extends SpineError {}

/** No answer in time: code `timeout`, and the request may have been carried out. Also the server's 408. */
export class TimeoutError extends SpineError {}

/** Nobody acked while the sender waited. The handoff is withdrawn: delivering it again is its next attempt. */
export class AckTimeoutError extends TimeoutError {}

/** A handoff could not be delivered: {@link HandoffClient} gave up, and `handoff` names what is parked. */
export class HandoffError extends SpineError {}

/** Handoffs to this agent failed again and again, so that it gets none until `resetAt`. Nothing was sent. */
export class CircuitOpenError extends HandoffError {
	/** When the next handoff is let through. */
	readonly resetAt: Date | undefined =
		this.retryAfterS === undefined ? undefined : new Date(Date.now() + this.retryAfterS * 1000);
}

/** The handoff is in a state that does not allow this: not parked, not queued, settled or sent already. */
export class HandoffConflict extends Conflict {}

/** The handoff is parked, or was discarded, until somebody uses one of the `remedies`. */
export class HandoffParkedError extends HandoffConflict {}

/** The lease has ended, and somebody else may have the handoff by now. Nothing was changed. */
export class StaleLeaseError extends HandoffConflict {}

/** The chain has had as many handoffs as it may have. Who holds the last handoff still holds it. */
export class HopLimit extends HandoffConflict {}

/** The work would go back to an agent that had it, and nothing is new since. Who holds it still holds it. */
export class RoutingLoop extends HandoffConflict {}

/** A request that is not a webhook of the server's: answer it with 401, and do nothing else. */
export class WebhookError extends SpineError {}
