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

enum problem_code delivery_fail(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, int64_t delay_ms,
				bool is_final, struct problem *problem)
{
	if (is_final || h->attempt >= h->max_attempts)
		return delivery_give_up(d, h, verb, !is_final, problem);
	if (delay_ms < 0)
		delay_ms = backoff_ms(d, h->attempt);
	h->attempt++;
	h->receiver = STR_NULL;
	if (delay_ms == 0)
		return delivery_offer(d, h, verb, problem);
	h->due_ms = d->now_ms + delay_ms;
	if (h->expires_at_ms && h->expires_at_ms < h->due_ms)
		h->due_ms = h->expires_at_ms;
	return delivery_move(d, h, verb, HANDOFF_DELAYED, problem);
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

enum problem_code delivery_give_up(struct delivery *d, struct handoff_row *h, enum handoff_verb verb, bool count,
				   struct problem *problem)
{
	int64_t agent = h->agent;
	enum problem_code code = P_OK;
	bool is_probe;

	if (count && !h->is_exhausted)
		code = breaker_failed(d, h, problem);
	if (code == P_OK)
		code = delivery_next_fallback(d, h, &is_probe, problem);
	if (code != P_OK)
		return code;
	h->receiver = STR_NULL;
	if (h->agent != agent) {
		h->attempt = 1;
		h->is_exhausted = false;
		code = delivery_offer(d, h, verb, problem);
		if (code == P_OK && is_probe)
			code = breaker_probe(d, h->agent, h->num, problem);
		return code == P_OK ? delivery_tell(d, h, EVENT_FALLBACK, h->reason, problem) : code;
	}
	h->is_exhausted = h->is_exhausted || count;
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
	enum problem_code code = exhausts ? breaker_failed(d, h, problem) : P_OK;

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

/* Sets when h is looked at next. */
static enum problem_code look_at(struct delivery *d, struct handoff_row *h, int64_t at_ms, struct problem *problem)
{
	h->due_ms = delivery_due_at(h, at_ms);
	return delivery_write(d, h, problem);
}

/* When h is looked at next at the earliest, while its agent is alive. */
static int64_t patient_until(const struct delivery *d, const struct handoff_row *h)
{
	return d->now_ms + (h->ack_timeout_ms > DELIVERY_LOOK_MS ? h->ack_timeout_ms : DELIVERY_LOOK_MS);
}

/* Does h wait for the end of a lease that another one has? */
static bool is_put_off(const struct delivery *d, const struct handoff_row *h)
{
	return h->due_ms > patient_until(d, h);
}

/* The agent is at work: h waits until the work must be done. A long queue is looked at seldom so, and an idle server
 * has nothing to do. */
static enum problem_code put_off(struct delivery *d, struct handoff_row *h, int64_t busy_until_ms,
				 struct problem *problem)
{
	int64_t until_ms = patient_until(d, h), longest_ms = d->now_ms + DELIVERY_PUT_OFF_MAX_MS;

	if (busy_until_ms > longest_ms)
		busy_until_ms = longest_ms;
	return look_at(d, h, busy_until_ms > until_ms ? busy_until_ms : until_ms, problem);
}

enum problem_code delivery_rouse(struct delivery *d, int64_t agent, struct problem *problem)
{
	struct handoff_row h;
	int64_t busy_until_ms = 0;
	uint64_t num;
	enum store_status status = store_handoff_put_off(d->conn, agent, d->now_ms, &num);

	if (status == STORE_OK)
		status = store_target_busy_until(d->conn, agent, &busy_until_ms);
	if (status == STORE_OK && busy_until_ms == 0)
		status = store_handoff_get(d->conn, d->space, num, d->arena, &h);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	if (status == STORE_NOT_FOUND || busy_until_ms || !is_put_off(d, &h))
		return P_OK;
	return look_at(d, &h, patient_until(d, &h), problem);
}

/* The agent is dead: what waits for it in vain, from the first of its queue or from the one behind h, is looked at in
 * the next step. Each that fails then does the same, so that the whole queue follows. */
static enum problem_code wake_queue(struct delivery *d, const struct handoff_row *h, struct problem *problem)
{
	struct handoff_row next, behind = *h;
	uint64_t first;
	enum store_status status = store_handoff_put_off(d->conn, h->agent, d->now_ms, &first);
	enum problem_code code = P_OK;

	if (status == STORE_OK)
		status = store_handoff_get(d->conn, d->space, first, d->arena, &next);
	else if (status == STORE_NOT_FOUND)
		status = store_handoff_behind(d->conn, h, d->arena, &next);
	for (int i = 0; code == P_OK && status == STORE_OK && is_put_off(d, &next) && i < DELIVERY_WAKE_MAX; i++) {
		behind = next;
		code = look_at(d, &next, d->now_ms + 1, problem);
		if (code == P_OK)
			status = store_handoff_behind(d->conn, &behind, d->arena, &next);
	}
	if (code == P_OK && status != STORE_OK && status != STORE_NOT_FOUND)
		code = problem_of_store(problem, status);
	return code;
}

/* Nobody took it. An agent that is at work gets more time. */
static enum problem_code untaken(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	struct handoff_row was = *h;
	int64_t seen_ms = 0, busy_until_ms = 0;
	enum problem_code code = breaker_last_seen(d, h->agent, &seen_ms, problem);
	enum store_status status = code == P_OK ? store_target_busy_until(d->conn, h->agent, &busy_until_ms) : STORE_OK;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	if (code != P_OK)
		return code;
	if (busy_until_ms || (seen_ms && seen_ms + h->ack_timeout_ms > d->now_ms))
		return put_off(d, h, busy_until_ms, problem);
	h->reason = STR("nobody took it within the ack timeout");
	code = delivery_tell(d, h, EVENT_ACK_TIMEOUT, STR_NULL, problem);
	if (code == P_OK)
		code = delivery_fail(d, h, VERB_TIMEOUT, 0, false, problem);
	return code == P_OK ? wake_queue(d, &was, problem) : code;
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
		return delivery_offer(d, h, VERB_TIMEOUT, problem);
	case HANDOFF_LEASED:
	case HANDOFF_WORKING:
		return lose_lease(d, h, problem);
	default:
		assert(!"only what is open is due");
		return P_OK;
	}
}

static enum problem_code time_out(struct delivery *d, struct handoff_row *h, struct problem *problem)
{
	bool was_held = h->state == HANDOFF_LEASED || h->state == HANDOFF_WORKING;
	int64_t agent = h->agent;
	enum problem_code code = end_of_time(d, h, problem);

	return code == P_OK && was_held ? delivery_rouse(d, agent, problem) : code;
}

enum problem_code delivery_due(struct delivery *d, size_t max, int64_t *ret_next_ms, struct problem *problem)
{
	enum store_status status = STORE_OK;
	enum problem_code code = P_OK;
	struct handoff_row h;

	for (size_t i = 0; code == P_OK && i < max; i++) {
		status = store_handoff_due(d->conn, d->now_ms, d->arena, &h);
		if (status != STORE_OK)
			break;
		d->space = h.space;
		code = time_out(d, &h, problem);
	}
	if (code == P_OK && (status == STORE_OK || status == STORE_NOT_FOUND))
		status = store_handoff_next_due(d->conn, ret_next_ms);
	if (code == P_OK && status != STORE_OK)
		code = problem_of_store(problem, status);
	return code;
}
