/* What a receiver answers: ack, nack, progress, complete, reject. (need is in need.h: it also reads.) */
#ifndef SPINE_ENGINE_SETTLE_H
#define SPINE_ENGINE_SETTLE_H

#include "core/delivery/delivery.h"
#include "engine/op.h"

struct settle {
	struct op op;
	/* In. */
	uint64_t num;			/* of the handoff */
	struct delivery_answer answer;
	const struct json *result;	/* that is to be remembered; NULL: none */
	/* Out. */
	struct handoff_row row;
	struct memory made;		/* of the result; num 0: none */
	uint64_t result_memory;
};

extern const struct op_kind settle_kind;
/* The same for a verb that has a result. */
extern const struct op_kind settle_complete_kind;

/* For others that settle within their own run. */
enum problem_code settle_within(struct op *op, struct store_conn *c);

#endif
