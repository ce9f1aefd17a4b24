/* What the files of the SQLite engine share. */
#ifndef SPINE_STORE_SQLITE_INTERNAL_H
#define SPINE_STORE_SQLITE_INTERNAL_H

#include "store/store.h"

#include <sqlite3.h>

/* The prepared statements, one list: name and text. */
#define SQLITE_STATEMENTS(X) \
	X(BEGIN, "BEGIN IMMEDIATE") \
	X(COMMIT, "COMMIT") \
	X(ROLLBACK, "ROLLBACK") \
	X(SAVEPOINT, "SAVEPOINT part") \
	X(RELEASE, "RELEASE part") \
	X(ROLLBACK_TO, "ROLLBACK TO part") \
	X(SPACE_FIND, "SELECT id FROM space WHERE name = ?1") \
	X(SPACE_CREATE, "INSERT INTO space (name, next_memory, memories, created_at) VALUES (?1, 1, 0, ?2)") \
	X(SPACE_COUNT, "SELECT memories FROM space WHERE id = ?1") \
	X(SPACE_NEXT, "SELECT next_memory FROM space WHERE id = ?1") \
	X(SPACE_ADDED, "UPDATE space SET memories = memories + 1, next_memory = max(next_memory, ?2 + 1) WHERE id = ?1") \
	X(SPACE_REMOVED, "UPDATE space SET memories = memories - 1 WHERE id = ?1") \
	X(MEMORY_INSERT, "INSERT INTO memory (id, version, pinned, created_at, supersedes) VALUES (?1, 1, ?2, ?3, ?4) " \
			 "ON CONFLICT DO NOTHING") \
	X(MEMORY_SET_VERSION, "UPDATE memory SET version = ?2 WHERE id = ?1") \
	X(MEMORY_SET_PINNED, "UPDATE memory SET pinned = ?2 WHERE id = ?1") \
	X(MEMORY_SET_SUPERSEDED, "UPDATE memory SET superseded_by = ?2 WHERE id = ?1") \
	X(MEMORY_SET_FORGOTTEN, "UPDATE memory SET forgotten_at = ?2, pinned = 0 WHERE id = ?1 AND forgotten_at = 0") \
	X(VERSION_INSERT, "INSERT INTO memory_version (memory, version, updated_at, expires_at, importance, trust, content, summary, " \
			  "kind, tags, agent, task, metadata, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)") \
	X(VERSION_DELETE, "DELETE FROM memory_version WHERE memory = ?1") \
	X(MEMORY_GET, SQLITE_MEMORY_COLUMNS "FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = m.version " \
		      "WHERE m.id = ?1") \
	X(MEMORY_GET_VERSION, SQLITE_MEMORY_COLUMNS "FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = ?2 " \
			      "WHERE m.id = ?1") \
	X(MEMORY_VERSIONS, SQLITE_MEMORY_COLUMNS "FROM memory_version v JOIN memory m ON m.id = v.memory " \
			   "WHERE v.memory = ?1 AND v.version < ?2 ORDER BY v.version DESC LIMIT ?3") \
	X(MEMORY_SCAN, SQLITE_MEMORY_COLUMNS "FROM memory m CROSS JOIN memory_version v ON v.memory = m.id AND v.version = m.version " \
		       "WHERE m.id > ?1 AND m.id < ?2 ORDER BY m.id LIMIT ?3") \
	X(REPLY_GET, "SELECT digest, status, etag, location, body, at FROM reply WHERE space = ?1 AND key = ?2") \
	X(REPLY_PUT, "INSERT INTO reply (space, key, digest, status, etag, location, body, at) " \
		     "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)") \
	X(REPLY_PRUNE, "DELETE FROM reply WHERE id IN (SELECT id FROM reply ORDER BY id LIMIT ?2) AND at < ?1") \
	X(PAGES, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")

#define SQLITE_MEMORY_COLUMNS \
	"SELECT m.id, m.version, m.pinned, m.created_at, m.supersedes, m.superseded_by, m.forgotten_at, v.version, v.updated_at, " \
	"v.expires_at, v.importance, v.trust, v.content, v.summary, v.kind, v.tags, v.agent, v.task, v.metadata, v.digest "

enum sqlite_statement {
#define SQLITE_STATEMENT_NAME(name, text) SQL_##name,
	SQLITE_STATEMENTS(SQLITE_STATEMENT_NAME)
#undef SQLITE_STATEMENT_NAME
	SQL_COUNT
};

struct store_conn {
	sqlite3 *db;
	sqlite3_stmt *statements[SQL_COUNT];	/* prepared on first use */
	int lock_fd;				/* -1 for readers */
	char error[256];
};

/* sqlite_conn.c */

/* The statement, prepared, reset and without bindings. NULL where it cannot be prepared (c->error says why). */
sqlite3_stmt *sqlite_statement(struct store_conn *c, enum sqlite_statement which);
/* Runs a statement that returns no row and resets it. */
enum store_status sqlite_run(struct store_conn *c, sqlite3_stmt *s);
/* The status for SQLite's result code; keeps the message for store_error(). */
enum store_status sqlite_status(struct store_conn *c, int rc);
void sqlite_bind_str(sqlite3_stmt *s, int index, struct str value);
/* A copy of a text or blob column; p == NULL for NULL. */
struct str sqlite_column_str(sqlite3_stmt *s, int column, struct arena *arena);

/* sqlite_open.c: the path of the database file in a data directory. Returns owned. */
char *sqlite_path(const char *data_dir, const char *suffix);
/* Makes data_dir and those above it, 0700. */
bool sqlite_make_directory(const char *data_dir, struct buf *error);
/* Takes the lock of data_dir and returns its descriptor; -1 and a sentence where somebody else holds it. */
int sqlite_lock(const char *data_dir, struct buf *error);

/* sqlite_schema.c: brings the store up to this binary's schema. False, with a sentence, where it is newer, not ours, or fails. */
enum { SQLITE_SCHEMA_NOW = 1, SQLITE_APPLICATION_ID = 0x4d53504e };	/* "MSPN" */
bool sqlite_schema_migrate(sqlite3 *db, struct buf *error);
/* Checks without changing anything. */
bool sqlite_schema_verify(sqlite3 *db, struct buf *error);

/* The key of a memory: its space above its number. */
static inline int64_t sqlite_memory_key(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

#endif
