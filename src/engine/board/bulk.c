#include "engine/board/bulk.h"

#include "core/delivery/delivery.h"
#include "engine/delivery/unknown_agent.h"
#include "engine/said.h"
#include "engine/waiting.h"

#include <stdlib.h>
#include <string.h>

/* --- The actions --- */

struct action {
	const char *name;
	const struct op_kind *kind;
	unsigned states;		/* of what a filter finds; 0: handoffs are named */
	enum problem_code (*act)(struct delivery *d, const struct bulk *b, uint64_t num, struct handoff_row *ret,
				 struct problem *problem);
};

static enum problem_code redrive(struct delivery *d, const struct bulk *b, uint64_t num, struct handoff_row *ret,
				 struct problem *problem)
{
	return delivery_redrive(d, num, b->other, b->why_now, ret, problem);
}

static enum problem_code discard(struct delivery *d, const struct bulk *b, uint64_t num, struct handoff_row *ret,
				 struct problem *problem)
{
	return delivery_discard(d, num, EVENT_DISCARDED, b->why_now, ret, problem);
}

static enum problem_code restore(struct delivery *d, const struct bulk *b, uint64_t num, struct handoff_row *ret,
				 struct problem *problem)
{
	return delivery_restore(d, num, b->why_now, ret, problem);
}

static enum problem_code cancel(struct delivery *d, const struct bulk *b, uint64_t num, struct handoff_row *ret,
				struct problem *problem)
{
	return delivery_cancel(d, num, b->why_now, ret, problem);
}

static enum problem_code move(struct delivery *d, const struct bulk *b, uint64_t num, struct handoff_row *ret,
			      struct problem *problem)
{
	return delivery_hand_over(d, num, b->other, b->why_now, ret, problem);
}

enum { QUEUED_STATES = 1u << HANDOFF_QUEUED | 1u << HANDOFF_DELAYED };

static const struct action actions[] = {
	{"redrive", &bulk_redrive_kind, 1u << HANDOFF_PARKED, redrive},
	{"reroute", &bulk_reroute_kind, 1u << HANDOFF_PARKED, redrive},
	{"discard", &bulk_discard_kind, 1u << HANDOFF_PARKED, discard},
	{"restore", &bulk_restore_kind, 0, restore},
	{"cancel", &bulk_cancel_kind, QUEUED_STATES, cancel},
	{"move", &bulk_move_kind, QUEUED_STATES, move},
};

static const struct action *action_of(const struct op *op)
{
	const struct action *a = actions;

	while (a->kind != op->kind)
		a++;
	return a;
}

/* --- Which ones --- */

static int compare_nums(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Those that are named, each once and in order; *ret has room for the limit. */
static size_t list_named(struct bulk *b, uint64_t *ret, bool *ret_more)
{
	size_t count = 0;

	if (b->num_count)
		qsort(b->nums, b->num_count, sizeof(*b->nums), compare_nums);
	*ret_more = false;
	b->matched = 0;
	for (size_t i = 0; i < b->num_count; i++) {
		if (i && b->nums[i] == b->nums[i - 1])
			continue;
		b->matched++;
		if (b->nums[i] <= b->after)
			continue;
		if (count == (size_t)b->limit)
			*ret_more = true;
		else
			ret[count++] = b->nums[i];
	}
	return count;
}

static enum store_status list_found(struct bulk *b, struct store_conn *c, unsigned states, uint64_t *ret,
				    size_t *ret_count, bool *ret_more)
{
	size_t max = (size_t)b->limit + 1, count = 0;
	struct handoff_row *rows = arena_calloc(b->op.arena, max, sizeof(*rows));
	enum store_status status = STORE_OK;

	*ret_count = 0;
	*ret_more = false;
	b->matched = 0;
	b->filter.space = b->op.space;
	b->filter.states = states;
	if (b->to.p)
		status = store_agent_id(c, b->op.space, b->to, false, 0, &b->filter.agent);
	if (status == STORE_NOT_FOUND)
		return STORE_OK;
	if (status == STORE_OK)
		status = store_handoffs_count(c, &b->filter, &b->matched);
	if (status == STORE_OK)
		status = store_handoffs(c, &b->filter, b->after, max, b->op.arena, rows, &count);
	*ret_more = count == max;
	*ret_count = *ret_more ? count - 1 : count;
	for (size_t i = 0; i < *ret_count; i++)
		ret[i] = rows[i].num;
	return status;
}

/* --- Doing it --- */

static void refuse(struct bulk *b, uint64_t num, const struct problem *problem)
{
	b->refused[b->refused_count++] = (struct bulk_refused){
		num, problem_kind(problem->code)->name, arena_str(b->op.arena, str_of(problem->detail))};
}

/* What would be refused, as far as it can be known without doing it. */
static enum problem_code rehearse(struct delivery *d, const struct bulk *b, const struct action *a, uint64_t num,
				  struct handoff_row *ret, struct problem *problem)
{
	uint64_t other;
	int64_t agent;
	enum problem_code code;

	if (a->states == 0)
		return delivery_may_restore(d, num, ret, problem);
	code = a->act == move || a->act == cancel
		       ? delivery_get_queued(d, num, a->act == move ? "moved" : "cancelled", ret, problem)
		       : delivery_get_parked(d, num, ret, problem);
	if (code == P_OK && b->other.p &&
	    store_agent_id(d->conn, d->space, b->other, false, 0, &agent) == STORE_OK &&
	    store_handoff_of_agent(d->conn, d->space, ret->envelope, agent, num, &other) == STORE_OK)
		code = problem_set(problem, P_ALREADY_SENT, a->act == move ? "move_to" : "reroute_to",
				   "env-%llu was handed to %.*s already: that is ho-%llu",
				   (unsigned long long)ret->envelope, STR_ARG(b->other), (unsigned long long)other);
	return code;
}

static enum problem_code act(struct bulk *b, struct delivery *d, const struct action *a, uint64_t num,
			     struct handoff_row *ret, struct problem *problem)
{
	struct op *op = &b->op;
	enum problem_code code = P_OK;

	b->why_now = b->why;
	d->actor = b->by.p ? b->by : d->actor;
	if (b->why_is_guarded)
		code = said_put(op, d->conn, SAID_OF_HANDOFF, num, &b->clean, &b->why_now);
	if (code == P_OK && b->by_is_guarded)
		code = said_put(op, d->conn, SAID_OF_HANDOFF, num, &b->clean_by, &d->actor);
	if (code != P_OK) {
		*problem = op->problem;
		op->problem = (struct problem){0};
		return code;
	}
	return b->dry_run ? rehearse(d, b, a, num, ret, problem) : a->act(d, b, num, ret, problem);
}

static enum problem_code do_one(struct bulk *b, struct delivery *d, const struct action *a, uint64_t num)
{
	struct about_handoff *done = &b->done[b->done_count];
	struct problem problem = {0};
	enum problem_code code = act(b, d, a, num, &done->row, &problem);

	if (code == P_OK) {
		b->done_count++;
		return op_stored(&b->op, about_read(&b->op, d->conn, done->row.envelope, &done->about));
	}
	/* The store's own trouble ends all of it. */
	if (problem_store_status(code) != STORE_OK) {
		b->op.problem = problem;
		return code;
	}
	refuse(b, num, &problem);
	return P_OK;
}

static enum problem_code carry_out(struct op *op, struct store_conn *c)
{
	struct bulk *b = (struct bulk *)op;
	const struct action *a = action_of(op);
	struct delivery d = waiting_delivery(op, c);
	uint64_t *nums = arena_calloc(op->arena, (size_t)b->limit, sizeof(*nums));
	size_t count = 0;
	bool more = false;
	enum problem_code code = P_OK;

	b->action = a->name;
	b->matched = 0;
	b->next_after = 0;
	b->done_count = b->refused_count = 0;
	b->done = arena_calloc(op->arena, (size_t)b->limit, sizeof(*b->done));
	b->refused = arena_calloc(op->arena, (size_t)b->limit, sizeof(*b->refused));
	if (op->space == 0)
		return P_OK;
	if (b->nums || a->states == 0)
		count = list_named(b, nums, &more);
	else
		code = op_stored(op, list_found(b, c, a->states, nums, &count, &more));
	for (size_t i = 0; code == P_OK && i < count; i++)
		code = do_one(b, &d, a, nums[i]);
	if (more)
		b->next_after = nums[count - 1];
	return code;
}

/* A dry run only reads. */
static enum problem_code prepare(struct op *op, struct store_conn *c)
{
	struct bulk *b = (struct bulk *)op;
	const struct redact_answer said = {.text = b->why, .text_field = "why"};
	const struct redact_answer by = {.text = b->by, .text_field = "by"};

	if (b->other.p)
		unknown_agent_warn(op, c, op->kind == &bulk_move_kind ? "move_to" : "reroute_to", b->other);
	b->why_is_guarded = b->why.p && redact_answer(&said, op->arena, &b->clean);
	b->by_is_guarded = b->by.p && redact_answer(&by, op->arena, &b->clean_by);
	op->is_answered = b->dry_run;
	return b->dry_run ? carry_out(op, c) : P_OK;
}

#define BULK_KIND(action) \
	const struct op_kind bulk_##action##_kind = { \
		.name = "bulk_" #action, .size = sizeof(struct bulk), .prepare = prepare, .run = carry_out, \
	}

BULK_KIND(redrive);
BULK_KIND(reroute);
BULK_KIND(discard);
BULK_KIND(restore);
BULK_KIND(cancel);
BULK_KIND(move);
