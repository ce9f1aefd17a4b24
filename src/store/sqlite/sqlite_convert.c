/* A store of before schema 11 has no room for seals in its pages: it is written anew, once, when it is opened.
 *
 * The log is moved into the database first, so that there is one file. A copy with seals is written beside it, synced,
 * and takes its name. At every moment, also where the process is killed or the disk is full, the name of the store
 * leads to the old file, whole, or to the new one, whole. What is left of a copy that was not finished goes the next
 * time.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool make_copy(sqlite3 *db, const char *next)
{
	sqlite3_stmt *s = NULL;
	bool ok;

	ok = sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &(int){SQLITE_SEAL_BYTES}) == SQLITE_OK &&
	     sqlite3_exec(db, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL) == SQLITE_OK &&
	     sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &s, NULL) == SQLITE_OK &&
	     sqlite3_bind_text(s, 1, next, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(s) == SQLITE_DONE;
	sqlite3_finalize(s);
	return ok;
}

/* The file is made before, so that nobody else can ever read it; VACUUM INTO takes one that is empty. */
static bool make_private(const char *next)
{
	int fd = sqlite_disk_open(next, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool sqlite_convert(const char *path, struct buf *error)
{
	char *next = mem_printf("%s.sealed", path);
	sqlite3 *db = NULL;
	bool ok, is_copied = false;

	ok = make_private(next) &&
	     sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, sqlite_vfs()) == SQLITE_OK;
	/* A connection looks for the log when it first reads. */
	ok = ok && sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL) == SQLITE_OK &&
	     sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) == SQLITE_OK;
	is_copied = ok && make_copy(db, next);
	if (!is_copied)
		buf_printf(error, "%s could not be brought into the form whose pages have checksums: %s; it was left "
			   "as it is. A copy of it must fit beside it", path,
			   db ? sqlite3_errmsg(db) : strerror(errno));
	/* Closing removes the log, which is empty. */
	if (sqlite3_close(db) == SQLITE_OK && is_copied) {
		ok = sqlite_sync_file(next, O_RDONLY) && rename(next, path) == 0 && sqlite_sync_directory_of(path);
		if (!ok)
			buf_printf(error, "%s could not be replaced by its copy with checksums: %s", path,
				   strerror(errno));
	}
	if (!is_copied || !ok)
		unlink(next);
	free(next);
	return is_copied && ok;
}
