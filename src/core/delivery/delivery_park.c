/* Parked: where handoffs go that cannot go on by themselves, and how a person gets them out; and what a person does
 * with those that are queued. */
#include "core/delivery/delivery_internal.h"

enum { PARK_PAGE = 64 };

const char *const *delivery_remedies(enum handoff_state state)
{
	static const char *const of_parked[] = {"redrive", "reroute", "shrink", "discard", NULL};
	static const char *const of_discarded[] = {"restore", "send_to_other", "pack_again", NULL};

	return state == HANDOFF_DISCARDED ? of_discarded : of_parked;
}

static enum problem_code park_one(struct delivery *d, struct handoff_row *h, struct str reason, struct problem *problem)
{
	/* A sender that retries by itself and then parks has used up its attempts, whatever the count says. */
	bool exhausts = !h->is_exhausted && h->state == HANDOFF_EXPIRED;
	enum problem_code code = exhausts ? breaker_failed(d, h, problem) : breaker_leave(d, h, problem);

	if (code != P_OK)
		return code;
	h->is_exhausted = h->is_exhausted || exhausts;
	h->is_touched = true;
	h->reason = reason;
	h->due_ms = 0;
	delivery_end_wait(h);
	code = delivery_move(d, h, VERB_PARK, HANDOFF_PARKED, problem);
	if (code != P_OK)
		return code;
	return exhausts ? delivery_tell_exhausted(d, h, EVENT_PARKED, reason, problem)
			: delivery_tell(d, h, EVENT_PARKED, reason, problem);
}

static enum problem_code park_unsent(struct delivery *d, const struct delivery_parking *order, struct handoff_row *ret,
				     struct problem *problem)
{
	struct handoff_row h = {
		.space = d->space,
		.envelope = order->envelope,
		.created_at_ms = d->now_ms,
		.from = order->from,
		.target_name = order->to,
		.agent_name = order->to,
		.state = HANDOFF_PARKED,
		.is_touched = true,
		.priority = DELIVERY_PRIORITY,
		.attempt = 0,
		.max_attempts = DELIVERY_ATTEMPTS,
		.ack_timeout_ms = DELIVERY_ACK_TIMEOUT_MS,
		.changed_at_ms = d->now_ms,
		.reason = order->reason,
	};
	enum problem_code code = delivery_check_kept(d, order->envelope, problem);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_agent_id(d->conn, d->space, order->to, true, d->now_ms, &h.target);
	h.agent = h.target;
	delivery_begin_queue(d, &h, d->now_ms);
	if (status == STORE_OK)
		status = store_handoff_insert(d->conn, &h);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	code = delivery_tell(d, &h, EVENT_PARKED, order->reason, problem);
	if (code != P_OK)
		return code;
	if (d->changed)
		d->changed(d->ctx, &h, HANDOFF_STATES);
	*ret = h;
	return P_OK;
}

/* What became of the handoffs of an envelope. */
struct parking {
	size_t count;			/* there are so many of it */
	size_t foreign;			/* of them, those that are not the agent's who parks */
	size_t parked;
	struct handoff_row last;	/* that is parked now */
	enum handoff_state state;	/* of one that is not */
};

static bool is_of(const struct handoff_row *h, struct str agent)
{
	return agent.p == NULL || str_eq(h->from, agent) || str_eq(h->agent_name, agent);
}

static enum problem_code park_page(struct delivery *d, struct handoff_row *page, size_t count,
				   const struct delivery_parking *order, struct parking *all, struct problem *problem)
{
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < count; i++) {
		struct handoff_row *h = &page[i];

		if (!is_of(h, order->only_of)) {
			all->foreign++;
			continue;
		}
		if (handoff_allows(VERB_PARK, h->state))
			code = park_one(d, h, order->reason, problem);
		if (h->state == HANDOFF_PARKED) {
			all->last = *h;
			all->parked++;
		} else {
			all->state = h->state;
		}
	}
	all->count += count;
	return code;
}

static enum problem_code nothing_of(const struct delivery_parking *order, struct problem *problem)
{
	return problem_set(problem, P_FORBIDDEN, "id", "no handoff of env-%llu was sent by \"%.*s\", or is with it; "
			   "the key of an agent parks only what that agent has sent or has",
			   (unsigned long long)order->envelope, STR_ARG(order->only_of));
}

enum problem_code delivery_park(struct delivery *d, const struct delivery_parking *order, struct handoff_row *ret,
				struct problem *problem)
{
	struct handoff_row *page = arena_calloc(d->arena, PARK_PAGE, sizeof(*page));
	struct handoff_filter filter = {.space = d->space, .envelope = order->envelope};
	struct parking all = {0};
	uint64_t after = 0;
	size_t count = PARK_PAGE;
	enum problem_code code = P_OK;

	/* An envelope may have gone to any number of receivers. */
	while (code == P_OK && count == PARK_PAGE) {
		enum store_status status = store_handoffs(d->conn, &filter, after, PARK_PAGE, d->arena, page, &count);

		if (status != STORE_OK)
			return problem_of_store(problem, status);
		if (count)
			after = page[count - 1].num;
		code = park_page(d, page, count, order, &all, problem);
	}
	if (code != P_OK)
		return code;
	if (order->only_of.p && (all.count ? all.foreign == all.count : !str_eq(order->from, order->only_of)))
		return nothing_of(order, problem);
	if (all.count == 0)
		return park_unsent(d, order, ret, problem);
	if (all.parked == 0)
		return problem_set(problem, P_ALREADY_SETTLED, NULL,
				   "every handoff of env-%llu is %s already; there is nothing to park",
				   (unsigned long long)order->envelope, handoff_state_name(all.state));
	*ret = all.last;
	return P_OK;
}

enum problem_code delivery_get_parked(struct delivery *d, uint64_t num, struct handoff_row *ret,
				      struct problem *problem)
{
	enum problem_code code = delivery_get(d, num, ret, problem);

	if (code == P_OK && ret->state != HANDOFF_PARKED)
		code = problem_set(problem, P_NOT_PARKED, "id", "ho-%llu is not parked; it is %s",
				   (unsigned long long)num, handoff_state_name(ret->state));
	return code;
}

/* --- What decisions have in common --- */

/* The end of each, where it went well so far: it is told, and the caller gets the handoff. */
static enum problem_code decided(struct delivery *d, enum problem_code code, const struct handoff_row *h,
				 enum event_kind kind, struct str why, struct handoff_row *ret, struct problem *problem)
{
	if (code == P_OK)
		code = delivery_tell(d, h, kind, why, problem);
	if (code == P_OK)
		*ret = *h;
	return code;
}

/* It comes with new attempts, and passes an open breaker: a person wants it. */
static void begin_anew(struct handoff_row *h)
{
	h->attempt = 1;
	h->is_exhausted = false;
	h->is_touched = true;
	h->passes = true;
}

/* Nobody gets it any more, and nobody waits for it. Moves it. */
static enum problem_code leave_queue(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				     enum handoff_state to, struct problem *problem)
{
	enum problem_code code = breaker_leave(d, h, problem);

	if (code != P_OK)
		return code;
	h->due_ms = 0;
	h->is_touched = true;
	delivery_end_wait(h);
	return delivery_move(d, h, verb, to, problem);
}

/* A handoff to another agent: the other becomes its target. */
static enum problem_code retarget(struct delivery *d, struct handoff_row *h, struct str to, struct problem *problem)
{
	uint64_t other;
	int64_t agent;
	enum store_status status = store_agent_id(d->conn, d->space, to, true, d->now_ms, &agent);

	if (status == STORE_OK)
		status = store_handoff_of_agent(d->conn, d->space, h->envelope, agent, h->num, &other);
	if (status == STORE_OK)
		return problem_set(problem, P_ALREADY_SENT, "to",
				   "env-%llu was handed to %.*s already: that is ho-%llu",
				   (unsigned long long)h->envelope, STR_ARG(to), (unsigned long long)other);
	if (status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	h->agent = h->target = agent;
	h->agent_name = h->target_name = to;
	return P_OK;
}

enum problem_code delivery_redrive(struct delivery *d, uint64_t num, struct str to, struct str why,
				   struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get_parked(d, num, &h, problem);

	if (code == P_OK && to.p)
		code = retarget(d, &h, to, problem);
	if (code != P_OK)
		return code;
	begin_anew(&h);
	h.is_told = false;
	h.is_outage = false;
	h.acked_at_ms = 0;
	h.receiver = STR_NULL;
	delivery_begin_queue(d, &h, d->now_ms);
	code = delivery_offer(d, &h, VERB_REDRIVE, problem);
	return decided(d, code, &h, to.p ? EVENT_REROUTED : EVENT_REDRIVEN, why, ret, problem);
}

enum problem_code delivery_discard(struct delivery *d, uint64_t num, enum event_kind kind, struct str why,
				   struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get_parked(d, num, &h, problem);

	if (code == P_OK) {
		h.is_outage = false;
		h.is_touched = true;
		code = delivery_move(d, &h, VERB_DISCARD, HANDOFF_DISCARDED, problem);
	}
	return decided(d, code, &h, kind, why, ret, problem);
}

/* --- What is queued --- */

enum problem_code delivery_get_queued(struct delivery *d, uint64_t num, const char *verb, struct handoff_row *ret,
				      struct problem *problem)
{
	static const char *const ways[HANDOFF_STATES] = {
		[HANDOFF_LEASED] = "somebody has it: wait until it is settled, or park its envelope and decide then",
		[HANDOFF_WORKING] = "it was accepted, and its agent works on it: ask that agent",
		[HANDOFF_ACKED] = "it was accepted: ask the agent that has it",
		[HANDOFF_COMPLETED] = "it is done",
		[HANDOFF_PARKED] = "redrive, reroute, shrink or discard it instead",
		[HANDOFF_EXPIRED] = "it was withdrawn: nobody gets it unless it is sent again",
		[HANDOFF_DISCARDED] = "it was discarded already",
	};
	enum problem_code code = delivery_get(d, num, ret, problem);

	if (code != P_OK || ret->state <= HANDOFF_DELAYED)
		return code;
	problem_set(problem, P_NOT_QUEUED, "id", "only what is queued can be %s; ho-%llu is %s: %s", verb,
		    (unsigned long long)num, handoff_state_name(ret->state), ways[ret->state]);
	problem->handoff = num;
	if (ret->state == HANDOFF_PARKED)
		problem->remedies = delivery_remedies(ret->state);
	return problem->code;
}

enum problem_code delivery_cancel(struct delivery *d, uint64_t num, struct str why, struct handoff_row *ret,
				  struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get_queued(d, num, "cancelled", &h, problem);

	if (code == P_OK) {
		h.reason = why.p ? why : STR("cancelled");
		code = leave_queue(d, &h, VERB_CANCEL, HANDOFF_DISCARDED, problem);
	}
	return decided(d, code, &h, EVENT_CANCELLED, why, ret, problem);
}

enum problem_code delivery_hand_over(struct delivery *d, uint64_t num, struct str to, struct str why,
				     struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h, was;
	enum problem_code code = delivery_get_queued(d, num, "moved", &h, problem);
	bool is_deferred;

	was = h;
	if (code == P_OK)
		code = retarget(d, &h, to, problem);
	if (code == P_OK)
		code = breaker_leave(d, &was, problem);
	if (code != P_OK)
		return code;
	is_deferred = delivery_is_deferred(&h, d->now_ms);
	begin_anew(&h);
	delivery_begin_queue(d, &h, is_deferred ? h.not_before_ms : d->now_ms);
	/* What is deferred stays so; what only backs off does not: another agent has not failed. */
	if (is_deferred)
		code = delivery_move(d, &h, VERB_HAND_OVER, h.state, problem);
	else
		code = delivery_offer(d, &h, VERB_HAND_OVER, problem);
	return decided(d, code, &h, EVENT_MOVED, why, ret, problem);
}

/* --- Undo --- */

/* What happened to it last; 0: nothing is known. */
static enum problem_code last_event(struct delivery *d, uint64_t num, int *ret_kind, struct problem *problem)
{
	struct event_filter filter = {.space = d->space, .handoff = num, .newest_first = true};
	struct event_row event;
	size_t count = 0;
	enum store_status status = store_event_page(d->conn, &filter, 0, INT64_MAX, 1, d->arena, &event, &count);

	*ret_kind = count ? event.kind : 0;
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

static enum problem_code not_restorable(const struct handoff_row *h, int last, struct problem *problem)
{
	const char *why = "only what was discarded or cancelled, or redriven or rerouted and not taken since, comes "
			  "back";

	if (h->state == HANDOFF_PARKED)
		why = "it is parked already";
	else if (last == EVENT_SHRUNK)
		why = "a smaller envelope was sent instead of it";
	return problem_set(problem, P_NOT_RESTORABLE, "id", "ho-%llu is %s and cannot be restored: %s",
			   (unsigned long long)h->num, handoff_state_name(h->state), why);
}

enum problem_code delivery_may_restore(struct delivery *d, uint64_t num, struct handoff_row *ret,
				       struct problem *problem)
{
	enum problem_code code = delivery_get(d, num, ret, problem);
	int last = 0;

	if (code == P_OK)
		code = last_event(d, num, &last, problem);
	if (code != P_OK)
		return code;
	if ((ret->state == HANDOFF_QUEUED && (last == EVENT_REDRIVEN || last == EVENT_REROUTED)) ||
	    (ret->state == HANDOFF_DISCARDED && (last == EVENT_DISCARDED || last == EVENT_CANCELLED)))
		return P_OK;
	return not_restorable(ret, last, problem);
}

enum problem_code delivery_restore(struct delivery *d, uint64_t num, struct str why, struct handoff_row *ret,
				   struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_may_restore(d, num, &h, problem);

	if (code == P_OK)
		code = leave_queue(d, &h, VERB_RESTORE, HANDOFF_PARKED, problem);
	return decided(d, code, &h, EVENT_RESTORED, why, ret, problem);
}
