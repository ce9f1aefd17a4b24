/* Whom a memory had reached: the envelopes that refer to it, the agents that were given them, and those that opened it.
 *
 * Nothing is kept for this question, which is rare: every envelope of the space is looked at. So it is asked where
 * nobody else waits (workers.h). What cannot be told any more: envelopes that retention has taken, and who found the
 * memory by a search.
 */
#ifndef SPINE_ENGINE_REACH_H
#define SPINE_ENGINE_REACH_H

#include "engine/op.h"

enum { REACH_ENVELOPES_MAX = 1000, REACH_AGENTS_MAX = 1000 };

struct reach_envelope {
	uint64_t num;
	struct str task;
	struct str from;		/* p == NULL: unknown */
	struct str to;
	int64_t created_at_ms;
	int64_t memories;		/* how many of those that were asked for it refers to */
};

struct reach_agent {
	struct str name;
	int64_t delivered;		/* handoffs that it was given */
	int64_t waiting;		/* handoffs that it is still to be given */
	int64_t opened;			/* memories that it opened by their reference */
};

struct reach {
	struct reach_envelope *envelopes;	/* the first ones */
	size_t envelope_count;
	int64_t envelopes_total;
	struct reach_agent *agents;
	size_t agent_count;
	int64_t handoffs_pruned;	/* of the space: those are not known any more */
};

/* nums grow. */
enum problem_code reach_find(struct op *op, struct store_conn *c, const uint64_t *nums, size_t count,
			     struct reach *ret);

#endif
