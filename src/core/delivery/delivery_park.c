/* Parked: where handoffs go that cannot go on by themselves, and how a person gets them out. */
#include "core/delivery/delivery_internal.h"

enum { PARK_PAGE = 64 };

const char *const *delivery_remedies(enum handoff_state state)
{
	static const char *const of_parked[] = {"redrive", "reroute", "shrink", "discard", NULL};
	static const char *const of_discarded[] = {"send_to_other", "pack_again", NULL};

	return state == HANDOFF_DISCARDED ? of_discarded : of_parked;
}

static enum problem_code park_one(struct delivery *d, struct handoff_row *h, struct str reason, struct problem *problem)
{
	/* A sender that retries by itself and then parks has used up its attempts, whatever the count says. */
	bool exhausts = !h->is_exhausted && h->state == HANDOFF_EXPIRED;
	/* What is queued behind it may have waited for it. */
	bool was_first = h->state == HANDOFF_QUEUED || h->state == HANDOFF_LEASED || h->state == HANDOFF_WORKING;
	enum problem_code code = exhausts ? breaker_failed(d, h, problem) : P_OK;

	if (code != P_OK)
		return code;
	h->is_exhausted = h->is_exhausted || exhausts;
	h->reason = reason;
	h->due_ms = 0;
	delivery_end_wait(h);
	code = delivery_move(d, h, VERB_PARK, HANDOFF_PARKED, problem);
	if (code != P_OK)
		return code;
	code = exhausts ? delivery_tell_exhausted(d, h, EVENT_PARKED, reason, problem)
			: delivery_tell(d, h, EVENT_PARKED, reason, problem);
	return code == P_OK && was_first ? delivery_rouse(d, h->agent, problem) : code;
}

static enum problem_code park_unsent(struct delivery *d, uint64_t envelope, struct str to, struct str from,
				     struct str reason, struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h = {
		.space = d->space,
		.envelope = envelope,
		.created_at_ms = d->now_ms,
		.from = from,
		.target_name = to,
		.agent_name = to,
		.state = HANDOFF_PARKED,
		.priority = DELIVERY_PRIORITY,
		.attempt = 0,
		.max_attempts = DELIVERY_ATTEMPTS,
		.ack_timeout_ms = DELIVERY_ACK_TIMEOUT_MS,
		.changed_at_ms = d->now_ms,
		.reason = reason,
	};
	enum store_status status = store_agent_id(d->conn, d->space, to, true, d->now_ms, &h.target);
	enum problem_code code;

	h.agent = h.target;
	if (status == STORE_OK)
		status = store_handoff_insert(d->conn, &h);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	code = delivery_tell(d, &h, EVENT_PARKED, reason, problem);
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
	size_t parked;
	struct handoff_row last;	/* that is parked now */
	enum handoff_state state;	/* of one that is not */
};

static enum problem_code park_page(struct delivery *d, struct handoff_row *page, size_t count, struct str reason,
				   struct parking *all, struct problem *problem)
{
	enum problem_code code = P_OK;

	for (size_t i = 0; code == P_OK && i < count; i++) {
		struct handoff_row *h = &page[i];

		if (handoff_allows(VERB_PARK, h->state))
			code = park_one(d, h, reason, problem);
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

enum problem_code delivery_park(struct delivery *d, uint64_t envelope, struct str to, struct str from,
				struct str reason, struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row *page = arena_calloc(d->arena, PARK_PAGE, sizeof(*page));
	struct handoff_filter filter = {.space = d->space, .envelope = envelope};
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
		code = park_page(d, page, count, reason, &all, problem);
	}
	if (code != P_OK)
		return code;
	if (all.count == 0)
		return park_unsent(d, envelope, to, from, reason, ret, problem);
	if (all.parked == 0)
		return problem_set(problem, P_ALREADY_SETTLED, NULL,
				   "every handoff of env-%llu is %s already; there is nothing to park",
				   (unsigned long long)envelope, handoff_state_name(all.state));
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
	h.attempt = 1;
	h.is_exhausted = false;
	h.is_told = false;
	h.acked_at_ms = 0;
	h.receiver = STR_NULL;
	code = delivery_offer(d, &h, VERB_REDRIVE, problem);
	if (code == P_OK)
		code = delivery_tell(d, &h, to.p ? EVENT_REROUTED : EVENT_REDRIVEN, why, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}

enum problem_code delivery_discard(struct delivery *d, uint64_t num, enum event_kind kind, struct str why,
				   struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get_parked(d, num, &h, problem);

	if (code == P_OK)
		code = delivery_move(d, &h, VERB_DISCARD, HANDOFF_DISCARDED, problem);
	if (code == P_OK)
		code = delivery_tell(d, &h, kind, why, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}
