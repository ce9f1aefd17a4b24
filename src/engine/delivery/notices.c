#include "engine/delivery/notices.h"

#include <string.h>

enum problem_code notices_take(struct op *op, struct store_conn *c, struct notices *ret)
{
	struct handoff_filter filter = {.space = op->space, .from = op->agent, .untold = true};
	struct handoff_row rows[NOTICES_MAX];
	enum store_status status = STORE_OK;

	*ret = (struct notices){0};
	/* They are told once, so not to who may not read them. */
	if (op->agent.p == NULL || op->space == 0 || !access_has(op->access, ACCESS_READ))
		return P_OK;
	status = store_handoffs(c, &filter, 0, NOTICES_MAX, op->arena, rows, &ret->count);
	for (size_t i = 0; status == STORE_OK && i < ret->count; i++) {
		rows[i].is_told = true;
		status = store_handoff_put(c, &rows[i]);
	}
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	if (ret->count) {
		ret->rows = arena_calloc(op->arena, ret->count, sizeof(*ret->rows));
		memcpy(ret->rows, rows, ret->count * sizeof(*rows));
	}
	return P_OK;
}
