/* What is done to the whole store: backup, check, restore. */
#include "base/mem.h"
#include "codec/sha256.h"
#include "store/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Backup --- */

/* VACUUM INTO writes to an existing empty file, so the file is made first, with the right mode and never over another.
 */
static bool make_target(const char *part, const char *file, struct buf *error)
{
	int fd = sqlite_disk_open(part, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0) {
		buf_printf(error, "cannot make %s: %s", file, strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

char *store_part_of(const char *file)
{
	struct buf path;

	buf_init(&path, 8192);
	buf_printf(&path, "%s.%ld.part", file, (long)getpid());
	return buf_take(&path);
}

/* Where the file system has no links, another file of the name can come between the look and the rename. 0, or why not.
 */
static int give_name(const char *part, const char *file)
{
	if (!sqlite_sync_file(part, O_RDONLY))
		return errno ? errno : EIO;
	if (link(part, file) == 0) {
		unlink(part);
		return 0;
	}
	if (errno == EEXIST || access(file, F_OK) == 0)
		return EEXIST;
	return rename(part, file) == 0 ? 0 : errno;
}

bool store_place(const char *part, const char *file, struct buf *error)
{
	int why = give_name(part, file);

	if (why) {
		buf_printf(error, "cannot make %s: %s", file, strerror(why));
		unlink(part);
		return false;
	}
	if (sqlite_sync_directory_of(file))
		return true;
	buf_printf(error, "%s is written, but its directory could not be synced (%s): after a power cut it may not be "
		   "there. Look after the disk, remove the file and make it again", file, strerror(errno));
	return false;
}

static enum store_status copy_into(struct store_conn *c, const char *file)
{
	char *path = realpath(file, NULL);	/* whole: ":memory:" is a file here */
	enum store_status status;
	sqlite3_stmt *s = NULL;

	/* The copy of a store that was made before free pages could be given back can. */
	sqlite3_exec(sqlite_of(c)->db, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL);
	status = sqlite_status(c, sqlite3_prepare_v2(sqlite_of(c)->db, "VACUUM INTO ?1", -1, &s, NULL));
	if (status == STORE_OK) {
		sqlite3_bind_text(s, 1, path ? path : file, -1, SQLITE_STATIC);
		status = sqlite_status(c, sqlite3_step(s));
	}
	sqlite3_finalize(s);
	free(path);
	return status;
}

/* It gets its name when it is whole and on the disk: who is killed leaves another name. */
enum store_status sqlite_backup(struct store_conn *c, const char *file, struct buf *error)
{
	char *part = store_part_of(file);
	enum store_status status = STORE_FAILED;

	if (access(file, F_OK) == 0) {
		buf_printf(error, "cannot make %s: %s", file, strerror(EEXIST));
	} else {
		unlink(part);
		if (make_target(part, file, error)) {
			status = copy_into(c, part);
			if (status != STORE_OK) {
				buf_printf(error, "the backup %s could not be written: %s", file, c->error);
				unlink(part);
			} else if (!store_place(part, file, error)) {
				status = STORE_FAILED;
			}
		}
	}
	free(part);
	return status;
}

/* --- Check --- */

struct check {
	struct store_conn *c;
	struct store_check counts;
	struct buf *problems;
};

static void add_problem(void *ctx, const char *text)
{
	struct check *k = ctx;

	k->counts.problems++;
	buf_printf(k->problems, "%s\n", text);
}

/* Every row of the query is a problem, and its first column the sentence. */
static enum store_status check_query(struct check *k, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(sqlite_of(k->c)->db, sql, -1, &s, NULL);

	if (rc == SQLITE_OK) {
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			const char *text = (const char *)sqlite3_column_text(s, 0);

			if (text && strcmp(text, "ok") != 0)
				add_problem(k, text);
		}
	}
	sqlite3_finalize(s);
	return sqlite_status(k->c, rc);
}

/* The version that the statement stands on. */
static void check_digest(struct check *k, sqlite3_stmt *s)
{
	const void *content = sqlite3_column_blob(s, 2), *stored = sqlite3_column_blob(s, 3);
	uint8_t digest[SHA256_SIZE];
	char text[128];

	k->counts.versions++;
	sha256((struct str){content, (size_t)sqlite3_column_bytes(s, 2)}, digest);
	if (stored && sqlite3_column_bytes(s, 3) == SHA256_SIZE && memcmp(stored, digest, SHA256_SIZE) == 0)
		return;
	snprintf(text, sizeof(text), "ms-%lld@%d: the content does not match its digest",
		 (long long)sqlite3_column_int64(s, 0), sqlite3_column_int(s, 1));
	add_problem(k, text);
}

#define VERSIONS "SELECT memory & 1099511627775, version, content, digest FROM memory_version"

/* Where a page is damaged: each by itself, found by the index. */
static enum store_status check_digests_one_by_one(struct check *k)
{
	static const char keys[] = "SELECT id, memory & 1099511627775, version FROM memory_version "
				   "ORDER BY memory, version";
	sqlite3 *db = sqlite_of(k->c)->db;
	sqlite3_stmt *list = NULL, *s = NULL;
	int rc = sqlite3_prepare_v2(db, keys, -1, &list, NULL);
	char text[128];

	k->counts.versions = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, VERSIONS " WHERE id = ?1", -1, &s, NULL);
	while (rc == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) {
		sqlite3_bind_int64(s, 1, sqlite3_column_int64(list, 0));
		if (sqlite3_step(s) == SQLITE_ROW) {
			check_digest(k, s);
		} else {
			snprintf(text, sizeof(text), "ms-%lld@%d cannot be read",
				 (long long)sqlite3_column_int64(list, 1), sqlite3_column_int(list, 2));
			add_problem(k, text);
		}
		sqlite3_reset(s);
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_reset(list);
	sqlite3_finalize(list);
	sqlite3_finalize(s);
	return sqlite_status(k->c, rc);
}

/* The content of every version against its digest. */
static enum store_status check_digests(struct check *k)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(sqlite_of(k->c)->db, VERSIONS, -1, &s, NULL);
	enum store_status status;

	while (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		check_digest(k, s);
	if (rc == SQLITE_OK)
		rc = sqlite3_reset(s);
	status = sqlite_status(k->c, rc);
	sqlite3_finalize(s);
	return status;
}

_Static_assert(MEMORY_NUM_MAX == 1099511627775 && MEMORY_NUM_MAX + 1 == (uint64_t)1 << 40, "& 1099511627775, >> 40");

_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_STATES == 9, "state NOT BETWEEN 0 AND 8");
_Static_assert(HANDOFF_ACKED == 4, "state < 4: open");

/* What must hold between the tables; every row that a query gives is a problem. */
static const char *const queries[] = {
	"PRAGMA integrity_check",
	"SELECT printf('ms-%d: version %d is missing', m.id & 1099511627775, m.version) FROM memory m "
	"  LEFT JOIN memory_version v ON v.memory = m.id AND v.version = m.version "
	"  WHERE m.forgotten_at = 0 AND v.id IS NULL",
	"SELECT printf('ms-%d was forgotten, but version %d is still there', m.id & 1099511627775, v.version) "
	"  FROM memory m JOIN memory_version v ON v.memory = m.id WHERE m.forgotten_at <> 0",
	"SELECT printf('version %d of ms-%d belongs to no memory', v.version, v.memory & 1099511627775) "
	"  FROM memory_version v LEFT JOIN memory m ON m.id = v.memory WHERE m.id IS NULL",
	"SELECT printf('space %s counts %d memories, but has %d', s.name, s.memories, n) FROM (SELECT s.*, "
	"  (SELECT count(*) FROM memory m WHERE m.id > s.id << 40 AND m.id < (s.id + 1) << 40 "
	"  AND m.forgotten_at = 0) n "
	"  FROM space s) s WHERE s.memories <> n",
	"SELECT printf('space %s counts %d bytes, but has %d', s.name, s.bytes, n) FROM (SELECT s.*, "
	"  (SELECT coalesce(sum(length(CAST(content AS BLOB)) + coalesce(length(CAST(summary AS BLOB)), 0) + "
	"  length(CAST(metadata AS BLOB))), 0) FROM memory_version v "
	"  WHERE v.memory > s.id << 40 AND v.memory < (s.id + 1) << 40) + "
	"  (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM envelope e WHERE e.id > s.id << 40 "
	"  AND e.id < (s.id + 1) << 40) n FROM space s WHERE s.removed_at = 0) s WHERE s.bytes <> n",
	"SELECT printf('space %s counts %d agents, but has %d', s.name, s.agents, n) FROM (SELECT s.*, "
	"  (SELECT count(*) FROM agent a WHERE a.space = s.id AND a.status < 2) n FROM space s "
	"  WHERE s.removed_at = 0) s WHERE s.agents <> n",
	"SELECT printf('space %s would give the number %d again', s.name, s.next_memory) FROM space s "
	"  WHERE s.next_memory <= (SELECT max(m.id) & 1099511627775 FROM memory m "
	"  WHERE m.id > s.id << 40 AND m.id < (s.id + 1) << 40)",
	"SELECT printf('env-%d belongs to no task', e.id & 1099511627775) FROM envelope e "
	"  LEFT JOIN task t ON t.id = e.task WHERE t.id IS NULL",
	"SELECT printf('ho-%d is of env-%d, which is not there', h.id & 1099511627775, h.envelope & 1099511627775) "
	"  FROM handoff h LEFT JOIN envelope e ON e.id = h.envelope "
	"  WHERE e.id IS NULL OR h.id >> 40 <> h.envelope >> 40",
	"SELECT printf('ho-%d is for an agent that is not there', h.id & 1099511627775) FROM handoff h "
	"  LEFT JOIN agent t ON t.id = h.target AND t.space = h.id >> 40 "
	"  LEFT JOIN agent a ON a.id = h.agent AND a.space = h.id >> 40 "
	"  WHERE t.id IS NULL OR a.id IS NULL",
	"SELECT printf('ho-%d was published in a channel that is not there', h.id & 1099511627775) FROM handoff h "
	"  LEFT JOIN channel c ON c.id = h.channel WHERE h.channel > 0 AND c.id IS NULL",
	/* What is open has a time at which something happens; what is not waits for nothing. */
	"SELECT printf('ho-%d is in state %d and due at %d', h.id & 1099511627775, h.state, h.due) FROM handoff h "
	"  WHERE h.state NOT BETWEEN 0 AND 8 OR (h.state < 4) <> (h.due > 0)",
	"SELECT printf('a result belongs to ho-%d, which is not there', r.handoff & 1099511627775) FROM result r "
	"  LEFT JOIN handoff h ON h.id = r.handoff WHERE h.id IS NULL",
	"SELECT printf('the result of ho-%d is ms-%d, which is not there', r.handoff & 1099511627775, r.memory) "
	"  FROM result r LEFT JOIN memory m ON m.id = (r.handoff >> 40 << 40) | r.memory "
	"  WHERE r.memory > 0 AND m.id IS NULL",
	"SELECT printf('there is a breaker of agent %d, which is not there', t.agent) FROM target t "
	"  LEFT JOIN agent a ON a.id = t.agent WHERE a.id IS NULL",
	"SELECT printf('agent %d has subscribed to channel %d; one of them is not there', s.agent, s.channel) "
	"  FROM subscriber s "
	"  LEFT JOIN channel c ON c.id = s.channel LEFT JOIN agent a ON a.id = s.agent "
	"  WHERE c.id IS NULL OR a.id IS NULL",
};

static void count_rows(struct check *k)
{
	static const char counts[] =
		"SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM envelope), (SELECT count(*) FROM handoff)";
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(sqlite_of(k->c)->db, counts, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW) {
		k->counts.memories = sqlite3_column_int64(s, 0);
		k->counts.envelopes = sqlite3_column_int64(s, 1);
		k->counts.handoffs = sqlite3_column_int64(s, 2);
	}
	sqlite3_finalize(s);
}

/* What is damaged was told when the pages were looked at; where it was not, it is now. */
static enum store_status go_on(struct check *k, enum store_status status)
{
	if (status != STORE_DAMAGED)
		return status;
	if (k->counts.problems == 0)
		add_problem(k, k->c->error);
	return STORE_OK;
}

enum store_status sqlite_check(struct store_conn *c, struct store_check *ret, struct buf *ret_problems)
{
	struct check k = {.c = c, .problems = ret_problems};
	enum store_status status = STORE_OK;

	sqlite_scan(sqlite_of(c)->db, add_problem, &k);
	for (size_t i = 0; status == STORE_OK && i < sizeof(queries) / sizeof(queries[0]); i++)
		status = go_on(&k, check_query(&k, queries[i]));
	if (status == STORE_OK)
		status = check_digests(&k);
	if (status == STORE_DAMAGED)
		status = go_on(&k, check_digests_one_by_one(&k));
	if (status == STORE_OK)
		count_rows(&k);
	if (status == STORE_OK)
		*ret = k.counts;
	return status;
}

/* --- Restore --- */

/* "file:" and the path, with what means something in a URI escaped. Returns owned. */
static char *immutable_uri(const char *file)
{
	struct buf uri;

	buf_init(&uri, 16384);
	buf_puts(&uri, file[0] == '/' ? "file://" : "file:");
	for (const char *p = file; *p; p++) {
		if (*p == '%' || *p == '?' || *p == '#')
			buf_printf(&uri, "%%%02X", (unsigned)*p);
		else
			buf_putc(&uri, *p);
	}
	buf_puts(&uri, "?immutable=1");
	return buf_take(&uri);
}

/* Every text against its digest: SQLite does not see a byte that has changed within one. */
static bool verify_contents(sqlite3 *db, const char *file, struct buf *error)
{
	struct sqlite_conn c = {.db = db};
	struct buf problems;
	struct check k = {.c = &c.base, .problems = &problems};
	bool ok;

	buf_init(&problems, 1 << 20);
	ok = check_digests(&k) == STORE_OK && k.counts.problems == 0;
	if (!ok)
		buf_printf(error, "%s is damaged: %.*s", file,
			   problems.len ? (int)strcspn(problems.data, "\n") : (int)strlen(c.base.error),
			   problems.len ? problems.data : c.base.error);
	buf_release(&problems);
	return ok;
}

/* Every page; a backup of before there were seals has none. */
static bool verify_pages(sqlite3 *db, const char *file, struct buf *error)
{
	struct buf problems;
	struct check k = {.problems = &problems};
	int is_sealed = 0;

	sqlite3_file_control(db, "main", SQLITE_VFS_IS_SEALED, &is_sealed);
	buf_init(&problems, 1 << 20);
	if (is_sealed)
		sqlite_scan(db, add_problem, &k);
	if (k.counts.problems)
		buf_printf(error, "%s is damaged: %.*s", file, (int)strcspn(problems.data, "\n"), problems.data);
	buf_release(&problems);
	return k.counts.problems == 0;
}

/* A backup is good when it is a store of ours that this binary can read or migrate, and nothing is found to be wrong
 * with it. It is opened as immutable, so that nothing is made beside it. */
static bool verify_backup(const char *file, struct buf *error)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *db = NULL;
	char *path = realpath(file, NULL);
	char *uri = immutable_uri(path ? path : file);
	bool ok = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, sqlite_vfs()) == SQLITE_OK;
	int version = 0;

	if (!ok)
		buf_printf(error, "cannot open %s: %s", file, db ? sqlite3_errmsg(db) : "out of memory");
	ok = ok && sqlite_schema_read(db, &version, error);
	if (ok && version == 0) {
		buf_printf(error, "%s is empty, not a backup", file);
		ok = false;
	}
	ok = ok && verify_pages(db, file, error);
	if (ok && (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &s, NULL) != SQLITE_OK ||
		   sqlite3_step(s) != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)) {
		const char *text = s ? (const char *)sqlite3_column_text(s, 0) : NULL;

		buf_printf(error, "%s is damaged: ", file);
		if (text)
			buf_puts(error, text);
		else
			sqlite_damage_put(db, error);
		ok = false;
	}
	sqlite3_finalize(s);
	ok = ok && verify_contents(db, file, error);
	sqlite3_close(db);
	free(path);
	free(uri);
	return ok;
}

bool store_make_directory(const char *data_dir, struct buf *error)
{
	return sqlite_make_directory(data_dir, error);
}

enum store_status store_restore(const char *data_dir, const char *file, bool replace, struct buf *ret_kept,
				struct buf *error)
{
	char *path = sqlite_path(data_dir, "spine.db");
	struct sqlite_lock lock = SQLITE_UNLOCKED;
	bool ok;

	sqlite_configure();
	ok = verify_backup(file, error) && sqlite_make_directory(data_dir, error) &&
	     sqlite_lock_take(&lock, data_dir, error) && sqlite_replace(path, file, replace, ret_kept, error);
	sqlite_lock_release(&lock);
	free(path);
	return ok ? STORE_OK : STORE_FAILED;
}
