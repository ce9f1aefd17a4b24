/* Statements, transactions and error codes of a SQLite connection. */
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <stdio.h>

static const char *const statement_texts[] = {
#define SQLITE_STATEMENT_TEXT(name, text) text,
	SQLITE_STATEMENTS(SQLITE_STATEMENT_TEXT)
#undef SQLITE_STATEMENT_TEXT
};

/* SQLITE_FULL is what SQLite says of a write that found no room. The same happens to the log's index, which is mapped,
 * and, in a checkpoint, with a quota or at the limit on the size of a file; those it reports as an I/O error. (For the
 * log see sqlite_vfs.c.) A sync that fails is never such a case, whatever its reason. */
static bool is_full(sqlite3 *db, int rc, int extended)
{
	int reason = sqlite3_system_errno(db);

	if ((rc & 0xff) == SQLITE_FULL)
		return true;
	return (extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_SHMSIZE ||
		extended == SQLITE_IOERR_SHMMAP) &&
	       (reason == ENOSPC || reason == EDQUOT || reason == EFBIG);
}

enum store_status sqlite_status(struct store_conn *c, int rc)
{
	int extended = sqlite3_extended_errcode(sqlite_of(c)->db);

	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
		return STORE_OK;
	snprintf(c->error, sizeof(c->error), "%s (SQLite code %d)", sqlite3_errmsg(sqlite_of(c)->db), extended);
	if (is_full(sqlite_of(c)->db, rc, extended))
		return STORE_FULL;
	/* The lock is asked for when a transaction begins. A commit that says so has written nothing, and is rolled
	 * back. */
	if ((rc & 0xff) == SQLITE_BUSY)
		return STORE_BUSY;
	if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY ||
	    extended == SQLITE_CONSTRAINT_ROWID)
		return STORE_EXISTS;
	/* The statement is undone, and the file is as sound as before. */
	if ((rc & 0xff) == SQLITE_CONSTRAINT || rc == SQLITE_MISMATCH || rc == SQLITE_TOOBIG)
		return STORE_REFUSED;
	return STORE_FAILED;
}

sqlite3_stmt *sqlite_statement(struct store_conn *c, enum sqlite_statement which)
{
	sqlite3_stmt **s = &sqlite_of(c)->statements[which];

	if (sqlite_of(c)->snapshot == SNAPSHOT_WANTED)
		sqlite_snapshot_open(c);
	if (*s == NULL) {
		int rc = sqlite3_prepare_v3(sqlite_of(c)->db, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL);

		if (sqlite_status(c, rc) != STORE_OK)
			return NULL;
	}
	return *s;
}

enum store_status sqlite_run(struct store_conn *c, sqlite3_stmt *s)
{
	enum store_status status = sqlite_status(c, sqlite3_step(s));

	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_step_row(struct store_conn *c, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);

	return rc == SQLITE_DONE ? STORE_NOT_FOUND : sqlite_status(c, rc);
}

enum store_status sqlite_read_int(struct store_conn *c, sqlite3_stmt *s, int64_t *ret)
{
	enum store_status status = sqlite_step_row(c, s);

	if (status == STORE_OK)
		*ret = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_run_on(struct store_conn *c, enum sqlite_statement which, int64_t key, int64_t value)
{
	sqlite3_stmt *s = sqlite_statement(c, which);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, key);
	sqlite3_bind_int64(s, 2, value);
	status = sqlite_run(c, s);
	if (status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0)
		return STORE_NOT_FOUND;
	return status;
}

static enum store_status run_plain(struct store_conn *c, enum sqlite_statement which)
{
	sqlite3_stmt *s = sqlite_statement(c, which);

	return s ? sqlite_run(c, s) : STORE_FAILED;
}

void sqlite_bind_str(sqlite3_stmt *s, int index, struct str value)
{
	if (value.p == NULL)
		sqlite3_bind_null(s, index);
	else
		sqlite3_bind_text64(s, index, value.p, value.n, SQLITE_STATIC, SQLITE_UTF8);
}

struct str sqlite_column_str(sqlite3_stmt *s, int column, struct arena *arena)
{
	const char *text = sqlite3_column_blob(s, column);
	size_t len = (size_t)sqlite3_column_bytes(s, column);

	if (sqlite3_column_type(s, column) == SQLITE_NULL)
		return STR_NULL;
	return arena_str(arena, (struct str){text, len});
}

void sqlite_column_digest(sqlite3_stmt *s, int column, uint8_t ret[32])
{
	const void *digest = sqlite3_column_blob(s, column);

	if (digest && sqlite3_column_bytes(s, column) == 32)
		memcpy(ret, digest, 32);
}

enum store_status sqlite_begin(struct store_conn *c)
{
	return c->is_failed ? STORE_FAILED : run_plain(c, SQL_BEGIN);
}

enum store_status sqlite_commit(struct store_conn *c)
{
	enum store_status status = sqlite_tally_flush(c);

	if (status == STORE_OK)
		status = run_plain(c, SQL_COMMIT);
	if (status == STORE_OK)
		sqlite_cache_commit(c);
	else
		sqlite_rollback(c);
	if (status == STORE_FAILED)
		sqlite_fail(c);
	return status;
}

void sqlite_rollback(struct store_conn *c)
{
	sqlite_cache_rollback(c);
	sqlite_of(c)->tally = (struct sqlite_tally){0};
	sqlite_of(c)->last_space = sqlite_of(c)->last_event = 0;
	/* After some errors SQLite has rolled back by itself. */
	if (!sqlite3_get_autocommit(sqlite_of(c)->db))
		run_plain(c, SQL_ROLLBACK);
}

enum store_status sqlite_savepoint(struct store_conn *c)
{
	enum store_status status = sqlite_tally_flush(c);

	return status == STORE_OK ? run_plain(c, SQL_SAVEPOINT) : status;
}

enum store_status sqlite_release(struct store_conn *c)
{
	return run_plain(c, SQL_RELEASE);
}

enum store_status sqlite_rollback_to(struct store_conn *c)
{
	enum store_status status = run_plain(c, SQL_ROLLBACK_TO);

	sqlite_cache_rollback(c);
	sqlite_of(c)->tally = (struct sqlite_tally){0};
	sqlite_of(c)->last_space = sqlite_of(c)->last_event = 0;
	return status == STORE_OK ? run_plain(c, SQL_RELEASE) : status;
}
