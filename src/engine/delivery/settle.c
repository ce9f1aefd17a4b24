#include "engine/delivery/settle.h"

#include "core/envelope/unpack.h"
#include "core/guard/redact.h"
#include "engine/engine.h"
#include "engine/memory/origin.h"
#include "engine/memory_numbers.h"
#include "engine/said.h"
#include "engine/waiting.h"

#include <string.h>

/* --- Whose it is --- */

enum problem_code settle_check_own(struct op *op, struct store_conn *c, uint64_t num)
{
	struct handoff_row h;
	enum store_status status;
	enum problem_code code;

	if (op->access == NULL || op->access->agent.p == NULL || op->space == 0)
		return P_OK;
	status = store_handoff_get(c, op->space, num, op->arena, &h);
	if (status == STORE_NOT_FOUND)
		return P_OK;	/* that is for delivery to say */
	if (status != STORE_OK)
		return op_stored(op, status);
	code = access_check_handoff(op->access, num, h.agent_name, &op->problem);
	if (code != P_OK)
		op->problem.handoff = num;
	return code;
}

/* --- Preparing --- */

/* Once, however often the run begins anew. */
static void warn_unstored(struct op *op, uint64_t num)
{
	struct str detail = arena_printf(op->arena, "the result of ho-%llu is kept with the handoff, but became no "
					 "memory: the space has no number left for one", (unsigned long long)num);

	for (size_t i = 0; i < op->warning_count; i++)
		if (str_eq(op->warnings[i].detail, detail))
			return;
	op_warn(op, "result_not_stored", STR("result"), detail);
}

/* The envelope that hands on carries the result, so the memory that it becomes has its number now. */
static enum problem_code promise_number(struct op *op, struct store_conn *c, struct settling *s)
{
	struct memory_draft *draft = s->answer.memory;
	enum store_status status;

	if (draft == NULL)
		return P_OK;
	status = memory_numbers_promise(op->engine->memory_numbers, c, op->space, &draft->num);
	/* The space has no number left: that is no reason not to take the work. */
	if (status == STORE_EXISTS) {
		s->answer.memory = NULL;
		s->answer.result.form = RESULT_KEPT;
		warn_unstored(op, s->num);
		return P_OK;
	}
	draft->is_promised = true;
	draft->has |= MEMORY_HAS_ID | MEMORY_HAS_CREATED_AT;
	draft->created_at_ms = op->now_ms;
	return op_stored(op, status);
}

static enum problem_code prepare_then(struct op *op, struct store_conn *c, struct settling *s)
{
	struct handoff_row h;
	enum store_status status = op->space ? store_handoff_get(c, op->space, s->num, op->arena, &h)
					     : STORE_NOT_FOUND;
	enum problem_code code;

	s->then->is_prepared = false;
	/* What is not there, stale or done before is for the run to answer. */
	if (status == STORE_NOT_FOUND || (status == STORE_OK && !delivery_is_due_settle(&h, &s->answer)))
		return P_OK;
	if (status != STORE_OK)
		return op_stored(op, status);
	code = s->answer.verb == VERB_COMPLETE ? promise_number(op, c, s) : P_OK;
	if (code == P_OK && s->answer.verb == VERB_COMPLETE)
		s->then->coming = result_coming(&h, &s->answer, op->now_ms, op->arena);
	return code == P_OK ? then_prepare(op, c, s->then, &h) : code;
}

/* Notes, reasons, gaps and results reach the next agent and the board. Few have a credential: only then the policy is
 * asked for. */
static enum problem_code guard_answer(struct op *op, struct store_conn *c, struct settling *s)
{
	struct delivery_answer *a = &s->answer;
	struct redact_answer said = {
		.text = a->text, .text_field = a->verb == VERB_PROGRESS ? "note" : "reason", .gaps = a->result.gaps,
		.result = a->result.result,
	};
	struct redact_answer clean;
	enum redact_policy policy;
	enum problem_code code;

	if (op->space == 0 || (said.text.p == NULL && !a->has_result))
		return P_OK;
	/* Hostile text is looked through at a few bytes a microsecond: a large result is for a worker. */
	if (op_is_too_much(op, said.text.n + said.gaps.n + said.result.n))
		return P_OVERLOADED;
	if (!redact_answer(&said, op->arena, &clean))
		return P_OK;
	code = said_policy(op, c, SAID_OF_HANDOFF, s->num, &policy);
	if (code != P_OK || policy == REDACT_OFF)
		return code;
	if (policy == REDACT_REFUSE)
		return redact_refuse_answer(&clean, &op->problem);
	a->text = clean.text;
	a->result.gaps = clean.gaps;
	a->result.result = clean.result;
	if (s->result) {
		struct json *value = arena_zalloc(op->arena, sizeof(*value));

		*value = clean.value;
		s->result = value;
	}
	return P_OK;
}

/* What becomes of the result depends on the envelope, which does not change: it is read here, and not by the writer. */
enum problem_code settle_prepare(struct op *op, struct store_conn *c, struct settling *s)
{
	enum problem_code code = settle_check_own(op, c, s->num);

	s->answer.memory = NULL;
	if (code == P_OK)
		code = guard_answer(op, c, s);
	if (code == P_OK && s->result)
		code = result_prepare(c, op->space, s->num, s->result, op->arena, &s->answer, &op->problem);
	if (code == P_OK && s->answer.memory) {
		s->answer.memory->origin = origin_of(op);
		s->answer.memory->trust_max = access_cap(op->access, TRUST_SYSTEM);
	}
	return code == P_OK && s->then ? prepare_then(op, c, s) : code;
}

/* --- Running --- */

enum problem_code settle_may_run(struct op *op, struct store_conn *c, struct settling *s)
{
	const struct memory_draft *draft = s->answer.memory;
	struct handoff_row h;
	struct memory other;
	struct arena arena;
	enum store_status status;

	if (s->then == NULL || s->refusal.code != P_OK)
		return P_OK;
	status = store_handoff_get(c, op->space, s->num, op->arena, &h);
	if (status == STORE_NOT_FOUND || (status == STORE_OK && !delivery_is_due_settle(&h, &s->answer)))
		return P_OK;
	if (status == STORE_OK && s->then->is_prepared && draft && (draft->has & MEMORY_HAS_ID)) {
		arena_init(&arena);
		status = store_memory_get(c, op->space, draft->num, 0, &arena, &other);
		arena_release(&arena);
		op->prepares_again |= status == STORE_OK;
		status = status == STORE_NOT_FOUND ? STORE_OK : status;
	}
	op->prepares_again |= !s->then->is_prepared;
	return op_stored(op, status);
}

static enum problem_code settle_only(struct op *op, struct store_conn *c, struct settling *s)
{
	struct delivery d = waiting_delivery(op, c);
	struct memory_numbers *numbers = op->engine->memory_numbers;
	enum problem_code code;

	if (s->answer.memory && !(s->answer.memory->has & MEMORY_HAS_ID))
		s->answer.memory->num_min = memory_numbers_free_from(numbers, op->space);
	code = delivery_settle(&d, s->num, &s->answer, &s->row, &op->problem);
	s->made = d.made;
	s->result_memory = d.result_memory;
	s->is_repeated = d.is_repeated;
	if (code == P_OK && s->answer.memory && d.result_memory == 0 && !d.is_repeated)
		warn_unstored(op, s->num);
	if (code == P_OK && s->made.num)
		memory_numbers_given(numbers, op->space, s->made.num);
	if (code != P_OK && code != P_HANDOFF_NOT_FOUND)
		op->problem.handoff = s->num;
	return code;
}

/* The same settling again has the same `then`; another one would not be carried out, and is not to look as if it were.
 */
static enum problem_code answer_again(struct op *op, struct store_conn *c, struct settling *s)
{
	struct result_row kept = {0};
	enum store_status status = store_result_get(c, op->space, s->num, op->arena, &kept);

	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return op_stored(op, status);
	if (s->then && (kept.then == 0 || memcmp(kept.then_digest, s->then->digest, sizeof(kept.then_digest)) != 0)) {
		problem_set(&op->problem, P_ALREADY_SETTLED, "then",
			    "ho-%llu was %s with this lease and %s, and that stays; nothing was changed. Hand the work "
			    "on with POST /v1/handoffs", (unsigned long long)s->num,
			    handoff_state_name(s->row.state), kept.then ? "another then" : "without then");
		op->problem.handoff = s->num;
		return op->problem.code;
	}
	if (kept.then == 0)
		return P_OK;
	status = store_handoff_get(c, op->space, kept.then, op->arena, &s->next);
	return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
}

static enum problem_code settle_and_hand_on(struct op *op, struct store_conn *c, struct settling *s)
{
	struct then *t = s->then;
	enum problem_code code = then_plan(op, c, t);

	/* One that was sent before may be refused yet. */
	if (code == P_OK && t->plan.is_again)
		code = then_carry_out(op, c, t, &(struct handoff_row){.space = op->space, .num = s->num});
	if (code == P_OK)
		code = settle_only(op, c, s);
	if (code == P_OK && !t->plan.is_again)
		code = then_carry_out(op, c, t, &s->row);
	if (code == P_OK)
		s->next = t->row;
	else
		op->problem.handoff = s->num;
	return code;
}

enum problem_code settle_run(struct op *op, struct store_conn *c, struct settling *s)
{
	struct handoff_row before;
	enum problem_code code;

	s->next = (struct handoff_row){0};
	if (s->refusal.code != P_OK) {
		op->problem = s->refusal;
		return op->problem.code;
	}
	code = settle_check_own(op, c, s->num);
	if (code != P_OK)
		return code;
	if (s->then && op->space && store_handoff_get(c, op->space, s->num, op->arena, &before) == STORE_OK &&
	    delivery_is_due_settle(&before, &s->answer))
		return settle_and_hand_on(op, c, s);
	code = settle_only(op, c, s);
	return code == P_OK && s->is_repeated ? answer_again(op, c, s) : code;
}

void settle_done(struct op *op, struct settling *s)
{
	if (s->made.num)
		recall_put(op->engine->recall, &s->made);
	s->made.num = 0;
}

/* --- The operation --- */

static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	return settle_prepare(op, c, &((struct settle *)op)->one);
}

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct settling *s = &((struct settle *)op)->one;
	enum problem_code code = settle_may_run(op, c, s);

	return code == P_OK && !op->prepares_again ? settle_run(op, c, s) : code;
}

static void done(struct op *op)
{
	settle_done(op, &((struct settle *)op)->one);
}

const struct op_kind settle_kind = {
	.name = "settle", .size = sizeof(struct settle), .flags = OP_INDEX, .prepare = prepare, .run = run,
	.done = done,
};
