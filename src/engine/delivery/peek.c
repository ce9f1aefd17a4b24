#include "engine/delivery/peek.h"

#include "engine/waiting.h"

/* On the writer's thread, so that nothing can be queued between looking and beginning to wait. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct peek *p = (struct peek *)op;
	struct handoff_row *row = arena_zalloc(op->arena, sizeof(*row));
	struct delivery d = waiting_delivery(op, c);
	enum problem_code code = delivery_peek(&d, p->agent, row, &op->problem);

	p->next = code == P_OK && row->num ? row : NULL;
	if (code == P_OK && row->num == 0 && !op->wait.is_over)
		waiting_for(op, WAIT_QUEUE, row->agent);
	return code;
}

const struct op_kind peek_kind = {.name = "peek", .size = sizeof(struct peek), .run = run};
