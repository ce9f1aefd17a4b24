/* What time does, and what a person does to what is queued. */
#include "check_internal.h"

/* --- Time --- */

static void expire(struct check *k, struct want *w)
{
	if (w->row.attempt >= w->row.max_attempts && !w->row.is_exhausted)
		model_exhausted(k, w);
	else
		model_leave(k, &w->row);
	w->row.state = HANDOFF_EXPIRED;
	w->row.due_ms = w->due_max_ms = 0;
	model_end_wait(w);
	w->is_live = false;
	check_expect_event(k, w, EVENT_EXPIRED);
}

/* Looked at again then, or when its time is over. */
static void look_again(struct want *w, int64_t from_ms, int64_t to_ms)
{
	int64_t last = w->row.expires_at_ms ? w->row.expires_at_ms : w->row.queue_until_ms;

	w->row.due_ms = from_ms < last ? from_ms : last;
	w->due_max_ms = to_ms < last ? to_ms : last;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Somebody who holds a lease, or was seen within the time that the attempts would take, is there. When an agent was
 * last seen is kept with a second's exactness, so that there is a second in which either is right. */
static bool is_there(struct check *k, struct want *w, const struct handoff_row *after)
{
	const struct shadow_agent *a = &k->agents[w->row.agent];
	int64_t now = k->r->now_ms, seen = a->busy ? now : a->target.seen_at_ms;
	int64_t patience = w->row.ack_timeout_ms * (w->row.expires_at_ms ? 1 : w->row.max_attempts);
	int64_t latest = seen + patience, earliest = a->busy ? latest : latest - DELIVERY_SEEN_EVERY_MS + 1;
	bool stays = after->state == HANDOFF_QUEUED && after->attempt == w->row.attempt &&
		     after->agent == w->row.agent && after->due_ms <= later(latest, now + DELIVERY_LOOK_MS);

	if (seen == 0 || latest <= now || (earliest <= now && !stays))
		return false;
	look_again(w, later(earliest, now + DELIVERY_LOOK_MS), later(latest, now + DELIVERY_LOOK_MS));
	return true;
}

/* The next fallback; behind the last the target again, where it waits. */
static void pass_on(struct check *k, struct want *w)
{
	struct handoff_row was = w->row;
	uint32_t used = w->fallbacks_used;
	int64_t at_ms = k->r->now_ms + later(w->row.max_attempts * w->row.ack_timeout_ms, DELIVERY_LOOK_MS);
	bool is_probe = false, is_found = model_fallback(k, w, &is_probe);

	if (!is_found && was.agent == was.target) {
		w->fallbacks_used = used;
		look_again(w, at_ms, at_ms);
		return;
	}
	if (!is_found)
		w->row.agent = w->row.target;
	k->tally->passed_on[is_found ? 0 : 1]++;
	model_leave(k, &was);
	model_begin_anew(k, w, is_probe);
}

static void time_out_of_queue(struct check *k, struct want *w, const struct handoff_row *after)
{
	model_leave(k, &w->row);
	w->row.state = HANDOFF_PARKED;
	w->row.due_ms = w->due_max_ms = 0;
	check_expect_event(k, w, EVENT_PARKED);
	CHECK(k, str_has_prefix(after->reason, STR("queue_timeout: nobody took it")), "it timed out of the queue: %.*s",
	      STR_ARG(after->reason));
	k->tally->queue_timeouts++;
}

static void untaken(struct check *k, struct want *w, const struct handoff_row *after)
{
	if (w->row.expires_at_ms == 0 && w->row.queue_until_ms <= k->r->now_ms) {
		time_out_of_queue(k, w, after);
	} else if (is_there(k, w, after)) {
		return;
	} else if (w->row.expires_at_ms) {
		check_expect_event(k, w, EVENT_ACK_TIMEOUT);
		model_fail(k, w, 0, false);
	} else {
		pass_on(k, w);
	}
}

static void time_out(struct check *k, struct want *w, const struct handoff_row *after)
{
	int64_t now = k->r->now_ms;

	CHECK(k, w->row.due_ms && w->row.due_ms <= now, "ho-%llu timed out at %lld, but was due at %lld",
	      (unsigned long long)w->row.num, (long long)now, (long long)w->row.due_ms);
	if (w->row.state != HANDOFF_WORKING && w->row.expires_at_ms && w->row.expires_at_ms <= now) {
		expire(k, w);
	} else if (w->row.state == HANDOFF_DELAYED) {
		model_queue(w, now, now);
		model_offer(k, w);
	} else if (w->row.state == HANDOFF_QUEUED) {
		untaken(k, w, after);
	} else {
		check_expect_event(k, w, w->row.state == HANDOFF_WORKING ? EVENT_WORK_LOST : EVENT_LEASE_LOST);
		model_fail(k, w, -1, false);
	}
}

/* --- What comes back --- */

/* The next that the outage has parked: by when it was parked, of these by number. */
static struct shadow *next_of_outage(struct check *k, int64_t agent)
{
	const struct target_row *t = &k->agents[agent].target;
	int64_t space = ram_agent_space(k->store, agent);
	struct shadow *best = NULL;

	for (uint64_t num = 1; num <= k->spaces[space].count; num++) {
		struct shadow *s = check_shadow(k, space, num);

		if (s->row.agent == agent && s->row.is_outage && s->row.changed_at_ms >= t->redrive_from_ms &&
		    s->row.changed_at_ms <= t->redrive_to_ms &&
		    (best == NULL || s->row.changed_at_ms < best->row.changed_at_ms))
			best = s;
	}
	return best;
}

static void bring_back(struct check *k, struct shadow *s)
{
	struct want w = check_want(s, VERB_REDRIVE);

	CHECK(k, s->row.state == HANDOFF_PARKED && !s->row.is_redriven && !s->row.is_touched,
	      "ho-%llu is no handoff that comes back by itself", (unsigned long long)s->row.num);
	w.row.place = k->spaces[s->row.space].count + 1;
	w.row.attempt = 1;
	w.row.is_exhausted = w.row.is_outage = false;
	w.row.is_redriven = true;
	w.row.acked_at_ms = 0;
	model_queue(&w, k->r->now_ms, k->r->now_ms);
	model_offer(k, &w);
	check_expect_event(k, &w, EVENT_REDRIVEN);
	check_apply(k, &w);
	k->tally->brought_back++;
}

/* The agent that is due first, of these the oldest; 0: none is. */
static int64_t first_due(const struct check *k)
{
	int64_t first = 0;

	for (size_t i = 1; i <= ram_agent_count(k->store); i++) {
		int64_t due_ms = k->agents[i].target.due_ms;

		if (due_ms && due_ms <= k->r->now_ms && (first == 0 || due_ms < k->agents[first].target.due_ms))
			first = (int64_t)i;
	}
	return first;
}

/* So many were brought back. */
static size_t agent_due(struct check *k, int64_t agent)
{
	struct target_row *t = &model_touch(k, agent)->target;
	size_t count = 0;

	while (t->redrive_to_ms && count < DELIVERY_BRING_BACK_MAX) {
		struct shadow *s = next_of_outage(k, agent);

		if (s == NULL)
			break;
		bring_back(k, s);
		count++;
	}
	if (count < DELIVERY_BRING_BACK_MAX)
		t->redrive_from_ms = t->redrive_to_ms = 0;
	t->due_ms = t->redrive_to_ms ? k->r->now_ms : t->open_until_ms > k->r->now_ms ? t->open_until_ms : 0;
	return count;
}

void queue_check_due(struct check *k)
{
	const struct record *r = k->r;
	int64_t last_ms = 0, agent;
	size_t done = 0;

	steps_expect_code(k, P_OK);
	while (done < r->step.max && (agent = first_due(k)))
		done += 1 + agent_due(k, agent);
	for (; k->changes_used < r->change_count; done++) {
		const struct handoff_row *after = &r->changes[k->changes_used].after;
		struct shadow *s = check_shadow(k, after->space, after->num);
		struct want w;

		CHECK(k, s, "time made a handoff");
		CHECK(k, s->row.due_ms >= last_ms, "ho-%llu was due before what was done first",
		      (unsigned long long)s->row.num);
		last_ms = s->row.due_ms;
		w = check_want(s, VERB_TIMEOUT);
		time_out(k, &w, after);
		check_apply(k, &w);
	}
	CHECK(k, done <= r->step.max + DELIVERY_BRING_BACK_MAX, "more was done than asked for");
	CHECK(k, done >= r->step.max || r->step.next_ms == 0 || r->step.next_ms > r->now_ms,
	      "something due was left");
	CHECK(k, r->step.next_ms || k->open == 0, "nothing is due with %zu open", k->open);
}

/* --- What is queued --- */

static bool is_queued(struct check *k, const struct shadow *s)
{
	bool is = s && (s->row.state == HANDOFF_QUEUED || s->row.state == HANDOFF_DELAYED);

	if (prune_is_gone(k, s))
		return false;
	if (!is)
		steps_expect_code(k, s ? P_NOT_QUEUED : P_HANDOFF_NOT_FOUND);
	return is;
}

void queue_check_cancel(struct check *k)
{
	struct shadow *s = check_shadow(k, k->r->step.space, k->r->step.num);
	struct want w;

	if (!is_queued(k, s))
		return;
	w = check_want(s, VERB_CANCEL);
	model_leave(k, &w.row);
	w.row.state = HANDOFF_DISCARDED;
	w.row.due_ms = w.due_max_ms = 0;
	w.row.is_touched = true;
	model_end_wait(&w);
	check_expect_event(k, &w, EVENT_CANCELLED);
	check_apply(k, &w);
	steps_expect_answer(k, s);
}

void queue_check_move(struct check *k)
{
	const struct step *step = &k->r->step;
	struct shadow *s = check_shadow(k, step->space, step->num);
	int64_t to, now = k->r->now_ms;
	bool is_deferred;
	struct want w;

	if (!is_queued(k, s))
		return;
	to = check_agent_id(k, step->space, step->agent);
	if (check_has(k, &s->row, to)) {
		steps_expect_code(k, P_ALREADY_SENT);
		return;
	}
	w = check_want(s, VERB_HAND_OVER);
	model_leave(k, &w.row);
	w.row.agent = w.row.target = to;
	w.row.attempt = 1;
	w.row.is_exhausted = false;
	w.row.is_touched = w.row.passes = true;
	/* What a person has let go before its time is queued, or backs off after an attempt that failed. */
	is_deferred = s->row.state == HANDOFF_DELAYED && s->row.due_ms == s->row.not_before_ms;
	if (is_deferred && s->row.not_before_ms > now) {
		model_queue(&w, s->row.not_before_ms, s->row.not_before_ms);
	} else {
		model_queue(&w, now, now);
		model_offer(k, &w);
	}
	check_expect_event(k, &w, EVENT_MOVED);
	check_apply(k, &w);
	steps_expect_answer(k, s);
}

/* --- Undo --- */

/* What a person decided last is undone, as long as nothing has followed from it and the event is kept. */
void queue_check_restore(struct check *k)
{
	struct shadow *s = check_shadow(k, k->r->step.space, k->r->step.num);
	int last = s && prune_has_last_event(k, s) ? s->last_event : 0;
	bool went_on = s && s->row.state == HANDOFF_QUEUED && (last == EVENT_REDRIVEN || last == EVENT_REROUTED);
	bool was_ended = last == EVENT_DISCARDED || last == EVENT_CANCELLED;
	struct want w;

	if (prune_is_gone(k, s))
		return;
	if (!went_on && !was_ended) {
		steps_expect_code(k, s ? P_NOT_RESTORABLE : P_HANDOFF_NOT_FOUND);
		return;
	}
	w = check_want(s, VERB_RESTORE);
	model_leave(k, &w.row);
	w.row.state = HANDOFF_PARKED;
	w.row.due_ms = w.due_max_ms = 0;
	w.row.is_touched = true;
	model_end_wait(&w);
	check_expect_event(k, &w, EVENT_RESTORED);
	check_apply(k, &w);
	steps_expect_answer(k, s);
}
