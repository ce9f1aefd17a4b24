/* The task that a request names, in its address or in Spine-Task. */
#ifndef SPINE_API_TASK_H
#define SPINE_API_TASK_H

#include "api/call.h"

/* Sets the problem, and returns its code. */
enum problem_code task_not_found(struct call *call);
/* The task that what is stored gets by the header must be there; one that is named in the body may be any. */
enum problem_code task_check(struct call *call, struct store_conn *c);
/* A page of its envelopes, those behind `after`; rows has room for one more than size. Where they are large the page
 * ends earlier. */
enum problem_code task_envelopes(struct call *call, struct store_conn *c, uint64_t after, size_t size,
				 struct envelope_row *rows, size_t *ret_count, bool *ret_more);

#endif
