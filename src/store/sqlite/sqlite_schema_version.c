/* Which schema a store has, and how it gets to the next one: step by step, each in a transaction of its own. The steps
 * are in sqlite_schema.c. */
#include "store/sqlite/sqlite_internal.h"

#include <stdio.h>

static bool pragma_int(sqlite3 *db, const char *sql, int *ret)
{
	sqlite3_stmt *s = NULL;
	bool ok = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;

	if (ok)
		*ret = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return ok;
}

bool sqlite_schema_read(sqlite3 *db, int *ret_version, struct buf *error)
{
	const char *file = sqlite3_db_filename(db, "main");
	int application = 0, version = 0, tables = 0, is_sealed = 1;

	if (!pragma_int(db, "PRAGMA application_id", &application) ||
	    !pragma_int(db, "PRAGMA user_version", &version) ||
	    !pragma_int(db, "SELECT count(*) FROM sqlite_schema", &tables)) {
		buf_printf(error, "%s cannot be read: ", file);
		sqlite_damage_put(db, error);
		return false;
	}
	if (application != SQLITE_APPLICATION_ID && (application != 0 || tables != 0)) {
		buf_printf(error, "%s is a SQLite database, but not one of Memory Spine; it was left as it is", file);
		return false;
	}
	if (version > SQLITE_SCHEMA_NOW) {
		buf_printf(error,
			   "%s has schema %d, which is newer than the schema %d that this binary (spine %s) knows; "
			   "it was left as it is. Use the newer spine",
			   file, version, SQLITE_SCHEMA_NOW, SPINE_VERSION);
		return false;
	}
	/* Whether pages have seals is said by one byte: taken by its word alone, nothing would be verified any more. */
	sqlite3_file_control(db, "main", SQLITE_VFS_IS_SEALED, &is_sealed);
	if (version >= SQLITE_SCHEMA_SEALED && !is_sealed) {
		buf_printf(error, "%s is damaged: its header says that pages have no checksums, and schema %d always "
			   "has them", file, version);
		return false;
	}
	*ret_version = version;
	return true;
}

bool sqlite_schema_verify(sqlite3 *db, struct buf *error)
{
	int version;

	if (!sqlite_schema_read(db, &version, error))
		return false;
	if (version < SQLITE_SCHEMA_NOW) {
		buf_printf(error, "%s has schema %d, which is older than %d; start the server once to migrate it",
			   sqlite3_db_filename(db, "main"), version,
			   SQLITE_SCHEMA_NOW);
		return false;
	}
	return true;
}

static bool run_step(sqlite3 *db, int to, struct buf *error)
{
	char after[128];
	char *message = NULL;
	bool ok;

	snprintf(after, sizeof(after), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		 SQLITE_APPLICATION_ID, to);
	ok = sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, &message) == SQLITE_OK &&
	     sqlite3_exec(db, sqlite_schema_step(to), NULL, NULL, &message) == SQLITE_OK &&
	     sqlite3_exec(db, after, NULL, NULL, &message) == SQLITE_OK;
	if (!ok) {
		buf_printf(error, "the store could not be brought to schema %d: %s", to,
			   message ? message : sqlite3_errmsg(db));
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	}
	sqlite3_free(message);
	return ok;
}

bool sqlite_schema_migrate(sqlite3 *db, int to, struct buf *error)
{
	int version;

	if (!sqlite_schema_read(db, &version, error))
		return false;
	while (version < to) {
		version++;
		if (!run_step(db, version, error))
			return false;
	}
	return true;
}
