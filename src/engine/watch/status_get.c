#include "engine/watch/status_get.h"

#include "engine/engine.h"

static enum problem_code read_status(struct op *op, struct store_conn *c)
{
	struct status_get *s = (struct status_get *)op;
	enum store_status status = store_info(c, &s->store);

	writer_stats(op->engine->writer, &s->writer);
	if (status == STORE_OK && op->space)
		status = store_space_count(c, op->space, &s->memories);
	return op_stored(op, status);
}

const struct op_kind status_get_kind = {.name = "status_get", .size = sizeof(struct status_get), .read = read_status};
