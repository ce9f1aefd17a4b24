/* What the files of the SQLite engine share. */
#ifndef SPINE_STORE_SQLITE_INTERNAL_H
#define SPINE_STORE_SQLITE_INTERNAL_H

#include "store/row_cache.h"
#include "store/sqlite/sqlite.h"
#include "store/verbs.h"

#include <sqlite3.h>
#include <sys/types.h>

/* What the transaction has added to a space, and its row does not say yet: that is brought up to date once, not for
 * each memory. */
struct sqlite_tally {
	int64_t space;		/* 0: none */
	int64_t next_memory;
	int64_t added;
	int64_t bytes;
	int64_t agents;
};

/* The highest number of the events of a space; space 0: not known. By the space's rest. */
enum { SQLITE_NUMBERS = 64 };

struct sqlite_numbers {
	int64_t space, last;
};

/* Events of the transaction that are not written yet; see sqlite_event.c. */
enum { SQLITE_EVENTS_MAX = 8 };

struct sqlite_gathered {
	struct event_row rows[SQLITE_EVENTS_MAX];
	size_t count;
	struct arena texts;
};

struct row_cache;

/* A read transaction is begun with the first statement that needs it: most rows come from the cache. */
enum sqlite_snapshot { SNAPSHOT_NONE, SNAPSHOT_WANTED, SNAPSHOT_OPEN };

/* Room for the prepared statements of a connection; there are about 150. */
enum { SQLITE_STATEMENTS = 256 };

struct sqlite_prepared {
	const char *sql;	/* NULL: the place is free */
	sqlite3_stmt *s;
};

/* sqlite_lock.c: descriptors that hold locks; -1: none. */
struct sqlite_lock {
	int file;
	int directory;
	int database;
};

#define SQLITE_UNLOCKED ((struct sqlite_lock){-1, -1, -1})

struct sqlite_conn {
	struct store_conn base;
	sqlite3 *db;
	struct row_cache *cache;		/* the writer's own, of readers borrowed; NULL: none */
	bool owns_cache;
	bool is_direct;				/* see store_set_direct() */
	enum sqlite_snapshot snapshot;
	uint64_t snapshot_seen;
	struct sqlite_prepared statements[SQLITE_STATEMENTS];	/* prepared on first use */
	size_t statement_count;
	struct sqlite_tally tally;		/* empty outside of a transaction */
	struct sqlite_gathered gathered;	/* the same */
	struct sqlite_lock lock;		/* the writer's */
	int64_t last_space;			/* of which last_handoff is the highest number; 0: not known */
	uint64_t last_handoff;
	int64_t last_event;			/* the highest id; 0: not known */
	struct sqlite_numbers numbers[SQLITE_NUMBERS];
	int64_t new_envelope;			/* the key of the last one that the transaction has stored, unless it
						 * was handed to somebody since; 0: none */
	bool new_is_root;
	bool forgot;				/* the log holds text that was forgotten */
};

/* The connection as this engine made it. */
static inline struct sqlite_conn *sqlite_of(const struct store_conn *c)
{
	return (struct sqlite_conn *)(uintptr_t)c;
}

#define SQLITE_VERB(kind, type, name, params, args) type sqlite_##name params;
STORE_VERBS(SQLITE_VERB)
#undef SQLITE_VERB

/* sqlite_conn.c */

/* The statement, prepared and reset; its bindings are those of the call before. sql is static, and stands beside its
 * use. Where it cannot be prepared c->error says why, and NULL is returned: SQLite lets that be bound, and those who
 * run it or read from it return STORE_FAILED. */
sqlite3_stmt *sqlite_statement(struct store_conn *c, const char *sql);
/* Runs a statement that returns no row and resets it. */
enum store_status sqlite_run(struct store_conn *c, sqlite3_stmt *s);
/* The same; STORE_NOT_FOUND where it changed nothing. */
enum store_status sqlite_run_change(struct store_conn *c, sqlite3_stmt *s);
/* The same with a key and one integer. */
enum store_status sqlite_run_on(struct store_conn *c, const char *sql, int64_t key, int64_t value);
/* Of the statement that ran last: whether it changed a row, and the id of the row that it made. */
bool sqlite_changed(struct store_conn *c);
int64_t sqlite_last_id(struct store_conn *c);

/* Reads the row that the statement stands on. */
typedef void sqlite_read(sqlite3_stmt *s, struct arena *arena, void *ret);
/* Reads the one row that a statement gives, and resets it; STORE_NOT_FOUND where it gives none. */
enum store_status sqlite_read_one(struct store_conn *c, sqlite3_stmt *s, sqlite_read *read, struct arena *arena,
				  void *ret);
/* Reads up to max rows of row_size, and resets it. */
enum store_status sqlite_read_list(struct store_conn *c, sqlite3_stmt *s, sqlite_read *read, struct arena *arena,
				   void *ret, size_t row_size, size_t max, size_t *ret_count);
/* Of a row of one text. */
void sqlite_read_str(sqlite3_stmt *s, struct arena *arena, void *ret);
/* One integer, 0 for NULL; and the number in a key. */
enum store_status sqlite_read_int(struct store_conn *c, sqlite3_stmt *s, int64_t *ret);
enum store_status sqlite_read_num(struct store_conn *c, sqlite3_stmt *s, uint64_t *ret);
/* The status for SQLite's result code; keeps the message for store_error(). */
enum store_status sqlite_status(struct store_conn *c, int rc);
/* Why the last call failed: which page does not match, or SQLite's own words. */
void sqlite_damage_put(sqlite3 *db, struct buf *out);
void sqlite_bind_str(sqlite3_stmt *s, int index, struct str value);
/* A copy of a text or blob column; p == NULL for NULL. */
struct str sqlite_column_str(sqlite3_stmt *s, int column, struct arena *arena);
/* A number that decides what may be done; -1 where something else stands there, which SQLite would read as 0. */
int64_t sqlite_column_ruling(sqlite3_stmt *s, int column);

/* sqlite_cache.c: the rows that are kept in memory; see store/row_cache.h. */
void sqlite_share(struct store_conn *reader, const struct store_conn *writer);
void sqlite_set_cache(struct store_conn *writer, size_t max_bytes);
size_t sqlite_cache_bytes(const struct store_conn *writer);
void sqlite_set_direct(struct store_conn *c, bool is_direct);
struct row_cache *sqlite_cache_new(void);
/* To be asked before a row is read, and told when it is kept. */
uint64_t sqlite_cache_seen(const struct store_conn *c);
bool sqlite_cache_get(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name,
		      struct arena *arena, void *ret);
void sqlite_cache_put(struct store_conn *c, const struct row_shape *shape, uint64_t seen, int64_t id,
		      struct str name, const void *row);
/* Of the writer: this row is another one from the end of the transaction on. */
void sqlite_cache_change(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name);
/* The same, and it is this one. */
void sqlite_cache_add(struct store_conn *c, const struct row_shape *shape, int64_t id, const void *row);
void sqlite_cache_commit(struct store_conn *c);
void sqlite_cache_rollback(struct store_conn *c);

/* sqlite_agent.c: the name of an agent; p == NULL where there is none. */
enum store_status sqlite_agent_name(struct store_conn *c, int64_t agent, struct arena *arena, struct str *ret);

/* sqlite_handoff.c: what a statement about handoffs reads, the rows that it gives, and one by its key. */
#define SQLITE_HANDOFF \
	"SELECT h.id, h.envelope, h.target, h.agent, h.channel, h.created_at, h.sender, h.state, h.priority, " \
	"h.attempt, h.max_attempts, h.leases, h.due, h.expires_at, h.ack_timeout, h.lease_ms, h.changed_at, " \
	"h.acked_at, h.flags, h.receiver, h.fallbacks, h.reason, h.progress, CASE WHEN h.channel = 0 THEN NULL " \
	"ELSE (SELECT name FROM channel WHERE id = h.channel) END, h.place, h.not_before, h.queue_timeout, " \
	"h.queue_until, h.passes, h.outage, h.marks FROM handoff h "
enum store_status sqlite_handoff_list(struct store_conn *c, sqlite3_stmt *s, size_t max, struct arena *arena,
				      struct handoff_row *ret, size_t *ret_count);
enum store_status sqlite_handoff_at(struct store_conn *c, int64_t key, struct arena *arena, struct handoff_row *ret);

/* sqlite_snapshot.c: begins the read transaction that was asked for. */
void sqlite_snapshot_open(struct store_conn *c);

/* sqlite_memory.c: writes the tally to its row, before anybody looks at that and before what is to be kept ends. A
 * rollback empties it instead. */
enum store_status sqlite_tally_flush(struct store_conn *c);
/* So many bytes and agents come to the space, or go. */
enum store_status sqlite_tally_add(struct store_conn *c, int64_t space, int64_t bytes, int64_t agents);

/* sqlite_event.c: the same with events that were gathered; and without writing them. */
enum store_status sqlite_events_flush(struct store_conn *c);
void sqlite_events_drop(struct store_conn *c);

/* sqlite_checkpoint.c: from here on the connection moves what was committed from the log to the database file by
 * itself. */
void sqlite_checkpoint_start(struct store_conn *c);
/* Ends transactions and checkpoints: what is on the disk is not known any more. */
void sqlite_fail(struct store_conn *c);

/* sqlite_vfs.c: the name of the layer that every connection reaches the disk through. */
const char *sqlite_vfs(void);
/* sqlite_file.c: the database and its log, as that layer opens them. real is the system's own layer. */
bool sqlite_file_is_ours(int flags);
int sqlite_file_open(sqlite3_vfs *real, const char *name, sqlite3_file *file, int flags, int *ret_flags);
int sqlite_file_size(void);
/* What such a file says to sqlite3_file_control(), of the database file. (SQLite keeps those below 100 to itself.) */
enum {
	SQLITE_VFS_IS_SEALED = 0x4d53,	/* int: the pages of the file have seals */
	SQLITE_VFS_DAMAGE,		/* struct sqlite_damage: what the last SQLITE_IOERR_DATA was about */
};

struct sqlite_damage {
	bool is_log;
	uint32_t number;	/* of the page, or of the frame in the log; 0: none */
};

/* sqlite_seal.c: the checksum of a page. number is the page's, from 1. */
enum { SQLITE_PAGE_BYTES = 4096, SQLITE_SEAL_BYTES = 8, SQLITE_LOG_HEADER = 32, SQLITE_FRAME_HEADER = 24 };
uint64_t sqlite_seal_of(const void *data, size_t len, uint64_t number);
void sqlite_seal_put(unsigned char page[SQLITE_PAGE_BYTES], uint32_t number);
bool sqlite_seal_holds(const unsigned char page[SQLITE_PAGE_BYTES], uint32_t number);
/* The log's own: a number of its format; its header; a frame, with the checksum of the frame before it, or of the
 * header. is_big is the lowest bit of the header's first number. */
uint32_t sqlite_log_number(const unsigned char *p);
bool sqlite_log_header_holds(const unsigned char header[SQLITE_LOG_HEADER]);
bool sqlite_log_frame_holds(bool is_big, const unsigned char before[8], const unsigned char head[SQLITE_FRAME_HEADER],
			    const unsigned char page[SQLITE_PAGE_BYTES]);

/* sqlite_extent.c: how much of the log was synced. path is that of the database or of its log.
 * A descriptor of the note, -1 where it cannot be made; to be closed by the caller. */
int sqlite_extent_open(const char *path);
bool sqlite_extent_note(int fd, const unsigned char salt[8], uint64_t frames);
/* There is nothing in the log that the database does not have; durable. Of a path: also where there is no note. */
bool sqlite_extent_clear(int fd);
bool sqlite_extent_clear_of(const char *path);
/* Whether the log has everything that was noted, and the database is there; else why not. seen is told of each page in
 * the log, maybe more than once. */
typedef void sqlite_log_seen(void *ctx, uint32_t page);
bool sqlite_extent_holds(const char *path, sqlite_log_seen *seen, void *ctx, struct buf *ret_why);
/* False where there is a note that cannot be read. */
bool sqlite_extent_is_readable(const char *path);

/* sqlite_scan.c: tells of each page of the file, used or free, that does not match its seal, and what is on it. */
typedef void sqlite_found(void *ctx, const char *problem);
void sqlite_scan(sqlite3 *db, sqlite_found *found, void *ctx);

/* sqlite_convert.c: gives the pages of a store of an older form their seals. The caller holds the lock. */
bool sqlite_convert(const char *path, struct buf *error);

/* sqlite_open.c: to be called before anything else of SQLite is. */
void sqlite_configure(void);
/* The path of the database file in a data directory. Returns owned. */
char *sqlite_path(const char *data_dir, const char *suffix);
/* Makes data_dir and those above it, 0700. */
bool sqlite_make_directory(const char *data_dir, struct buf *error);

/* sqlite_disk.c: what the system does; errno says why not. */
int sqlite_disk_open(const char *path, int flags, mode_t mode);
bool sqlite_disk_truncate(int fd, off_t size);
/* All of it, however many calls that takes; reading ends at the end of the file. */
ssize_t sqlite_disk_read(int fd, void *ret, size_t len, off_t at);
bool sqlite_disk_write(int fd, const void *data, size_t len, off_t at);
/* Copied and synced; the name is not. */
bool sqlite_disk_copy(const char *from, const char *to);
/* Make sure that a file, or a new name in the directory of path, survives a power loss. */
bool sqlite_sync_file(const char *path, int flags);
bool sqlite_sync_directory_of(const char *path);

/* sqlite_lock.c: take the lock of data_dir; then, where it has one, that of its database. False, and a sentence, where
 * somebody else holds it. To be released when the database is closed. */
bool sqlite_lock_take(struct sqlite_lock *lock, const char *data_dir, struct buf *error);
bool sqlite_lock_database(struct sqlite_lock *lock, const char *data_dir, struct buf *error);
void sqlite_lock_release(struct sqlite_lock *lock);

/* sqlite_whole.c: see store/embedded.h. */
enum store_status sqlite_backup(struct store_conn *c, const char *file, struct buf *error);
enum store_status sqlite_check(struct store_conn *c, struct store_check *ret, struct buf *ret_problems);

/* sqlite_replace.c: copies file to the place of the database at path, whose lock is held. One that is there is refused
 * unless replace is true; then it is kept under the name that is appended to *ret_kept. */
bool sqlite_replace(const char *path, const char *file, bool replace, struct buf *ret_kept, struct buf *error);

/* sqlite_prune.c: pages of the file that are free, and can be given back. */
enum store_status sqlite_free_bytes(struct store_conn *c, int64_t *ret);

/* sqlite_schema.c: the SQL that leads to a schema from the one before, 1 to SQLITE_SCHEMA_NOW. */
const char *sqlite_schema_step(int to);
/* sqlite_schema_version.c: brings the store up to a schema: SQLITE_SCHEMA_NOW; a test makes older ones. False, with a
 * sentence, where it is newer, not ours, or fails. */
/* From SQLITE_SCHEMA_SEALED on pages have seals. */
enum { SQLITE_SCHEMA_NOW = 18, SQLITE_SCHEMA_SEALED = 11, SQLITE_APPLICATION_ID = 0x4d53504e };	/* "MSPN" */
bool sqlite_schema_migrate(sqlite3 *db, int to, struct buf *error);
/* These change nothing. False, with a sentence, where the file is newer or not ours; and, for a reader, where it is
 * older. *ret_version is 0 for an empty file. */
bool sqlite_schema_read(sqlite3 *db, int *ret_version, struct buf *error);
bool sqlite_schema_verify(sqlite3 *db, struct buf *error);

/* The id of the next row of a table. One that was given is never given again, also where its row is gone: caches,
 * waiters and clients may still know it. sqlite_purge.c and sqlite_prune.c keep the highest before they remove. */
#define SQLITE_NEXT_ID(table) \
	"(SELECT max(coalesce((SELECT max(id) FROM " table "), 0), last) + 1 FROM sequence WHERE name = '" table "')"
/* Before rows go. */
#define SQLITE_KEEP_ID(table) \
	"UPDATE sequence SET last = max(last, coalesce((SELECT max(id) FROM " table "), 0)) WHERE name = '" table "'"

/* So that a key of 63 bits holds it above a memory's number. */
enum { SQLITE_SPACE_MAX = (1 << 23) - 1 };

/* Reads a digest column. */
void sqlite_column_digest(sqlite3_stmt *s, int column, uint8_t ret[32]);

/* The key of a memory or an envelope: its space above its number. */
static inline int64_t sqlite_memory_key(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

#endif
