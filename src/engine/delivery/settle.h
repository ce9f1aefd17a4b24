/* What a receiver answers: ack, nack, progress, complete, reject. (need is in need.h: it also reads.)
 *
 * An ack or a completion may hand the work on (then.h): the next envelope is packed by prepare, and stored and sent in
 * the transaction that settles. So the step is done or not done, wherever a crash falls. */
#ifndef SPINE_ENGINE_SETTLE_H
#define SPINE_ENGINE_SETTLE_H

#include "engine/delivery/then.h"

/* One answer; a part of every operation that settles. */
struct settling {
	/* In. */
	uint64_t num;			/* of the handoff */
	struct delivery_answer answer;
	const struct json *result;	/* that is to be remembered; NULL: none */
	struct then *then;		/* what is handed on; NULL: nothing */
	/* Out. */
	struct handoff_row row;
	bool is_repeated;		/* it had been carried out before */
	struct memory made;		/* of the result; num 0: none */
	uint64_t result_memory;
	struct handoff_row next;	/* what was handed on with it, now or before; num 0: nothing */
	/* Of one of several: it alone was refused, while it was prepared or in the end. Nothing was changed by it. */
	struct problem refusal;
	struct problem problem;
};

struct settle {
	struct op op;
	struct settling one;
};

extern const struct op_kind settle_kind;

/* Leases can be guessed. The key of an agent settles what that agent has, and nothing else: asked before anything about
 * the handoff is looked at, so that the refusal tells nothing of it, and again in run. What is not there is P_OK. */
enum problem_code settle_check_own(struct op *op, struct store_conn *c, uint64_t num);

/* For others that settle within their own operation. The first is for prepare. In run, settle_may_run comes first for
 * each of them: where what was prepared does not hold any more it sets op->prepares_again, and nothing is to be
 * written. */
enum problem_code settle_prepare(struct op *op, struct store_conn *c, struct settling *s);
enum problem_code settle_may_run(struct op *op, struct store_conn *c, struct settling *s);
/* A problem that is not the store's has changed nothing. */
enum problem_code settle_run(struct op *op, struct store_conn *c, struct settling *s);
/* After the commit; once is enough. */
void settle_done(struct op *op, struct settling *s);

#endif
