#include "engine/board/about.h"

#include "core/envelope/unpack.h"
#include "engine/envelope/beginning.h"

enum store_status about_read(struct op *op, struct store_conn *c, uint64_t envelope, struct about *ret)
{
	struct problem problem = {0};
	struct envelope_row row;
	struct envelope e;
	struct arena arena;	/* envelopes may be large, and lists long */
	enum store_status status;

	arena_init(&arena);
	*ret = (struct about){0};
	status = store_envelope_get(c, op->space, envelope, &arena, &row);
	if (status == STORE_OK) {
		ret->task = arena_str(op->arena, row.task);
		if (unpack_skeleton(&row, &arena, &e, &problem) == P_OK)
			ret->summary = beginning_of(op->arena, e.summary);
	}
	arena_release(&arena);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum store_status about_all(struct op *op, struct store_conn *c, const struct handoff_row *rows, size_t count,
			    struct about_handoff **ret)
{
	struct about_handoff *list = arena_calloc(op->arena, count, sizeof(*list));
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		list[i].row = rows[i];
		status = about_read(op, c, rows[i].envelope, &list[i].about);
	}
	*ret = list;
	return status;
}
