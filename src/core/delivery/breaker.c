/* The circuit breaker of an agent, and when it was last seen.
 *
 * Closed: everything goes through. After BREAKER_FAILURES handoffs in a row that used up their attempts it opens: for
 * BREAKER_OPEN_MS nobody gets what is queued for the agent, whether it came before or after, but for what passes
 * (channels, and what a person wants). Then it is half-open and lets one handoff through, the probe: the first of the
 * queue. The next one waits until that has ended. An ack of the agent, whichever handoff it is for, closes the breaker.
 *
 * Nothing is written into the handoffs that are held: whether one is follows from the breaker of its agent, so that a
 * long queue costs nothing when the breaker opens, and nothing when it closes.
 *
 * When it closes, what the outage has parked comes back (delivery_outage.c), in steps that target_row.due_ms asks for.
 */
#include "core/delivery/delivery_internal.h"

enum { OUTAGE_AGENTS_MAX = 64 };	/* of a space with more that fail at once, some */

enum breaker_state breaker_state(const struct target_row *target, int64_t now_ms)
{
	if (target->open_until_ms == 0)
		return BREAKER_CLOSED;
	return now_ms < target->open_until_ms ? BREAKER_OPEN : BREAKER_HALF_OPEN;
}

static enum problem_code tell(struct delivery *d, struct str agent, enum event_kind kind, struct problem *problem)
{
	struct event_row event = {
		.space = d->space, .at_ms = d->now_ms, .kind = kind, .agent = agent, .actor = d->actor,
		.access_key = d->access_key,
	};
	enum store_status status = store_event_add(d->conn, &event);

	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

static enum problem_code put(struct delivery *d, int64_t agent, const struct target_row *target,
			     struct problem *problem)
{
	enum store_status status = store_target_put(d->conn, agent, target);

	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

static void announce(struct delivery *d, int64_t agent, int64_t at_ms)
{
	if (d->ready)
		d->ready(d->ctx, agent, at_ms);
}

/* When something happens to it by itself: what is to be redriven is, and an open breaker lets one through. */
static int64_t due_of(const struct target_row *target, int64_t now_ms)
{
	if (target->redrive_to_ms)
		return now_ms;
	return target->open_until_ms > now_ms ? target->open_until_ms : 0;
}

/* The probe, where it is still under way with the agent: a fallback may have it by now. h->num is 0 otherwise. */
static enum problem_code read_probe(struct store_conn *c, int64_t space, int64_t agent, const struct target_row *target,
				    struct arena *arena, struct handoff_row *h, struct problem *problem)
{
	enum store_status status =
		target->probe ? store_handoff_get(c, space, target->probe, arena, h) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND || (status == STORE_OK && (h->state > HANDOFF_LEASED || h->agent != agent)))
		*h = (struct handoff_row){0};
	return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
}

/* Does the breaker let the next one through? *ret_reset_ms: when it does, where it does not. */
static enum problem_code ask(struct store_conn *c, int64_t space, int64_t agent, const struct target_row *target,
			     int64_t now_ms, struct arena *arena, bool *ret, int64_t *ret_reset_ms,
			     struct problem *problem)
{
	struct handoff_row probe = {0};
	enum problem_code code = P_OK;

	*ret = true;
	switch (breaker_state(target, now_ms)) {
	case BREAKER_CLOSED:
		break;
	case BREAKER_OPEN:
		*ret = false;
		*ret_reset_ms = target->open_until_ms;
		break;
	case BREAKER_HALF_OPEN:
		code = read_probe(c, space, agent, target, arena, &probe, problem);
		*ret = code == P_OK && probe.num == 0;
		*ret_reset_ms = probe.due_ms;
		break;
	}
	return code;
}

enum problem_code breaker_admits(struct delivery *d, int64_t agent, bool *ret, bool *ret_is_probe,
				 int64_t *ret_reset_ms, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);
	enum problem_code code;

	*ret_is_probe = false;
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	code = ask(d->conn, d->space, agent, &target, d->now_ms, d->arena, ret, ret_reset_ms, problem);
	*ret_is_probe = code == P_OK && *ret && target.open_until_ms;
	return code;
}

enum problem_code delivery_look(struct store_conn *c, int64_t now_ms, struct arena *arena, struct handoff_row *h,
				struct problem *problem)
{
	struct target_row target;
	enum problem_code code;
	enum store_status status;
	int64_t reset_ms = 0;
	bool is_free;

	h->held_until_ms = 0;
	if (h->state > HANDOFF_DELAYED || h->passes)
		return P_OK;
	status = store_target_get(c, h->agent, &target);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	code = ask(c, h->space, h->agent, &target, now_ms, arena, &is_free, &reset_ms, problem);
	if (code == P_OK && !is_free && target.probe != h->num)
		h->held_until_ms = reset_ms;
	return code;
}

enum problem_code breaker_probe(struct delivery *d, int64_t agent, uint64_t num, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	target.probe = num;
	return put(d, agent, &target, problem);
}

enum problem_code breaker_leave(struct delivery *d, const struct handoff_row *h, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, h->agent, &target);
	enum problem_code code;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	if (target.probe != h->num)
		return P_OK;
	target.probe = 0;
	code = put(d, h->agent, &target, problem);
	if (code == P_OK)
		announce(d, h->agent, d->now_ms);
	return code;
}

/* Notes that the agent was seen; the caller writes it. False where that is known well enough. */
static bool note_seen(struct target_row *target, int64_t now_ms)
{
	/* One that was seen later than now was seen before the clock was set back. */
	if (target->seen_at_ms <= now_ms && now_ms - target->seen_at_ms < DELIVERY_SEEN_EVERY_MS)
		return false;
	target->seen_at_ms = now_ms;
	return true;
}

static enum problem_code what_it_gives(struct delivery *d, int64_t agent, const struct target_row *target,
				       enum breaker_gives *ret, struct problem *problem)
{
	struct handoff_row probe;
	enum problem_code code;

	*ret = BREAKER_GIVES_ALL;
	if (target->open_until_ms == 0)
		return P_OK;
	*ret = BREAKER_GIVES_PASSING;
	if (breaker_state(target, d->now_ms) == BREAKER_OPEN)
		return P_OK;
	code = read_probe(d->conn, d->space, agent, target, d->arena, &probe, problem);
	/* One that is queued is not under way: the first of the queue is the probe, whichever that is. */
	if (code == P_OK && (probe.num == 0 || probe.state == HANDOFF_QUEUED))
		*ret = BREAKER_GIVES_PROBE;
	return code;
}

enum problem_code breaker_peek(struct delivery *d, int64_t agent, enum breaker_gives *ret, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);

	return status == STORE_OK ? what_it_gives(d, agent, &target, ret, problem) : problem_of_store(problem, status);
}

enum problem_code breaker_take(struct delivery *d, int64_t agent, enum breaker_gives *ret, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);
	enum problem_code code = P_OK;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	if (note_seen(&target, d->now_ms))
		code = put(d, agent, &target, problem);
	return code == P_OK ? what_it_gives(d, agent, &target, ret, problem) : code;
}

/* What was parked since the first failure comes back, with what is still to come back from an outage before. */
static void close(struct delivery *d, struct target_row *target)
{
	if (target->has_opened) {
		if (target->redrive_to_ms == 0 || target->failing_since_ms < target->redrive_from_ms)
			target->redrive_from_ms = target->failing_since_ms;
		target->redrive_to_ms = d->now_ms;
	}
	target->failures = 0;
	target->open_until_ms = 0;
	target->probe = 0;
	target->failing_since_ms = 0;
	target->has_opened = false;
	target->due_ms = due_of(target, d->now_ms);
}

enum problem_code breaker_seen(struct delivery *d, const struct handoff_row *h, bool is_ack, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, h->agent, &target);
	bool closes, was_open, is_new;
	enum problem_code code;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	is_new = note_seen(&target, d->now_ms);
	closes = is_ack && (target.failures || target.open_until_ms || target.probe || target.failing_since_ms);
	was_open = target.open_until_ms != 0;
	if (!closes && !is_new)
		return P_OK;
	target.seen_at_ms = d->now_ms;
	if (closes)
		close(d, &target);
	code = put(d, h->agent, &target, problem);
	if (code == P_OK && closes && (was_open || target.redrive_to_ms))
		announce(d, h->agent, d->now_ms);
	return code == P_OK && closes && was_open ? tell(d, h->agent_name, EVENT_BREAKER_CLOSED, problem) : code;
}

enum problem_code breaker_last_seen(struct delivery *d, int64_t agent, int64_t *ret_ms, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);
	enum problem_code code = status == STORE_OK ? P_OK : problem_of_store(problem, status);

	/* The clock was set back: from now on its time runs again. Otherwise a dead agent would count as alive until
	 * the clock is where it was. */
	if (code == P_OK && target.seen_at_ms > d->now_ms) {
		target.seen_at_ms = d->now_ms;
		code = put(d, agent, &target, problem);
	}
	if (code == P_OK)
		*ret_ms = target.seen_at_ms;
	return code;
}

/* An outage seldom hits one agent alone: what a model does not answer, it answers to nobody. So those of the space that
 * are failing when a breaker opens, or that fail while one is open, are in the same outage, though too few of their
 * handoffs may fail to open a breaker of their own. */
static enum problem_code share_outage(struct delivery *d, int64_t agent, struct target_row *target, bool opens,
				      struct problem *problem)
{
	struct target_due *others;
	enum problem_code code = P_OK;
	enum store_status status;
	size_t count = 0;

	if (target->has_opened && !opens)
		return P_OK;
	others = arena_calloc(d->arena, OUTAGE_AGENTS_MAX, sizeof(*others));
	status = store_targets_failing(d->conn, d->space, OUTAGE_AGENTS_MAX, d->arena, others, &count);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	target->has_opened |= opens;
	for (size_t i = 0; code == P_OK && i < count; i++) {
		struct target_row *other = &others[i].target;

		if (others[i].agent == agent)
			continue;
		target->has_opened |= other->open_until_ms > 0;
		if (opens && other->failing_since_ms && !other->has_opened) {
			other->has_opened = true;
			code = put(d, others[i].agent, other, problem);
		}
	}
	return code;
}

enum problem_code breaker_failed(struct delivery *d, const struct handoff_row *h, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, h->agent, &target);
	bool opens, was_open;
	enum problem_code code;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	was_open = breaker_state(&target, d->now_ms) == BREAKER_OPEN;
	target.failures++;
	if (target.failing_since_ms == 0)
		target.failing_since_ms = d->now_ms;
	/* While it is open, what still fails changes nothing: senders were told when it lets one through. */
	opens = !was_open && (target.open_until_ms || target.failures >= BREAKER_FAILURES);
	code = share_outage(d, h->agent, &target, opens, problem);
	if (opens) {
		target.open_until_ms = d->now_ms + (d->breaker_open_ms ? d->breaker_open_ms : BREAKER_OPEN_MS);
		target.probe = 0;
		target.due_ms = due_of(&target, d->now_ms);
	}
	if (code == P_OK)
		code = put(d, h->agent, &target, problem);
	if (code == P_OK && opens)
		announce(d, h->agent, target.open_until_ms);
	return code == P_OK && opens ? tell(d, h->agent_name, EVENT_BREAKER_OPENED, problem) : code;
}

enum problem_code breaker_due(struct delivery *d, const struct target_due *t, size_t *ret_redriven,
			      struct problem *problem)
{
	struct target_row target = t->target;
	bool has_more = false;
	enum problem_code code = P_OK;

	*ret_redriven = 0;
	if (target.redrive_to_ms)
		code = delivery_bring_back(d, t, ret_redriven, &has_more, problem);
	if (code != P_OK)
		return code;
	if (!has_more)
		target.redrive_from_ms = target.redrive_to_ms = 0;
	target.due_ms = due_of(&target, d->now_ms);
	code = put(d, t->agent, &target, problem);
	if (code == P_OK && breaker_state(&target, d->now_ms) == BREAKER_HALF_OPEN)
		announce(d, t->agent, d->now_ms);
	return code;
}

/* What the outage has parked stays parked until the agent acks something: a person who closes the breaker may be wrong.
 */
enum problem_code breaker_reset(struct delivery *d, struct str agent, struct problem *problem)
{
	struct target_row target;
	int64_t id;
	enum store_status status =
		d->space ? store_agent_id(d->conn, d->space, agent, false, d->now_ms, &id) : STORE_NOT_FOUND;
	enum problem_code code;

	if (status == STORE_NOT_FOUND)
		return problem_set(problem, P_AGENT_NOT_FOUND, "name", "there is no agent \"%.*s\" in this space",
				   STR_ARG(agent));
	if (status == STORE_OK)
		status = store_target_get(d->conn, id, &target);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	target.failures = 0;
	target.open_until_ms = 0;
	target.probe = 0;
	target.due_ms = due_of(&target, d->now_ms);
	code = put(d, id, &target, problem);
	if (code == P_OK)
		announce(d, id, d->now_ms);
	return code == P_OK ? tell(d, agent, EVENT_BREAKER_RESET, problem) : code;
}
