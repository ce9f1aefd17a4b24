#include "engine/space_settings.h"

#include "codec/json_member.h"
#include "core/watch/event.h"
#include "engine/engine.h"
#include "engine/watch/queues.h"
#include "engine/watch/watch.h"

enum { LOCKED_BYTES_MAX = 1 << 20 };

/* One that does not exist is as one with nothing in it. */
static enum problem_code read_space(struct op *op, struct store_conn *c)
{
	struct space_settings *s = (struct space_settings *)op;
	int64_t guard = 0;
	struct str locked = STR_NULL;
	struct json_error error;
	enum store_status status = STORE_OK;

	if (op->space)
		status = store_space_guard(c, op->space, &guard);
	if (op->space && status == STORE_OK)
		status = store_space_locked(c, op->space, op->arena, &locked);
	if (op->space && status == STORE_OK)
		status = store_space_count(c, op->space, &s->memories);
	s->guard = (enum redact_policy)guard;
	if (locked.p == NULL || !json_parse(locked, JSON_DEPTH_MAX, op->arena, &s->locked, &error))
		s->locked = (struct json){.type = JSON_ARRAY};
	return op_stored(op, status);
}

static enum problem_code set_space(struct op *op, struct store_conn *c)
{
	const struct space_settings given = *(struct space_settings *)op;
	bool sets_locked = given.locked.type == JSON_ARRAY;
	enum redact_policy guard = given.guard == SPACE_GUARD_UNSAID ? REDACT_OFF : given.guard;
	enum store_status status = STORE_OK;

	op->told = (struct event_row){.kind = EVENT_SPACE_SET};
	if (given.guard != SPACE_GUARD_UNSAID || !sets_locked)
		status = store_space_set_guard(c, op->space, guard);
	if (status == STORE_OK && sets_locked)
		status = store_space_set_locked(c, op->space,
						json_canonical(&given.locked, LOCKED_BYTES_MAX, op->arena));
	return status == STORE_OK ? read_space(op, c) : op_stored(op, status);
}

static struct space_listed listed(const struct space_row *row, const struct target_counts *counts)
{
	return (struct space_listed){*row, counts->queued + counts->leased + counts->working, counts->parked};
}

static enum problem_code list_spaces(struct op *op, struct store_conn *c)
{
	struct space_list *l = (struct space_list *)op;
	size_t max = l->page.size + 1, sum_count = 0;
	struct space_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	struct queues_sum *sums = NULL;
	struct writer_stats writer;
	enum store_status status;

	l->spaces = arena_calloc(op->arena, max, sizeof(*l->spaces));
	status = store_spaces(c, (int64_t)l->page.position, max, op->arena, rows, &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	l->page.next = l->count ? (uint64_t)rows[l->count - 1].id : 0;
	writer_stats(op->engine->writer, &writer);
	if (status == STORE_OK)
		status = queues_read(watch_queues(op->engine->watch), c, writer.commits, 0, op->arena, NULL, NULL,
				     &sums, &sum_count);
	for (size_t i = 0; status == STORE_OK && i < l->count; i++) {
		struct queues_sum sum = queues_sum_of(sums, sum_count, rows[i].id);

		l->spaces[i] = listed(&rows[i], &sum.counts);
	}
	return op_stored(op, status);
}

const struct op_kind space_get_kind = {.name = "space_get", .size = sizeof(struct space_settings), .read = read_space};
const struct op_kind space_set_kind = {
	.name = "space_set", .size = sizeof(struct space_settings), .flags = OP_CREATES, .run = set_space,
};
const struct op_kind space_list_kind = {
	.name = "space_list", .size = sizeof(struct space_list), .flags = OP_NO_SPACE, .read = list_spaces,
};
