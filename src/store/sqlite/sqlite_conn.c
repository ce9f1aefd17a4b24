/* Statements, transactions and error codes of a SQLite connection. */
#include "store/sqlite/sqlite_internal.h"

#include <stdio.h>

static const char *const statement_texts[] = {
#define SQLITE_STATEMENT_TEXT(name, text) text,
	SQLITE_STATEMENTS(SQLITE_STATEMENT_TEXT)
#undef SQLITE_STATEMENT_TEXT
};

enum store_status sqlite_status(struct store_conn *c, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
		return STORE_OK;
	snprintf(c->error, sizeof(c->error), "%s (SQLite code %d)", sqlite3_errmsg(c->db), sqlite3_extended_errcode(c->db));
	if (rc == SQLITE_FULL)
		return STORE_FULL;
	if (sqlite3_extended_errcode(c->db) == SQLITE_CONSTRAINT_UNIQUE)
		return STORE_EXISTS;
	return STORE_FAILED;
}

const char *store_error(const struct store_conn *c)
{
	return c->error;
}

sqlite3_stmt *sqlite_statement(struct store_conn *c, enum sqlite_statement which)
{
	sqlite3_stmt **s = &c->statements[which];

	if (*s == NULL) {
		int rc = sqlite3_prepare_v3(c->db, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL);

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

enum store_status store_begin(struct store_conn *c)
{
	return run_plain(c, SQL_BEGIN);
}

enum store_status store_commit(struct store_conn *c)
{
	enum store_status status = run_plain(c, SQL_COMMIT);

	if (status != STORE_OK)
		store_rollback(c);
	return status;
}

void store_rollback(struct store_conn *c)
{
	/* After some errors SQLite has rolled back by itself. */
	if (!sqlite3_get_autocommit(c->db))
		run_plain(c, SQL_ROLLBACK);
}

enum store_status store_savepoint(struct store_conn *c)
{
	return run_plain(c, SQL_SAVEPOINT);
}

enum store_status store_release(struct store_conn *c)
{
	return run_plain(c, SQL_RELEASE);
}

enum store_status store_rollback_to(struct store_conn *c)
{
	enum store_status status = run_plain(c, SQL_ROLLBACK_TO);

	return status == STORE_OK ? run_plain(c, SQL_RELEASE) : status;
}
