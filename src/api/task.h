/* The task that a request names in its address, for routes of the old way; see engine/task.h. */
#ifndef SPINE_API_TASK_H
#define SPINE_API_TASK_H

#include "api/call.h"
#include "engine/task.h"

static inline enum problem_code task_not_found(struct call *call)
{
	return task_unknown(call->op, call->params[0]);
}

static inline enum problem_code task_envelopes(struct call *call, struct store_conn *c, uint64_t after, size_t size,
					       struct envelope_row *rows, size_t *ret_count, bool *ret_more)
{
	struct page page = {.size = size, .position = after};

	return task_page(call->op, c, call->params[0], &page, rows, ret_count, ret_more);
}

#endif
