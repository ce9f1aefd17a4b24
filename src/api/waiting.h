/* Calls that wait for something to happen to handoffs, and the clock of delivery. Everything here lives on the writer's
 * thread, in the writer's hooks, so that nothing can happen between looking and beginning to wait.
 *
 * A call whose write finds nothing to answer yet says what it waits for (waiting_for). When a later transaction changes
 * that, the write of the call is run again within that same transaction, before its commit: what was queued for a
 * waiting receiver is leased to it in one commit, and the reply leaves after it. Receivers of one agent are served in
 * the order of their coming.
 *
 *     on the HTTP thread   a timer (the wait is over, or the server drains) or the client's going nudges the
 *                          writer, and
 *     on the writer's      the nudge runs the call a last time, with call->wait.is_over, or drops it where the
 *                          client has gone.
 *
 * Time: `begin` carries out what is due in each transaction; wake_at_ms lets the writer run one when nothing else
 * happens.
 */
#ifndef SPINE_API_WAITING_H
#define SPINE_API_WAITING_H

#include "api/api.h"
#include "base/list.h"
#include "core/delivery/delivery.h"
#include "store/writer.h"

struct call;

enum wait_kind {
	WAIT_AGENT,		/* something is queued for an agent; id: the agent's */
	WAIT_HANDOFF,		/* a handoff was settled; id: waiting_id(space, number) */
	WAIT_ENVELOPE,		/* a handoff of an envelope was settled; id: waiting_id(space, number) */
};

/* What a call that waits for an envelope must know of its handoffs. Counted once, when it begins to wait, and kept up
 * to date by each change: a broadcast to thousands is not read again with each completion. */
struct wait_tally {
	int64_t channel;		/* of those that were published to it */
	size_t count;
	size_t completed;
	size_t ended;			/* completed, parked or discarded */
	/* waiting.c's own. */
	bool is_counted;
	uint64_t rollbacks;		/* so many when it was counted: what came after them is not undone */
};

/* A call's part. */
struct wait {
	enum wait_kind kind;
	int64_t id;
	struct wait_tally *tally;	/* WAIT_ENVELOPE: borrowed; NULL: none */
	int64_t until_ms;
	bool is_over;			/* the write must answer now */
	bool is_again;			/* the write has run before, and was committed: it only looks */
	/* The writer's thread's own. */
	bool is_waiting;
	bool is_fresh;			/* began to wait in the transaction under way */
	bool is_served;			/* was run again in the transaction under way */
	bool is_refused;		/* and got an answer from the store that is its end, and nobody else's */
	struct list link;		/* of those with the same key */
	struct list step;		/* of those that the transaction under way has touched */
	/* The HTTP thread's own. */
	bool is_nudged;			/* the writer has the nudge */
	bool is_finished;		/* the answer is there, and waits for no more than the nudge to come back */
	struct writer_job nudge;
};

struct waiting;

/* c is only read, and not kept. */
struct waiting *waiting_new(struct api *api, struct store_conn *c, uint64_t seed);
void waiting_free(struct waiting *w);
/* Who is told of every commit, on the writer's thread, with the ids of the agents that it has queued something for.
 * waiting_listen is called once, before the writer runs. */
struct commit_listener {
	void (*committed)(void *ctx, const int64_t *agents, size_t count);
	void *ctx;
};
void waiting_listen(struct waiting *w, struct commit_listener listener);
/* For the writer. */
struct writer_hooks waiting_hooks(struct waiting *w);

/* A step of delivery on behalf of a call, within its write. */
struct delivery waiting_delivery(struct call *call, struct store_conn *c);
/* The same for another job of the writer, within its run. */
struct delivery waiting_step(struct waiting *w, struct store_conn *c, struct arena *arena, int64_t space,
			     int64_t now_ms);
static inline int64_t waiting_id(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

/* Within a call's write: there is nothing to answer yet. The write is run again when something with that key has
 * happened. The caller has looked at call->wait.is_over. */
void waiting_for(struct call *call, enum wait_kind kind, int64_t id);

/* Within a call's write, before it waits for an envelope: does it know the tally, from its last run, or from another
 * call that waits for the same? */
bool waiting_knows_tally(struct call *call, int64_t id, struct wait_tally *tally);
/* Within a call's write: the tally is counted, as it is in the transaction under way. */
void waiting_keep_tally(struct call *call, struct wait_tally *tally);
/* Adds so many (-1: takes one away) in that state. */
void wait_tally_add(struct wait_tally *tally, enum handoff_state state, int count);

/* On the writer's thread, before a call's write is run (again): it does not wait any more. */
void waiting_forget(struct call *call);
/* On the HTTP thread, before a call that may wait is submitted: sets the timer and looks after the client. */
void waiting_prepare(struct call *call, int64_t wait_ms);
/* On the HTTP thread: the call is answered now, whether something has happened or not. */
void waiting_nudge(struct call *call);
/* On the HTTP thread: the call, which was answered, is going to be submitted once more. */
void waiting_again(struct call *call);
/* On the HTTP thread, when the call's answer is there. False where it must be kept until the nudge is back: then finish
 * is called. */
bool waiting_may_finish(struct call *call);

/* How many calls wait; any thread. */
size_t waiting_count(struct waiting *w);

#endif
