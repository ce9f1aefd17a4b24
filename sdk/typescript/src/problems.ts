/** Refusals of the server (RFC 9457 problems) as errors. @module */
import {
	AckTimeoutError,
	BudgetTooSmall,
	CircuitOpenError,
	Conflict,
	ConstraintConflict,
	ConstraintLocked,
	CredentialsFound,
	type ErrorParts,
	Forbidden,
	HandoffConflict,
	HandoffParkedError,
	HopLimit,
	LineageUnverified,
	NoRoute,
	NotFound,
	OutcomeUnknown,
	ParentUnclear,
	PreconditionFailed,
	QuotaExceeded,
	RoutingLoop,
	ServerError,
	SpineError,
	StaleLeaseError,
	TimeoutError,
	Unauthorized,
	Unavailable,
	ValidationError,
} from "./errors.js";
import type { JsonObject } from "./generated/types.js";

type ErrorClass = new (detail: string, parts: ErrorParts) => SpineError;

const classOfStatus: { readonly [status: number]: ErrorClass } = {
	400: ValidationError,
	401: Unauthorized,
	403: Forbidden,
	404: NotFound,
	408: TimeoutError,
	409: Conflict,
	412: PreconditionFailed,
	413: ValidationError,
	414: ValidationError,
	415: ValidationError,
	422: ValidationError,
	431: ValidationError,
	503: Unavailable,
};

/** Where the code says more than the status does. */
const classOfCode: { readonly [code: string]: ErrorClass } = {
	ack_timeout: AckTimeoutError,
	already_sent: HandoffConflict,
	already_settled: HandoffConflict,
	budget_too_small: BudgetTooSmall,
	circuit_open: CircuitOpenError,
	constraint_conflict: ConstraintConflict,
	constraint_locked: ConstraintLocked,
	credentials_found: CredentialsFound,
	handoff_parked: HandoffParkedError,
	hop_limit: HopLimit,
	idempotency_conflict: Conflict,
	lineage_unverified: LineageUnverified,
	loop: RoutingLoop,
	no_route: NoRoute,
	quota_exceeded: QuotaExceeded,
	not_parked: HandoffConflict,
	not_restorable: HandoffConflict,
	not_queued: HandoffConflict,
	outcome_unknown: OutcomeUnknown,
	parent_unclear: ParentUnclear,
	stale_lease: StaleLeaseError,
};

/** The error for a refusal; `retryAfterS` is the header's, used where the problem does not say it. */
export function fromProblem(status: number, problem: JsonObject, retryAfterS?: number): SpineError {
	const text = (name: string): string | undefined => (typeof problem[name] === "string" ? problem[name] : undefined);
	const code = text("code") ?? `http_${status}`;
	const detail = text("detail") ?? text("title") ?? `the server answered ${status}`;
	const kind = classOfCode[code] ?? classOfStatus[status] ?? (status >= 500 ? ServerError : SpineError);
	const waitMs = problem.retry_after_ms;
	return new kind(detail, {
		code,
		status,
		field: text("field"),
		retryable: problem.retryable === true,
		retryAfterS: typeof waitMs === "number" ? waitMs / 1000 : retryAfterS,
		problem,
	});
}
