/* Operations that wait for something to happen to handoffs, and the clock of delivery. Everything here lives on the
 * writer's thread, within its transactions, so that nothing can happen between looking and beginning to wait.
 *
 * An operation whose run finds nothing to answer yet says what it waits for (waiting_for). When a later transaction
 * changes that, the operation is run again within that same transaction, before its commit: what was queued for a
 * waiting receiver is leased to it in one commit, and the answer leaves after it. Receivers of one agent are served in
 * the order of their coming.
 *
 *     owner's thread    a timer (the wait is over, or the server drains), or the client's going, nudges the writer
 *     writer's thread   the nudge runs the operation a last time, with op->wait.is_over
 *
 * Time: each transaction carries out what is due; waiting_wake_at lets the writer run one when nothing else happens.
 */
#ifndef SPINE_ENGINE_WAITING_H
#define SPINE_ENGINE_WAITING_H

#include "core/delivery/delivery.h"
#include "engine/op.h"

struct engine;
struct waiting;

/* c is only read, and not kept. */
struct waiting *waiting_new(struct engine *e, struct store_conn *c, uint64_t seed);
void waiting_free(struct waiting *w);

/* The parts of a transaction, on the writer's thread: before its operations, what is due is carried out; */
enum store_status waiting_begin(struct waiting *w, struct store_conn *c, int64_t now_ms);
/* before its commit, those who wait for what has happened are served; */
enum store_status waiting_serve(struct waiting *w, struct store_conn *c);
/* when it is over, those that were served are answered, or wait on. */
void waiting_after(struct waiting *w, bool committed);
/* When something is due; 0: nothing is. */
int64_t waiting_wake_at(const struct waiting *w);

/* A step of delivery on behalf of an operation, within its run. */
struct delivery waiting_delivery(struct op *op, struct store_conn *c);
/* The same for another job of the writer, within its run. */
struct delivery waiting_step(struct waiting *w, struct store_conn *c, struct arena *arena, int64_t space,
			     int64_t now_ms);
static inline int64_t waiting_id(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

/* Within a run: there is nothing to answer yet. It is run again when something with that key has happened. The caller
 * has looked at op->wait.is_over. */
void waiting_for(struct op *op, enum wait_kind kind, int64_t id);

/* Within a run that is going to wait for an envelope: does it know the tally, from its last run, or from another
 * operation that waits for the same? */
bool waiting_knows_tally(struct op *op, int64_t id, struct wait_tally *tally);
/* Within a run: the tally is counted, as it is in the transaction under way. */
void waiting_keep_tally(struct op *op, struct wait_tally *tally);
/* Adds so many (-1: takes one away) in that state. */
void wait_tally_add(struct wait_tally *tally, enum handoff_state state, int count);

/* On the writer's thread, before an operation is run (again): it does not wait any more. */
void waiting_forget(struct op *op);
/* On the owner's thread: the operation, which was answered, is going to be submitted once more. */
void waiting_again(struct op *op);
/* On the owner's thread, when the answer is there. False where it must be kept until the nudge is back: then op_finish
 * is called. */
bool waiting_may_finish(struct op *op);

/* How many calls wait for something to be queued for the agent now; any thread. */
size_t waiting_receivers(struct waiting *w, int64_t agent);
/* On the writer's thread: does somebody wait for something in the space? */
bool waiting_in_space(const struct waiting *w, int64_t space);
/* Within the transaction that prunes an envelope: those who wait for its handoffs are run again, and find it gone. */
void waiting_end_envelope(struct waiting *w, int64_t space, uint64_t envelope);
/* Within the run that removes a space: those who wait for something in it are run again, and find it gone. */
void waiting_end_space(struct waiting *w, int64_t space);

/* How many operations wait; any thread. */
size_t waiting_count(struct waiting *w);

#endif
