/* Delivering an envelope, one that is there or one that is packed with the same operation; and waiting for its ack. */
#ifndef SPINE_ENGINE_SEND_H
#define SPINE_ENGINE_SEND_H

#include "core/delivery/delivery.h"
#include "engine/delivery/notices.h"
#include "engine/envelope/pack.h"

struct send {
	struct op op;
	/* In. */
	struct delivery_order order;
	struct packing *pack;		/* the envelope is packed first; NULL: it is there */
	struct str given_to;		/* p == NULL: whom the envelope is for */
	/* Out. */
	struct handoff_row row;
	struct str task;		/* of the envelope */
	struct notices notices;
	/* send.c's own: the order for what is packed; so many warnings there were before anything was sent. */
	struct delivery_order packed_order;
	size_t warnings;
};

extern const struct op_kind send_kind;

/* For others that send within their own operation: the envelope of the order must be there; whom it is for, where the
 * order does not say, and who sends it, is filled in. */
enum problem_code send_find_envelope(struct op *op, struct store_conn *c, struct delivery_order *order,
				     struct envelope *ret);

#endif
