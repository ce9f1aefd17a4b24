/* A database in memory, whose shards have owners: what PostgreSQL is to several servers, for the simulator and tests.
 *
 * "ram:NAME#12" is shard 12 of the database NAME, a store of its own. Servers are nodes: each has a lease, by the
 * clock of the database, which is set from outside. Who opens "ram:NAME#12@NODE" for writing takes the shard for that
 * node: it succeeds where nobody has it, the node itself has it, or the lease of whoever has it is over, while the
 * node's own lease holds. Taking raises the epoch of the shard, and ends the transaction under way. A writer of an
 * older epoch stays open, but each of its transactions is refused with STORE_BUSY.
 *
 * Nothing here is for several threads at a time.
 */
#ifndef SPINE_STORE_RAM_DATABASE_H
#define SPINE_STORE_RAM_DATABASE_H

#include "store/store.h"

enum { RAM_SHARDS = 64, RAM_NODES = 16, RAM_NODE_NAME = 32 };

struct ram_database;

/* The one of that name; it is gone with the last who has it open, stores included. Returns owned. */
struct ram_database *ram_database_open(const char *name);
void ram_database_close(struct ram_database *db);
/* Time goes on to there. */
void ram_database_set_time(struct ram_database *db, int64_t now_ms);
/* The node has a lease of so much from now on. One that is unknown is added. */
void ram_database_renew(struct ram_database *db, const char *node, int64_t lease_ms, bool is_leaving);
/* The node is gone, and its lease with it. */
void ram_database_remove(struct ram_database *db, const char *node);
/* The node gives the shard back; nothing where it has it not. */
void ram_database_give(struct ram_database *db, int shard, const char *node);

struct ram_node {
	char name[RAM_NODE_NAME];		/* empty: a free place */
	int64_t lease_until_ms;
	bool is_leaving;
};

/* Room for RAM_NODES; returns how many there are. */
size_t ram_database_nodes(const struct ram_database *db, struct ram_node *ret);
/* Empty: nobody. Borrowed until the shard is taken or given. */
const char *ram_database_owner(const struct ram_database *db, int shard);
int64_t ram_database_epoch(const struct ram_database *db, int shard);

#endif
