/* Handing on: what is packed and sent in the transaction that settles a handoff, so that no crash can fall between
 * finishing a step and handing it on. A part of settling; see settle.h. */
#ifndef SPINE_ENGINE_THEN_H
#define SPINE_ENGINE_THEN_H

#include "core/delivery/delivery.h"
#include "core/envelope/result.h"
#include "engine/envelope/pack.h"

struct then {
	/* In. */
	struct delivery_order order;
	struct packing *pack;		/* the envelope is packed first; NULL: order.envelope is there */
	uint8_t digest[32];		/* of what was asked for */
	/* Out. */
	struct handoff_row row;
	/* then.c's own. */
	bool is_prepared;
	struct coming_result coming;
	struct delivery_plan plan;
};

/* On the owner's thread: packs what follows the handoff h. Its envelope is the parent, unless another is named. */
enum problem_code then_prepare(struct op *op, struct store_conn *c, struct then *t, const struct handoff_row *h);

/* In the transaction, before h is settled: may it be sent? What is refused here has changed nothing. */
enum problem_code then_plan(struct op *op, struct store_conn *c, struct then *t);
/* Sends it, and notes that with h. An envelope that was sent before (plan.is_again) may still be refused, and nothing
 * has changed then; a new one is not. */
enum problem_code then_carry_out(struct op *op, struct store_conn *c, struct then *t, const struct handoff_row *h);

#endif
