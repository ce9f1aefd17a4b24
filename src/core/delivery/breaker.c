/* The circuit breaker of an agent, and when it was last seen.
 *
 * Closed: everything goes through. After BREAKER_FAILURES handoffs in a row that used up their attempts it opens:
 * nothing new is sent to the agent for BREAKER_OPEN_MS. Then it is half-open and lets one handoff through, the probe;
 * the next one waits until that has ended. An ack of the agent, whichever handoff it is for, closes the breaker.
 */
#include "core/delivery/delivery_internal.h"

enum breaker_state breaker_state(const struct target_row *target, int64_t now_ms)
{
	if (target->open_until_ms == 0)
		return BREAKER_CLOSED;
	return now_ms < target->open_until_ms ? BREAKER_OPEN : BREAKER_HALF_OPEN;
}

static enum problem_code tell(struct delivery *d, struct str agent, enum event_kind kind, struct problem *problem)
{
	struct event_row event = {
		.space = d->space, .at_ms = d->now_ms, .kind = kind, .agent = agent, .actor = d->actor};
	enum store_status status = store_event_add(d->conn, &event);

	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

static enum problem_code put(struct delivery *d, int64_t agent, const struct target_row *target,
			     struct problem *problem)
{
	enum store_status status = store_target_put(d->conn, agent, target);

	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

/* Is the probe still under way with the agent? A fallback may have it by now. *ret_until_ms: when it ends at the
 * latest. */
static enum problem_code probe_is_open(struct delivery *d, int64_t agent, const struct target_row *target, bool *ret,
				       int64_t *ret_until_ms, struct problem *problem)
{
	struct handoff_row h;
	enum store_status status =
		target->probe ? store_handoff_get(d->conn, d->space, target->probe, d->arena, &h) : STORE_NOT_FOUND;

	*ret = false;
	if (status == STORE_OK && h.state <= HANDOFF_LEASED && h.agent == agent) {
		*ret = true;
		*ret_until_ms = h.due_ms;
	}
	return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
}

enum problem_code breaker_admits(struct delivery *d, int64_t agent, bool *ret, bool *ret_is_probe,
				 int64_t *ret_reset_ms, struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);
	enum problem_code code = P_OK;
	bool probing;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	*ret = true;
	*ret_is_probe = false;
	switch (breaker_state(&target, d->now_ms)) {
	case BREAKER_CLOSED:
		break;
	case BREAKER_OPEN:
		*ret = false;
		*ret_reset_ms = target.open_until_ms;
		break;
	case BREAKER_HALF_OPEN:
		code = probe_is_open(d, agent, &target, &probing, ret_reset_ms, problem);
		*ret = code == P_OK && !probing;
		*ret_is_probe = *ret;
		break;
	}
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

enum problem_code breaker_seen(struct delivery *d, const struct handoff_row *h, int64_t agent, bool is_ack,
			       struct problem *problem)
{
	struct target_row target;
	enum store_status status = store_target_get(d->conn, agent, &target);
	bool closes, was_open, is_known;
	enum problem_code code;

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	/* One that was seen later than now was seen before the clock was set back. */
	is_known = target.seen_at_ms <= d->now_ms && d->now_ms - target.seen_at_ms < DELIVERY_SEEN_EVERY_MS;
	closes = is_ack && (target.failures || target.open_until_ms || target.probe);
	was_open = target.open_until_ms != 0;
	if (!closes && is_known)
		return P_OK;
	target.seen_at_ms = d->now_ms;
	if (closes) {
		target.failures = 0;
		target.open_until_ms = 0;
		target.probe = 0;
	}
	code = put(d, agent, &target, problem);
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
	/* While it is open, what still fails changes nothing: senders were told when it lets one through. */
	opens = !was_open && (target.open_until_ms || target.failures >= BREAKER_FAILURES);
	if (opens) {
		target.open_until_ms = d->now_ms + BREAKER_OPEN_MS;
		target.probe = 0;
	}
	code = put(d, h->agent, &target, problem);
	return code == P_OK && opens ? tell(d, h->agent_name, EVENT_BREAKER_OPENED, problem) : code;
}

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
	code = put(d, id, &target, problem);
	return code == P_OK ? tell(d, agent, EVENT_BREAKER_RESET, problem) : code;
}
