/* Taking and settling, and what all parts of delivery do. Sending is delivery_send.c's, what fails is
 * delivery_fail.c's, what a person does with it delivery_park.c's. */
#include "core/delivery/delivery_internal.h"
#include "core/delivery/keeping.h"

#include "codec/json_member.h"
#include "codec/json_set.h"
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
		.access_key = d->access_key,
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

enum problem_code delivery_put(struct delivery *d, const struct handoff_row *h, enum handoff_state before,
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
	return delivery_put(d, h, h->state, problem);
}

enum problem_code delivery_move(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				enum handoff_state to, struct problem *problem)
{
	enum handoff_state before = h->state;

	assert(handoff_allows_move(verb, before, to));
	assert(handoff_is_open(to) == (h->due_ms != 0));
	h->state = to;
	h->changed_at_ms = d->now_ms;
	return delivery_put(d, h, before, problem);
}

enum problem_code delivery_get(struct delivery *d, uint64_t num, struct handoff_row *ret, struct problem *problem)
{
	enum store_status status =
		d->space ? store_handoff_get(d->conn, d->space, num, d->arena, ret) : STORE_NOT_FOUND;
	enum problem_code missing;

	if (status == STORE_NOT_FOUND) {
		missing = handoff_missing(d->conn, d->space, num, problem);
		assert(missing != P_OK);
		return missing;
	}
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

int64_t delivery_due_at(const struct handoff_row *h, int64_t deadline_ms)
{
	return h->expires_at_ms && h->expires_at_ms < deadline_ms ? h->expires_at_ms : deadline_ms;
}

int64_t delivery_patience_ms(const struct handoff_row *h)
{
	if (h->expires_at_ms)
		return h->is_retried ? h->ack_timeout_ms : 0;
	return h->fallbacks.p || h->agent != h->target ? h->max_attempts * h->ack_timeout_ms : 0;
}

int64_t delivery_offered_until(const struct delivery *d, const struct handoff_row *h)
{
	int64_t until_ms = h->expires_at_ms ? h->expires_at_ms : h->queue_until_ms;
	int64_t patience_ms = delivery_patience_ms(h);

	return patience_ms && d->now_ms + patience_ms < until_ms ? d->now_ms + patience_ms : until_ms;
}

void delivery_begin_queue(const struct delivery *d, struct handoff_row *h, int64_t from_ms)
{
	if (h->queue_timeout_ms == 0)
		h->queue_timeout_ms = d->queue_timeout_ms ? d->queue_timeout_ms : DELIVERY_QUEUE_TIMEOUT_MS;
	h->queue_until_ms = from_ms + h->queue_timeout_ms;
}

bool delivery_is_deferred(const struct handoff_row *h, int64_t now_ms)
{
	return h->state == HANDOFF_DELAYED && h->not_before_ms > now_ms && h->due_ms == h->not_before_ms;
}

void delivery_end_wait(struct handoff_row *h)
{
	h->expires_at_ms = 0;
	h->is_retried = false;
}

enum problem_code delivery_offer(struct delivery *d, struct handoff_row *h, enum handoff_verb verb,
				 struct problem *problem)
{
	h->due_ms = delivery_offered_until(d, h);
	return delivery_move(d, h, verb, HANDOFF_QUEUED, problem);
}

/* --- Taking --- */

enum problem_code delivery_peek(struct delivery *d, struct str agent, struct handoff_row *ret, struct problem *problem)
{
	enum breaker_gives gives;
	int64_t id = 0;
	enum store_status status = STORE_NOT_FOUND;
	enum problem_code code;

	if (d->space)
		status = store_agent_id(d->conn, d->space, agent, false, d->now_ms, &id);
	if (status == STORE_OK) {
		code = breaker_peek(d, id, &gives, problem);
		if (code != P_OK)
			return code;
		status = store_handoff_next(d->conn, id, gives == BREAKER_GIVES_PASSING, d->arena, ret);
	}
	if (status == STORE_NOT_FOUND)
		*ret = (struct handoff_row){.agent = id};
	return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK : problem_of_store(problem, status);
}

enum problem_code delivery_take(struct delivery *d, struct str agent, int64_t lease_ms, struct str receiver,
				struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	enum breaker_gives gives;
	int64_t id;
	enum store_status status = store_agent_id(d->conn, d->space, agent, true, d->now_ms, &id);
	enum problem_code code =
		status == STORE_OK ? breaker_take(d, id, &gives, problem) : problem_of_store(problem, status);

	if (code != P_OK)
		return code;
	status = store_handoff_next(d->conn, id, gives == BREAKER_GIVES_PASSING, d->arena, &h);
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
	if (code == P_OK && gives == BREAKER_GIVES_PROBE)
		code = breaker_probe(d, id, h.num, problem);
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
	return code == P_OK ? delivery_tell(d, &h, EVENT_RELEASED, STR("the receiver went away before it had it"),
					    problem)
			    : code;
}

/* --- Settling --- */

static enum problem_code stale(const struct handoff_row *h, int64_t lease, struct problem *problem)
{
	if (h->leases == lease && h->state == HANDOFF_ACKED)
		return problem_set(
			problem, P_STALE_LEASE, "lease",
			"ho-%llu was acked with this lease, and an ack is not taken back: complete or reject it, or "
			"release it; nothing was changed",
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

bool delivery_is_due_settle(const struct handoff_row *h, const struct delivery_answer *answer)
{
	return h->leases == answer->lease && !is_repeated(h, answer->verb) && handoff_allows(answer->verb, h->state);
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
	if (has_result && !kept.is_forgotten && !kept.is_quarantined && !str_eq(a->result.result, kept.result))
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

/* What a completion does not say again stays as the ack told it. With the first lease and no ack nothing was told. */
static enum problem_code keep_result(struct delivery *d, const struct handoff_row *h, const struct delivery_answer *a,
				     bool is_first_ack, struct problem *problem)
{
	struct result_row result = a->result, before = {.input_tokens = -1};
	enum store_status status = STORE_NOT_FOUND;

	if (!a->has_result)
		return P_OK;
	if (!is_first_ack || h->leases > 1)
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
	return code == P_OK ? keep_result(d, h, a, first, problem) : code;
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

/* No attempt is used, unless it was taken so often that this must be a loop. A probe that is given back has shown
 * nothing: the next one is let through. */
static enum problem_code give_back(struct delivery *d, const struct delivery_answer *a, struct handoff_row *h,
				   struct problem *problem)
{
	struct str why = a->text.p ? a->text : STR("given back without a reason");
	enum problem_code code;

	if (h->leases >= DELIVERY_FREE_LEASES) {
		h->reason = arena_printf(d->arena, "given back after it was taken %lld times: %.*s",
					 (long long)h->leases, STR_ARG(why));
		code = delivery_tell(d, h, EVENT_NACKED, h->reason, problem);
		return code == P_OK ? delivery_fail(d, h, VERB_RELEASE, a->delay_ms, false, problem) : code;
	}
	code = breaker_leave(d, h, problem);
	if (code == P_OK)
		code = delivery_tell(d, h, EVENT_RELEASED, why, problem);
	return code == P_OK ? delivery_put_back(d, h, VERB_RELEASE, a->delay_ms > 0 ? a->delay_ms : 0, problem) : code;
}

enum problem_code delivery_settle(struct delivery *d, uint64_t num, const struct delivery_answer *answer,
				  struct handoff_row *ret, struct problem *problem)
{
	struct handoff_row h;
	enum problem_code code = delivery_get(d, num, &h, problem);

	if (code != P_OK)
		return code;
	if (h.leases == answer->lease && is_repeated(&h, answer->verb)) {
		d->is_repeated = true;
		code = check_same_result(d, &h, answer, problem);
		if (code == P_OK)
			*ret = h;
		return code;
	}
	if (h.leases != answer->lease || !handoff_allows(answer->verb, h.state))
		return stale(&h, answer->lease, problem);
	if (d->actor.p == NULL)
		d->actor = h.agent_name;
	code = breaker_seen(d, &h, answer->verb == VERB_ACK || answer->verb == VERB_COMPLETE, problem);
	if (code != P_OK)
		return code;
	if (answer->verb == VERB_ACK || answer->verb == VERB_COMPLETE)
		code = accept(d, answer, &h, problem);
	else if (answer->verb == VERB_PROGRESS)
		code = go_on(d, answer, &h, problem);
	else if (answer->verb == VERB_RELEASE)
		code = give_back(d, answer, &h, problem);
	else
		code = refuse(d, answer, &h, problem);
	if (code == P_OK)
		*ret = h;
	return code;
}
