#include "engine/memory/memory_store.h"

#include "core/watch/event.h"
#include "engine/access/party.h"
#include "engine/engine.h"
#include "engine/envelope/task.h"
#include "engine/memory/origin.h"
#include "engine/memory_numbers.h"

#include <math.h>

/* Once is enough where it is run again: what was filled in is given then. */
static void fill_in(struct op *op, struct memory_draft *d)
{
	d->origin = origin_of(op);
	d->num_min = memory_numbers_free_from(op->engine->memory_numbers, op->space);
	d->trust_max = access_cap(op->access, TRUST_SYSTEM);
	if (!(d->has & MEMORY_HAS_AGENT) && op->agent.p) {
		d->has |= MEMORY_HAS_AGENT;
		d->agent = op->agent;
	}
	if (!(d->has & MEMORY_HAS_TASK) && op->task.p) {
		d->has |= MEMORY_HAS_TASK;
		d->task = op->task;
		op->uses_task = true;
	}
}

/* Whether the agent of a key takes part in a task may take long to find out, so it is not for the writer. That the
 * task is there at all is asked in the run. */
static bool asks_for_part(const struct op *op)
{
	return op->task.p && access_party(op->access).p;
}

static enum problem_code check_part(struct op *op, struct store_conn *c, const struct memory_draft *drafts,
				    size_t count)
{
	size_t i = 0;

	while (i < count && (drafts[i].has & MEMORY_HAS_TASK))
		i++;
	return i < count ? party_check_task_of_caller(op, c) : P_OK;
}

/* The memory that m takes the place of has an event of its own: it is changed, too. */
static enum problem_code tell_superseded(struct op *op, struct store_conn *c, const struct memory *m)
{
	char id[MEMORY_ID_SIZE];
	struct event_row event = {
		.space = op->space, .at_ms = op->now_ms, .kind = EVENT_MEMORY_SUPERSEDED, .memory = m->supersedes,
		.actor = op->agent.p ? op->agent : m->agent, .access_key = op_access_key(op),
	};

	if (m->supersedes == 0)
		return P_OK;
	memory_id_format(m->num, 0, id);
	event.note = arena_printf(op->arena, "by %s", id);
	return op_stored(op, store_event_add(c, &event));
}

/* What a new memory supersedes is not recalled any more. */
static void index_made(struct op *op, const struct memory *m)
{
	recall_put(op->engine->recall, m);
	if (m->supersedes)
		recall_set_superseded(op->engine->recall, op->space, m->supersedes);
}

/* --- One --- */

static enum problem_code prepare_store(struct op *op, struct store_conn *c)
{
	return check_part(op, c, &((struct memory_store *)op)->draft, 1);
}

static enum problem_code run_store(struct op *op, struct store_conn *c)
{
	struct memory_store *s = (struct memory_store *)op;
	enum problem_code code;

	fill_in(op, &s->draft);
	code = task_check(op, c);
	if (code == P_OK)
		code = memory_create(c, op->space, &s->draft, op->now_ms, &s->made, &op->problem);
	if (code != P_OK)
		return code;
	memory_numbers_given(op->engine->memory_numbers, op->space, s->made.num);
	op->shown = &s->made.num;
	op->shown_count = 1;
	/* Who wrote it, where the operation itself does not say. */
	op->told = (struct event_row){.kind = EVENT_MEMORY_STORED, .memory = s->made.num, .actor = s->made.agent};
	return tell_superseded(op, c, &s->made);
}

static void done_store(struct op *op)
{
	index_made(op, &((struct memory_store *)op)->made);
}

/* --- Many --- */

/* A later memory of the batch may supersede an earlier one. */
static void mark_superseded(struct memory_batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		for (size_t j = 0; b->made[i].supersedes && j < i; j++)
			if (b->made[j].num == b->made[i].supersedes)
				b->made[j].superseded_by = b->made[i].num;
}

/* One event for all of them, and one for each that was superseded. */
static enum problem_code tell_batch(struct op *op, struct store_conn *c, const struct memory_batch *b)
{
	const struct memory *m = b->made;
	struct event_row *told = &op->told;
	char first[MEMORY_ID_SIZE], last[MEMORY_ID_SIZE];
	enum problem_code code = P_OK;

	*told = (struct event_row){.kind = EVENT_MEMORY_STORED, .memory = m->num, .actor = m->agent};
	memory_id_format(m->num, 0, first);
	memory_id_format(m[b->count - 1].num, 0, last);
	if (b->count > 1)
		told->note = arena_printf(op->arena, "%zu memories, %s to %s", b->count, first, last);
	told->value[0] = told->value[1] = (double)m->num;
	for (size_t i = 1; i < b->count; i++) {
		told->value[0] = fmin(told->value[0], (double)m[i].num);
		told->value[1] = fmax(told->value[1], (double)m[i].num);
	}
	for (size_t i = 0; code == P_OK && i < b->count; i++)
		code = tell_superseded(op, c, &m[i]);
	return code;
}

static enum problem_code prepare_batch(struct op *op, struct store_conn *c)
{
	const struct memory_batch *b = (const struct memory_batch *)op;

	return check_part(op, c, b->drafts, b->count);
}

static enum problem_code run_batch(struct op *op, struct store_conn *c)
{
	struct memory_batch *b = (struct memory_batch *)op;
	enum problem_code code;

	b->made = arena_calloc(op->arena, b->count, sizeof(*b->made));
	b->nums = arena_calloc(op->arena, b->count, sizeof(*b->nums));
	for (size_t i = 0; i < b->count; i++)
		fill_in(op, &b->drafts[i]);
	code = task_check(op, c);
	if (code == P_OK)
		code = memory_create_many(c, op->space, b->drafts, b->count, op->now_ms, b->made, &op->problem);
	if (code != P_OK)
		return code;
	mark_superseded(b);
	for (size_t i = 0; i < b->count; i++) {
		b->nums[i] = b->made[i].num;
		memory_numbers_given(op->engine->memory_numbers, op->space, b->nums[i]);
	}
	op->shown = b->nums;
	op->shown_count = b->count;
	return tell_batch(op, c, b);
}

static void done_batch(struct op *op)
{
	const struct memory_batch *b = (const struct memory_batch *)op;

	for (size_t i = 0; i < b->count; i++)
		index_made(op, &b->made[i]);
}

const struct op_kind memory_store_kind = {
	.name = "memory_store", .size = sizeof(struct memory_store),
	.flags = OP_CREATES | OP_ADDS_MEMORIES | OP_ADDS_BYTES,
	.prepare = prepare_store, .prepares = asks_for_part, .run = run_store, .done = done_store,
};
const struct op_kind memory_batch_kind = {
	.name = "memory_batch", .size = sizeof(struct memory_batch),
	.flags = OP_CREATES | OP_ADDS_MEMORIES | OP_ADDS_BYTES,
	.prepare = prepare_batch, .prepares = asks_for_part, .run = run_batch, .done = done_batch,
};
