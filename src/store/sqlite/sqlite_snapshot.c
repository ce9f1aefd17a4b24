/* A read transaction over several statements: without one, each of them takes and gives back the locks of the log. */
#include "store/sqlite/sqlite_internal.h"

bool sqlite_snapshot_begin(struct store_conn *c)
{
	if (sqlite_of(c)->snapshot != SNAPSHOT_NONE || !sqlite3_get_autocommit(sqlite_of(c)->db))
		return false;
	sqlite_of(c)->snapshot_seen = sqlite_cache_seen(c);
	sqlite_of(c)->snapshot = SNAPSHOT_WANTED;
	return true;
}

void sqlite_snapshot_open(struct store_conn *c)
{
	/* Where it does not work the reads that follow will say so. */
	sqlite_of(c)->snapshot = SNAPSHOT_OPEN;
	sqlite_run(c, sqlite_statement(c, "BEGIN"));
}

void sqlite_snapshot_end(struct store_conn *c)
{
	enum sqlite_snapshot was = sqlite_of(c)->snapshot;

	sqlite_of(c)->snapshot = SNAPSHOT_NONE;
	if (was != SNAPSHOT_OPEN || sqlite3_get_autocommit(sqlite_of(c)->db))
		return;
	/* Nothing was written, so that there is nothing to lose; a transaction that stays open would be one. */
	if (sqlite_run(c, sqlite_statement(c, "COMMIT")) != STORE_OK)
		sqlite_rollback(c);
}
