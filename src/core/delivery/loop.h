/* Loops without progress. */
#ifndef SPINE_CORE_LOOP_H
#define SPINE_CORE_LOOP_H

#include "core/envelope/envelope.h"
#include "core/problem.h"

/* Work that goes back to an agent which had it before must bring something new: another instruction, another state of
 * the task, a new entry of the history, or a new memory, and that compared with every envelope of the path that the
 * agent got or sent. P_LOOP, naming the cycle, where the envelope e (a child of parent) does not. */
enum problem_code loop_check(struct store_conn *c, int64_t space, const struct envelope *e,
			     const struct envelope *parent, struct arena *arena, struct problem *problem);

#endif
