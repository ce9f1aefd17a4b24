/* The part of an operation that waits for something to happen to handoffs; see waiting.h. */
#ifndef SPINE_ENGINE_WAIT_H
#define SPINE_ENGINE_WAIT_H

#include "base/list.h"
#include "engine/writer.h"

enum wait_kind {
	WAIT_AGENT,		/* something is queued for an agent; id: the agent's */
	WAIT_QUEUE,		/* the same, for those who only look, when the receivers are served; id: the agent's,
				 * or 0 for one that nobody knows yet */
	WAIT_HANDOFF,		/* a handoff was settled; id: waiting_id(space, number) */
	WAIT_ENVELOPE,		/* a handoff of an envelope was settled; id: waiting_id(space, number) */
};

/* What an operation that waits for an envelope must know of its handoffs. Counted once, when it begins to wait, and
 * kept up to date by each change: a broadcast to thousands is not read again with each completion. */
struct wait_tally {
	int64_t channel;		/* of those that were published to it */
	size_t count;
	size_t completed;
	size_t ended;			/* completed, parked or discarded */
	/* waiting.c's own. */
	bool is_counted;
	uint64_t rollbacks;		/* so many when it was counted: what came after them is not undone */
};

struct wait {
	enum wait_kind kind;
	int64_t id;
	struct wait_tally *tally;	/* WAIT_ENVELOPE: borrowed; NULL: none */
	bool is_over;			/* the run must answer now */
	bool is_again;			/* the run was committed before: it only looks */
	/* The writer's thread's own. */
	bool is_waiting;
	bool is_fresh;			/* began to wait in the transaction under way */
	bool is_served;			/* was run again in the transaction under way */
	bool is_refused;		/* and got an answer from the store that is its end, and nobody else's */
	struct list link;		/* of those with the same key */
	struct list step;		/* of those that the transaction under way has touched */
	/* Set by the owner's thread before the nudge. */
	bool is_cut;			/* is_over, because the server that it came through stops */
	/* The owner's thread's own. */
	bool is_nudged;			/* the writer has the nudge */
	bool is_finished;		/* the answer is there, and waits for no more than the nudge to come back */
	struct writer_job nudge;
};

#endif
