#include "engine/delivery/handoff_list.h"

#include "core/delivery/delivery.h"
#include "engine/access/party.h"

/* It may have to go through all handoffs of the space, for few or none that it fits. */
static bool is_filtered(const struct handoff_list *l)
{
	const struct handoff_filter *f = &l->filter;

	return !f->envelope && !f->untold && (f->states || l->to.p || f->channel || f->from.p || f->task.p ||
					      f->reason.p || f->since_ms || f->before_ms);
}

static enum problem_code read_list(struct op *op, struct store_conn *c)
{
	struct handoff_list *l = (struct handoff_list *)op;
	size_t max = l->page.size + 1;
	struct party party;
	enum store_status status = party_init(&party, op->access, op->space, c);
	enum problem_code code = P_OK;

	if (is_filtered(l) && op_is_too_long(op, SIZE_MAX))
		return P_OK;
	l->filter.space = op->space;
	party_filter(&party, &l->filter);
	if (op->space && l->to.p && status == STORE_OK)
		status = store_agent_id(c, op->space, l->to, false, 0, &l->filter.agent);
	if (op->space == 0 || status == STORE_NOT_FOUND)
		return P_OK;
	l->rows = arena_calloc(op->arena, max, sizeof(*l->rows));
	if (status == STORE_OK)
		status = store_handoffs(c, &l->filter, l->page.position, max, op->arena, l->rows, &l->count);
	l->page.has_more = page_cut(&l->page, &l->count);
	l->page.next = l->count ? l->rows[l->count - 1].num : 0;
	for (size_t i = 0; status == STORE_OK && code == P_OK && i < l->count; i++)
		code = delivery_look(c, op->now_ms, op->arena, &l->rows[i], &op->problem);
	return code == P_OK ? op_stored(op, status) : code;
}

const struct op_kind handoff_list_kind = {.name = "handoffs", .size = sizeof(struct handoff_list), .read = read_list};
