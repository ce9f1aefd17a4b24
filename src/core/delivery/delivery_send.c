/* Sending an envelope to an agent, for the first time or again. */
#include "core/delivery/delivery_internal.h"

#include "codec/json_member.h"
#include "core/delivery/agent.h"

/* The sender waits from now on. With the ack timeout or the fallbacks it says what is to be tried meanwhile; the number
 * of attempts alone is what a sender counts its own with. */
static void begin_wait(struct delivery *d, const struct delivery_order *o, struct handoff_row *h)
{
	h->expires_at_ms = o->wait_ms ? d->now_ms + o->wait_ms : 0;
	h->is_retried = o->wait_ms && (o->ack_timeout_ms || (o->fallbacks && o->fallbacks->count));
}

static enum problem_code circuit_open(struct delivery *d, struct str agent, int64_t reset_ms, struct problem *problem)
{
	problem_set(problem, P_CIRCUIT_OPEN, "to",
		    "handoffs to %.*s failed %d times in a row; its circuit breaker is open, and lets one through in "
		    "%lld ms",
		    STR_ARG(agent), BREAKER_FAILURES, (long long)(reset_ms > d->now_ms ? reset_ms - d->now_ms : 1));
	problem->retry_after_ms = reset_ms > d->now_ms ? reset_ms - d->now_ms : 1;
	return problem->code;
}

/* Puts it off, or where the time has passed into the queue now. Moves it. */
static enum problem_code defer(struct delivery *d, int64_t not_before_ms, struct handoff_row *h,
			       struct problem *problem)
{
	bool is_later = not_before_ms > d->now_ms;

	h->not_before_ms = is_later ? not_before_ms : 0;
	delivery_begin_queue(d, h, is_later ? not_before_ms : d->now_ms);
	if (!is_later)
		return delivery_offer(d, h, VERB_SEND, problem);
	h->due_ms = not_before_ms;
	return delivery_move(d, h, VERB_SEND, HANDOFF_DELAYED, problem);
}

/* An expired handoff is the sender's to send again; where it waits, as long as the breaker lets it. */
static enum problem_code revive(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				struct problem *problem)
{
	bool admitted = true, is_probe = false;
	int64_t reset_ms = 0;
	enum problem_code code = P_OK;

	h->passes = o->channel || o->is_forced;
	if (!h->passes && o->not_before_ms <= d->now_ms)
		code = breaker_admits(d, h->agent, &admitted, &is_probe, &reset_ms, problem);
	if (code == P_OK && !admitted && o->wait_ms)
		code = circuit_open(d, h->agent_name, reset_ms, problem);
	if (code == P_OK && is_probe)
		code = breaker_probe(d, h->agent, h->num, problem);
	if (code != P_OK)
		return code;
	h->attempt++;
	code = defer(d, o->not_before_ms, h, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_QUEUED, STR("sent again"), problem) : code;
}

bool delivery_is_anothers(const struct delivery *d, const struct handoff_row *h)
{
	return d->only_of.p && (h->from.p == NULL || !str_eq(h->from, d->only_of));
}

void delivery_withhold(const struct delivery *d, struct handoff_row *h)
{
	if (d->is_blind || delivery_is_anothers(d, h))
		h->reason = h->progress = h->receiver = STR_NULL;
}

/* Parked or discarded: it is not the sender's any more. */
static enum problem_code refuse_ended(const struct handoff_row *h, struct problem *problem)
{
	const char *way_out = h->state == HANDOFF_PARKED
				      ? "it leaves there only by redrive, reroute or shrink"
				      : "it does not come back: send another agent the envelope, or pack a new one";
	int reason = h->reason.p ? (int)(h->reason.n < 300 ? h->reason.n : 300) : 0;

	problem_set(problem, P_HANDOFF_PARKED, NULL, "ho-%llu was %s%s%.*s%s; %s", (unsigned long long)h->num,
		    handoff_state_name(h->state), reason ? " (" : "", reason, h->reason.p, reason ? ")" : "", way_out);
	problem->handoff = h->num;
	problem->remedies = delivery_remedies(h->state);
	return problem->code;
}

/* It is under way. Who repeats itself must not keep it from failing, so its deadlines stay; but for the end of a
 * sender's patience: somebody who waits longer, or not at all, must not lose it by that. */
static enum problem_code be_patient(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				    struct problem *problem)
{
	int64_t was_ms = h->expires_at_ms, until_ms = o->wait_ms ? d->now_ms + o->wait_ms : 0;

	if (was_ms == 0 || h->state > HANDOFF_LEASED || (until_ms && until_ms <= was_ms))
		return P_OK;
	/* One that nobody waits for any more stays as long as its queue timeout says, from now on. */
	if (until_ms == 0) {
		delivery_end_wait(h);
		delivery_begin_queue(d, h, d->now_ms);
	}
	h->expires_at_ms = until_ms;
	if (h->state == HANDOFF_QUEUED && (h->due_ms == was_ms || until_ms == 0))
		h->due_ms = delivery_offered_until(d, h);
	else if (h->due_ms == was_ms && h->state == HANDOFF_LEASED)
		h->due_ms = delivery_due_at(h, h->changed_at_ms + h->lease_ms);
	return delivery_write(d, h, problem);
}

/* Is it to be given to nobody until another time than before? */
static bool is_put_off(const struct delivery *d, const struct delivery_order *o, const struct handoff_row *h)
{
	return o->channel == 0 && o->not_before_ms > d->now_ms && o->not_before_ms != h->not_before_ms;
}

static enum problem_code too_late(const struct handoff_row *h, struct problem *problem)
{
	problem_set(problem, P_ALREADY_SENT, "not_before", "ho-%llu was sent before and is %s: it cannot be put off "
		    "any more; leave not_before out to get it as it is", (unsigned long long)h->num,
		    handoff_state_name(h->state));
	problem->handoff = h->num;
	return problem->code;
}

/* What is queued is nobody's yet: it may be put off, or let go now. A channel's is published again as it is. */
static enum problem_code reschedule(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				    struct problem *problem)
{
	bool is_sooner = o->channel == 0 && o->not_before_ms && o->not_before_ms <= d->now_ms &&
			 h->state == HANDOFF_DELAYED && h->not_before_ms > d->now_ms;
	enum problem_code code;

	if (!is_sooner && !is_put_off(d, o, h))
		return P_OK;
	code = breaker_leave(d, h, problem);
	if (code == P_OK)
		code = defer(d, o->not_before_ms, h, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_RESCHEDULED, STR_NULL, problem) : code;
}

/* Whoever may read the envelope can send it. That is no say over what others have sent of it. */
static enum problem_code leave(const struct handoff_row *h, struct problem *problem)
{
	if (h->state == HANDOFF_PARKED || h->state == HANDOFF_DISCARDED)
		return refuse_ended(h, problem);
	if (h->state != HANDOFF_EXPIRED)
		return P_OK;
	problem_set(problem, P_ALREADY_SENT, NULL, "ho-%llu was sent by somebody else, and withdrawn: only they can "
		    "send it again; send the envelope to another agent, or pack a new one",
		    (unsigned long long)h->num);
	problem->handoff = h->num;
	return problem->code;
}

static enum problem_code send_again(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				    struct problem *problem)
{
	enum problem_code code;

	if (h->state == HANDOFF_PARKED || h->state == HANDOFF_DISCARDED)
		return refuse_ended(h, problem);
	if (h->state != HANDOFF_EXPIRED) {
		if (h->state > HANDOFF_DELAYED && is_put_off(d, o, h))
			return too_late(h, problem);
		code = be_patient(d, o, h, problem);
		return code == P_OK ? reschedule(d, o, h, problem) : code;
	}
	if (o->ack_timeout_ms)
		h->ack_timeout_ms = o->ack_timeout_ms;
	if (o->queue_timeout_ms)
		h->queue_timeout_ms = o->queue_timeout_ms;
	if (o->max_attempts)
		h->max_attempts = o->max_attempts;
	if (o->priority >= 0)
		h->priority = o->priority;
	if (o->fallbacks)
		h->fallbacks = delivery_names(d->arena, o->fallbacks);
	begin_wait(d, o, h);
	return revive(d, o, h, problem);
}

/* What was sent directly and is published later belongs to the channel from then on: whoever joins counts it. */
static enum problem_code join_channel(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				      struct problem *problem)
{
	if (o->channel == 0 || h->channel || h->state == HANDOFF_PARKED || h->state == HANDOFF_DISCARDED)
		return P_OK;
	h->channel = o->channel;
	h->channel_name = o->channel_name;
	h->passes = true;
	return delivery_put(d, h, HANDOFF_STATES, problem);
}

/* The names that may take over, as they are kept. */
struct str delivery_names(struct arena *arena, const struct json *names)
{
	return names && names->count ? json_canonical(names, DELIVERY_NAMES_MAX, arena) : STR_NULL;
}

/* The breaker of the target does not let it through: a fallback takes it, or it is held; where its sender waits it is
 * refused. */
static enum problem_code divert(struct delivery *d, struct handoff_row *h, int64_t reset_ms, bool waits,
				bool *ret_is_probe, struct problem *problem)
{
	struct str fallbacks = h->fallbacks;
	enum problem_code code = delivery_next_fallback(d, h, ret_is_probe, problem);

	if (code != P_OK || h->agent != h->target)
		return code;
	h->fallbacks = fallbacks;
	return waits ? circuit_open(d, h->target_name, reset_ms, problem) : P_OK;
}

static enum problem_code fill_from_agent(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
					 struct problem *problem)
{
	struct arena arena;	/* a publish has thousands of receivers, and settings may be large */
	struct agent agent;
	enum problem_code code;

	arena_init(&arena);
	code = agent_read(d->conn, d->space, o->to, &arena, &agent, problem);
	if (code == P_OK) {
		if (h->ack_timeout_ms == 0)
			h->ack_timeout_ms = agent.ack_timeout_ms ? agent.ack_timeout_ms : DELIVERY_ACK_TIMEOUT_MS;
		if (h->max_attempts == 0)
			h->max_attempts = agent.max_attempts ? agent.max_attempts : DELIVERY_ATTEMPTS;
		if (h->queue_timeout_ms == 0)
			h->queue_timeout_ms = agent.queue_timeout_ms;
		h->fallbacks = delivery_names(d->arena, o->fallbacks ? o->fallbacks : agent.fallbacks);
	}
	arena_release(&arena);
	return code;
}

/* Now, or when it may be taken. */
static void enqueue(const struct delivery *d, struct handoff_row *h)
{
	bool is_later = h->not_before_ms > d->now_ms;

	if (!is_later)
		h->not_before_ms = 0;
	h->state = is_later ? HANDOFF_DELAYED : HANDOFF_QUEUED;
	delivery_begin_queue(d, h, is_later ? h->not_before_ms : d->now_ms);
	h->due_ms = is_later ? h->not_before_ms : delivery_offered_until(d, h);
}

/* Where the breaker is open it must be known before anything is written, so that a refusal leaves nothing behind. */
static enum problem_code plan_new(struct delivery *d, const struct delivery_order *o, int64_t target,
				  struct delivery_plan *ret, struct problem *problem)
{
	struct handoff_row h = {
		.space = d->space,
		.envelope = o->envelope,
		.channel = o->channel,
		.channel_name = o->channel_name,
		.from = o->from,
		.target = target,
		.target_name = o->to,
		.agent = target,
		.agent_name = o->to,
		.passes = o->channel || o->is_forced,
		.priority = o->priority < 0 ? DELIVERY_PRIORITY : o->priority,
		.attempt = 1,
		.max_attempts = o->max_attempts,
		.ack_timeout_ms = o->ack_timeout_ms,
		.queue_timeout_ms = o->queue_timeout_ms,
		.not_before_ms = o->not_before_ms,
		.created_at_ms = d->now_ms,
		.changed_at_ms = d->now_ms,
	};
	bool admitted = true, is_probe = false;
	int64_t reset_ms = 0;
	enum problem_code code = fill_from_agent(d, o, &h, problem);

	if (code == P_OK && !h.passes && h.not_before_ms <= d->now_ms)
		code = breaker_admits(d, target, &admitted, &is_probe, &reset_ms, problem);
	if (code == P_OK && !admitted)
		code = divert(d, &h, reset_ms, o->wait_ms > 0, &is_probe, problem);
	if (code != P_OK)
		return code;
	begin_wait(d, o, &h);
	enqueue(d, &h);
	*ret = (struct delivery_plan){.order = o, .row = h, .is_probe = is_probe};
	return P_OK;
}

enum problem_code delivery_check_kept(struct delivery *d, uint64_t envelope, struct problem *problem)
{
	struct pruned_envelope left;
	enum store_status status = store_pruned_envelope(d->conn, d->space, envelope, &left);

	if (status == STORE_OK)
		return problem_set(problem, P_ENVELOPE_PRUNED, "envelope_id", "env-%llu is not kept any more",
				   (unsigned long long)envelope);
	return status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
}

static enum problem_code send_new(struct delivery *d, const struct delivery_plan *plan, struct handoff_row *ret,
				  struct problem *problem)
{
	struct handoff_row h = plan->row;
	enum problem_code code = plan->order->is_new ? P_OK : delivery_check_kept(d, h.envelope, problem);
	enum store_status status = code == P_OK ? store_handoff_insert(d->conn, &h) : STORE_OK;

	if (status != STORE_OK)
		code = problem_of_store(problem, status);
	if (code == P_OK && plan->is_probe)
		code = breaker_probe(d, h.agent, h.num, problem);
	if (code == P_OK)
		code = delivery_tell(d, &h, EVENT_QUEUED, STR_NULL, problem);
	if (code == P_OK && h.agent != h.target)
		code = delivery_tell(d, &h, EVENT_FALLBACK, STR("the breaker of the target is open"), problem);
	if (code != P_OK)
		return code;
	if (d->changed)
		d->changed(d->ctx, &h, HANDOFF_STATES);
	code = delivery_look(d->conn, d->now_ms, d->arena, &h, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}

enum problem_code delivery_plan(struct delivery *d, const struct delivery_order *order, struct delivery_plan *ret,
				struct problem *problem)
{
	struct handoff_row h;
	int64_t target;
	enum store_status status;

	if (order->not_before_ms && order->wait_ms)
		return problem_set(problem, P_INVALID_FIELD, "not_before", "nobody can take it before not_before, so "
				   "that there is nothing to wait for; give not_before or wait_s, not both");
	if (order->not_before_ms > d->now_ms + DELIVERY_LATER_MAX_MS)
		return problem_set(problem, P_INVALID_FIELD, "not_before", "not_before is more than 366 days away");
	status = store_agent_id(d->conn, d->space, order->to, true, d->now_ms, &target);
	if (d->actor.p == NULL)
		d->actor = order->from;
	if (status == STORE_OK)
		status = order->is_new ? STORE_NOT_FOUND
				       : store_handoff_find(d->conn, d->space, order->envelope, target, d->arena, &h);
	if (status == STORE_NOT_FOUND)
		return plan_new(d, order, target, ret, problem);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	*ret = (struct delivery_plan){.order = order, .row = h, .is_again = true};
	return P_OK;
}

enum problem_code delivery_carry_out(struct delivery *d, const struct delivery_plan *plan, struct handoff_row *ret,
				     struct problem *problem)
{
	struct handoff_row h = plan->row;
	enum problem_code code;

	if (!plan->is_again)
		return send_new(d, plan, ret, problem);
	if (h.state == HANDOFF_PARKED || h.state == HANDOFF_DISCARDED)
		delivery_withhold(d, &h);
	if (delivery_is_anothers(d, &h)) {
		code = leave(&h, problem);
	} else {
		code = join_channel(d, plan->order, &h, problem);
		if (code == P_OK)
			code = send_again(d, plan->order, &h, problem);
	}
	if (code == P_OK)
		code = delivery_look(d->conn, d->now_ms, d->arena, &h, problem);
	if (code != P_OK)
		return code;
	delivery_withhold(d, &h);
	*ret = h;
	return P_OK;
}

enum problem_code delivery_send(struct delivery *d, const struct delivery_order *order, struct handoff_row *ret,
				struct problem *problem)
{
	struct delivery_plan plan = {.order = order};
	enum problem_code code = delivery_plan(d, order, &plan, problem);

	return code == P_OK ? delivery_carry_out(d, &plan, ret, problem) : code;
}
