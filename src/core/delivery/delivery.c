/* Sending, taking and settling. What fails is delivery_fail.c's, what a person does with it delivery_park.c's. */
#include "core/delivery/delivery_internal.h"
#include "core/delivery/keeping.h"

#include "codec/json_member.h"
#include "codec/json_set.h"
#include "core/delivery/agent.h"
#include "core/envelope/result.h"

#include <assert.h>

/* --- Shared --- */

/* Has the attempt under way failed, as an event of that kind tells it? */
static bool is_failed_attempt(enum event_kind kind)
{
	return kind == EVENT_NACKED || kind == EVENT_ACK_TIMEOUT || kind == EVENT_LEASE_LOST || kind == EVENT_WORK_LOST;
}

static enum problem_code tell(struct delivery *d, const struct handoff_row *h, enum event_kind kind, struct str note,
			      double first, double second, struct problem *problem)
{
	struct event_row event = {
		.space = h->space,
		.at_ms = d->now_ms,
		.kind = kind,
		.handoff = h->num,
		.envelope = h->envelope,
		.attempt = h->attempt,
		.agent = h->agent_name,
		.actor = d->actor,
		.note = note,
		.value = {first, second},
	};
	enum store_status status = store_event_add(d->conn, &event);

	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

enum problem_code delivery_tell(struct delivery *d, const struct handoff_row *h, enum event_kind kind, struct str note,
				struct problem *problem)
{
	bool is_last = h->attempt >= h->max_attempts;

	/* Where the work was lost and is done again, the second ack comes late, but not because nobody accepted it. */
	if (kind == EVENT_ACKED)
		return tell(d, h, kind, note,
			    (double)((h->acked_at_ms ? h->acked_at_ms : d->now_ms) - h->created_at_ms), 0, problem);
	if (is_failed_attempt(kind))
		return tell(d, h, kind, note, !is_last, is_last && !h->is_exhausted, problem);
	return tell(d, h, kind, note, 0, 0, problem);
}

enum problem_code delivery_tell_exhausted(struct delivery *d, const struct handoff_row *h, enum event_kind kind,
					  struct str note, struct problem *problem)
{
	return tell(d, h, kind, note, 0, 1, problem);
}

static enum problem_code write_handoff(struct delivery *d, const struct handoff_row *h, enum handoff_state before,
				       struct problem *problem)
{
	enum store_status status = store_handoff_put(d->conn, h);

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	if (d->changed)
		d->changed(d->ctx, h, before);
	return P_OK;
}

enum problem_code delivery_write(struct delivery *d, const struct handoff_row *h, struct problem *problem)
{
	return write_handoff(d, h, h->state, problem);
}

enum problem_code delivery_move(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				enum handoff_state to, struct problem *problem)
{
	enum handoff_state before = h->state;

	assert(handoff_allows_move(verb, before, to));
	assert(handoff_is_open(to) == (h->due_ms != 0));
	h->state = to;
	h->changed_at_ms = d->now_ms;
	return write_handoff(d, h, before, problem);
}

enum problem_code delivery_get(struct delivery *d, uint64_t num, struct handoff_row *ret, struct problem *problem)
{
	enum store_status status =
		d->space ? store_handoff_get(d->conn, d->space, num, d->arena, ret) : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return handoff_missing(d->conn, d->space, num, problem);
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

int64_t delivery_due_at(const struct handoff_row *h, int64_t deadline_ms)
{
	return h->expires_at_ms && h->expires_at_ms < deadline_ms ? h->expires_at_ms : deadline_ms;
}

/* How long what is queued waits for a receiver. A sender that waits decides that itself, unless it asked for more than
 * one attempt in its time. */
static int64_t offered_until(const struct delivery *d, const struct handoff_row *h)
{
	if (h->expires_at_ms && !h->is_retried)
		return h->expires_at_ms;
	return delivery_due_at(h, d->now_ms + h->ack_timeout_ms);
}

void delivery_end_wait(struct handoff_row *h)
{
	h->expires_at_ms = 0;
	h->is_retried = false;
}

/* The sender waits from now on. With the ack timeout or the fallbacks it says what is to be tried meanwhile; the number
 * of attempts alone is what a sender counts its own with. */
static void begin_wait(struct delivery *d, const struct delivery_order *o, struct handoff_row *h)
{
	h->expires_at_ms = o->wait_ms ? d->now_ms + o->wait_ms : 0;
	h->is_retried = o->wait_ms && (o->ack_timeout_ms || (o->fallbacks && o->fallbacks->count));
}

enum problem_code delivery_offer(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				 struct problem *problem)
{
	h->due_ms = offered_until(d, h);
	return delivery_move(d, h, verb, HANDOFF_QUEUED, problem);
}

/* --- Sending --- */

static enum problem_code circuit_open(struct delivery *d, struct str agent, int64_t reset_ms, struct problem *problem)
{
	problem_set(problem, P_CIRCUIT_OPEN, "to",
		    "handoffs to %.*s failed %d times in a row; its circuit breaker is open, and lets one through in "
		    "%lld ms",
		    STR_ARG(agent), BREAKER_FAILURES, (long long)(reset_ms > d->now_ms ? reset_ms - d->now_ms : 1));
	problem->retry_after_ms = reset_ms > d->now_ms ? reset_ms - d->now_ms : 1;
	return problem->code;
}

/* An expired handoff is the sender's to send again, as long as the breaker lets it. */
static enum problem_code revive(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				struct problem *problem)
{
	bool admitted = true, is_probe = false;
	int64_t reset_ms = 0;
	enum problem_code code = P_OK;

	if (o->channel == 0 && !o->is_forced)
		code = breaker_admits(d, h->agent, &admitted, &is_probe, &reset_ms, problem);
	if (code == P_OK && !admitted)
		code = circuit_open(d, h->agent_name, reset_ms, problem);
	if (code == P_OK && is_probe)
		code = breaker_probe(d, h->agent, h->num, problem);
	if (code != P_OK)
		return code;
	h->attempt++;
	code = delivery_offer(d, h, VERB_SEND, problem);
	return code == P_OK ? delivery_tell(d, h, EVENT_QUEUED, STR("sent again"), problem) : code;
}

/* Parked or discarded: it is not the sender's any more. */
static enum problem_code refuse_ended(const struct handoff_row *h, struct problem *problem)
{
	const char *way_out = h->state == HANDOFF_PARKED
				      ? "it leaves there only by redrive, reroute or shrink"
				      : "it does not come back: send another agent the envelope, or pack a new one";
	int reason = h->reason.p ? (int)(h->reason.n < 300 ? h->reason.n : 300) : 0;

	problem_set(problem, P_HANDOFF_PARKED, NULL, "ho-%llu was %s (%.*s); %s", (unsigned long long)h->num,
		    handoff_state_name(h->state), reason, h->reason.p, way_out);
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
	if (until_ms == 0)
		delivery_end_wait(h);
	h->expires_at_ms = until_ms;
	if (h->due_ms == was_ms && h->state == HANDOFF_QUEUED)
		h->due_ms = offered_until(d, h);
	else if (h->due_ms == was_ms && h->state == HANDOFF_LEASED)
		h->due_ms = delivery_due_at(h, h->changed_at_ms + h->lease_ms);
	return delivery_write(d, h, problem);
}

static enum problem_code send_again(struct delivery *d, const struct delivery_order *o, struct handoff_row *h,
				    struct problem *problem)
{
	if (h->state == HANDOFF_PARKED || h->state == HANDOFF_DISCARDED)
		return refuse_ended(h, problem);
	if (h->state != HANDOFF_EXPIRED)
		return be_patient(d, o, h, problem);
	if (o->ack_timeout_ms)
		h->ack_timeout_ms = o->ack_timeout_ms;
	if (o->max_attempts)
		h->max_attempts = o->max_attempts;
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
	return write_handoff(d, h, HANDOFF_STATES, problem);
}

/* The names that may take over, as they are kept. */
struct str delivery_names(struct arena *arena, const struct json *names)
{
	return names && names->count ? json_canonical(names, DELIVERY_NAMES_MAX, arena) : STR_NULL;
}

/* The breaker of the target does not let it through: a fallback takes it, or it is refused. */
static enum problem_code divert(struct delivery *d, struct handoff_row *h, int64_t reset_ms, bool *ret_is_probe,
				struct problem *problem)
{
	int64_t target = h->agent;
	enum problem_code code = delivery_next_fallback(d, h, ret_is_probe, problem);

	if (code != P_OK || h->agent != target)
		return code;
	return circuit_open(d, h->target_name, reset_ms, problem);
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
		h->fallbacks = delivery_names(d->arena, o->fallbacks ? o->fallbacks : agent.fallbacks);
	}
	arena_release(&arena);
	return code;
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
		.state = HANDOFF_QUEUED,
		.priority = o->priority < 0 ? DELIVERY_PRIORITY : o->priority,
		.attempt = 1,
		.max_attempts = o->max_attempts,
		.ack_timeout_ms = o->ack_timeout_ms,
		.created_at_ms = d->now_ms,
		.changed_at_ms = d->now_ms,
	};
	bool admitted = true, is_probe = false;
	int64_t reset_ms = 0;
	enum problem_code code = fill_from_agent(d, o, &h, problem);

	if (code == P_OK && o->channel == 0 && !o->is_forced)
		code = breaker_admits(d, target, &admitted, &is_probe, &reset_ms, problem);
	if (code == P_OK && !admitted)
		code = divert(d, &h, reset_ms, &is_probe, problem);
	if (code != P_OK)
		return code;
	begin_wait(d, o, &h);
	h.due_ms = offered_until(d, &h);
	*ret = (struct delivery_plan){.order = o, .row = h, .is_probe = is_probe};
	return P_OK;
}

static enum problem_code send_new(struct delivery *d, const struct delivery_plan *plan, struct handoff_row *ret,
				  struct problem *problem)
{
	struct handoff_row h = plan->row;
	struct pruned_envelope left;
	/* It may have been pruned since somebody looked. */
	enum store_status status = store_pruned_envelope(d->conn, d->space, h.envelope, &left);
	enum problem_code code;

	if (status == STORE_OK)
		return problem_set(problem, P_ENVELOPE_PRUNED, "envelope_id", "env-%llu is not kept any more",
				   (unsigned long long)h.envelope);
	if (status == STORE_NOT_FOUND)
		status = store_handoff_insert(d->conn, &h);
	code = status == STORE_OK ? P_OK : problem_of_store(problem, status);

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
	*ret = h;
	return P_OK;
}

enum problem_code delivery_plan(struct delivery *d, const struct delivery_order *order, struct delivery_plan *ret,
				struct problem *problem)
{
	struct handoff_row h;
	int64_t target;
	enum store_status status = store_agent_id(d->conn, d->space, order->to, true, d->now_ms, &target);

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
	code = join_channel(d, plan->order, &h, problem);
	if (code == P_OK)
		code = send_again(d, plan->order, &h, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}

enum problem_code delivery_send(struct delivery *d, const struct delivery_order *order, struct handoff_row *ret,
				struct problem *problem)
{
	struct delivery_plan plan;
	enum problem_code code = delivery_plan(d, order, &plan, problem);

	return code == P_OK ? delivery_carry_out(d, &plan, ret, problem) : code;
}

/* --- Taking --- */

enum problem_code delivery_take(struct delivery *d, struct str agent, int64_t lease_ms, struct str receiver,
				struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	int64_t id;
	enum store_status status = store_agent_id(d->conn, d->space, agent, true, d->now_ms, &id);
	enum problem_code code =
		status == STORE_OK ? breaker_seen(d, NULL, id, false, problem) : problem_of_store(problem, status);

	if (code != P_OK)
		return code;
	status = store_handoff_next(d->conn, id, d->arena, &h);
	if (status == STORE_NOT_FOUND) {
		*ret = (struct handoff_row){.agent = id};
		return P_OK;
	}
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	h.leases++;
	h.lease_ms = lease_ms ? lease_ms : h.ack_timeout_ms;
	h.due_ms = delivery_due_at(&h, d->now_ms + h.lease_ms);
	h.receiver = receiver;
	h.progress = STR_NULL;
	code = delivery_move(d, &h, VERB_TAKE, HANDOFF_LEASED, problem);
	if (code == P_OK)
		code = delivery_tell(d, &h, EVENT_TAKEN, receiver, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}

enum problem_code delivery_release(struct delivery *d, uint64_t num, int64_t lease, struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get(d, num, &h, problem);

	if (code != P_OK || h.leases != lease || !handoff_allows(VERB_RELEASE, h.state))
		return code;
	code = delivery_offer(d, &h, VERB_RELEASE, problem);
	if (code == P_OK)
		code = delivery_tell(d, &h, EVENT_RELEASED, STR("the receiver went away before it had it"), problem);
	return code == P_OK ? delivery_rouse(d, h.agent, problem) : code;
}

/* --- Settling --- */

static enum problem_code stale(const struct handoff_row *h, int64_t lease, struct problem *problem)
{
	if (h->leases == lease && h->state == HANDOFF_ACKED)
		return problem_set(
			problem, P_STALE_LEASE, "lease",
			"ho-%llu was acked with this lease, and an ack is not taken back: complete or reject it; "
			"nothing was changed",
			(unsigned long long)h->num);
	if (h->leases == lease)
		return problem_set(problem, P_STALE_LEASE, "lease",
				   "the lease ho-%llu.%lld has ended: the handoff is %s now; nothing was changed",
				   (unsigned long long)h->num, (long long)lease, handoff_state_name(h->state));
	return problem_set(problem, P_STALE_LEASE, "lease",
			   "ho-%llu.%lld is not the lease of this handoff: the newest is ho-%llu.%lld, and it is %s; "
			   "nothing was changed",
			   (unsigned long long)h->num, (long long)lease, (unsigned long long)h->num,
			   (long long)h->leases,
			   handoff_state_name(h->state));
}

/* A receiver that did not see the reply to its answer gives it again. */
static bool is_repeated(const struct handoff_row *h, enum handoff_verb verb)
{
	if (verb == VERB_ACK)
		return h->state == HANDOFF_WORKING || h->state == HANDOFF_ACKED || h->state == HANDOFF_COMPLETED;
	return verb == VERB_COMPLETE && h->state == HANDOFF_COMPLETED;
}

static bool parse_gaps(struct delivery *d, struct str text, struct json *ret)
{
	struct json_error error;

	return text.p && json_parse(text, JSON_DEPTH_MAX, d->arena, ret, &error) && ret->type == JSON_ARRAY;
}

/* Has the answer a gap that is not among those kept? */
static bool has_new_gaps(struct delivery *d, struct str kept, struct str answered)
{
	struct json all = {.type = JSON_ARRAY}, given;
	struct json_set known;
	bool is_new = false;

	if (!parse_gaps(d, answered, &given))
		return false;
	parse_gaps(d, kept, &all);
	json_set_init(&known, &all);
	for (uint32_t i = 0; i < given.count; i++)
		is_new |= !json_set_has(&known, &given.items[i]);
	json_set_release(&known);
	return is_new;
}

/* Whoever answers twice with one result and another, or with further gaps, must hear that the second is not kept. One
 * that gives none again does not say that there is none. */
static enum problem_code check_same_result(struct delivery *d, const struct handoff_row *h,
					   const struct delivery_answer *a, struct problem *problem)
{
	struct result_row kept = {0};
	bool has_result = a->verb == VERB_COMPLETE && a->result.result.p;
	enum store_status status = STORE_OK;

	if (h->state == HANDOFF_COMPLETED || a->result.gaps.p)
		status = result_read(d->conn, h->space, h->num, d->arena, &kept);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	d->result_memory = kept.memory;
	/* What was forgotten cannot be compared, and is not told again. */
	if (has_result && !kept.is_forgotten && !str_eq(a->result.result, kept.result))
		return problem_set(problem, P_ALREADY_SETTLED, "result",
				   "ho-%llu was completed with this lease and another result, which stays; nothing was "
				   "changed. Store the new one as a memory, or hand it over as another envelope",
				   (unsigned long long)h->num);
	if (has_new_gaps(d, kept.gaps, a->result.gaps))
		return problem_set(problem, P_ALREADY_SETTLED, "gaps",
				   "ho-%llu was %s with this lease and without all of these gaps, and that stays; "
				   "nothing was changed. %s",
				   (unsigned long long)h->num, handoff_state_name(h->state),
				   h->state == HANDOFF_COMPLETED ? "Store the new ones as a memory"
								 : "Give the new ones when you complete it");
	return P_OK;
}

/* The gaps of the ack, and those of the completion that are not among them. */
static struct str join_gaps(struct delivery *d, struct str before, struct str more)
{
	struct json all, added, *items;
	struct json_set known;
	uint32_t count;

	if (!parse_gaps(d, before, &all) || !parse_gaps(d, more, &added))
		return more.p ? more : before;
	json_set_init(&known, &all);
	items = arena_calloc(d->arena, all.count + added.count + 1, sizeof(*items));
	for (count = 0; count < all.count; count++)
		items[count] = all.items[count];
	for (uint32_t i = 0; i < added.count; i++)
		if (!json_set_has(&known, &added.items[i]))
			items[count++] = added.items[i];
	json_set_release(&known);
	all.items = items;
	all.count = count;
	return json_canonical(&all, before.n + more.n, d->arena);
}

/* What a completion does not say again stays as the ack told it. */
static enum problem_code keep_result(struct delivery *d, const struct handoff_row *h, const struct delivery_answer *a,
				     struct problem *problem)
{
	struct result_row result = a->result, before;
	enum store_status status;

	if (!a->has_result)
		return P_OK;
	status = store_result_get(d->conn, h->space, h->num, d->arena, &before);
	if (status == STORE_OK && a->verb == VERB_COMPLETE) {
		result.gaps = join_gaps(d, before.gaps, result.gaps);
		result.input_tokens = result.input_tokens >= 0 ? result.input_tokens : before.input_tokens;
	}
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	if (a->memory) {
		enum problem_code code = result_remember(d, h, a->memory, &result, problem);

		if (code != P_OK)
			return code;
	}
	status = store_result_put(d->conn, h->space, h->num, &result);
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

static enum problem_code accept(struct delivery *d, const struct delivery_answer *a, struct handoff_row *h,
				struct problem *problem)
{
	bool first = h->acked_at_ms == 0, completes = a->verb == VERB_COMPLETE;
	enum handoff_state to = completes ? HANDOFF_COMPLETED : a->work_lease_ms ? HANDOFF_WORKING : HANDOFF_ACKED;
	enum problem_code code = P_OK;

	if (first)
		h->acked_at_ms = d->now_ms;
	delivery_end_wait(h);
	h->lease_ms = a->work_lease_ms;
	h->due_ms = to == HANDOFF_WORKING ? d->now_ms + a->work_lease_ms : 0;
	if (completes && h->state == HANDOFF_LEASED)
		code = delivery_tell(d, h, EVENT_ACKED, STR_NULL, problem);
	if (code == P_OK)
		code = delivery_move(d, h, a->verb, to, problem);
	if (code == P_OK)
		code = delivery_tell(d, h, completes ? EVENT_COMPLETED : EVENT_ACKED, STR_NULL, problem);
	return code == P_OK ? keep_result(d, h, a, problem) : code;
}

static enum problem_code go_on(struct delivery *d, const struct delivery_answer *a, struct handoff_row *h,
			       struct problem *problem)
{
	enum problem_code code;

	if (a->text.p)
		h->progress = a->text;
	if (a->work_lease_ms)
		h->lease_ms = a->work_lease_ms;
	if (h->state == HANDOFF_LEASED)
		h->due_ms = delivery_due_at(h, d->now_ms + h->lease_ms);
	else if (h->state == HANDOFF_WORKING)
		h->due_ms = d->now_ms + h->lease_ms;
	code = delivery_move(d, h, VERB_PROGRESS, h->state, problem);
	return code == P_OK && a->text.p ? delivery_tell(d, h, EVENT_PROGRESS, a->text, problem) : code;
}

static enum problem_code refuse(struct delivery *d, const struct delivery_answer *a, struct handoff_row *h,
				struct problem *problem)
{
	bool is_final = a->verb == VERB_REJECT;
	enum problem_code code;

	h->reason = a->text.p ? a->text : is_final ? STR("rejected without a reason") : STR("nacked without a reason");
	code = delivery_tell(d, h, is_final ? EVENT_REJECTED : EVENT_NACKED, h->reason, problem);
	return code == P_OK ? delivery_fail(d, h, a->verb, a->delay_ms, is_final, problem) : code;
}

enum problem_code delivery_settle(struct delivery *d, uint64_t num, const struct delivery_answer *answer,
				  struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get(d, num, &h, problem);
	int64_t agent = code == P_OK ? h.agent : 0;

	if (code != P_OK)
		return code;
	if (h.leases == answer->lease && is_repeated(&h, answer->verb)) {
		code = check_same_result(d, &h, answer, problem);
		if (code == P_OK)
			*ret = h;
		return code;
	}
	if (h.leases != answer->lease || !handoff_allows(answer->verb, h.state))
		return stale(&h, answer->lease, problem);
	if (d->actor.p == NULL)
		d->actor = h.agent_name;
	code = breaker_seen(d, &h, h.agent, answer->verb == VERB_ACK || answer->verb == VERB_COMPLETE, problem);
	if (code != P_OK)
		return code;
	if (answer->verb == VERB_ACK || answer->verb == VERB_COMPLETE)
		code = accept(d, answer, &h, problem);
	else if (answer->verb == VERB_PROGRESS)
		code = go_on(d, answer, &h, problem);
	else
		code = refuse(d, answer, &h, problem);
	if (code == P_OK && answer->verb != VERB_PROGRESS)
		code = delivery_rouse(d, agent, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}
