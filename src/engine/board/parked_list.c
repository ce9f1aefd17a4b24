#include "engine/board/parked_list.h"

#include "engine/access/party.h"

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct parked_list *l = (struct parked_list *)op;
	size_t max = l->page.size + 1;
	struct handoff_row *rows;
	struct party party;
	enum store_status status = party_init(&party, op->access, op->space, c);

	l->filter.space = op->space;
	l->filter.states = 1u << HANDOFF_PARKED;
	party_filter(&party, &l->filter);
	if (op->space && l->to.p && status == STORE_OK)
		status = store_agent_id(c, op->space, l->to, false, 0, &l->filter.agent);
	if (op->space == 0 || status == STORE_NOT_FOUND)
		return P_OK;
	rows = arena_calloc(op->arena, max, sizeof(*rows));
	if (status == STORE_OK)
		status = store_handoffs(c, &l->filter, l->page.position, max, op->arena, rows, &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	l->page.next = l->count ? rows[l->count - 1].num : 0;
	if (status == STORE_OK)
		status = about_all(op, c, rows, l->count, &l->rows);
	if (status == STORE_OK)
		status = store_handoffs_count(c, &l->filter, &l->total);
	return op_stored(op, status);
}

const struct op_kind parked_list_kind = {
	.name = "parked", .size = sizeof(struct parked_list), .flags = OP_ASIDE, .read = read_list,
};
