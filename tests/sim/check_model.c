/* What the protocol says: attempts, fallbacks, time, and the circuit breaker. */
#include "check_internal.h"

/* --- The breaker --- */

struct shadow_agent *model_touch(struct check *k, int64_t agent)
{
	struct shadow_agent *a = &k->agents[agent];

	if (!a->is_touched) {
		CHECK(k, k->touched_count < sizeof(k->touched) / sizeof(k->touched[0]), "too many agents in a step");
		k->touched[k->touched_count++] = agent;
		a->is_touched = true;
	}
	return a;
}

static void expect_breaker_event(struct check *k, int64_t agent, enum event_kind kind)
{
	CHECK(k, k->event_count < CHECK_EVENTS, "too many events in a step");
	k->events[k->event_count++] = (struct expected_event){.kind = kind, .agent = agent,
							      .space = ram_agent_space(k->store, agent)};
}

bool model_admits(struct check *k, int64_t agent, bool *ret_is_probe, int64_t *ret_reset_ms)
{
	const struct target_row *t = &k->agents[agent].target;
	const struct shadow *probe;

	*ret_is_probe = false;
	if (t->open_until_ms == 0)
		return true;
	*ret_reset_ms = t->open_until_ms;
	if (k->r->now_ms < t->open_until_ms)
		return false;
	probe = t->probe ? check_shadow(k, ram_agent_space(k->store, agent), t->probe) : NULL;
	if (probe && probe->row.state <= HANDOFF_LEASED && probe->row.agent == agent) {
		*ret_reset_ms = probe->row.due_ms;
		return false;
	}
	*ret_is_probe = true;
	return true;
}

/* An open breaker gives what passes; a half-open one the first of all, unless its probe is under way. */
struct shadow *model_next(struct check *k, int64_t agent, int64_t now_ms, bool *ret_is_probe)
{
	const struct target_row *t = &k->agents[agent].target;
	const struct list *head = &k->agents[agent].queued;
	const struct shadow *probe = t->probe ? check_shadow(k, ram_agent_space(k->store, agent), t->probe) : NULL;
	bool is_probing = probe && probe->row.agent == agent &&
			  (probe->row.state == HANDOFF_LEASED || probe->row.state == HANDOFF_DELAYED);
	struct shadow *best = NULL;

	*ret_is_probe = t->open_until_ms && now_ms >= t->open_until_ms && !is_probing;
	for (struct list *l = head->next; l != head; l = l->next) {
		struct shadow *s = LIST_ELEMENT(l, struct shadow, queued);
		const struct handoff_row *row = &s->row;

		if (t->open_until_ms && !*ret_is_probe && !row->passes)
			continue;
		if (best == NULL || row->priority > best->row.priority ||
		    (row->priority == best->row.priority &&
		     (row->place < best->row.place ||
		      (row->place == best->row.place && row->num < best->row.num))))
			best = s;
	}
	return best;
}

void model_leave(struct check *k, const struct handoff_row *row)
{
	if (k->agents[row->agent].target.probe == row->num)
		model_touch(k, row->agent)->target.probe = 0;
}

void model_seen(struct check *k, int64_t agent)
{
	k->agents[agent].target.seen_at_ms = k->r->now_ms;
}

/* The breaker closes: what was parked since the first failure, if it had opened since, is to come back. */
void model_accepted(struct check *k, int64_t agent)
{
	struct target_row *t = &k->agents[agent].target;
	int64_t now = k->r->now_ms;

	if (t->failures == 0 && t->open_until_ms == 0 && t->probe == 0 && t->failing_since_ms == 0)
		return;
	if (t->open_until_ms)
		expect_breaker_event(k, agent, EVENT_BREAKER_CLOSED);
	t = &model_touch(k, agent)->target;
	if (t->has_opened) {
		if (t->redrive_to_ms == 0 || t->failing_since_ms < t->redrive_from_ms)
			t->redrive_from_ms = t->failing_since_ms;
		t->redrive_to_ms = now;
	}
	t->failures = t->open_until_ms = t->failing_since_ms = 0;
	t->has_opened = false;
	t->probe = 0;
	t->due_ms = t->redrive_to_ms ? now : 0;
}

static bool is_of_space(const struct check *k, size_t agent, int64_t other)
{
	return ram_agent_space(k->store, (int64_t)agent) == ram_agent_space(k->store, other);
}

/* While a breaker of the space is not closed, whoever fails is in its outage. */
static bool another_is_open(const struct check *k, int64_t agent)
{
	for (size_t i = 1; i <= ram_agent_count(k->store); i++)
		if ((int64_t)i != agent && is_of_space(k, i, agent) && k->agents[i].target.open_until_ms)
			return true;
	return false;
}

/* A breaker has opened: whoever fails already in its space is in the same outage. */
static void share_outage(struct check *k, int64_t agent)
{
	for (size_t i = 1; i <= ram_agent_count(k->store); i++) {
		const struct target_row *t = &k->agents[i].target;

		if (is_of_space(k, i, agent) && t->failures && t->failing_since_ms && !t->has_opened)
			model_touch(k, (int64_t)i)->target.has_opened = true;
	}
}

/* The handoff has used up its attempts with its agent; that counts once. */
void model_exhausted(struct check *k, struct want *w)
{
	struct target_row *t = &model_touch(k, w->row.agent)->target;
	int64_t now = k->r->now_ms;
	bool was_open = t->open_until_ms && now < t->open_until_ms;

	w->row.is_exhausted = true;
	t->failures++;
	if (t->failing_since_ms == 0)
		t->failing_since_ms = now;
	t->has_opened |= another_is_open(k, w->row.agent);
	if (was_open || (t->open_until_ms == 0 && t->failures < BREAKER_FAILURES))
		return;
	t->open_until_ms = now + BREAKER_OPEN_MS;
	t->has_opened = true;
	t->probe = 0;
	t->due_ms = t->redrive_to_ms ? now : t->open_until_ms;
	share_outage(k, w->row.agent);
	expect_breaker_event(k, w->row.agent, EVENT_BREAKER_OPENED);
}

/* --- Attempts --- */

void model_set_due(struct want *w, int64_t from_ms, int64_t to_ms)
{
	int64_t limit = w->row.expires_at_ms;

	w->row.due_ms = limit && limit < from_ms ? limit : from_ms;
	w->due_max_ms = limit && limit < to_ms ? limit : to_ms;
}

void model_wait(struct check *k, struct want *w, const struct delivery_order *o)
{
	w->row.expires_at_ms = o->wait_ms ? k->r->now_ms + o->wait_ms : 0;
	w->row.is_retried = o->wait_ms && (o->ack_timeout_ms || o->fallbacks);
}

void model_end_wait(struct want *w)
{
	w->row.expires_at_ms = 0;
	w->row.is_retried = false;
}

void model_queue(struct want *w, int64_t from_ms, int64_t to_ms)
{
	w->row.queue_until_ms = from_ms + w->row.queue_timeout_ms;
	w->queue_until_max_ms = to_ms + w->row.queue_timeout_ms;
}

/* Who waits says how long; otherwise it stays until its queue timeout, or is passed on after as much time as its
 * attempts would take, where there is somebody to pass it on to. */
void model_offer(struct check *k, struct want *w)
{
	int64_t now = k->r->now_ms, attempts = w->row.max_attempts * w->row.ack_timeout_ms;
	bool has_others = (w->fallbacks && w->fallbacks_used < w->fallbacks->count) || w->row.agent != w->row.target;

	w->row.state = HANDOFF_QUEUED;
	w->is_live = false;
	w->row.due_ms = w->row.queue_until_ms;
	w->due_max_ms = w->queue_until_max_ms;
	if (w->row.expires_at_ms)
		w->row.due_ms = w->due_max_ms = w->row.expires_at_ms;
	if (w->row.expires_at_ms && w->row.is_retried)
		model_set_due(w, now + w->row.ack_timeout_ms, now + w->row.ack_timeout_ms);
	if (w->row.expires_at_ms == 0 && has_others && now + attempts < w->row.queue_until_ms)
		w->row.due_ms = w->due_max_ms = now + attempts;
}

void model_begin_anew(struct check *k, struct want *w, bool is_probe)
{
	w->row.attempt = 1;
	w->row.is_exhausted = false;
	model_offer(k, w);
	if (is_probe)
		model_touch(k, w->row.agent)->target.probe = w->row.num;
	check_expect_event(k, w, EVENT_FALLBACK);
}

bool model_fallback(struct check *k, struct want *w, bool *ret_is_probe)
{
	const struct json *names = w->fallbacks;
	int64_t reset_ms;

	while (names && w->fallbacks_used < names->count) {
		int64_t agent = check_agent_id(k, w->row.space, names->items[w->fallbacks_used++].s);

		CHECK(k, agent, "a fallback agent was not made");
		if (agent == w->row.agent || agent == w->row.target || check_has(k, &w->row, agent) ||
		    !model_admits(k, agent, ret_is_probe, &reset_ms))
			continue;
		w->row.agent = agent;
		return true;
	}
	return false;
}

static void give_up(struct check *k, struct want *w, bool counts)
{
	bool is_probe = false;

	if (counts && !w->row.is_exhausted && !w->row.is_redriven)
		model_exhausted(k, w);
	else
		model_leave(k, &w->row);
	w->row.is_exhausted |= counts;
	if (model_fallback(k, w, &is_probe)) {
		model_queue(w, k->r->now_ms, k->r->now_ms);
		model_begin_anew(k, w, is_probe);
		return;
	}
	w->row.state = HANDOFF_PARKED;
	w->row.due_ms = w->due_max_ms = 0;
	w->row.is_outage = counts && w->row.expires_at_ms == 0 && !w->row.is_redriven && !w->row.is_touched;
	model_end_wait(w);
	w->is_live = false;
	check_expect_event(k, w, EVENT_PARKED);
}

void model_fail(struct check *k, struct want *w, int64_t delay_ms, bool is_final)
{
	int64_t now = k->r->now_ms, full;

	if (is_final || w->row.attempt >= w->row.max_attempts) {
		give_up(k, w, !is_final);
		return;
	}
	w->row.attempt++;
	w->is_live = false;
	if (delay_ms == 0) {
		model_queue(w, now, now);
		model_offer(k, w);
		return;
	}
	/* 2 seconds after the first, doubled after each, at most 30; and not less than half of it. */
	full = w->row.attempt > 5 ? 30000 : INT64_C(1000) << (w->row.attempt - 1);
	w->row.state = HANDOFF_DELAYED;
	model_queue(w, delay_ms < 0 ? now + full / 2 : now + delay_ms, delay_ms < 0 ? now + full : now + delay_ms);
	if (delay_ms < 0)
		model_set_due(w, now + full / 2, now + full);
	else
		model_set_due(w, now + delay_ms, now + delay_ms);
}
