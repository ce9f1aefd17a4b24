/* What operations about tasks share. */
#ifndef SPINE_ENGINE_TASK_H
#define SPINE_ENGINE_TASK_H

#include "core/envelope/envelope.h"
#include "engine/op.h"
#include "engine/page.h"

enum {
	TASK_PAGE_BYTES = 4 << 20,	/* so much of envelopes is read for a page */
	TASK_WAIVERS_MAX = 64,		/* of persons; the protocol names it */
};

/* There is no such task: sets the problem, and returns its code. */
enum problem_code task_unknown(struct op *op, struct str task);
/* The same of the one that whoever asks works on. */
enum problem_code task_of_caller_unknown(struct op *op);
/* The task that what is stored gets from whoever asks must be there; one that a memory names itself may be any. */
enum problem_code task_check(struct op *op, struct store_conn *c);
/* A page of its envelopes; rows has room for one more than its size. Where they are large the page ends earlier. */
enum problem_code task_page(struct op *op, struct store_conn *c, struct str task, const struct page *page,
			    struct envelope_row *rows, size_t *ret_count, bool *ret_more);

/* Is the parent of one of these not kept any more? */
enum problem_code task_pruned(struct op *op, struct store_conn *c, const struct envelope *list, size_t count,
			      bool *ret);

#endif
