#include "engine/delivery/decide.h"

#include "core/envelope/unpack.h"
#include "engine/delivery/unknown_agent.h"
#include "engine/envelope/over_budget.h"
#include "engine/said.h"
#include "engine/waiting.h"

struct delivery decide_delivery(struct op *op, struct store_conn *c)
{
	const struct decide *in = (const struct decide *)op;
	struct delivery d = waiting_delivery(op, c);

	if (in->by.p)
		d.actor = in->by;
	else if (d.actor.p == NULL && op->access)
		d.actor = access_actor(op->access, op->arena);
	return d;
}

static enum problem_code prepare_park(struct op *op, struct store_conn *c)
{
	struct decide *d = (struct decide *)op;
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = unpack_find(c, op->space, d->num, "id", op->arena, &row, &op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, &e, &op->problem);
	if (code != P_OK)
		return code;
	d->to = e.to;
	d->from = e.from;
	code = said_guard(op, c, SAID_OF_ENVELOPE, d->num, "reason", &d->why);
	return code == P_OK ? said_guard(op, c, SAID_OF_ENVELOPE, d->num, "by", &d->by) : code;
}

static enum problem_code prepare_why(struct op *op, struct store_conn *c)
{
	struct decide *d = (struct decide *)op;
	enum problem_code code = said_guard(op, c, SAID_OF_HANDOFF, d->num, "why", &d->why);

	return code == P_OK ? said_guard(op, c, SAID_OF_HANDOFF, d->num, "by", &d->by) : code;
}

static enum problem_code write_park(struct op *op, struct store_conn *c)
{
	struct decide *in = (struct decide *)op;
	struct delivery d = decide_delivery(op, c);
	struct delivery_parking order = {
		.envelope = in->num, .to = in->to, .from = in->from, .reason = in->why,
		.only_of = op->access ? op->access->agent : STR_NULL,
	};

	return delivery_park(&d, &order, &in->row, &op->problem);
}

/* Beside the guard only to warn: whether it can be done is known when it is written. */
static enum problem_code prepare_reroute(struct op *op, struct store_conn *c)
{
	struct decide *d = (struct decide *)op;
	struct problem problem = {0};
	struct envelope_row row;
	struct handoff_row h;
	struct envelope e;

	if (op->space && store_handoff_get(c, op->space, d->num, op->arena, &h) == STORE_OK &&
	    store_envelope_get(c, op->space, h.envelope, op->arena, &row) == STORE_OK &&
	    unpack_skeleton(&row, op->arena, &e, &problem) == P_OK)
		over_budget_warn(op, c, &e, "to", &d->to, 1);
	unknown_agent_warn(op, c, "to", d->to);
	return prepare_why(op, c);
}

static enum problem_code write_redrive(struct op *op, struct store_conn *c)
{
	struct decide *in = (struct decide *)op;
	struct delivery d = decide_delivery(op, c);

	return delivery_redrive(&d, in->num, in->to, in->why, &in->row, &op->problem);
}

static enum problem_code write_discard(struct op *op, struct store_conn *c)
{
	struct decide *in = (struct decide *)op;
	struct delivery d = decide_delivery(op, c);

	return delivery_discard(&d, in->num, EVENT_DISCARDED, in->why, &in->row, &op->problem);
}

static enum problem_code write_cancel(struct op *op, struct store_conn *c)
{
	struct decide *in = (struct decide *)op;
	struct delivery d = decide_delivery(op, c);
	struct handoff_row h;

	/* The key of an agent takes back what that agent has sent. */
	if (op->access && op->space && store_handoff_get(c, op->space, in->num, op->arena, &h) == STORE_OK &&
	    access_check_agent(op->access, "from", h.from, &op->problem) != P_OK)
		return op->problem.code;
	return delivery_cancel(&d, in->num, in->why, &in->row, &op->problem);
}

static enum problem_code write_move(struct op *op, struct store_conn *c)
{
	struct decide *in = (struct decide *)op;
	struct delivery d = decide_delivery(op, c);

	return delivery_hand_over(&d, in->num, in->to, in->why, &in->row, &op->problem);
}

static enum problem_code write_restore(struct op *op, struct store_conn *c)
{
	struct decide *in = (struct decide *)op;
	struct delivery d = decide_delivery(op, c);

	return delivery_restore(&d, in->num, in->why, &in->row, &op->problem);
}

const struct op_kind decide_park_kind = {
	.name = "park", .size = sizeof(struct decide),
	.flags = OP_CREATES | OP_ADDS_HANDOFFS | OP_ADDS_AGENTS, .prepare = prepare_park, .run = write_park,
};
const struct op_kind decide_redrive_kind = {
	.name = "redrive", .size = sizeof(struct decide), .prepare = prepare_why, .run = write_redrive,
};
const struct op_kind decide_reroute_kind = {
	.name = "reroute", .size = sizeof(struct decide), .prepare = prepare_reroute, .run = write_redrive,
};
const struct op_kind decide_discard_kind = {
	.name = "discard", .size = sizeof(struct decide), .prepare = prepare_why, .run = write_discard,
};
const struct op_kind decide_cancel_kind = {
	.name = "cancel", .size = sizeof(struct decide), .prepare = prepare_why, .run = write_cancel,
};
const struct op_kind decide_move_kind = {
	.name = "move", .size = sizeof(struct decide), .prepare = prepare_reroute, .run = write_move,
};
const struct op_kind decide_restore_kind = {
	.name = "restore", .size = sizeof(struct decide), .prepare = prepare_why, .run = write_restore,
};
