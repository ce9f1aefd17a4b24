#include "engine/watch/status_get.h"

#include "core/delivery/keeping.h"
#include "engine/engine.h"
#include "engine/growth.h"

/* Numbers of handoffs are dense: the highest says how many there were. */
static enum store_status read_space(struct status_get *s, struct store_conn *c)
{
	const struct space_keep *server = &s->op.engine->config.keep;
	struct handoff_filter filter = {.space = s->op.space, .newest_first = true};
	struct space_row row = {.keep = {KEEP_AS_SERVER, KEEP_AS_SERVER, KEEP_AS_SERVER}};
	enum store_status status = STORE_OK;
	struct handoff_row last = {0};
	size_t count = 0;

	if (s->op.space)
		status = store_space_get(c, s->op.space, s->op.arena, &row);
	if (status == STORE_OK && s->op.space)
		status = store_handoffs(c, &filter, 0, 1, s->op.arena, &last, &count);
	s->memories = row.memories;
	s->handoffs_pruned = row.handoffs_pruned;
	s->handoffs = (int64_t)last.num > row.handoffs_pruned ? (int64_t)last.num - row.handoffs_pruned : 0;
	s->keeps = (struct space_keep){
		.events_ms = keeping_time_ms(row.keep.events_ms, server->events_ms),
		.handoffs_ms = keeping_time_ms(row.keep.handoffs_ms, server->handoffs_ms),
	};
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static enum problem_code read_status(struct op *op, struct store_conn *c)
{
	struct status_get *s = (struct status_get *)op;
	enum store_status status = store_info(c, &s->store);

	writer_stats(op->engine->writer, &s->writer);
	growth_since(op->engine->growth, op->now_ms, &s->grown_bytes, &s->grown_since_ms);
	s->grown_bytes = s->grown_since_ms ? s->store.bytes - s->grown_bytes : 0;
	if (status == STORE_OK)
		status = read_space(s, c);
	return op_stored(op, status);
}

const struct op_kind status_get_kind = {.name = "status_get", .size = sizeof(struct status_get), .read = read_status};
