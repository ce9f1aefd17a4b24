#include "engine/delivery/then.h"

#include "engine/delivery/send.h"
#include "engine/delivery/unknown_agent.h"
#include "engine/envelope/over_budget.h"
#include "engine/waiting.h"

static enum problem_code prepare_pack(struct op *op, struct store_conn *c, struct then *t, const struct handoff_row *h)
{
	struct packing *p = t->pack;
	enum problem_code code;

	if (p->parent == 0 && !p->new_root)
		p->parent = h->envelope;
	if (p->draft.from.p == NULL)
		p->draft.from = h->agent_name;
	/* It is written behind the settling, so that the run cannot begin anew. */
	p->looks_up_task = true;
	p->coming = p->parent == h->envelope && t->coming.told.handoff ? &t->coming : NULL;
	code = pack_prepare(op, c, p);
	if (code != P_OK)
		return code;
	t->order.envelope = p->envelope.num;
	t->order.is_new = true;
	t->order.from = p->draft.from;
	t->order.to = t->order.to.p ? t->order.to : p->draft.to;
	over_budget_warn(op, c, &p->envelope, "then.to", &t->order.to, 1);
	unknown_agent_warn(op, c, "then.to", t->order.to);
	return P_OK;
}

enum problem_code then_prepare(struct op *op, struct store_conn *c, struct then *t, const struct handoff_row *h)
{
	struct envelope e;
	enum problem_code code;

	if (t->pack) {
		code = prepare_pack(op, c, t, h);
	} else {
		code = send_find_envelope(op, c, &t->order, &e);
		if (code == P_OK && op->agent.p == NULL)
			t->order.from = h->agent_name;
		if (code == P_OK) {
			over_budget_warn(op, c, &e, "then.to", &t->order.to, 1);
			unknown_agent_warn(op, c, "then.to", t->order.to);
		}
	}
	t->is_prepared = code == P_OK;
	return code;
}

enum problem_code then_plan(struct op *op, struct store_conn *c, struct then *t)
{
	struct delivery d = waiting_delivery(op, c);

	/* That it may not go on is written down: it is the whole answer. */
	if (t->pack && t->pack->refusal.code != P_OK)
		return pack_write(op, c, t->pack);
	return delivery_plan(&d, &t->order, &t->plan, &op->problem);
}

enum problem_code then_carry_out(struct op *op, struct store_conn *c, struct then *t, const struct handoff_row *h)
{
	struct delivery d = waiting_delivery(op, c);
	enum problem_code code = t->pack ? pack_write(op, c, t->pack) : P_OK;

	if (code == P_OK && t->pack)
		code = op_tell(op, c);
	/* The settling may have closed the breaker that it would have waited behind. */
	if (code == P_OK && !t->plan.is_again)
		code = delivery_plan(&d, &t->order, &t->plan, &op->problem);
	if (code == P_OK)
		code = delivery_carry_out(&d, &t->plan, &t->row, &op->problem);
	return code == P_OK ? op_stored(op, store_result_hand_on(c, h->space, h->num, t->row.num, t->digest)) : code;
}
