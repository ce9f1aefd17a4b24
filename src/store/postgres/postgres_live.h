/* The handoffs of a shard that are open, due or untold, in its owner's memory: who is next, what is due,
 * and whether a sender has something to be told.
 *
 * Only the order is kept here, some 150 bytes for each; the rows are elsewhere. What a transaction changes is noted, as
 * it was, so that a rollback, or one to a savepoint, plays it back. Of one thread: that of the writer.
 */
#ifndef SPINE_STORE_POSTGRES_LIVE_H
#define SPINE_STORE_POSTGRES_LIVE_H

#include "store/records.h"

struct postgres_live;

/* What the order is made of. */
struct live_row {
	int64_t key;			/* of the handoff: its space above its number */
	int64_t agent;
	enum handoff_state state;
	int priority;
	uint64_t place;
	int64_t due_ms;			/* 0: never */
	bool passes;
	uint64_t untold;		/* stands for the sender who is to be told that it was parked; 0: nobody is */
};

/* Returns owned. */
struct postgres_live *postgres_live_new(void);
/* NULL-safe. */
void postgres_live_free(struct postgres_live *l);
size_t postgres_live_count(const struct postgres_live *l);

/* This is how the handoff stands now. One that is neither open nor due nor untold leaves. */
void postgres_live_put(struct postgres_live *l, const struct live_row *row);
/* It is gone. */
void postgres_live_drop(struct postgres_live *l, int64_t key);

/* Of those queued for the agent, or of these only those that pass: the key of the one whose turn it is; 0: none. */
int64_t postgres_live_next(const struct postgres_live *l, int64_t agent, bool passing);
/* The key of the one that is due first, and when; 0: none. */
int64_t postgres_live_due(const struct postgres_live *l, int64_t *ret_ms);

/* How many are to be told to the sender. */
size_t postgres_live_untold(const struct postgres_live *l, uint64_t sender);

/* The place in the notes, to go back to; and what was noted counts from here on. */
size_t postgres_live_mark(const struct postgres_live *l);
void postgres_live_undo(struct postgres_live *l, size_t mark);
void postgres_live_keep(struct postgres_live *l);

#endif
