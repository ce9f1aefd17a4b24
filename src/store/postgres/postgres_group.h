/* Transactions of several shards that are committed as one.
 *
 * Each shard of a node has a writer. What a commit costs PostgreSQL (statements, a sync) is nearly the same for one
 * transaction and for eight. So a transaction that the database has not heard of yet is put together with those of
 * other writers: who comes first sends it alone, and those who are ready meanwhile go together, over the session of the
 * first of them, with one COMMIT.
 *
 * Each shard keeps its own fence and its own marker. Where a group is refused nothing of it has happened, and each of
 * its transactions is sent alone, over its own session: what was wrong with one is not the others' concern. Where
 * nobody knows whether a group was committed, each looks for its own marker.
 *
 * This file only says who goes with whom; postgres_transaction.c sends.
 */
#ifndef SPINE_STORE_POSTGRES_GROUP_H
#define SPINE_STORE_POSTGRES_GROUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct postgres_conn;

enum { GROUP_MAX = 64 };	/* transactions: as many as there are shards */

enum group_outcome {
	GROUP_REFUSED,		/* nothing of it happened */
	GROUP_COMMITTED,
	GROUP_UNKNOWN,
};

/* Of the writers of one process on one database. Zeroed but for what init makes. */
struct postgres_group {
	pthread_mutex_t lock;
	struct postgres_turn *first, **last;	/* who waits */
	bool is_busy;				/* somebody sends */
};

/* One transaction. On the stack of its writer's thread. */
struct postgres_turn {
	struct postgres_conn *conn;
	size_t bytes;
	struct postgres_turn *next;
	enum { TURN_WAITS, TURN_SENDS, TURN_IS_TOLD } state;
	enum group_outcome outcome;
	pthread_cond_t changed;
};

void postgres_group_init(struct postgres_group *g);
void postgres_group_release(struct postgres_group *g);

/* Waits. True: this one sends all of t, t->next and so on, and calls postgres_group_end. False: another one has sent
 * it, and t->outcome is what came of it. */
bool postgres_group_enter(struct postgres_group *g, struct postgres_turn *t);
/* Tells the others of the group, and lets the next one send. */
void postgres_group_end(struct postgres_group *g, struct postgres_turn *t, enum group_outcome outcome);

#endif
