#include "engine/delivery/reset.h"

#include "engine/waiting.h"

static enum problem_code run(struct op *op, struct store_conn *c)
{
	struct delivery d = waiting_delivery(op, c);

	return breaker_reset(&d, ((struct reset *)op)->agent, &op->problem);
}

const struct op_kind reset_kind = {.name = "reset", .size = sizeof(struct reset), .run = run};
