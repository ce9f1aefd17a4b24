/* The guard over what a webhook answers: its reason, its gaps and its result reach the next agent and the board. */
#ifndef SPINE_OUTBOUND_WEBHOOK_GUARD_H
#define SPINE_OUTBOUND_WEBHOOK_GUARD_H

#include "core/delivery/delivery.h"

/* Blanks credentials in *answer and *remember (see webhook_post_answer) where the policy of the envelope or of the
 * space says so. Where it says to refuse them, an ack becomes a nack that says where one is; of a reason they are
 * blanked, as nobody is there to give another. c: for reading. */
void webhook_guard(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
		   struct delivery_answer *answer, const struct json **remember);

#endif
