/* Opening and closing: the data directory, the connection's settings.
 *
 * One connection writes and checkpoints; all others are read-only and never checkpoint, because SQLite up to 3.51.2 can
 * corrupt a WAL when two connections write or checkpoint at the same time (sqlite.org/wal.html#walresetbug).
 * sqlite_lock.c keeps a second server away.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *sqlite_path(const char *data_dir, const char *suffix)
{
	struct buf path;

	buf_init(&path, 4096);
	buf_printf(&path, "%s/%s", data_dir, suffix);
	return buf_take(&path);
}

/* Makes the directory and those above it, 0700; one that is there keeps its mode. */
bool sqlite_make_directory(const char *path, struct buf *error)
{
	char *copy = mem_strdup(path);
	bool ok = true;

	for (char *p = copy + 1; ok; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) == 0)
			ok = sqlite_sync_directory_of(copy) ||
			     errno == EACCES; /* a directory that may be written, but not read */
		else
			ok = errno == EEXIST;
		*p = c;
		if (c == '\0')
			break;
	}
	if (!ok)
		buf_printf(error, "cannot make the data directory %s: %s", path, strerror(errno));
	free(copy);
	return ok;
}

static bool set_up(sqlite3 *db, enum store_mode mode, struct buf *error)
{
	static const char writer[] =
		"PRAGMA page_size = 4096;"
		"PRAGMA auto_vacuum = INCREMENTAL;"	/* of a new file: what is free can be given back in steps */
		"PRAGMA journal_mode = WAL;"
		"PRAGMA synchronous = FULL;"
		"PRAGMA fullfsync = ON;"	/* macOS: down to the disk, and not to its cache. Nothing elsewhere. */
		"PRAGMA checkpoint_fullfsync = ON;"
		"PRAGMA journal_size_limit = 67108864;"
		"PRAGMA secure_delete = ON;"	/* what is forgotten is overwritten */
		"PRAGMA temp_store = MEMORY;"
		"PRAGMA cache_size = -16384;";
	static const char reader[] = "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096;";
	char *message = NULL;
	bool ok;

	sqlite3_busy_timeout(db, 5000);
	sqlite3_extended_result_codes(db, 0);
	if (mode == STORE_READ)
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	ok = sqlite3_exec(db, mode == STORE_WRITE ? writer : reader, NULL, NULL, &message) == SQLITE_OK;
	if (!ok)
		buf_printf(error, "the store cannot be opened: %s", message ? message : sqlite3_errmsg(db));
	sqlite3_free(message);
	return ok;
}

static bool open_database(struct sqlite_conn *c, const char *path, enum store_mode mode, struct buf *error)
{
	int flags = mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	bool ok = sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, sqlite_vfs()) == SQLITE_OK;

	/* Of a new file: room for the seals of its pages. */
	if (ok && mode == STORE_WRITE)
		sqlite3_file_control(c->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &(int){SQLITE_SEAL_BYTES});
	if (!ok)
		buf_printf(error, "cannot open %s: %s", path, c->db ? sqlite3_errmsg(c->db) : "out of memory");
	ok = ok && set_up(c->db, mode, error);
	return ok && (mode == STORE_WRITE ? sqlite_schema_migrate(c->db, SQLITE_SCHEMA_NOW, error)
					  : sqlite_schema_verify(c->db, error));
}

/* A log that has lost its end is not to be taken for a shorter one. */
static bool is_whole(const char *path, struct buf *error)
{
	if (sqlite_extent_holds(path, NULL, NULL, error))
		return true;
	buf_printf(error, ". Restore a backup; or, to go on without what is lost, remove %s-extent", path);
	return false;
}

/* A file that is there is looked at before anything is done to it: setting up a connection changes the file's header,
 * and closing one empties the log. Only what a crash has left in a journal is rolled back by that, for which SQLite has
 * to write (SQLITE_OPEN_READWRITE): there is a journal while a new file becomes one with a log. */
static bool look_at(const char *path, int flags, bool *ret_is_sealed, struct buf *error)
{
	sqlite3 *db = NULL;
	bool ok = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, sqlite_vfs()) == SQLITE_OK;
	int version, is_sealed = 0;

	if (!ok)
		buf_printf(error, "cannot open %s: %s", path, db ? sqlite3_errmsg(db) : "out of memory");
	else
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
	ok = ok && sqlite_schema_read(db, &version, error);
	if (ok)
		sqlite3_file_control(db, "main", SQLITE_VFS_IS_SEALED, &is_sealed);
	sqlite3_close(db);
	*ret_is_sealed = is_sealed;
	return ok;
}

/* An older form becomes that of today. */
static bool may_be_opened(const char *data_dir, struct buf *error)
{
	char *path = sqlite_path(data_dir, "spine.db"), *journal = sqlite_path(data_dir, "spine.db-journal");
	int flags = access(journal, F_OK) == 0 ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	struct stat st;
	bool ok = is_whole(path, error), is_sealed;

	if (ok && stat(path, &st) == 0 && st.st_size > 0)
		ok = look_at(path, flags, &is_sealed, error) && (is_sealed || sqlite_convert(path, error));
	free(journal);
	free(path);
	return ok;
}

/* SQLite makes its files with the umask's mode; the file is made first so that nobody else can ever read it. The -wal
 * and -shm files take over its mode. */
static bool make_private(const char *data_dir, struct buf *error)
{
	char *path = sqlite_path(data_dir, "spine.db");
	int fd = sqlite_disk_open(path, O_RDWR | O_CREAT, 0600);
	bool ok = fd >= 0 && fchmod(fd, 0600) == 0;

	if (!ok)
		buf_printf(error, "cannot make %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(path);
	return ok;
}

/* What a killed server had written but not synced yet may still be in the system's cache: SQLite would find it in the
 * log and show it, and an answer given from it (a reply kept for an Idempotency-Key, say) would be lost with the next
 * power cut. So what is there is made durable before anybody sees it. */
static bool sync_what_is_there(const char *data_dir, struct buf *error)
{
	static const char *const files[] = {"spine.db-wal", "spine.db"};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = sqlite_path(data_dir, files[i]);

		ok = sqlite_sync_file(path, O_RDONLY) || errno == ENOENT;
		if (!ok)
			buf_printf(error, "cannot sync %s: %s", path, strerror(errno));
		free(path);
	}
	return ok;
}

/* Counting its memory, SQLite takes one lock for all threads with each allocation; nobody asks for the figures. A file
 * whose name begins with "file:" is that file, and not an address that says where and how another is opened. */
static void configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_URI, 0);
}

void sqlite_configure(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, configure);
}

static void sqlite_close(struct store_conn *base)
{
	struct sqlite_conn *c = sqlite_of(base);

	sqlite_events_drop(base);
	for (int i = 0; i < SQLITE_STATEMENTS; i++)
		sqlite3_finalize(c->statements[i].s);
	sqlite3_close(c->db);
	if (c->owns_cache)
		row_cache_free(c->cache);
	sqlite_lock_release(&c->lock);
	free(c);
}

static const struct store_verbs sqlite_verbs = {
	.close = sqlite_close,
#define SQLITE_VERB(kind, type, name, params, args) .name = sqlite_##name,
	STORE_VERBS(SQLITE_VERB)
#undef SQLITE_VERB
};

static const struct store_embedded sqlite_embedded = {
	.share = sqlite_share,
	.set_cache = sqlite_set_cache,
	.cache_bytes = sqlite_cache_bytes,
	.set_direct = sqlite_set_direct,
	.backup = sqlite_backup,
	.check = sqlite_check,
};

static struct sqlite_conn *new_connection(enum store_mode mode)
{
	struct sqlite_conn *c = mem_zalloc(sizeof(*c));

	sqlite_configure();
	c->base = (struct store_conn){.verbs = &sqlite_verbs, .embedded = &sqlite_embedded,
				      .is_reader = mode == STORE_READ};
	c->lock = SQLITE_UNLOCKED;
	return c;
}

struct store_conn *sqlite_open(const char *data_dir, enum store_mode mode, struct buf *error)
{
	struct sqlite_conn *c = new_connection(mode);
	char *path = sqlite_path(data_dir, "spine.db");
	bool ok = true;

	if (mode == STORE_WRITE) {
		c->cache = sqlite_cache_new();
		c->owns_cache = true;
		ok = sqlite_make_directory(data_dir, error) && sqlite_lock_take(&c->lock, data_dir, error) &&
		     may_be_opened(data_dir, error) && make_private(data_dir, error) &&
		     sqlite_lock_database(&c->lock, data_dir, error) && sync_what_is_there(data_dir, error);
	}
	ok = ok && (mode == STORE_WRITE || is_whole(path, error)) && open_database(c, path, mode, error);
	if (ok && mode == STORE_WRITE)
		sqlite_checkpoint_start(&c->base);
	free(path);
	if (ok)
		return &c->base;
	sqlite_close(&c->base);
	return NULL;
}

const char *store_library_version(void)
{
	return sqlite3_libversion();
}

struct store_conn *store_open_file(const char *file, struct buf *error)
{
	char *path = realpath(file, NULL);	/* whole: ":memory:" is a file here */
	struct sqlite_conn *c = NULL;
	struct stat st;

	if (path == NULL || stat(path, &st) != 0) {
		buf_printf(error, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		buf_printf(error, "not a file%s", S_ISDIR(st.st_mode) ? "; --data names a data directory" : "");
	} else {
		c = new_connection(STORE_READ);
		if (!open_database(c, path, STORE_READ, error)) {
			sqlite_close(&c->base);
			c = NULL;
		}
	}
	free(path);
	return c ? &c->base : NULL;
}

bool sqlite_is_missing(const char *data_dir)
{
	char *path = sqlite_path(data_dir, "spine.db");
	struct stat st;
	bool missing = stat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);

	free(path);
	return missing;
}

enum store_status sqlite_info(struct store_conn *c, struct store_info *ret)
{
	static const char sql[] = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	int64_t bytes = 0, free_bytes = 0;
	enum store_status status = sqlite_read_int(c, s, &bytes);

	if (status == STORE_OK)
		status = sqlite_free_bytes(c, &free_bytes);
	if (status == STORE_OK)
		*ret = (struct store_info){"sqlite", SQLITE_SCHEMA_NOW, bytes, free_bytes};
	return status;
}
