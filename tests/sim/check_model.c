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

void model_seen(struct check *k, int64_t agent)
{
	k->agents[agent].target.seen_at_ms = k->r->now_ms;
}

void model_accepted(struct check *k, int64_t agent)
{
	struct target_row *t = &k->agents[agent].target;

	if (t->failures == 0 && t->open_until_ms == 0 && t->probe == 0)
		return;
	if (t->open_until_ms)
		expect_breaker_event(k, agent, EVENT_BREAKER_CLOSED);
	t = &model_touch(k, agent)->target;
	t->failures = t->open_until_ms = 0;
	t->probe = 0;
}

/* The handoff has used up its attempts with its agent; that counts once. */
void model_exhausted(struct check *k, struct want *w)
{
	struct target_row *t = &model_touch(k, w->row.agent)->target;
	bool was_open = t->open_until_ms && k->r->now_ms < t->open_until_ms;

	w->row.is_exhausted = true;
	t->failures++;
	if (was_open || (t->open_until_ms == 0 && t->failures < BREAKER_FAILURES))
		return;
	t->open_until_ms = k->r->now_ms + BREAKER_OPEN_MS;
	t->probe = 0;
	expect_breaker_event(k, w->row.agent, EVENT_BREAKER_OPENED);
}

/* --- Attempts --- */

static void set_due(struct want *w, int64_t from_ms, int64_t to_ms)
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

void model_offer(struct check *k, struct want *w)
{
	int64_t now = k->r->now_ms;

	w->row.state = HANDOFF_QUEUED;
	if (w->row.expires_at_ms && !w->row.is_retried)
		w->row.due_ms = w->due_max_ms = w->row.expires_at_ms;
	else
		set_due(w, now + w->row.ack_timeout_ms, now + w->row.ack_timeout_ms);
	w->is_live = false;
}

bool model_fallback(struct check *k, struct want *w, const struct json *names, bool *ret_is_probe)
{
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

	if (counts && !w->row.is_exhausted)
		model_exhausted(k, w);
	if (model_fallback(k, w, w->s->fallbacks, &is_probe)) {
		w->row.attempt = 1;
		w->row.is_exhausted = false;
		model_offer(k, w);
		if (is_probe)
			model_touch(k, w->row.agent)->target.probe = w->row.num;
		check_expect_event(k, w, EVENT_FALLBACK);
		return;
	}
	w->row.state = HANDOFF_PARKED;
	w->row.due_ms = w->due_max_ms = 0;
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
		model_offer(k, w);
		return;
	}
	/* 2 seconds after the first, doubled after each, at most 30; and not less than half of it. */
	full = w->row.attempt > 5 ? 30000 : INT64_C(1000) << (w->row.attempt - 1);
	w->row.state = HANDOFF_DELAYED;
	if (delay_ms < 0)
		set_due(w, now + full / 2, now + full);
	else
		set_due(w, now + delay_ms, now + delay_ms);
}

/* --- Time --- */

static void expire(struct check *k, struct want *w)
{
	if (w->row.attempt >= w->row.max_attempts && !w->row.is_exhausted)
		model_exhausted(k, w);
	w->row.state = HANDOFF_EXPIRED;
	w->row.due_ms = w->due_max_ms = 0;
	model_end_wait(w);
	w->is_live = false;
	check_expect_event(k, w, EVENT_EXPIRED);
}

/* The first in an agent's queue, or the first behind h; but those that only wait as long as their sender. */
static struct shadow *first_behind(struct check *k, int64_t agent, const struct handoff_row *h)
{
	struct list *head = &k->agents[agent].queued;
	struct shadow *best = NULL;

	for (struct list *l = head->next; l != head; l = l->next) {
		struct shadow *s = LIST_ELEMENT(l, struct shadow, queued);
		bool is_behind = h == NULL || s->row.priority < h->priority ||
				 (s->row.priority == h->priority && s->row.num > h->num);

		if (is_behind && (s->row.due_ms != s->row.expires_at_ms || s->row.is_retried) &&
		    (best == NULL || s->row.priority > best->row.priority ||
		     (s->row.priority == best->row.priority && s->row.num < best->row.num)))
			best = s;
	}
	return best;
}

/* What waits for an agent at work is looked at after its ack timeout, and after a second, at the earliest. */
static int64_t patient_until(const struct check *k, const struct handoff_row *row)
{
	return k->r->now_ms + (row->ack_timeout_ms < 1000 ? 1000 : row->ack_timeout_ms);
}

static bool is_put_off(const struct check *k, const struct shadow *s)
{
	return s && s->row.due_ms > patient_until(k, &s->row);
}

static void look_at(struct check *k, struct shadow *s, int64_t at_ms)
{
	struct want w = check_want(s, HANDOFF_VERBS);

	set_due(&w, at_ms, at_ms);
	check_apply(k, &w);
}

void model_rouse(struct check *k, int64_t agent)
{
	struct shadow *s = k->agents[agent].busy ? NULL : first_behind(k, agent, NULL);

	if (is_put_off(k, s))
		look_at(k, s, patient_until(k, &s->row));
}

void model_wake(struct check *k, const struct handoff_row *h)
{
	struct shadow *s = first_behind(k, h->agent, NULL);

	if (s == NULL || s->row.due_ms <= k->r->now_ms + s->row.ack_timeout_ms)
		s = first_behind(k, h->agent, h);
	for (int i = 0; i < DELIVERY_WAKE_MAX && is_put_off(k, s); i++) {
		look_at(k, s, k->r->now_ms + 1);
		s = first_behind(k, h->agent, &s->row);
	}
}

/* Until the last lease ends that the agent holds; within ten minutes somebody looks all the same. */
static void put_off(struct check *k, struct want *w)
{
	int64_t until = patient_until(k, &w->row), longest = k->r->now_ms + 600000, busy_until = 0;

	for (struct list *l = k->agents[w->row.agent].held.next; l != &k->agents[w->row.agent].held; l = l->next) {
		const struct shadow *s = LIST_ELEMENT(l, struct shadow, held);

		if (s->row.due_ms > busy_until)
			busy_until = s->row.due_ms;
	}
	if (busy_until > longest)
		busy_until = longest;
	if (busy_until > until)
		until = busy_until;
	set_due(w, until, until);
}

/* When an agent was last seen is kept with a second's exactness, so that there is a second in which either is right. */
static bool is_at_work(struct check *k, const struct want *w, const struct handoff_row *after)
{
	const struct shadow_agent *a = &k->agents[w->row.agent];
	int64_t until = a->target.seen_at_ms + w->row.ack_timeout_ms;

	if (a->busy || (a->target.seen_at_ms && until - DELIVERY_SEEN_EVERY_MS >= k->r->now_ms))
		return true;
	if (a->target.seen_at_ms == 0 || until <= k->r->now_ms)
		return false;
	return after->state == HANDOFF_QUEUED && after->attempt == w->row.attempt && after->agent == w->row.agent;
}

bool model_time_out(struct check *k, struct want *w, const struct handoff_row *after)
{
	int64_t now = k->r->now_ms;

	CHECK(k, w->row.due_ms && w->row.due_ms <= now, "ho-%llu timed out at %lld, but was due at %lld",
	      (unsigned long long)w->row.num,
	      (long long)now, (long long)w->row.due_ms);
	if (w->row.state != HANDOFF_WORKING && w->row.expires_at_ms && w->row.expires_at_ms <= now) {
		expire(k, w);
	} else if (w->row.state == HANDOFF_DELAYED) {
		model_offer(k, w);
	} else if (w->row.state == HANDOFF_QUEUED) {
		if (is_at_work(k, w, after)) {
			put_off(k, w);
			return false;
		}
		check_expect_event(k, w, EVENT_ACK_TIMEOUT);
		model_fail(k, w, 0, false);
		return true;
	} else {
		check_expect_event(k, w, w->row.state == HANDOFF_WORKING ? EVENT_WORK_LOST : EVENT_LEASE_LOST);
		model_fail(k, w, -1, false);
	}	return false;
}
