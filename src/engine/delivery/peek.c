#include "engine/delivery/peek.h"

#include "engine/waiting.h"

/* On the writer's thread, so that nothing can be queued between looking and beginning to wait. */
static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct peek *p = (struct peek *)op;
	struct handoff_row *row = arena_zalloc(op->arena, sizeof(*row));
	enum store_status status = STORE_NOT_FOUND;
	int64_t agent = 0;

	p->next = NULL;
	if (op->space)
		status = store_agent_id(c, op->space, p->agent, false, op->now_ms, &agent);
	if (status == STORE_OK)
		status = store_handoff_next(c, agent, op->arena, row);
	if (status == STORE_OK)
		p->next = row;
	else if (status == STORE_NOT_FOUND && !op->wait.is_over)
		waiting_for(op, WAIT_QUEUE, agent);
	return status == STORE_NOT_FOUND ? P_OK : op_stored(op, status);
}

const struct op_kind peek_kind = {.name = "peek", .size = sizeof(struct peek), .run = run};
