/* What becomes of attempts that failed, and of everything that time brings. */
#include "core/delivery/delivery_internal.h"

#include "codec/json.h"

#include <assert.h>

/* --- Failed attempts --- */

/* xorshift64*: small, fast, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 2^n seconds, capped; of these, half for certain and half by chance, so that what failed together does not come back
 * together. */
static int64_t backoff_ms(struct delivery *d, int64_t failed_attempts)
{
	int64_t full = failed_attempts < 5 ? INT64_C(1000) << failed_attempts : DELIVERY_BACKOFF_MAX_MS;

	return full / 2 + (int64_t)(next_random(d->random) % (uint64_t)(full / 2 + 1));
}

enum problem_code delivery_put_back(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, int64_t delay_ms,
				    struct problem *problem)
{
	h->receiver = STR_NULL;
	delivery_begin_queue(d, h, d->now_ms + delay_ms);
	if (delay_ms == 0)
		return delivery_offer(d, h, verb, problem);
	h->due_ms = delivery_due_at(h, d->now_ms + delay_ms);
	return delivery_move(d, h, verb, HANDOFF_DELAYED, problem);
}

enum problem_code delivery_fail(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, int64_t delay_ms,
				bool is_final, struct problem *problem)
{
	if (is_final || h->attempt >= h->max_attempts)
		return delivery_give_up(d, h, verb, !is_final, problem);
	if (delay_ms < 0)
		delay_ms = backoff_ms(d, h->attempt);
	h->attempt++;
	return delivery_put_back(d, h, verb, delay_ms, problem);
}

/* Is the agent one that may take over? Not one that has the envelope already, as the target of a handoff or as the
 * fallback of another one, and not one behind an open breaker. */
static enum problem_code may_take_over(struct delivery *d, const struct handoff_row *h, int64_t agent, bool *ret,
				       bool *ret_is_probe, struct problem *problem)
{
	uint64_t other;
	int64_t reset_ms;
	enum store_status status;

	*ret = false;
	if (agent == h->agent || agent == h->target)
		return P_OK;
	status = store_handoff_of_agent(d->conn, h->space, h->envelope, agent, h->num, &other);
	if (status == STORE_OK)
		return P_OK;
	if (status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	return breaker_admits(d, agent, ret, ret_is_probe, &reset_ms, problem);
}

/* The names behind the first `used`, as they are kept. */
static struct str rest_of(struct arena *arena, const struct json *names, uint32_t used)
{
	struct json rest = {.type = JSON_ARRAY, .count = names->count - used, .items = names->items + used};

	return delivery_names(arena, &rest);
}

enum problem_code delivery_next_fallback(struct delivery *d, struct handoff_row *h, bool *ret_is_probe,
					 struct problem *problem)
{
	struct json names;
	struct json_error error;
	enum problem_code code = P_OK;
	bool found = false;

	*ret_is_probe = false;
	if (h->fallbacks.p == NULL || !json_parse(h->fallbacks, 4, d->arena, &names, &error) ||
	    names.type != JSON_ARRAY)
		return P_OK;
	for (uint32_t i = 0; code == P_OK && !found && i < names.count; i++) {
		int64_t agent;
		enum store_status status = store_agent_id(d->conn, h->space, names.items[i].s, true, d->now_ms, &agent);

		code = status == STORE_OK ? may_take_over(d, h, agent, &found, ret_is_probe, problem)
					  : problem_of_store(problem, status);
		if (code == P_OK && found) {
			h->agent = agent;
			h->agent_name = names.items[i].s;
			h->fallbacks = rest_of(d->arena, &names, i + 1);
		}
	}
	if (code == P_OK && !found)
		h->fallbacks = STR_NULL;
	return code;
}

/* With another agent it begins anew. */
static enum problem_code offer_to_other(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
					bool is_probe, struct str why, struct problem *problem)
{
	enum problem_code code;

	h->attempt = 1;
	h->is_exhausted = false;
	code = delivery_offer(d, h, verb, problem);
	if (code == P_OK && is_probe)
		code = breaker_probe(d, h->agent, h->num, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_FALLBACK, why, problem) : code;
}

enum problem_code delivery_give_up(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, bool count,
				   struct problem *problem)
{
	int64_t agent = h->agent;
	/* What comes back from an outage and fails again was told already. */
	bool counts = count && !h->is_exhausted && !h->is_redriven;
	enum problem_code code = counts ? breaker_failed(d, h, problem) : breaker_leave(d, h, problem);
	bool is_probe;

	if (code == P_OK)
		code = delivery_next_fallback(d, h, &is_probe, problem);
	if (code != P_OK)
		return code;
	h->receiver = STR_NULL;
	if (h->agent != agent) {
		delivery_begin_queue(d, h, d->now_ms);
		return offer_to_other(d, h, verb, is_probe, h->reason, problem);
	}
	h->is_exhausted = h->is_exhausted || count;
	h->is_outage = count && h->expires_at_ms == 0 && !h->is_redriven && !h->is_touched;
	h->is_told = false;
	h->due_ms = 0;
	delivery_end_wait(h);
	code = delivery_move(d, h, verb, HANDOFF_PARKED, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_PARKED, h->reason, problem) : code;
}

/* --- What time brings --- */

/* The sender has stopped waiting. */
static enum problem_code expire(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	bool exhausts = h->attempt >= h->max_attempts && !h->is_exhausted;
	enum problem_code code = exhausts ? breaker_failed(d, h, problem) : breaker_leave(d, h, problem);

	if (code != P_OK)
		return code;
	h->is_exhausted = h->is_exhausted || exhausts;
	h->reason = h->state == HANDOFF_LEASED ? STR("taken, but not acked while the sender waited")
					       : STR("not taken while the sender waited");
	h->due_ms = 0;
	delivery_end_wait(h);
	h->receiver = STR_NULL;
	code = delivery_move(d, h, VERB_TIMEOUT, HANDOFF_EXPIRED, problem);
	if (code != P_OK)
		return code;
	return exhausts ? delivery_tell_exhausted(d, h, EVENT_EXPIRED, h->reason, problem)
			: delivery_tell(d, h, EVENT_EXPIRED, h->reason, problem);
}

/* It is looked at again then, or when its time is over. */
static enum problem_code look_again(struct delivery *d, struct handoff_row *h, int64_t at_ms, struct problem *problem)
{
	int64_t last_ms = h->expires_at_ms ? h->expires_at_ms : h->queue_until_ms;

	h->due_ms = at_ms < last_ms ? at_ms : last_ms;
	return delivery_write(d, h, problem);
}

/* Is somebody there who might still take it? *ret_until_ms: so long that is believed; 0: nobody is. */
static enum problem_code is_there(struct delivery *d, const struct handoff_row *h, int64_t *ret_until_ms,
				  struct problem *problem)
{
	int64_t seen_ms = 0, busy_until_ms = 0, until_ms;
	enum problem_code code = breaker_last_seen(d, h->agent, &seen_ms, problem);
	enum store_status status = code == P_OK ? store_target_busy_until(d->conn, h->agent, &busy_until_ms) : STORE_OK;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	if (busy_until_ms)
		seen_ms = d->now_ms;
	until_ms = seen_ms + delivery_patience_ms(h);
	*ret_until_ms = 0;
	if (seen_ms && until_ms > d->now_ms)
		*ret_until_ms = until_ms > d->now_ms + DELIVERY_LOOK_MS ? until_ms : d->now_ms + DELIVERY_LOOK_MS;
	return code;
}

/* The sender waits, and counts attempts with it. */
static enum problem_code untaken_while_waited(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	enum problem_code code = delivery_tell(d, h, EVENT_ACK_TIMEOUT, STR_NULL, problem);

	if (h->reason.p == NULL)
		h->reason = STR("nobody took it within the ack timeout, while the sender waited");
	return code == P_OK ? delivery_fail(d, h, VERB_TIMEOUT, 0, false, problem) : code;
}

/* A duration for people: "24 hours", "90 seconds". */
static struct str duration_text(struct arena *arena, int64_t ms)
{
	static const struct {
		int64_t ms;
		const char *name;
	} units[] = {{86400000, "day"}, {3600000, "hour"}, {60000, "minute"}, {1000, "second"}, {1, "millisecond"}};
	size_t i = 0;

	/* Whole units, and at least two of them: 24 hours, not a day. */
	while (i < 4 && (ms % units[i].ms || ms < 2 * units[i].ms))
		i++;
	return arena_printf(arena, "%lld %s%s", (long long)(ms / units[i].ms), units[i].name,
			    ms == units[i].ms ? "" : "s");
}

static enum problem_code time_out_of_queue(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	struct str time = duration_text(d->arena, h->queue_timeout_ms);
	enum problem_code code = breaker_leave(d, h, problem);

	if (code != P_OK)
		return code;
	if (h->reason.p)
		h->reason = arena_printf(d->arena, "queue_timeout: nobody took it within %.*s, after an attempt that "
					 "failed: %.*s", STR_ARG(time), STR_ARG(h->reason));
	else
		h->reason = arena_printf(d->arena, "queue_timeout: nobody took it within %.*s", STR_ARG(time));
	h->is_told = false;
	h->due_ms = 0;
	code = delivery_move(d, h, VERB_TIMEOUT, HANDOFF_PARKED, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_PARKED, h->reason, problem) : code;
}

/* The chair is empty: the next fallback agent, and after the last the target again, where it waits. */
static enum problem_code pass_on(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	struct handoff_row was = *h;
	int64_t patience_ms = delivery_patience_ms(h);
	struct str why = arena_printf(d->arena, "nobody took it from %.*s within %.*s", STR_ARG(h->agent_name),
				      STR_ARG(duration_text(d->arena, patience_ms)));
	bool is_probe;
	enum problem_code code = delivery_next_fallback(d, h, &is_probe, problem);

	if (code == P_OK && h->agent == was.agent && h->agent == h->target) {
		/* None of them may have it just now. */
		h->fallbacks = was.fallbacks;
		return look_again(d, h,
				  d->now_ms + (patience_ms > DELIVERY_LOOK_MS ? patience_ms : DELIVERY_LOOK_MS),
				  problem);
	}
	if (code == P_OK && h->agent == was.agent) {
		h->agent = h->target;
		h->agent_name = h->target_name;
	}
	if (code == P_OK)
		code = breaker_leave(d, &was, problem);
	return code == P_OK ? offer_to_other(d, h, VERB_TIMEOUT, is_probe, why, problem) : code;
}

static enum problem_code untaken(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	int64_t until_ms = 0;
	enum problem_code code;

	if (h->expires_at_ms == 0 && h->queue_until_ms == 0) {
		delivery_begin_queue(d, h, d->now_ms);
		return look_again(d, h, delivery_offered_until(d, h), problem);
	}
	if (h->expires_at_ms == 0 && h->queue_until_ms <= d->now_ms)
		return time_out_of_queue(d, h, problem);
	code = is_there(d, h, &until_ms, problem);
	if (code == P_OK && until_ms)
		return look_again(d, h, until_ms, problem);
	if (code != P_OK)
		return code;
	return h->expires_at_ms ? untaken_while_waited(d, h, problem) : pass_on(d, h, problem);
}

static enum problem_code lose_lease(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	bool worked = h->state == HANDOFF_WORKING;
	enum problem_code code;

	h->reason = worked ? STR("the work lease ran out: the receiver acked it and was not heard of again")
			   : STR("the lease ran out: the receiver took it and did not answer");
	code = delivery_tell(d, h, worked ? EVENT_WORK_LOST : EVENT_LEASE_LOST, h->receiver, problem);
	return code == P_OK ? delivery_fail(d, h, VERB_TIMEOUT, -1, false, problem) : code;
}

static enum problem_code end_of_time(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	if (h->expires_at_ms && h->expires_at_ms <= d->now_ms && h->state != HANDOFF_WORKING)
		return expire(d, h, problem);
	switch (h->state) {
	case HANDOFF_QUEUED:
		return untaken(d, h, problem);
	case HANDOFF_DELAYED:
		/* From now on: the server may have been down when its time came. */
		delivery_begin_queue(d, h, d->now_ms);
		return delivery_offer(d, h, VERB_TIMEOUT, problem);
	case HANDOFF_LEASED:
	case HANDOFF_WORKING:
		return lose_lease(d, h, problem);
	default:
		assert(!"only what is open is due");
		return P_OK;
	}
}

static enum problem_code due_handoffs(struct delivery *d, size_t max, size_t *done, struct problem *problem)
{
	enum problem_code code = P_OK;
	enum store_status status;
	struct handoff_row h;

	for (; code == P_OK && *done < max; ++*done) {
		status = store_handoff_due(d->conn, d->now_ms, d->arena, &h);
		if (status != STORE_OK)
			return status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
		d->space = h.space;
		code = end_of_time(d, &h, problem);
	}
	return code;
}

static enum problem_code due_targets(struct delivery *d, size_t max, size_t *done, struct problem *problem)
{
	enum problem_code code = P_OK;
	enum store_status status;
	struct target_due t;
	size_t redriven;

	while (code == P_OK && *done < max) {
		status = store_target_due(d->conn, d->now_ms, d->arena, &t);
		if (status != STORE_OK)
			return status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
		d->space = t.space;
		code = breaker_due(d, &t, &redriven, problem);
		*done += 1 + redriven;
	}
	return code;
}

enum store_status delivery_next_due(struct store_conn *c, int64_t *ret_ms)
{
	int64_t target_ms = 0;
	enum store_status status = store_handoff_next_due(c, ret_ms);

	if (status == STORE_OK)
		status = store_target_next_due(c, &target_ms);
	if (status == STORE_OK && target_ms && (*ret_ms == 0 || target_ms < *ret_ms))
		*ret_ms = target_ms;
	return status;
}

enum problem_code delivery_due(struct delivery *d, size_t max, int64_t *ret_next_ms, struct problem *problem)
{
	size_t done = 0;
	/* Agents first: what is parked in this step does not come back in it. */
	enum problem_code code = due_targets(d, max, &done, problem);
	enum store_status status;

	if (code == P_OK)
		code = due_handoffs(d, max, &done, problem);
	if (code != P_OK)
		return code;
	status = delivery_next_due(d->conn, ret_next_ms);
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}
