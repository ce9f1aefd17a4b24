/* What the files of the engine on PostgreSQL share.
 *
 * A store is one shard of a database: every table begins with the shard's number, every statement has it as $1, and ids
 * count within a shard. One connection writes a shard (the shard's row has its epoch, which only grows); what it writes
 * goes out in libpq's pipeline mode: nothing is waited for but answers that are needed, and the commit.
 *
 * An error ends a transaction of PostgreSQL as a whole, other than SQLite's. So a statement that may meet a row that is
 * there already says ON CONFLICT, and the number of rows it has changed is the answer.
 */
#ifndef SPINE_STORE_POSTGRES_INTERNAL_H
#define SPINE_STORE_POSTGRES_INTERNAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/postgres/postgres.h"
#include "store/postgres/postgres_pool.h"
#include "store/row_cache.h"
#include "store/verbs.h"

struct postgres_kept;

enum { POSTGRES_PARAMS = 40 };

/* The number of the schema. A database also says the lowest number that whoever uses it must know. */
enum { POSTGRES_SCHEMA_NOW = 2 };

struct postgres_conn {
	struct store_conn base;		/* first: the rest of the store knows only this */
	struct postgres_session *session;	/* NULL: it broke; of a reader: no statement is under way */
	struct postgres_pool *pool;	/* of a reader: where its sessions come from; of a node's: where its group is */
	char *url;
	int64_t shard;
	bool was_lost;			/* of a reader: its last statement lost its session */
	int64_t failed_at_ns;		/* when a session was last asked for in vain */
	/* Of the one that writes. */
	char *node;			/* takes the shard by the lease of this node; NULL: by a lock */
	int64_t epoch;
	int64_t first_epoch;		/* that of its first session; 0: there was none */
	int64_t batch;			/* the number of the transaction under way, or of the last one */
	bool in_transaction;
	bool is_begun;			/* the database knows of it: BEGIN was sent */
	bool is_broken;			/* the database has refused a part of it: it can only be rolled back */
	enum store_status why_broken;
	bool was_wrong;			/* what was kept, or guessed, was not so */
	size_t depth;			/* of savepoints */

	_Atomic int64_t waits;		/* how often it has waited for the database: tests look */
	bool in_snapshot;
	struct row_cache *cache;	/* the writer's, which its readers share; NULL: no rows are kept */
	bool is_direct;
	struct postgres_kept *kept;	/* of the one that writes */
	struct postgres_group *group;	/* of a node's: with whom it commits; NULL: alone */
	bool sends_group;		/* what is refused now may be another's */
};

static inline struct postgres_conn *postgres_of(const struct store_conn *c)
{
	return (struct postgres_conn *)(uintptr_t)c;
}

#define POSTGRES_VERB(kind, type, name, params, args) type postgres_##name params;
STORE_VERBS(POSTGRES_VERB)
#undef POSTGRES_VERB

/* --- postgres_query.c: statements --- */

/* A statement with its parameters. The values are borrowed until it has run. */
struct postgres_query {
	struct store_conn *c;
	const char *sql;
	bool is_apart;			/* it looks at nothing that is gathered (postgres_kept.h) */
	bool is_gathered;
	int count;
	Oid types[POSTGRES_PARAMS];
	const char *values[POSTGRES_PARAMS];
	int lengths[POSTGRES_PARAMS];
	uint64_t numbers[POSTGRES_PARAMS];	/* in the network's order: what values of integers point at */
};

/* The first parameter is the shard. What is gathered goes out before the statement. sql is static, and stands beside
 * its use. */
void postgres_query(struct postgres_query *q, struct store_conn *c, const char *sql);
/* The same of one that looks at no row of an event, an envelope, a task or a handoff, nor at what is
 * counted in a space: its bytes, its agents. */
void postgres_query_apart(struct postgres_query *q, struct store_conn *c, const char *sql);
/* Parameters from 2 on, each once, in any order. p == NULL: NULL. */
void postgres_bind_int(struct postgres_query *q, int index, int64_t value);
void postgres_bind_real(struct postgres_query *q, int index, double value);
void postgres_bind_str(struct postgres_query *q, int index, struct str value);
void postgres_bind_digest(struct postgres_query *q, int index, const uint8_t digest[32]);

/* A list of integers as the value of a parameter that is said to be one: $2::bigint[]. Borrowed from the arena. */
struct str postgres_ints(struct arena *arena, const int64_t *values, size_t count);

/* Runs a statement that gives no row. It is sent, and its answer is waited for at the latest by the commit: an error
 * is one of the transaction. */
enum store_status postgres_run(struct postgres_query *q);
/* Waits for the answer: STORE_NOT_FOUND where it changed nothing. */
enum store_status postgres_run_change(struct postgres_query *q);
/* The same with a key ($2) and one integer ($3). */
enum store_status postgres_run_on(struct store_conn *c, const char *sql, int64_t key, int64_t value);
/* Waits; how many rows it has changed. */
enum store_status postgres_run_count(struct postgres_query *q, int64_t *ret);

/* --- postgres_rows.c: what a statement gives --- */

struct postgres_row {
	const PGresult *result;
	int at;
};

int64_t postgres_column_int(const struct postgres_row *r, int column);		/* 0 for NULL */
double postgres_column_real(const struct postgres_row *r, int column);
bool postgres_column_is_null(const struct postgres_row *r, int column);
/* A copy of a text or of bytes; p == NULL for NULL. */
struct str postgres_column_str(const struct postgres_row *r, int column, struct arena *arena);
void postgres_column_digest(const struct postgres_row *r, int column, uint8_t ret[32]);

/* Reads a row. */
typedef void postgres_read(const struct postgres_row *r, struct arena *arena, void *ret);
/* The first row; STORE_NOT_FOUND where there is none. */
enum store_status postgres_read_one(struct postgres_query *q, postgres_read *read, struct arena *arena, void *ret);
/* Up to max rows of row_size. */
enum store_status postgres_read_list(struct postgres_query *q, postgres_read *read, struct arena *arena, void *ret,
				     size_t row_size, size_t max, size_t *ret_count);
/* Of a row of one text. */
void postgres_read_str(const struct postgres_row *r, struct arena *arena, void *ret);
/* One integer, 0 for NULL; and the number in a key. */
enum store_status postgres_read_int(struct postgres_query *q, int64_t *ret);
enum store_status postgres_read_num(struct postgres_query *q, uint64_t *ret);
/* All rows, for those who go through them by themselves: *ret is owned (PQclear), and there only with STORE_OK. */
enum store_status postgres_read_all(struct postgres_query *q, PGresult **ret);

/* --- postgres_conn.c: the session, and what stands around the verbs --- */

/* The session is there. */
enum store_status postgres_ready(struct store_conn *c);
/* A statement without parameters; false: the session broke. */
bool postgres_send_plain(struct postgres_conn *c, const char *sql);
/* The end of a part of the pipeline: an error reaches up to here. All answers are waited for. The last one is owned. */
enum store_status postgres_sync(struct postgres_conn *c, PGresult **ret);
/* The transaction can only be rolled back. The first reason counts, and is the answer. */
enum store_status postgres_broken(struct postgres_conn *c, enum store_status why);
/* The answer to the statement sent last; those to the ones before it are looked at, too. Owned; NULL: see the status.
 */
enum store_status postgres_answer(struct store_conn *c, PGresult **ret);
/* What an error of the database means; keeps its words for store_error(). */
enum store_status postgres_status(struct store_conn *c, const PGresult *result);
/* The session is over. */
enum store_status postgres_lost(struct store_conn *c);
/* A new session; false, and a sentence, where there is none to be had. */
bool postgres_connect(struct postgres_conn *c, struct buf *error);
void postgres_disconnect(struct postgres_conn *c);
/* A reader's session, once its statement is answered. */
void postgres_end_use(struct postgres_conn *c);
/* Of an address: without the shard. Returns owned. */
char *postgres_url(const char *address);

/* --- postgres_transaction.c --- */

/* The session is there, and knows of the transaction where there is one. */
enum store_status postgres_begin_now(struct store_conn *c);

/* --- postgres_owner.c: who writes the shard --- */

/* The shard is ours from here on, with an epoch of its own. */
bool postgres_take(struct postgres_conn *c, struct buf *error);
/* A node's connection, once somebody else has taken its shard: it answers STORE_BUSY to everything. */
void postgres_set_lost(struct postgres_conn *c);
/* Of a commit that was not answered: whether it counts. Waits until that is known. */
enum store_status postgres_settle(struct postgres_conn *c);

/* --- postgres_schema.c --- */

/* Makes the schema, or brings it up to POSTGRES_SCHEMA_NOW, under a lock: many may do so at once. */
bool postgres_schema_migrate(PGconn *db, struct buf *error);
/* Whether this binary is new enough for the database. */
bool postgres_schema_allows(PGconn *db, struct buf *error);
/* Changes nothing. *ret_version is 0 where there is none. */
bool postgres_schema_read(PGconn *db, int *ret_version, struct buf *error);

/* --- postgres_statistics.c --- */

/* Within a transaction that makes tables. */
bool postgres_statistics_make(PGconn *db, struct buf *error);

/* --- postgres_handoff.c: what a statement about handoffs reads, and the rows that it gives --- */

#define POSTGRES_HANDOFF POSTGRES_HANDOFF_FROM "handoff h "
#define POSTGRES_HANDOFF_FROM \
	"SELECT h.id, h.envelope, h.target, h.agent, h.channel, h.created_at, h.sender, h.state, h.priority, " \
	"h.attempt, h.max_attempts, h.leases, h.due, h.expires_at, h.ack_timeout, h.lease_ms, h.changed_at, " \
	"h.acked_at, h.flags, h.receiver, h.fallbacks, h.reason, h.progress, h.place, h.not_before, h.queue_timeout, " \
	"h.queue_until, h.passes, h.outage, h.marks, CASE WHEN h.channel > 0 THEN (SELECT n.name FROM channel n " \
	"WHERE n.shard = $1 AND n.id = h.channel) END, (SELECT n.name FROM agent n WHERE n.shard = $1 " \
	"AND n.id = h.target), CASE WHEN h.agent <> h.target THEN (SELECT n.name FROM agent n WHERE n.shard = $1 " \
	"AND n.id = h.agent) END FROM "
/* Where the reason is among these. */
enum { POSTGRES_HANDOFF_REASON = 21 };
postgres_read postgres_read_handoff;

int64_t postgres_handoff_flags(const struct handoff_row *h);
int64_t postgres_handoff_marks(const struct handoff_row *h);
enum store_status postgres_handoff_at(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret);
/* The handoffs of an envelope; more than there is room for are only counted, as one more. */
enum store_status postgres_handed(struct store_conn *c, int64_t envelope, struct row_handed *ret);
/* From the database. */
enum store_status postgres_handoff_read_last(struct store_conn *c, int64_t space, uint64_t *ret);
enum store_status postgres_event_read_last(struct store_conn *c, int64_t *ret);
enum store_status postgres_event_read_number(struct store_conn *c, int64_t space, int64_t *ret);
enum store_status postgres_space_read(struct store_conn *c, int64_t space, struct arena *arena, struct space_row *ret);
/* Also of an agent that was deleted. */
enum store_status postgres_agent_name(struct store_conn *c, int64_t agent, struct arena *arena, struct str *ret);
enum store_status postgres_channel_name(struct store_conn *c, int64_t channel, struct arena *arena, struct str *ret);
/* The handoff has left the table. */
void postgres_handoff_gone(struct store_conn *c, int64_t key);

/* --- postgres_cache.c: rows kept in memory (store/row_cache.h) --- */

/* Returns owned. */
struct row_cache *postgres_cache_new(void);
/* `seen` for what is read from now on: to be asked for before. */
uint64_t postgres_cache_seen(const struct store_conn *c);
bool postgres_cache_get(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name,
			struct arena *arena, void *ret);
void postgres_cache_put(struct store_conn *c, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
			const void *row);
/* Of the writer: whoever writes a row that may be kept says so. */
void postgres_cache_change(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name);
void postgres_cache_add(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name,
			const void *row);
void postgres_cache_commit(struct store_conn *c);
void postgres_cache_rollback(struct store_conn *c);
extern const struct store_embedded postgres_embedded;

/* --- Keys --- */

/* The key of a memory, an envelope or a handoff: its space above its number. */
static inline int64_t postgres_key(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

/* So that a key of 63 bits holds it above a number. */
enum { POSTGRES_SPACE_MAX = (1 << 23) - 1 };

/* The id of the next row of a table. One that was given is never given again, also where its row is gone. */
#define POSTGRES_NEXT_ID(table) \
	"(SELECT greatest(coalesce((SELECT max(id) FROM " table " WHERE shard = $1), 0), last) + 1 FROM sequence " \
	"WHERE shard = $1 AND name = '" table "')"
/* Before rows go. */
#define POSTGRES_KEEP_ID(table) \
	"UPDATE sequence SET last = greatest(last, coalesce((SELECT max(id) FROM " table " WHERE shard = $1), 0)) " \
	"WHERE shard = $1 AND name = '" table "'"

#endif
