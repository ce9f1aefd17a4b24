#include "engine/delivery/settle.h"

#include "core/envelope/result.h"
#include "engine/engine.h"
#include "engine/waiting.h"

/* What becomes of the result depends on the envelope, which does not change: it is read here, and not by the writer. */
static enum problem_code prepare_complete(struct op *op, struct store_conn *c)
{
	struct settle *s = (struct settle *)op;

	if (s->result == NULL)
		return P_OK;
	return result_prepare(c, op->space, s->num, s->result, op->arena, &s->answer, &op->problem);
}

enum problem_code settle_within(struct op *op, struct store_conn *c)
{
	struct settle *s = (struct settle *)op;
	struct delivery d = waiting_delivery(op, c);
	enum problem_code code = delivery_settle(&d, s->num, &s->answer, &s->row, &op->problem);

	s->made = d.made;
	s->result_memory = d.result_memory;
	if (code != P_OK && code != P_HANDOFF_NOT_FOUND)
		op->problem.handoff = s->num;
	return code;
}

static void index_result(struct op *op)
{
	const struct settle *s = (const struct settle *)op;

	if (s->made.num)
		recall_put(op->engine->recall, &s->made);
}

const struct op_kind settle_kind = {.name = "settle", .size = sizeof(struct settle), .run = settle_within};
const struct op_kind settle_complete_kind = {
	.name = "complete", .size = sizeof(struct settle), .prepare = prepare_complete, .run = settle_within,
	.done = index_result,
};
