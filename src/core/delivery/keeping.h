/* What may go when its time is over. */
#ifndef SPINE_CORE_KEEPING_H
#define SPINE_CORE_KEEPING_H

#include "core/problem.h"

/* The states in which a handoff has ended: 1 << enum handoff_state. Acked without a work lease is one: the work is the
 * receiver's since then, and many never complete. Parked is none: a person must decide. Nor is anything open. */
#define KEEPING_ENDED \
	(1u << HANDOFF_ACKED | 1u << HANDOFF_COMPLETED | 1u << HANDOFF_EXPIRED | 1u << HANDOFF_DISCARDED)

/* A handoff is one whose history somebody still needs. */
bool keeping_is_live(enum handoff_state state);
/* How long, by the space's word or else the server's. 0: for ever. */
int64_t keeping_time_ms(int64_t of_space, int64_t of_server);
/* The same for a space itself, which goes when nothing was written in it for so long. Requests that name no space are
 * about `default`: it stays. */
int64_t keeping_idle_ms(struct str space_name, int64_t of_space, int64_t of_server);
bool keeping_space_stays(struct str space_name);
/* What is from before this moment may go; INT64_MIN: nothing. */
int64_t keeping_until_ms(int64_t keep_ms, int64_t now_ms);
/* A result's memory does not go with its handoff: somebody has made it their own. */
bool keeping_result_stays(const struct memory *m);

/* The problem of a handoff that is not there: P_HANDOFF_PRUNED where it was. space may be 0. */
enum problem_code handoff_missing(struct store_conn *c, int64_t space, uint64_t num, struct problem *problem);

#endif
