/* Which servers share a database, and which of them owns which shard.
 *
 * Each server is a node: a row with a lease, by the database's clock, which a session of the node renews each second.
 * Each shard has an owner and an epoch. A node takes a shard by opening its writer, store_open("ADDRESS#SHARD@NODE"),
 * and gives it away here. What should be done is decided elsewhere (core/cluster); here is what is so.
 *
 * A session is used by one thread at a time. Where it breaks, the next call begins another.
 * No call waits longer than a few seconds for a database that does not answer. Only PostgreSQL has this.
 */
#ifndef SPINE_STORE_CLUSTER_H
#define SPINE_STORE_CLUSTER_H

#include "store/store.h"

/* How many shards a database has, fixed when its schema is made; how long a lease is. core/cluster has the same. */
enum { STORE_SHARDS = 64, STORE_LEASE_MS = 5000 };

/* A database has few nodes; rows beyond these are not read. */
enum { STORE_NODES_MAX = 1024 };
/* Standbys beyond these are not told. */
enum { STORE_STANDBYS_MAX = 16 };

struct store_cluster;

/* All of them are copied. */
struct cluster_self {
	struct str id;			/* another one at each start; letters, digits and '-', 64 bytes at most */
	struct str url;			/* where the other nodes reach it */
	struct str version;
	int64_t protocol;		/* what it knows, as a number; core/cluster/protocol.h */
	/* Within a renewal, as soon as readers are not kept waiting any longer for the database. May be NULL. */
	void (*on_silence)(void *ctx);
	void *ctx;
};

struct cluster_node_row {
	struct str id, url, version;
	int64_t protocol;
	bool is_live;			/* its lease has not ended */
	bool is_leaving;
	int64_t lease_left_ms;		/* 0: it has ended */
	int64_t started_at_ms;		/* by the database's clock */
	int64_t clock_offset_ms;	/* what the node said last */
	int64_t keys_version;		/* the same: it goes by the keys of that version, or of a later one */
};

struct cluster_shard_row {
	int shard;
	struct str owner;		/* a node's id; p == NULL: nobody */
	int64_t epoch;
	bool has_spaces;		/* also where all that is left is one that was removed and not purged yet */
};

struct cluster_view {
	struct cluster_node_row *nodes;	/* in the order of their ids, without those that are gone for minutes */
	size_t node_count;
	struct cluster_shard_row shards[STORE_SHARDS];	/* in their order */
	int64_t db_now_ms;		/* the database's clock when it answered */
	int64_t keys_version;		/* grows with each change of a key, and of whether one is needed */
	struct str secret;		/* 32 bytes; the nodes know each other by it */
	struct str needs;		/* p != NULL: this server is too old for the database, which is for this
					 * version or later. The lease was not renewed, and the rest is empty */
};

/* A standby of the database, as the primary knows it. */
struct cluster_standby_row {
	struct str name;		/* as it calls itself; another may have the same */
	struct str state, sync_state;	/* PostgreSQL's words, such as "streaming" and "sync" */
	int64_t lag_ms, lag_bytes;	/* so much is not replayed there yet; -1: not known */
};

/* Makes or migrates the schema; the node's row comes with the first renewal. Returns owned, or NULL and a sentence for
 * a person in *error. */
struct store_cluster *store_cluster_open(const char *address, const struct cluster_self *self, struct buf *error);
/* The lease lasts STORE_LEASE_MS from now on, and the view is as it is then: one round trip. A row
 * that somebody removed is made anew. The view's texts are put into the arena. A server that has become too old
 * meanwhile (view.needs) gets no lease. STORE_BUSY: nothing is known, it may work later. */
enum store_status store_cluster_renew(struct store_cluster *c, int64_t clock_offset_ms, struct arena *arena,
				      struct cluster_view *ret);
/* From the next renewal on the others hear that this node goes by the keys of that version. */
void store_cluster_know_keys(struct store_cluster *c, int64_t version);
/* The shard is nobody's, and its epoch is raised: what its writer here still does is refused. Waits for what it has
 * under way. STORE_NOT_FOUND: it was not ours. */
enum store_status store_cluster_give(struct store_cluster *c, int shard);
/* From here on the others may plan without this node. */
enum store_status store_cluster_leave(struct store_cluster *c);
/* The node's row goes, and the shards that it still has are nobody's. Where that does not work, its lease ends. */
void store_cluster_remove(struct store_cluster *c);
/* The same for a node that is known to be dead. A session that it left is waited for, or ended. */
void store_cluster_retire(struct store_cluster *c, struct str id);
/* Until another node has changed something (a shard, a key, a node that came, leaves or went), until there is something
 * to read at wake_fd (which is not read here; -1: nothing), or for so long. May return early. */
void store_cluster_wait(struct store_cluster *c, int wake_fd, int64_t timeout_ms);
/* By their names, of one name the furthest behind first. Texts are put into the arena. STORE_REFUSED: the user of the
 * database may not see them; STORE_BUSY: not known just now. */
enum store_status store_cluster_standbys(struct store_cluster *c, struct arena *arena,
					 struct cluster_standby_row ret[STORE_STANDBYS_MAX], size_t *ret_count);
/* Did the last renewal wait for a synchronous standby that is not there? The error names it. */
bool store_cluster_lacks_standby(const struct store_cluster *c);
/* What the last failure was, for the log. Borrowed until the next call. */
const char *store_cluster_error(const struct store_cluster *c);
/* NULL-safe. The row stays; see store_cluster_remove. */
void store_cluster_close(struct store_cluster *c);

/* --- Migrating by hand --- */

struct store_schema {
	int schema;
	int oldest;			/* what a server must know at least */
	char oldest_name[32];		/* and the version that knew it first */
};

/* How many servers live on the database; the first of them is appended as "node-1 at URL". 0 also where the database
 * cannot be asked, or has no store. */
int store_cluster_living(const char *address, struct buf *ret_first);
/* Brings the schema up to date, as a server does that starts. is_finish: also takes away what only older servers need,
 * which is refused while one of another version lives. One that was started or paused meanwhile gets no lease any more.
 * False and a sentence where it was not done. */
bool store_migrate(const char *address, bool is_finish, struct store_schema *ret, struct buf *error);

#endif
