/* Statements, transactions and error codes of a SQLite connection. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* SQLITE_FULL is what SQLite says of a write that found no room. The same happens to the log's index, which is mapped,
 * and, in a checkpoint, with a quota or at the limit on the size of a file; those it reports as an I/O error. (For the
 * log see sqlite_file.c.) A sync that fails is never such a case, whatever its reason. */
static bool is_full(sqlite3 *db, int rc, int extended)
{
	int reason = sqlite3_system_errno(db);

	if ((rc & 0xff) == SQLITE_FULL)
		return true;
	return (extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_SHMSIZE ||
		extended == SQLITE_IOERR_SHMMAP) &&
	       (reason == ENOSPC || reason == EDQUOT || reason == EFBIG);
}

/* What of the database or its log did not match; number 0: nothing. */
static struct sqlite_damage damage_of(sqlite3 *db)
{
	struct sqlite_damage found = {0};
	sqlite3_file *log = NULL;

	sqlite3_file_control(db, "main", SQLITE_VFS_DAMAGE, &found);
	if (found.number == 0 &&
	    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log && log->pMethods)
		log->pMethods->xFileControl(log, SQLITE_VFS_DAMAGE, &found);
	return found;
}

void sqlite_damage_put(sqlite3 *db, struct buf *out)
{
	const char *words = sqlite3_errmsg(db);		/* asking for more may change it */
	int extended = sqlite3_extended_errcode(db);
	struct sqlite_damage found = {0};

	if (extended == SQLITE_IOERR_DATA || extended == SQLITE_IOERR)
		found = damage_of(db);
	if (found.number)
		buf_printf(out, "%s %u of the %s does not match its checksum", found.is_log ? "frame" : "page",
			   found.number, found.is_log ? "log" : "database file");
	else
		buf_printf(out, "%s (SQLite code %d)", words, extended);
}

/* What can be read is still good; what is damaged cannot be written over by mistake, because that begins with reading
 * it. So it is told to whoever needs it, and nobody else. A writer that finds SQLite's structures in disorder though
 * every page is what was written knows nothing any more. */
static enum store_status status_of_failure(struct store_conn *c, int extended)
{
	struct buf why;

	/* Of a statement within another one, such as those of VACUUM, SQLite forgets which I/O error it was. */
	if (extended != SQLITE_IOERR_DATA && !(c->is_reader && (extended & 0xff) == SQLITE_CORRUPT) &&
	    !(c->is_reader && extended == SQLITE_IOERR))
		return STORE_FAILED;
	buf_init(&why, sizeof(c->error));
	sqlite_damage_put(sqlite_of(c)->db, &why);
	snprintf(c->error, sizeof(c->error), "%s", buf_str(&why).p);
	buf_release(&why);
	return STORE_DAMAGED;
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
	return status_of_failure(c, extended);
}

/* --- Statements --- */

/* Where the statement of this text is, or belongs. Texts are told apart by their place, which never changes. */
static struct sqlite_prepared *prepared_of(struct sqlite_conn *c, const char *sql)
{
	size_t at = (size_t)((uint64_t)(uintptr_t)sql * UINT64_C(0x9e3779b97f4a7c15) >> 56);

	_Static_assert(SQLITE_STATEMENTS == 256, ">> 56");
	while (c->statements[at].sql && c->statements[at].sql != sql)
		at = (at + 1) % SQLITE_STATEMENTS;
	return &c->statements[at];
}

sqlite3_stmt *sqlite_statement(struct store_conn *base, const char *sql)
{
	struct sqlite_conn *c = sqlite_of(base);
	struct sqlite_prepared *p;
	int rc;

	if (c->snapshot == SNAPSHOT_WANTED)
		sqlite_snapshot_open(base);
	p = prepared_of(c, sql);
	if (p->s)
		return p->s;
	assert(p->sql || c->statement_count < SQLITE_STATEMENTS / 4 * 3);
	c->statement_count += p->sql == NULL;
	p->sql = sql;
	rc = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &p->s, NULL);
	return sqlite_status(base, rc) == STORE_OK ? p->s : NULL;
}

enum store_status sqlite_run(struct store_conn *c, sqlite3_stmt *s)
{
	enum store_status status = s ? sqlite_status(c, sqlite3_step(s)) : STORE_FAILED;

	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_run_change(struct store_conn *c, sqlite3_stmt *s)
{
	enum store_status status = sqlite_run(c, s);

	return status == STORE_OK && !sqlite_changed(c) ? STORE_NOT_FOUND : status;
}

enum store_status sqlite_run_on(struct store_conn *c, const char *sql, int64_t key, int64_t value)
{
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, key);
	sqlite3_bind_int64(s, 2, value);
	return sqlite_run_change(c, s);
}

bool sqlite_changed(struct store_conn *c)
{
	return sqlite3_changes(sqlite_of(c)->db) > 0;
}

int64_t sqlite_last_id(struct store_conn *c)
{
	return sqlite3_last_insert_rowid(sqlite_of(c)->db);
}

/* --- Rows --- */

enum store_status sqlite_read_one(struct store_conn *c, sqlite3_stmt *s, sqlite_read *read, struct arena *arena,
				  void *ret)
{
	int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
	enum store_status status = STORE_FAILED;

	if (s)
		status = rc == SQLITE_DONE ? STORE_NOT_FOUND : sqlite_status(c, rc);
	if (status == STORE_OK)
		read(s, arena, ret);
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_read_list(struct store_conn *c, sqlite3_stmt *s, sqlite_read *read, struct arena *arena,
				   void *ret, size_t row_size, size_t max, size_t *ret_count)
{
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read(s, arena, (char *)ret + row_size * count++);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

void sqlite_read_str(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct str *)ret = sqlite_column_str(s, 0, arena);
}

static void read_int(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(int64_t *)ret = sqlite3_column_int64(s, 0);
}

static void read_num(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(uint64_t *)ret = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX;
}

enum store_status sqlite_read_int(struct store_conn *c, sqlite3_stmt *s, int64_t *ret)
{
	return sqlite_read_one(c, s, read_int, NULL, ret);
}

enum store_status sqlite_read_num(struct store_conn *c, sqlite3_stmt *s, uint64_t *ret)
{
	return sqlite_read_one(c, s, read_num, NULL, ret);
}

void sqlite_bind_str(sqlite3_stmt *s, int index, struct str value)
{
	if (value.p == NULL)
		sqlite3_bind_null(s, index);
	else
		sqlite3_bind_text64(s, index, value.p, value.n, SQLITE_STATIC, SQLITE_UTF8);
}

int64_t sqlite_column_ruling(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_INTEGER ? sqlite3_column_int64(s, column) : -1;
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

/* --- Transactions --- */

static enum store_status run_plain(struct store_conn *c, const char *sql)
{
	return sqlite_run(c, sqlite_statement(c, sql));
}

/* Of what the transaction has done nothing is kept, or not all. */
static void forget_what_is_known(struct store_conn *c)
{
	sqlite_cache_rollback(c);
	sqlite_events_drop(c);
	sqlite_of(c)->tally = (struct sqlite_tally){0};
	sqlite_of(c)->last_space = sqlite_of(c)->last_event = sqlite_of(c)->new_envelope = 0;
	memset(sqlite_of(c)->numbers, 0, sizeof(sqlite_of(c)->numbers));
}

enum store_status sqlite_begin(struct store_conn *c)
{
	return c->is_failed ? STORE_FAILED : run_plain(c, "BEGIN IMMEDIATE");
}

/* Writes what was put off. */
static enum store_status flush(struct store_conn *c)
{
	enum store_status status = sqlite_tally_flush(c);

	return status == STORE_OK ? sqlite_events_flush(c) : status;
}

enum store_status sqlite_commit(struct store_conn *c)
{
	enum store_status status = flush(c);

	/* The log may hold the whole transaction by now, though the system says that it could not be written. */
	if (status == STORE_OK) {
		status = run_plain(c, "COMMIT");
		status = status == STORE_FAILED ? STORE_UNKNOWN : status;
	}
	sqlite_of(c)->new_envelope = 0;
	if (status == STORE_OK)
		sqlite_cache_commit(c);
	else
		sqlite_rollback(c);
	if (status == STORE_FAILED || status == STORE_UNKNOWN)
		sqlite_fail(c);
	return status;
}

void sqlite_rollback(struct store_conn *c)
{
	forget_what_is_known(c);
	/* After some errors SQLite has rolled back by itself. */
	if (!sqlite3_get_autocommit(sqlite_of(c)->db))
		run_plain(c, "ROLLBACK");
}

enum store_status sqlite_savepoint(struct store_conn *c)
{
	enum store_status status = flush(c);

	return status == STORE_OK ? run_plain(c, "SAVEPOINT part") : status;
}

enum store_status sqlite_release(struct store_conn *c)
{
	return run_plain(c, "RELEASE part");
}

enum store_status sqlite_rollback_to(struct store_conn *c)
{
	enum store_status status = run_plain(c, "ROLLBACK TO part");

	forget_what_is_known(c);
	return status == STORE_OK ? sqlite_release(c) : status;
}
