/* Faults on demand, for the simulator and the tests. c is a connection to a store in memory, its writer. */
#ifndef SPINE_STORE_RAM_FAULTS_H
#define SPINE_STORE_RAM_FAULTS_H

#include "store/store.h"

/* The after-th verb from now on, and `more` verbs behind it, return status. STORE_FULL comes from verbs that write
 * only. */
void ram_fail(struct store_conn *c, enum store_status status, uint64_t after, uint64_t more);
/* The next commit returns STORE_UNKNOWN; is_kept: although it got to the disk. */
void ram_fail_commit(struct store_conn *c, bool is_kept);
/* The connection breaks in the next commit, which got to the database or not; the marker settles it. */
void ram_break_commit(struct store_conn *c, bool is_kept);
/* c does not reach the database, or does again. */
void ram_cut(struct store_conn *c, bool is_cut);
/* The database ends the transaction under way, as one that has waited too long for its client. Of any connection. */
void ram_end_idle(struct store_conn *c);
/* Of any connection: is a transaction under way; is it this writer's? */
bool ram_is_writing(const struct store_conn *c);
bool ram_is_own(const struct store_conn *writer);
int64_t ram_epoch(const struct store_conn *writer);

/* Somebody who looks on. All are optional, and are called on the writer's thread: they may take their time. */
struct ram_hooks {
	void (*verb)(void *ctx, struct store_conn *c);		/* before each verb of a transaction, and its commit */
	void (*committed)(void *ctx, struct store_conn *c);	/* it is there; the writer does not know yet */
	void (*settling)(void *ctx, struct store_conn *c);	/* the answer to a commit has not come */
	void *ctx;
};

void ram_set_hooks(struct store_conn *c, const struct ram_hooks *hooks);

/* What is missing, to see that a checker finds it. */
enum ram_broken {
	RAM_NO_FENCE = 1,		/* every epoch may write */
	RAM_SAME_EPOCH = 2,		/* taking a shard does not raise the epoch */
	RAM_NO_MARKER = 4,		/* a commit of unknown outcome is guessed to be lost */
};

void ram_set_broken(struct store_conn *c, unsigned broken);
/* The writer takes its shard once more, as if it were new: with the caches that stand on it. */
bool ram_retake(struct store_conn *writer);

/* No fault that is still to come will, and a connection that has failed works again. */
void ram_heal(struct store_conn *c);

#endif
