/* A read transaction over several statements: without one, each of them takes and gives back the locks of the log. */
#include "store/sqlite/sqlite_internal.h"

bool store_snapshot_begin(struct store_conn *c)
{
	if (c->snapshot != SNAPSHOT_NONE || !sqlite3_get_autocommit(c->db))
		return false;
	c->snapshot_seen = sqlite_cache_seen(c);
	c->snapshot = SNAPSHOT_WANTED;
	return true;
}

void sqlite_snapshot_open(struct store_conn *c)
{
	sqlite3_stmt *s;

	/* Where it does not work the reads that follow will say so. */
	c->snapshot = SNAPSHOT_OPEN;
	s = sqlite_statement(c, SQL_READ_BEGIN);
	if (s)
		sqlite_run(c, s);
}

void store_snapshot_end(struct store_conn *c)
{
	enum sqlite_snapshot was = c->snapshot;
	sqlite3_stmt *s;

	c->snapshot = SNAPSHOT_NONE;
	if (was != SNAPSHOT_OPEN || sqlite3_get_autocommit(c->db))
		return;
	s = sqlite_statement(c, SQL_COMMIT);
	/* Nothing was written, so that there is nothing to lose; a transaction that stays open would be one. */
	if (s == NULL || sqlite_run(c, s) != STORE_OK)
		store_rollback(c);
}
