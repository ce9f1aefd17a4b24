/* What each step must do. */
#include "check_internal.h"

/* A sender whose time was over before its sending was committed is told so; it was sent all the same. */
static bool came_too_late(const struct step *s)
{
	return s->kind == STEP_SEND && s->order.wait_ms && s->is_over && s->code == P_ACK_TIMEOUT;
}

void steps_expect_code(struct check *k, enum problem_code code)
{
	if (code == P_OK && came_too_late(&k->r->step))
		return;
	CHECK(k, k->r->step.code == code, "the answer was %s, not %s", problem_kind(k->r->step.code)->name,
	      problem_kind(code)->name);
}

/* The answer tells of the handoff as it was committed. */
void steps_expect_answer(struct check *k, const struct shadow *s)
{
	const struct handoff_row *row = &k->r->step.row;

	steps_expect_code(k, P_OK);
	if (k->is_many)
		return;
	CHECK(k, row->num == s->row.num && row->space == s->row.space && row->state == s->row.state &&
	      row->leases == s->row.leases &&
	      row->due_ms == s->row.due_ms && row->attempt == s->row.attempt && row->agent == s->row.agent,
	      "the answer tells of ho-%llu in state %d, not of ho-%llu in state %d", (unsigned long long)row->num,
	      row->state,
	      (unsigned long long)s->row.num, s->row.state);
}

/* --- Sending --- */

static const struct cast_agent *cast_of(const struct check *k, int64_t space, struct str name)
{
	static const struct cast_agent nobody;

	for (size_t i = 0; i < k->cast->count; i++)
		if (k->cast->agents[i].space == space && str_eq(k->cast->agents[i].name, name))
			return &k->cast->agents[i];
	return &nobody;
}

static int64_t first_of(int64_t a, int64_t b, int64_t c)
{
	return a ? a : b ? b : c;
}

static void expect_refused(struct check *k, int64_t reset_ms)
{
	int64_t now = k->r->now_ms;

	steps_expect_code(k, P_CIRCUIT_OPEN);
	CHECK(k, k->r->step.retry_after_ms == (reset_ms > now ? reset_ms - now : 1),
	      "told to come back in %lld ms, not %lld", (long long)k->r->step.retry_after_ms,
	      (long long)(reset_ms - now));
}

static void send_new(struct check *k, const struct delivery_order *o, int64_t target)
{
	const struct cast_agent *agent = cast_of(k, k->r->step.space, o->to);
	const struct json *fallbacks = o->fallbacks ? o->fallbacks : agent->fallbacks;
	int64_t now = k->r->now_ms, reset_ms = 0;
	bool is_probe = false, is_diverted = false, is_later = o->not_before_ms > now;
	struct want w = {.fallbacks = fallbacks, .row = {
		.space = k->r->step.space, .envelope = o->envelope, .channel = o->channel, .created_at_ms = now,
				.from = o->from,
		.target = target, .agent = target, .priority = o->priority < 0 ? DELIVERY_PRIORITY : o->priority,
				.attempt = 1,
		.max_attempts = first_of(o->max_attempts, agent->max_attempts, DELIVERY_ATTEMPTS),
		.ack_timeout_ms = first_of(o->ack_timeout_ms, agent->ack_timeout_ms, DELIVERY_ACK_TIMEOUT_MS),
		.queue_timeout_ms = first_of(o->queue_timeout_ms, agent->queue_timeout_ms, DELIVERY_QUEUE_TIMEOUT_MS),
		.not_before_ms = is_later ? o->not_before_ms : 0, .passes = o->channel || o->is_forced,
		.place = k->spaces[k->r->step.space].count + 1,
	}};

	model_wait(k, &w, o);
	if (!w.row.passes && !is_later && !model_admits(k, target, &is_probe, &reset_ms)) {
		is_diverted = model_fallback(k, &w, &is_probe);
		if (!is_diverted && o->wait_ms) {
			expect_refused(k, reset_ms);
			return;
		}
		if (!is_diverted) {
			w.fallbacks_used = 0;
			k->tally->held++;
		}
	}
	model_queue(&w, is_later ? o->not_before_ms : now, is_later ? o->not_before_ms : now);
	model_offer(k, &w);
	if (is_later) {
		w.row.state = HANDOFF_DELAYED;
		w.row.due_ms = w.due_max_ms = o->not_before_ms;
	}
	check_apply_new(k, &w, fallbacks);
	check_expect_event(k, &w, EVENT_QUEUED);
	if (is_diverted)
		check_expect_event(k, &w, EVENT_FALLBACK);
	if (is_probe)
		model_touch(k, w.row.agent)->target.probe = w.row.num;
	steps_expect_answer(k, w.s);
}

/* What is not in a channel yet is in that which it is published to. */
static void join_channel(struct check *k, const struct delivery_order *o, struct shadow *s)
{
	struct want w = check_want(s, HANDOFF_VERBS);

	if (o->channel == 0 || s->row.channel)
		return;
	w.row.channel = o->channel;
	w.row.passes = true;
	check_apply(k, &w);
}

/* What is under way goes on as if nothing had been said, unless by somebody with more patience. */
static bool be_patient(struct check *k, const struct delivery_order *o, struct want *w)
{
	const struct shadow *s = w->s;
	int64_t was_ms = s->row.expires_at_ms, until_ms = o->wait_ms ? k->r->now_ms + o->wait_ms : 0;

	if (was_ms == 0 || s->row.state > HANDOFF_LEASED || (until_ms && until_ms <= was_ms))
		return false;
	if (until_ms == 0) {
		model_end_wait(w);
		model_queue(w, k->r->now_ms, k->r->now_ms);
	}
	w->row.expires_at_ms = until_ms;
	if (s->row.state == HANDOFF_QUEUED && (s->row.due_ms == was_ms || until_ms == 0))
		model_offer(k, w);
	else if (s->row.due_ms == was_ms && s->row.state == HANDOFF_LEASED)
		w->row.due_ms = w->due_max_ms = until_ms && until_ms < s->row.changed_at_ms + s->row.lease_ms
							? until_ms : s->row.changed_at_ms + s->row.lease_ms;
	return true;
}

/* Another time than it had counts for what is queued, and is refused for what somebody has. */
static bool is_put_off(const struct check *k, const struct delivery_order *o, const struct shadow *s)
{
	return o->channel == 0 && o->not_before_ms > k->r->now_ms && o->not_before_ms != s->row.not_before_ms;
}

static bool reschedule(struct check *k, const struct delivery_order *o, struct want *w)
{
	const struct shadow *s = w->s;
	bool is_later = is_put_off(k, o, s);
	bool is_sooner = o->channel == 0 && o->not_before_ms && o->not_before_ms <= k->r->now_ms &&
			 s->row.state == HANDOFF_DELAYED && s->row.not_before_ms > k->r->now_ms;
	int64_t from_ms = is_later ? o->not_before_ms : k->r->now_ms;

	if (!is_later && !is_sooner)
		return false;
	w->verb = VERB_SEND;
	model_leave(k, &w->row);
	w->row.not_before_ms = is_later ? o->not_before_ms : 0;
	model_queue(w, from_ms, from_ms);
	model_offer(k, w);
	if (is_later) {
		w->row.state = HANDOFF_DELAYED;
		w->row.due_ms = w->due_max_ms = from_ms;
	}
	check_expect_event(k, w, EVENT_RESCHEDULED);
	return true;
}

static void send_again(struct check *k, const struct delivery_order *o, struct shadow *s)
{
	bool is_later = o->not_before_ms > k->r->now_ms;
	struct want w;

	if (s->row.state == HANDOFF_PARKED || s->row.state == HANDOFF_DISCARDED) {
		steps_expect_code(k, P_HANDOFF_PARKED);
		return;
	}
	join_channel(k, o, s);
	w = check_want(s, s->row.state == HANDOFF_EXPIRED ? VERB_SEND : HANDOFF_VERBS);
	if (s->row.state > HANDOFF_DELAYED && s->row.state != HANDOFF_EXPIRED && is_put_off(k, o, s)) {
		steps_expect_code(k, P_ALREADY_SENT);
		return;
	}
	if (s->row.state == HANDOFF_EXPIRED && o->channel == 0 && !o->is_forced && !is_later) {
		bool is_probe = false;
		int64_t reset_ms = 0;

		if (!model_admits(k, s->row.agent, &is_probe, &reset_ms) && o->wait_ms) {
			expect_refused(k, reset_ms);
			return;
		}
		if (is_probe)
			model_touch(k, s->row.agent)->target.probe = s->row.num;
	}
	if (s->row.state != HANDOFF_EXPIRED) {
		bool is_changed = be_patient(k, o, &w);

		if (reschedule(k, o, &w) || is_changed)
			check_apply(k, &w);
	} else {
		if (o->ack_timeout_ms)
			w.row.ack_timeout_ms = o->ack_timeout_ms;
		if (o->queue_timeout_ms)
			w.row.queue_timeout_ms = o->queue_timeout_ms;
		if (o->max_attempts)
			w.row.max_attempts = o->max_attempts;
		if (o->fallbacks) {
			s->fallbacks = w.fallbacks = o->fallbacks;
			w.fallbacks_used = 0;
		}
		if (o->priority >= 0)
			w.row.priority = o->priority;
		w.row.passes = o->channel || o->is_forced;
		model_wait(k, &w, o);
		w.row.not_before_ms = is_later ? o->not_before_ms : 0;
		model_queue(&w, is_later ? o->not_before_ms : k->r->now_ms, is_later ? o->not_before_ms : k->r->now_ms);
		w.row.attempt++;
		check_expect_event(k, &w, EVENT_QUEUED);
		model_offer(k, &w);
		if (is_later) {
			w.row.state = HANDOFF_DELAYED;
			w.row.due_ms = w.due_max_ms = o->not_before_ms;
		}
		check_apply(k, &w);
	}
	steps_expect_answer(k, s);
}

static void send_one(struct check *k, const struct delivery_order *o)
{
	const struct step *step = &k->r->step;
	int64_t target = check_agent_id(k, step->space, o->to);
	struct shadow *s;

	CHECK(k, target, "the target was not made");
	s = check_find(k, step->space, o->envelope, target);
	if (s == NULL)
		send_new(k, o, target);
	else if (!k->is_many || (s->row.state != HANDOFF_PARKED && s->row.state != HANDOFF_DISCARDED))
		send_again(k, o, s);
}

static void check_send(struct check *k)
{
	const struct step *step = &k->r->step;

	if (prune_has_envelope(k, step->space, step->order.envelope)) {
		/* Where it was pruned just now, a sender that waits may be told of the breaker first. */
		if (step->code != P_CIRCUIT_OPEN || step->order.wait_ms == 0)
			steps_expect_code(k, P_ENVELOPE_PRUNED);
		return;
	}
	send_one(k, &k->r->step.order);
	if (k->r->step.code == P_OK && !k->r->step.is_waiting)
		check_notices(k);
}

/* What was parked since stays parked. */
static void check_publish(struct check *k)
{
	const struct step *step = &k->r->step;
	struct delivery_order o = step->order;

	if (prune_has_envelope(k, step->space, o.envelope)) {
		steps_expect_code(k, P_ENVELOPE_PRUNED);
		return;
	}
	steps_expect_code(k, P_OK);
	k->is_many = true;
	for (size_t i = 0; i < step->name_count; i++) {
		o.to = step->names[i];
		send_one(k, &o);
	}
	k->is_many = false;
	CHECK(k, step->count == step->name_count, "%zu handoffs were answered, not %zu", step->count,
	      step->name_count);
}

/* A sender that waits is answered when there is something to say, and not before. */
static void check_look_again(struct check *k)
{
	const struct step *step = &k->r->step;
	struct shadow *s = check_shadow(k, step->space, step->row.num);
	enum handoff_state state;

	CHECK(k, s, "somebody waits for ho-%llu, which is not there", (unsigned long long)step->row.num);
	state = s->row.state;
	CHECK(k, step->row.state == state, "the sender was told %d, not %d", step->row.state, state);
	if (state <= HANDOFF_LEASED)
		CHECK(k, step->is_waiting || (step->is_over && step->code == P_ACK_TIMEOUT),
		      "the sender was answered before there was an answer");
	else if (state == HANDOFF_PARKED || state == HANDOFF_DISCARDED)
		steps_expect_code(k, P_HANDOFF_PARKED);
	else
		steps_expect_code(k, state == HANDOFF_EXPIRED ? P_ACK_TIMEOUT : P_OK);
	if (step->code == P_OK && !step->is_waiting)
		check_notices(k);
}

/* --- Joining --- */

struct members {
	size_t count, completed, ended;
};

static struct members count_members(const struct check *k, int64_t space, uint64_t envelope)
{
	const struct shadow_space *in = &k->spaces[space];
	struct members m = {0};

	for (struct shadow *s = envelope < in->envelope_cap ? in->envelopes[envelope] : NULL; s;
	     s = s->next_of_envelope) {
		if (s->row.channel == 0)
			continue;
		m.count++;
		m.completed += s->row.state == HANDOFF_COMPLETED;
		m.ended += s->row.state == HANDOFF_COMPLETED || s->row.state == HANDOFF_PARKED ||
			   s->row.state == HANDOFF_DISCARDED;
	}
	return m;
}

static void check_join(struct check *k)
{
	const struct step *step = &k->r->step;
	struct members m = count_members(k, step->space, step->envelope);
	size_t need = step->need ? (size_t)step->need : m.count;
	bool is_joined = m.completed >= need, is_failed = m.count - (m.ended - m.completed) < need;
	enum join_state state = is_joined ? JOIN_JOINED : is_failed ? JOIN_FAILED : JOIN_WAITING;

	if (prune_has_envelope(k, step->space, step->envelope) && step->code != P_CHANNEL_NOT_FOUND) {
		steps_expect_code(k, P_ENVELOPE_PRUNED);
		return;
	}
	if (step->code == P_CHANNEL_NOT_FOUND || m.count == 0 || need > m.count) {
		CHECK(k, step->code == P_CHANNEL_NOT_FOUND ? m.count == 0 : step->code != P_OK,
		      "a join of nothing was answered");
		return;
	}
	steps_expect_code(k, P_OK);
	CHECK(k, step->join_state == state, "the join is %d, not %d: %zu of %zu completed, %zu ended", step->join_state,
	      state, m.completed, m.count, m.ended);
	CHECK(k, step->is_waiting == (state == JOIN_WAITING && !step->is_over), "a join waits, or does not");
	if (step->is_waiting)
		return;
	CHECK(k, step->count == m.count && step->completed == m.completed, "the join shows %zu, %zu completed",
	      step->count, step->completed);
	k->tally->joins[state]++;
}

/* --- Receiving --- */

/* Takes the first of the queue; false where there is none. */
static bool take_one(struct check *k, int64_t agent, const struct handoff_row *answer)
{
	const struct step *step = &k->r->step;
	bool is_probe;
	struct shadow *s = model_next(k, agent, k->r->now_ms, &is_probe);
	struct want w;

	model_seen(k, agent);
	if (s == NULL)
		return false;
	w = check_want(s, VERB_TAKE);
	w.row.state = HANDOFF_LEASED;
	w.row.leases++;
	w.row.lease_ms = step->lease_ms ? step->lease_ms : w.row.ack_timeout_ms;
	w.row.due_ms = k->r->now_ms + w.row.lease_ms;
	if (w.row.expires_at_ms && w.row.expires_at_ms < w.row.due_ms)
		w.row.due_ms = w.row.expires_at_ms;
	w.due_max_ms = w.row.due_ms;
	CHECK(k, !s->is_live, "ho-%llu is held by another", (unsigned long long)s->row.num);
	w.is_live = true;
	if (is_probe)
		model_touch(k, agent)->target.probe = w.row.num;
	k->tally->probes += is_probe;
	check_expect_event(k, &w, EVENT_TAKEN);
	check_apply(k, &w);
	CHECK(k, str_eq(s->row.receiver, step->text), "the lease is not in the receiver's name");
	CHECK(k, answer->num == s->row.num && answer->leases == s->row.leases && answer->due_ms == s->row.due_ms,
	      "ho-%llu was given instead of ho-%llu", (unsigned long long)answer->num, (unsigned long long)s->row.num);
	return true;
}

static void check_item(struct check *k);

static void check_take(struct check *k)
{
	const struct step *step = &k->r->step;
	int64_t agent = check_agent_id(k, step->space, step->agent);
	size_t count = 0;

	if (step->item)
		check_item(k);
	steps_expect_code(k, P_OK);
	/* Nobody is there any more. */
	if (step->is_over && step->wait_ms > 0) {
		CHECK(k, step->count == 0, "something was given to a receiver that has gone");
		return;
	}
	CHECK(k, agent, "the agent was not made");
	while (count < (size_t)step->max_take && take_one(k, agent, &step->taken[count]))
		count++;
	CHECK(k, step->count == count, "%zu were given, not %zu", step->count, count);
	CHECK(k, step->is_waiting == (count == 0 && !step->is_over), "a receiver waits, or does not");
}

static void release_one(struct check *k, const struct handoff_row *taken)
{
	struct shadow *s = check_shadow(k, k->r->step.space, taken->num);
	struct want w;

	if (!s->is_live || s->row.state != HANDOFF_LEASED || s->row.leases != taken->leases)
		return;
	w = check_want(s, VERB_RELEASE);
	model_offer(k, &w);
	check_expect_event(k, &w, EVENT_RELEASED);
	check_apply(k, &w);
}

static void check_release(struct check *k)
{
	steps_expect_code(k, P_OK);
	for (size_t i = 0; i < k->r->step.count; i++)
		release_one(k, &k->r->step.taken[i]);
}

/* Whoever waits is served in the transaction that brings what it waits for. */
void check_waits(struct check *k, const struct step *s, uint64_t num, int64_t now_ms)
{
	struct members m;
	bool is_probe;

	if (s->kind == STEP_TAKE) {
		int64_t agent = check_agent_id(k, s->space, s->agent);

		struct shadow *next = agent ? model_next(k, agent, now_ms, &is_probe) : NULL;

		/* What is due is looked after elsewhere: it may not be done yet. */
		if (next && k->agents[agent].target.due_ms && k->agents[agent].target.due_ms <= now_ms)
			return;
		CHECK(k, next == NULL, "%.*s waits, and ho-%llu is queued (breaker until %lld, probe %llu)",
		      STR_ARG(s->agent), (unsigned long long)next->row.num,
		      (long long)k->agents[agent].target.open_until_ms,
		      (unsigned long long)k->agents[agent].target.probe);
	} else if (s->kind == STEP_SEND) {
		const struct shadow *sent = check_shadow(k, s->space, num);

		CHECK(k, sent && sent->row.state <= HANDOFF_LEASED, "somebody waits for ho-%llu, which is settled",
		      (unsigned long long)num);
	} else {
		m = count_members(k, s->space, s->envelope);
		CHECK(k, m.completed < (s->need ? (size_t)s->need : m.count), "a join waits, and all have completed");
	}
}

/* --- Settling --- */

static void accepted(struct check *k, struct want *w, const struct delivery_answer *a)
{
	bool was_leased = w->row.state == HANDOFF_LEASED;

	model_accepted(k, w->row.agent);
	if (a->verb == VERB_ACK || was_leased)
		check_expect_event(k, w, EVENT_ACKED);
	if (a->verb == VERB_COMPLETE)
		check_expect_event(k, w, EVENT_COMPLETED);
	if (a->verb == VERB_COMPLETE && a->memory)
		k->remembered = w->row.num;
	w->row.state = a->verb == VERB_COMPLETE ? HANDOFF_COMPLETED
		       : a->work_lease_ms       ? HANDOFF_WORKING
						: HANDOFF_ACKED;
	w->row.acked_at_ms = k->r->now_ms;
	model_end_wait(w);
	w->row.lease_ms = a->work_lease_ms;
	w->row.due_ms = w->due_max_ms = w->row.state == HANDOFF_WORKING ? k->r->now_ms + a->work_lease_ms : 0;
}

static void progressed(struct check *k, struct want *w, const struct delivery_answer *a)
{
	int64_t limit = w->row.expires_at_ms;

	if (a->work_lease_ms)
		w->row.lease_ms = a->work_lease_ms;
	if (w->row.state <= HANDOFF_WORKING) {
		w->row.due_ms = k->r->now_ms + w->row.lease_ms;
		if (limit && limit < w->row.due_ms)
			w->row.due_ms = limit;
		w->due_max_ms = w->row.due_ms;
	}
	if (a->text.p)
		check_expect_event(k, w, EVENT_PROGRESS);
}

/* Given back: the same attempt again, at its old place, now or later. No run takes one so often that it would count. */
static void given_back(struct check *k, struct want *w, const struct delivery_answer *a)
{
	int64_t from_ms = k->r->now_ms + (a->delay_ms > 0 ? a->delay_ms : 0);

	CHECK(k, w->row.leases < DELIVERY_FREE_LEASES, "ho-%llu was taken too often", (unsigned long long)w->row.num);
	model_leave(k, &w->row);
	model_queue(w, from_ms, from_ms);
	model_offer(k, w);
	if (a->delay_ms > 0) {
		w->row.state = HANDOFF_DELAYED;
		model_set_due(w, from_ms, from_ms);
	}
	check_expect_event(k, w, EVENT_RELEASED);
}

/* May the answer be given in that state, and does it change anything? */
static bool is_allowed(enum handoff_verb verb, enum handoff_state state, bool *ret_is_repeated)
{
	*ret_is_repeated = false;
	switch (verb) {
	case VERB_ACK:
		*ret_is_repeated = state != HANDOFF_LEASED;
		return true;
	case VERB_COMPLETE:
		*ret_is_repeated = state == HANDOFF_COMPLETED;
		return true;
	case VERB_NACK:
		return state == HANDOFF_LEASED || state == HANDOFF_WORKING;
	default:
		return state != HANDOFF_COMPLETED;
	}
}

/* It hands on as it is sent, for the first time or again. */
static void hand_on(struct check *k, const struct delivery_order *o)
{
	k->is_many = true;
	send_one(k, o);
	k->is_many = false;
}

static bool is_same_then(const struct delivery_order *a, const struct delivery_order *b)
{
	return a->envelope == b->envelope && str_eq(a->to, b->to);
}

/* It was settled before: the same again is told the same. */
static void settle_again(struct check *k, const struct shadow *s)
{
	const struct step *step = &k->r->step;

	if (step->hands_on && (s->then == 0 || !is_same_then(&s->then_order, &step->then))) {
		steps_expect_code(k, P_ALREADY_SETTLED);
		return;
	}
	steps_expect_answer(k, s);
	/* What was handed on may have ended, and be gone. */
	if (s->then && check_shadow(k, step->space, s->then)->is_pruned)
		return;
	CHECK(k, step->next.num == s->then, "told that ho-%llu was handed on, not ho-%llu",
	      (unsigned long long)step->next.num, (unsigned long long)s->then);
}

static void settle_now(struct check *k, struct shadow *s)
{
	const struct step *step = &k->r->step;
	const struct delivery_answer *a = &step->answer;
	struct want w = check_want(s, a->verb);

	model_seen(k, w.row.agent);
	if (a->verb == VERB_ACK || a->verb == VERB_COMPLETE) {
		accepted(k, &w, a);
	} else if (a->verb == VERB_PROGRESS) {
		progressed(k, &w, a);
	} else if (a->verb == VERB_RELEASE) {
		given_back(k, &w, a);
	} else {
		check_expect_event(k, &w, a->verb == VERB_NACK ? EVENT_NACKED : EVENT_REJECTED);
		model_fail(k, &w, a->delay_ms, a->verb == VERB_REJECT);
	}
	check_apply(k, &w);
	CHECK(k, !a->has_result || ram_has_result(k->store, step->space, step->num) || a->verb == VERB_NACK,
	      "the result was not kept");
	steps_expect_answer(k, s);
}

/* Both or neither. */
static void settle_and_hand_on(struct check *k, struct shadow *s)
{
	const struct step *step = &k->r->step;
	int64_t target = check_agent_id(k, step->space, step->then.to);
	const struct shadow *sent = target ? check_find(k, step->space, step->then.envelope, target) : NULL;

	if (sent && (sent->row.state == HANDOFF_PARKED || sent->row.state == HANDOFF_DISCARDED)) {
		steps_expect_code(k, P_HANDOFF_PARKED);
		return;
	}
	if (sent)
		hand_on(k, &step->then);
	settle_now(k, s);
	if (!sent)
		hand_on(k, &step->then);
	sent = check_find(k, step->space, step->then.envelope, check_agent_id(k, step->space, step->then.to));
	CHECK(k, sent && step->next.num == sent->row.num, "told that ho-%llu was handed on",
	      (unsigned long long)step->next.num);
	s->then = step->next.num;
	s->then_order = step->then;
	CHECK(k, step->noted == s->then, "ho-%llu was handed on, and ho-%llu is noted", (unsigned long long)s->then,
	      (unsigned long long)step->noted);
	k->tally->handed_on++;
}

static void check_settle(struct check *k)
{
	const struct step *step = &k->r->step;
	const struct delivery_answer *a = &step->answer;
	struct shadow *s = check_shadow(k, step->space, step->num);
	bool is_repeated;

	if (prune_is_gone(k, s))
		return;
	if (s == NULL)
		steps_expect_code(k, P_HANDOFF_NOT_FOUND);
	else if (!s->is_live || s->row.leases != a->lease || !is_allowed(a->verb, s->row.state, &is_repeated))
		steps_expect_code(k, P_STALE_LEASE);
	else if (is_repeated)
		settle_again(k, s);
	else if (step->hands_on)
		settle_and_hand_on(k, s);
	else
		settle_now(k, s);
}

/* Numbers of envelopes have gaps. */
static bool is_envelope(const struct check *k, int64_t space, uint64_t num)
{
	struct envelope_row row;
	struct arena arena;
	enum store_status status;

	arena_init(&arena);
	status = store_envelope_get(k->store, space, num, &arena, &row);
	arena_release(&arena);
	return status == STORE_OK;
}

/* What a receive settles first is a step like any other. But what cannot be prepared is answered, too. */
static void check_item(struct check *k)
{
	const struct record *whole = k->r;
	struct record part = *whole;

	part.step = *whole->step.item;
	k->r = &part;
	if (part.step.hands_on && part.step.code == P_ENVELOPE_NOT_FOUND)
		CHECK(k, !is_envelope(k, part.step.space, part.step.then.envelope), "there is env-%llu",
		      (unsigned long long)part.step.then.envelope);
	else
		check_settle(k);
	k->r = whole;
	k->tally->items++;
}

/* --- Parked --- */

static void park_one(struct check *k, struct shadow *s)
{
	struct want w = check_want(s, VERB_PARK);

	if (s->row.state == HANDOFF_EXPIRED && !s->row.is_exhausted)
		model_exhausted(k, &w);
	else
		model_leave(k, &w.row);
	w.row.is_touched = true;
	w.row.state = HANDOFF_PARKED;
	w.row.due_ms = w.due_max_ms = 0;
	model_end_wait(&w);
	w.is_live = false;
	check_expect_event(k, &w, EVENT_PARKED);
	check_apply(k, &w);
	CHECK(k, str_eq(s->row.reason, k->r->step.text), "parked for another reason");
}

static void park_unsent(struct check *k)
{
	const struct step *step = &k->r->step;
	struct want w = {.row = {.space = step->space, .envelope = step->envelope, .created_at_ms = k->r->now_ms,
				 .from = step->order.from,
				 .state = HANDOFF_PARKED, .priority = DELIVERY_PRIORITY, .is_touched = true,
				 .place = k->spaces[step->space].count + 1,
				 .max_attempts = DELIVERY_ATTEMPTS,
				 .ack_timeout_ms = DELIVERY_ACK_TIMEOUT_MS}};

	w.row.target = w.row.agent = check_agent_id(k, step->space, step->agent);
	w.row.queue_timeout_ms = DELIVERY_QUEUE_TIMEOUT_MS;
	model_queue(&w, k->r->now_ms, k->r->now_ms);
	check_apply_new(k, &w, NULL);
	check_expect_event(k, &w, EVENT_PARKED);
	steps_expect_answer(k, w.s);
}

/* Parks what is left of an envelope; false where nothing is. */
static bool park_all(struct check *k)
{
	const struct step *step = &k->r->step;
	const struct shadow_space *space = &k->spaces[step->space];
	struct shadow *last = step->envelope < space->envelope_cap ? space->envelopes[step->envelope] : NULL,
			*parked = NULL, *all[16];
	size_t count = 0;

	if (last == NULL) {
		park_unsent(k);
		return true;
	}
	for (struct shadow *s = last; s; s = s->next_of_envelope)
		all[count++] = s;
	while (count--) {
		struct shadow *s = all[count];
		enum handoff_state state = s->row.state;
		bool acked = state == HANDOFF_ACKED || state == HANDOFF_WORKING;

		if (state == HANDOFF_COMPLETED || state == HANDOFF_DISCARDED || acked)
			continue;
		if (state != HANDOFF_PARKED)
			park_one(k, s);
		parked = s;
	}
	if (parked)
		steps_expect_answer(k, parked);
	return parked != NULL;
}

static void check_park(struct check *k)
{
	if (prune_has_envelope(k, k->r->step.space, k->r->step.envelope)) {
		steps_expect_code(k, P_ENVELOPE_PRUNED);
		return;
	}
	if (!park_all(k))
		steps_expect_code(k, P_ALREADY_SETTLED);
}

/* A chain that may not go on stays as it is: whoever holds its last envelope still does. */
static void check_pack(struct check *k)
{
	if (k->r->step.envelope == 0) {
		steps_expect_code(k, P_OK);
		return;
	}
	steps_expect_code(k, P_HOP_LIMIT);
	k->is_refused = true;
}

static void check_redrive(struct check *k)
{
	const struct step *step = &k->r->step;
	struct shadow *s = check_shadow(k, step->space, step->num);
	struct want w;

	if (prune_is_gone(k, s))
		return;
	if (s == NULL || s->row.state != HANDOFF_PARKED) {
		steps_expect_code(k, s ? P_NOT_PARKED : P_HANDOFF_NOT_FOUND);
		return;
	}
	w = check_want(s, VERB_REDRIVE);
	if (step->agent.p) {
		int64_t to = check_agent_id(k, step->space, step->agent);

		if (check_has(k, &s->row, to)) {
			steps_expect_code(k, P_ALREADY_SENT);
			return;
		}
		w.row.agent = w.row.target = to;
	}
	w.row.attempt = 1;
	w.row.is_exhausted = w.row.is_outage = false;
	w.row.is_touched = w.row.passes = true;
	w.row.acked_at_ms = 0;
	model_queue(&w, k->r->now_ms, k->r->now_ms);
	model_offer(k, &w);
	check_expect_event(k, &w, step->agent.p ? EVENT_REROUTED : EVENT_REDRIVEN);
	check_apply(k, &w);
	steps_expect_answer(k, s);
}

static void discard(struct check *k, struct shadow *s, enum event_kind kind)
{
	struct want w = check_want(s, VERB_DISCARD);

	w.row.state = HANDOFF_DISCARDED;
	w.row.is_touched = true;
	w.row.is_outage = false;
	check_expect_event(k, &w, kind);
	check_apply(k, &w);
}

static bool is_parked(struct check *k, const struct shadow *s)
{
	if (prune_is_gone(k, s))
		return false;
	if (s == NULL || s->row.state != HANDOFF_PARKED)
		steps_expect_code(k, s ? P_NOT_PARKED : P_HANDOFF_NOT_FOUND);
	return s && s->row.state == HANDOFF_PARKED;
}

static void check_discard(struct check *k)
{
	struct shadow *s = check_shadow(k, k->r->step.space, k->r->step.num);

	if (!is_parked(k, s))
		return;
	discard(k, s, EVENT_DISCARDED);
	steps_expect_answer(k, s);
}

/* The new one is there before the old one goes. */
static void check_shrink(struct check *k)
{
	const struct step *step = &k->r->step;
	struct shadow *s = check_shadow(k, step->space, step->num);
	struct delivery_order o = {.envelope = step->envelope, .is_forced = true};

	if (!is_parked(k, s))
		return;
	o.to = ram_agent_name(k->store, s->row.target);
	o.from = s->row.from;
	o.priority = s->row.priority;
	send_one(k, &o);
	discard(k, s, EVENT_SHRUNK);
}

/* Nothing was ever for it: a later step of the transaction may have made it. */
static bool is_new_agent(const struct check *k, int64_t agent)
{
	const struct shadow_agent *a = &k->agents[agent];

	return a->busy == 0 && list_is_empty(&a->queued) && list_is_empty(&a->held) && a->target.seen_at_ms == 0 &&
	       a->target.failures == 0 && a->target.open_until_ms == 0;
}

static void check_reset(struct check *k)
{
	const struct step *step = &k->r->step;
	int64_t agent = check_agent_id(k, step->space, step->agent);
	struct target_row *t;

	if (agent == 0 || (step->code == P_AGENT_NOT_FOUND && is_new_agent(k, agent))) {
		steps_expect_code(k, P_AGENT_NOT_FOUND);
		return;
	}
	steps_expect_code(k, P_OK);
	t = &model_touch(k, agent)->target;
	t->failures = t->open_until_ms = 0;
	t->probe = 0;
	t->due_ms = t->redrive_to_ms ? k->r->now_ms : 0;
	k->events[k->event_count++] = (struct expected_event){.kind = EVENT_BREAKER_RESET, .agent = agent,
							      .space = step->space};
}

void steps_check(struct check *k)
{
	static void (*const checks[STEP_KINDS])(struct check *k) = {
		[STEP_SEND] = check_send, [STEP_PUBLISH] = check_publish, [STEP_LOOK] = check_look_again,
		[STEP_TAKE] = check_take, [STEP_RELEASE] = check_release, [STEP_SETTLE] = check_settle,
		[STEP_DUE] = queue_check_due, [STEP_PARK] = check_park, [STEP_REDRIVE] = check_redrive,
		[STEP_DISCARD] = check_discard, [STEP_SHRINK] = check_shrink, [STEP_PACK] = check_pack,
		[STEP_RESET] = check_reset, [STEP_JOIN] = check_join,
		[STEP_CANCEL] = queue_check_cancel, [STEP_MOVE] = queue_check_move,
		[STEP_RESTORE] = queue_check_restore,
	};

	checks[k->r->step.kind](k);
}
