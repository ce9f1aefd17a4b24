/* Puts a database file in the place of the store, and keeps the store that was there under another name.
 *
 * At every moment, also one in which the process is killed or the disk fails, the name of the store leads to the old
 * one, whole, or to the new one, whole. A database file and its log cannot be moved in one step, so the log is moved
 * into the old database first: then it is one file. That gets a second name (a link), and one rename puts the new file
 * over the first. Where something fails before that rename, the second name is taken away again.
 *
 * Only a store that SQLite cannot open any more keeps its log: both are moved aside, the log first, and put back where
 * the rename fails. Killed in between it leaves what could not be opened before, either.
 *
 * The caller holds the lock of the data directory.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_TIMEOUT_MS = 1000 };

struct swap {
	const char *path;	/* borrowed */
	char *next;		/* the new file, until it has its place */
	char *kept;		/* the second name of the old one */
	bool is_kept;
	bool logs_are_aside;
	struct buf *error;	/* borrowed */
};

static bool copy_file(const char *from, const char *to, struct buf *error)
{
	bool ok = sqlite_disk_copy(from, to);

	if (!ok)
		buf_printf(error, "cannot copy %s to %s: %s", from, to, strerror(errno));
	return ok;
}

static bool is_store(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size > 0;
}

/* A name beside path that is free. Returns owned. */
static char *name_to_keep(const char *path)
{
	long long number = (long long)time(NULL);
	struct stat st;
	char *kept;

	while (kept = mem_printf("%s.before-restore-%lld", path, number), lstat(kept, &st) == 0) {
		free(kept);
		number++;
	}
	return kept;
}

/* --- The log --- */

static bool remove_beside(const char *path, const char *suffix)
{
	char *file = mem_printf("%s%s", path, suffix);
	bool ok = unlink(file) == 0 || errno == ENOENT;

	free(file);
	return ok;
}

/* SQLite's result code; *ret_why is its sentence, owned. */
static int checkpoint(const char *path, char **ret_why)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, sqlite_vfs());

	if (rc == SQLITE_OK) {
		/* Closing does nothing more: what cannot be read is not to be written over. */
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
		sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
		/* A connection looks for the log when it first reads. */
		rc = sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	*ret_why = rc == SQLITE_OK ? NULL : mem_printf("%s", db ? sqlite3_errmsg(db) : "out of memory");
	if (rc != SQLITE_OK && sqlite3_extended_errcode(db) == SQLITE_IOERR_DATA)
		rc = SQLITE_CORRUPT;
	sqlite3_close(db);
	return rc & 0xff;
}

static bool is_log_damaged(const char *path)
{
	struct buf why;
	bool is_damaged;

	buf_init(&why, 8192);
	is_damaged = !sqlite_extent_holds(path, NULL, NULL, &why);
	buf_release(&why);
	return is_damaged;
}

/* Moves the log of the old store into its database. One that cannot be opened, or whose log is damaged, stays as it is.
 */
static bool fold_log(struct swap *s)
{
	char *why = NULL;
	int rc = is_log_damaged(s->path) ? SQLITE_CORRUPT : checkpoint(s->path, &why);
	bool ok = rc == SQLITE_OK || rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT;

	if (!ok)
		buf_printf(s->error, "the log of %s could not be moved into it: %s%s; the store was left as it is",
			   s->path, why, rc == SQLITE_BUSY ? " (somebody reads it; try again after that)" : "");
	/* It is empty now. */
	if (rc == SQLITE_OK && !remove_beside(s->path, "-wal")) {
		buf_printf(s->error, "cannot remove %s-wal: %s; the store was left as it is", s->path, strerror(errno));
		ok = false;
	}
	free(why);
	return ok;
}

/* What is left of logs belongs to a store that cannot be opened, or lost its database: SQLite would take them for those
 * of the new one. */
static bool move_logs(const char *from, const char *to, struct buf *error)
{
	static const char *const suffixes[] = {"-wal", "-journal"};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *log = mem_printf("%s%s", from, suffixes[i]);
		char *aside = mem_printf("%s%s", to, suffixes[i]);

		ok = rename(log, aside) == 0 || errno == ENOENT;
		if (!ok)
			buf_printf(error, "%scannot move %s to %s: %s", error->len ? "; " : "", log, aside,
				   strerror(errno));
		free(log);
		free(aside);
	}
	return ok;
}

/* --- The database --- */

/* Some file systems know no links; they get a copy. */
static bool keep_old(struct swap *s)
{
	if (link(s->path, s->kept) == 0) {
		s->is_kept = true;
	} else if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK) {
		s->is_kept = copy_file(s->path, s->kept, s->error);
		if (!s->is_kept)
			unlink(s->kept);
	} else {
		buf_printf(s->error, "cannot keep %s as %s: %s; the store was left as it is", s->path, s->kept,
			   strerror(errno));
	}
	return s->is_kept;
}

static void undo(struct swap *s)
{
	unlink(s->next);
	if (s->logs_are_aside)
		move_logs(s->kept, s->path, s->error);
	if (s->is_kept && unlink(s->kept) != 0)
		buf_printf(s->error, "; %s is a second name of the old store, and can be removed", s->kept);
}

/* Up to here nothing has changed that cannot be undone; behind it the new store is in its place. */
static bool put_in_place(struct swap *s)
{
	s->logs_are_aside = true;
	if (!move_logs(s->path, s->kept, s->error)) {
		buf_puts(s->error, "; the old store is in its place");
		return false;
	}
	remove_beside(s->path, "-shm");		/* one that is left is made anew by SQLite */
	remove_beside(s->path, "-extent");	/* of a log that has no place here any more */
	if (sqlite_sync_directory_of(s->path) && rename(s->next, s->path) == 0)
		return true;
	buf_printf(s->error, "cannot move %s to %s: %s; the old store is in its place", s->next, s->path,
		   strerror(errno));
	return false;
}

static bool swap(struct swap *s, const char *file, bool there, struct buf *ret_kept)
{
	if (!copy_file(file, s->next, s->error) || (there && (!fold_log(s) || !keep_old(s))) || !put_in_place(s)) {
		undo(s);
		return false;
	}
	if (!sqlite_sync_directory_of(s->path)) {
		buf_printf(s->error, "the backup is in the place of %s, but may not survive a power loss: %s", s->path,
			   strerror(errno));
		if (there)
			buf_printf(s->error, "; the old store is %s", s->kept);
		return false;
	}
	if (there)
		buf_puts(ret_kept, s->kept);
	return true;
}

bool sqlite_replace(const char *path, const char *file, bool replace, struct buf *ret_kept, struct buf *error)
{
	struct swap s = {.path = path, .error = error};
	bool there = is_store(path), ok;

	if (there && !replace) {
		buf_printf(error,
			   "there is a store in %s already; replace it with --replace (the old one is kept beside it)",
			   path);
		return false;
	}
	s.next = mem_printf("%s.restore", path);
	s.kept = name_to_keep(path);
	ok = swap(&s, file, there, ret_kept);
	free(s.next);
	free(s.kept);
	return ok;
}
