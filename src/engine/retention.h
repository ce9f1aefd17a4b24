/* What is old goes: ended handoffs with their envelopes and results, events, spaces in which nothing was written for as
 * long as they are kept, and the rows of spaces that were deleted.
 *
 * All on the writer's thread, in steps: each is a small part of some transaction, and is followed by a pause, so that
 * nobody who writes waits for long. Nothing is kept between steps that a restart would miss: what is old is found
 * again, and a space that was deleted has a row until nothing is left of it.
 *
 * A sweep goes through all spaces that keep something for a time: first those that are idle go, then the handoffs of
 * the others, in the order of their numbers, then the events, in the order of their ids. The next sweep begins when it
 * may find something.
 */
#ifndef SPINE_ENGINE_RETENTION_H
#define SPINE_ENGINE_RETENTION_H

#include "store/store.h"

struct engine;
struct retention;

/* c is only read, and not kept. */
struct retention *retention_new(struct engine *e, struct store_conn *c);
/* NULL-safe. */
void retention_free(struct retention *r);

/* The parts of a transaction: takes a step, where it is time for one; */
enum store_status retention_begin(struct retention *r, struct store_conn *c, int64_t now_ms);
/* before its commit, behind what the others did in it, a space that is idle goes; */
enum store_status retention_before_commit(struct retention *r, struct store_conn *c);
/* when it is over, the index is told, or the step will be taken again; */
void retention_after(struct retention *r, bool committed);
/* when all others have looked at it, a space that went is forgotten. */
void retention_end(struct retention *r);
/* When the next step is to be taken; 0: not before something changes. */
int64_t retention_wake_at(const struct retention *r);
/* On the writer's thread: how long something is kept was changed, or a space was deleted. */
void retention_wake(struct retention *r);

/* Before the start: somebody follows the events from a cursor (the id of the last that it is done with), which it sets
 * from any thread. No event is pruned before all who follow are done with it. Borrowed until the engine has stopped. */
struct retention_hold {
	_Atomic(int64_t) done_with;
	struct retention_hold *next;	/* retention.c's own */
};

void retention_hold(struct retention *r, struct retention_hold *hold);

#endif
