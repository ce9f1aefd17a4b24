#include "engine/delivery/handoff_list.h"

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct handoff_list *l = (struct handoff_list *)op;
	size_t max = l->page.size + 1;
	enum store_status status = STORE_OK;

	l->filter.space = op->space;
	if (op->space && l->to.p)
		status = store_agent_id(c, op->space, l->to, false, 0, &l->filter.agent);
	if (op->space == 0 || status == STORE_NOT_FOUND)
		return P_OK;
	l->rows = arena_calloc(op->arena, max, sizeof(*l->rows));
	if (status == STORE_OK)
		status = store_handoffs(c, &l->filter, l->page.position, max, op->arena, l->rows, &l->count);
	return op_stored(op, status);
}

const struct op_kind handoff_list_kind = {.name = "handoffs", .size = sizeof(struct handoff_list), .read = read_list};
