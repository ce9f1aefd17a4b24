/* Everything that can be wrong with a request, in one list: code, name on the wire, HTTP status, and whether the same
 * request may succeed later. Functions that decide return the code; the sentence goes into struct problem.
 */
#ifndef SPINE_CORE_PROBLEM_H
#define SPINE_CORE_PROBLEM_H

#include "base/str.h"
#include "store/store.h"

#include <assert.h>

#define PROBLEMS(X) \
	X(INVALID_JSON, "invalid_json", 400, false) \
	X(INVALID_UTF8, "invalid_utf8", 400, false) \
	X(DUPLICATE_KEY, "duplicate_key", 400, false) \
	X(TOO_DEEP, "too_deep", 400, false) \
	X(NUMBER_OUT_OF_RANGE, "number_out_of_range", 400, false) \
	X(INVALID_REQUEST, "invalid_request", 400, false) \
	X(INVALID_PAGE_TOKEN, "invalid_page_token", 400, false) \
	X(UNAUTHORIZED, "unauthorized", 401, false) \
	X(FORBIDDEN, "forbidden", 403, false) \
	X(ORIGIN_NOT_ALLOWED, "origin_not_allowed", 403, false) \
	X(NOT_FOUND, "not_found", 404, false) \
	X(MEMORY_NOT_FOUND, "memory_not_found", 404, false) \
	X(METHOD_NOT_ALLOWED, "method_not_allowed", 405, false) \
	X(ID_TAKEN, "id_taken", 409, false) \
	X(ALREADY_SUPERSEDED, "already_superseded", 409, false) \
	X(MEMORY_FORGOTTEN, "memory_forgotten", 409, false) \
	X(MEMORY_QUARANTINED, "memory_quarantined", 409, false) \
	X(CONSTRAINT_CONFLICT, "constraint_conflict", 409, false) \
	X(CONSTRAINT_LOCKED, "constraint_locked", 409, false) \
	X(PERSON_REQUIRED, "person_required", 403, false) \
	X(PARENT_UNCLEAR, "parent_unclear", 409, false) \
	X(LINEAGE_UNVERIFIED, "lineage_unverified", 409, false) \
	X(PRECONDITION_FAILED, "precondition_failed", 412, false) \
	X(UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", 415, false) \
	X(HOST_NOT_ALLOWED, "host_not_allowed", 421, false) \
	X(MISSING_FIELD, "missing_field", 422, false) \
	X(INVALID_FIELD, "invalid_field", 422, false) \
	X(IMMUTABLE_FIELD, "immutable_field", 422, false) \
	X(TOO_LARGE, "too_large", 422, false) \
	X(CREDENTIALS_FOUND, "credentials_found", 422, false) \
	X(UNSUPPORTED_VERSION, "unsupported_version", 422, false) \
	X(BUDGET_TOO_SMALL, "budget_too_small", 422, false) \
	X(HOP_LIMIT, "hop_limit", 409, false) \
	X(INTENT_CONFLICT, "intent_conflict", 409, false) \
	X(TASK_CONFLICT, "task_conflict", 409, false) \
	X(TASK_NOT_FOUND, "task_not_found", 404, false) \
	X(AGENT_NOT_FOUND, "agent_not_found", 404, false) \
	X(ENVELOPE_NOT_FOUND, "envelope_not_found", 404, false) \
	X(HANDOFF_NOT_FOUND, "handoff_not_found", 404, false) \
	X(CHANNEL_NOT_FOUND, "channel_not_found", 404, false) \
	X(ROUTE_NOT_FOUND, "route_not_found", 404, false) \
	X(ALERT_NOT_FOUND, "alert_not_found", 404, false) \
	X(KEY_NOT_FOUND, "key_not_found", 404, false) \
	X(KEY_ENDED, "key_ended", 409, false) \
	X(SPACE_NOT_FOUND, "space_not_found", 404, false) \
	X(SPACE_DELETED, "space_deleted", 410, false) \
	X(ENVELOPE_PRUNED, "envelope_pruned", 410, false) \
	X(HANDOFF_PRUNED, "handoff_pruned", 410, false) \
	X(EVENTS_PRUNED, "events_pruned", 410, false) \
	X(STALE_LEASE, "stale_lease", 409, false) \
	X(HANDOFF_PARKED, "handoff_parked", 409, false) \
	X(NOT_PARKED, "not_parked", 409, false) \
	X(NOT_QUEUED, "not_queued", 409, false) \
	X(ALREADY_SETTLED, "already_settled", 409, false) \
	X(ALREADY_SENT, "already_sent", 409, false) \
	X(NOT_RESTORABLE, "not_restorable", 409, false) \
	X(AGENT_BUSY, "agent_busy", 409, false) \
	X(LOOP, "loop", 409, false) \
	X(NO_ROUTE, "no_route", 422, false) \
	X(ACK_TIMEOUT, "ack_timeout", 504, true) \
	X(CIRCUIT_OPEN, "circuit_open", 503, true) \
	X(QUOTA_EXCEEDED, "quota_exceeded", 429, false) \
	X(UNKNOWN_TOKENIZER, "unknown_tokenizer", 422, false) \
	X(IDEMPOTENCY_CONFLICT, "idempotency_conflict", 422, false) \
	X(ENVELOPE_DAMAGED, "envelope_damaged", 500, false) \
	X(INTERNAL, "internal", 500, false) \
	X(OVERLOADED, "overloaded", 503, true) \
	X(DRAINING, "draining", 503, true) \
	X(NO_OWNER, "no_owner", 503, true) \
	X(STORE_FAILED, "store_failed", 503, false) \
	X(OUTCOME_UNKNOWN, "outcome_unknown", 500, false) \
	X(STORE_DAMAGED, "store_damaged", 503, false) \
	X(STORE_BUSY, "store_busy", 503, true) \
	X(STORE_FULL, "store_full", 507, true)

enum problem_code {
	P_OK,
#define PROBLEM_CODE(code, name, status, retryable) P_##code,
	PROBLEMS(PROBLEM_CODE)
#undef PROBLEM_CODE
};

/* What is wrong, for whoever asked. */
struct problem {
	enum problem_code code;
	char field[128];		/* "": none */
	char detail[512];
	int64_t retry_after_ms;		/* 0: not known */
	bool is_full;			/* time alone does not help */
	bool is_settled_by_key;		/* the same request with its key may be sent again, whatever its kind says */
	const char *extra_key;		/* a number that helps, such as current_version; NULL: none */
	int64_t extra;
	uint64_t handoff;		/* the handoff that it is about; 0: none */
	const char *const *remedies;	/* what can be done, NULL-terminated; NULL: nothing to say */
};

struct problem_kind {
	const char *name;
	int status;
	bool retryable;
};

const struct problem_kind *problem_kind(enum problem_code code);
/* The same request may succeed later, and does nothing twice. */
bool problem_is_retryable(const struct problem *p);

/* Fill *p and return code. field may be NULL. */
enum problem_code problem_set(struct problem *p, enum problem_code code, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* "content" in the fourth of a list becomes "memories[3].content". */
void problem_prefix(struct problem *p, const char *list, size_t index);
/* "to" within an object becomes "then.to". */
void problem_within(struct problem *p, const char *object);
/* problem_of_store() without its promise. */
enum problem_code problem_of_status(struct problem *p, enum store_status status);
/* The problem of a store that did not do what it was asked; never P_OK. Who expects STORE_NOT_FOUND or STORE_EXISTS has
 * a problem of its own for it; here it is P_INTERNAL, a mistake of ours or of somebody who has changed the store. */
static inline enum problem_code problem_of_store(struct problem *p, enum store_status status)
{
	enum problem_code code = problem_of_status(p, status);

	assert(code != P_OK);
	return code;
}

/* The problem of a commit that may have happened (STORE_UNKNOWN). key: the request's, p == NULL: none. */
enum problem_code problem_of_unknown(struct problem *p, struct str key);
/* What a writer's job returns for a problem. A refusal has written nothing, so it may be committed. P_INTERNAL comes in
 * the midst of writing: the job is undone, alone, and the writer goes on. */
enum store_status problem_store_status(enum problem_code code);

#endif
