/* What an outage has parked comes back when it is over: once in a handoff's life, behind what is queued, and in steps
 * that do not hold up others. Which handoffs that are is decided when they are parked (delivery_give_up), and from when
 * to when when the breaker closes. */
#include "core/delivery/delivery_internal.h"

static enum problem_code bring_back(struct delivery *d, struct handoff_row *h, uint64_t place, struct problem *problem)
{
	struct str why = arena_printf(d->arena, "by itself: the circuit breaker of %.*s has closed",
				      STR_ARG(h->agent_name));
	enum problem_code code;

	h->place = place;
	h->attempt = 1;
	h->is_exhausted = false;
	h->is_told = false;
	h->is_outage = false;
	h->is_redriven = true;
	h->acked_at_ms = 0;
	h->receiver = STR_NULL;
	delivery_begin_queue(d, h, d->now_ms);
	code = delivery_offer(d, h, VERB_REDRIVE, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_REDRIVEN, why, problem) : code;
}

enum problem_code delivery_bring_back(struct delivery *d, const struct target_due *t, size_t *ret_count,
				      bool *ret_has_more, struct problem *problem)
{
	struct handoff_row *rows = arena_calloc(d->arena, DELIVERY_BRING_BACK_MAX, sizeof(*rows));
	enum problem_code code = P_OK;
	uint64_t last = 0;
	enum store_status status = store_handoff_last(d->conn, t->space, &last);

	if (status == STORE_OK)
		status = store_handoffs_outage(d->conn, t->agent, t->target.redrive_from_ms, t->target.redrive_to_ms,
					       DELIVERY_BRING_BACK_MAX, d->arena, rows, ret_count);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	for (size_t i = 0; code == P_OK && i < *ret_count; i++)
		code = bring_back(d, &rows[i], last + 1, problem);
	*ret_has_more = *ret_count == DELIVERY_BRING_BACK_MAX;
	return code;
}
