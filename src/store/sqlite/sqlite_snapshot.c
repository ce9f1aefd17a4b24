/* A read transaction over several statements: without one, each of them takes and gives back the locks of the log. */
#include "store/sqlite/sqlite_internal.h"

bool store_snapshot_begin(struct store_conn *c)
{
	sqlite3_stmt *s = sqlite3_get_autocommit(c->db) ? sqlite_statement(c, SQL_READ_BEGIN) : NULL;

	return s && sqlite_run(c, s) == STORE_OK;
}

void store_snapshot_end(struct store_conn *c)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_COMMIT);

	/* Nothing was written, so that there is nothing to lose; a transaction that stays open would be one. */
	if (s == NULL || sqlite_run(c, s) != STORE_OK)
		store_rollback(c);
}
