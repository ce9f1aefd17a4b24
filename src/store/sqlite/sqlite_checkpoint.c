/* Checkpoints: what was committed to the log is moved to the database file.
 *
 * SQLite does this by itself, but says nothing when it fails. A sync of the database file that fails must not be tried
 * again (the system has dropped what it could not write, and the second try finds nothing to do): the log would be
 * taken as moved, and be overwritten. So checkpoints run here, in the hook that SQLite calls after each commit. When
 * one fails the log stays as it is, with everything that was ever acknowledged in it, and the connection does nothing
 * any more.
 *
 * After a memory was forgotten its text is still in the log. Then the checkpoint also empties the log, which has to
 * wait for readers that use it: where there is one, a later commit tries again.
 */
#include "store/sqlite/sqlite_internal.h"

#include <stdio.h>

enum { CHECKPOINT_FRAMES = 1000, BUSY_TIMEOUT_MS = 5000 };

void sqlite_fail(struct store_conn *c)
{
	c->is_failed = true;
	/* Closing would checkpoint once more. */
	sqlite3_db_config(sqlite_of(c)->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
}

/* The commit is durable, whatever happens here. */
static int on_commit(void *arg, sqlite3 *db, const char *name, int frames)
{
	struct store_conn *c = arg;
	bool empty = sqlite_of(c)->forgot;
	int rc;

	if (frames < CHECKPOINT_FRAMES && !empty)
		return SQLITE_OK;
	if (empty)
		sqlite3_busy_timeout(db, 0);
	rc = sqlite3_wal_checkpoint_v2(db, name, empty ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL,
				       NULL);
	if (empty)
		sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
	if (rc == SQLITE_OK)
		sqlite_of(c)->forgot = false;
	else if (rc != SQLITE_BUSY && rc != SQLITE_LOCKED && sqlite_status(c, rc) != STORE_FULL)
		sqlite_fail(c);
	return SQLITE_OK;
}

void sqlite_checkpoint_start(struct store_conn *c)
{
	sqlite3_wal_hook(sqlite_of(c)->db, on_commit, c);
}
