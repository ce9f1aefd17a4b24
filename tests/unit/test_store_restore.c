/* A restore over a store that is there, where every call that changes a directory or syncs fails in turn, or is the
 * last thing that the process does: afterwards the old store is there, whole, or the new one, and the old one is never
 * lost.
 *
 * The calls are defined here, so that the library and SQLite call these instead of the system's. */
#include "temp_store.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { OLD_MEMORIES = 6 };

/* --- The calls --- */

static struct {
	int left;		/* calls that still succeed; below 0: all of them */
	int error;		/* what the next one then fails with; 0: it kills the process */
	bool stays;		/* all further ones fail, too, also those that undo */
	const char *only;	/* calls of this name count; NULL: all */
} fault = {.left = -1};

static bool strikes(const char *call)
{
	if (fault.left < 0 || (fault.only && strcmp(fault.only, call) != 0))
		return false;
	if (fault.left > 0) {
		fault.left--;
		return false;
	}
	if (fault.error == 0)
		raise(SIGKILL);
	if (!fault.stays)
		fault.left = -1;
	errno = fault.error;
	return true;
}

int rename(const char *from, const char *to)
{
	return strikes("rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int link(const char *from, const char *to)
{
	return strikes("link") ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
	return strikes("unlink") ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int fsync(int fd)
{
	return strikes("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return strikes("fdatasync") ? -1 : (int)syscall(SYS_fdatasync, fd);
}

/* --- The stores --- */

struct place {
	struct temp_store t;
	const char *file;	/* a backup of one memory, "from the backup" */
	const char *dir;	/* a store of OLD_MEMORIES, all of them in its log */
	const char *database;
	struct buf kept;
};

/* What a server that was killed leaves: a log that nobody has moved into the database. */
static void make_old_store(const char *dir)
{
	struct buf error;
	struct store_conn *c;
	int64_t space;

	buf_init(&error, 4096);
	c = store_open(dir, STORE_WRITE, &error);
	if (c == NULL || store_begin(c) != STORE_OK || store_space_create(c, STR("default"), T0, &space) != STORE_OK)
		_exit(1);
	for (int i = 0; i < OLD_MEMORIES; i++) {
		struct memory m = temp_memory(space, "old");

		if (store_memory_insert(c, &m) != STORE_OK)
			_exit(1);
	}
	_exit(store_commit(c) == STORE_OK ? 0 : 1);
}

static int wait_for_child(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void place_init(struct place *p)
{
	struct stat st;
	pid_t child;

	fault.left = -1;
	temp_store_init(&p->t);
	buf_init(&p->kept, 4096);
	p->file = temp_path(&p->t, "backup");
	p->dir = temp_path(&p->t, "other");
	p->database = temp_path(&p->t, "other/spine.db");
	temp_insert(&p->t, p->t.space, "from the backup");
	must(store_backup(p->t.c, p->file, &p->t.error));
	child = fork();
	if (child == 0)
		make_old_store(p->dir);
	assert_int_equal(wait_for_child(child), 0);
	assert_int_equal(stat(temp_path(&p->t, "other/spine.db-wal"), &st), 0);
	assert_true(st.st_size > 0);
}

static void place_release(struct place *p)
{
	buf_release(&p->kept);
	temp_store_release(&p->t);
}

/* How many memories are in it, after a check that finds nothing wrong. The whole old store has OLD_MEMORIES, the new
 * one has 1. */
static int64_t memories_in(struct place *p, const char *dir)
{
	struct store_conn *c = store_open(dir, STORE_WRITE, &p->t.error);
	struct store_check result = {.problems = -1};
	struct buf problems;

	if (c == NULL)
		print_error("%s\n", p->t.error.data);
	assert_non_null(c);
	buf_init(&problems, 65536);
	must(store_check(c, &result, &problems));
	if (result.problems)
		fail_msg("%s", problems.data);
	store_close(c);
	buf_release(&problems);
	return result.memories;
}

/* The same for a database that lies there under this name, and its log. */
static int64_t memories_in_file(struct place *p, const char *file)
{
	const char *dir = temp_path(&p->t, "looked at");

	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(rename(file, temp_path(&p->t, "looked at/spine.db")), 0);
	return memories_in(p, dir);
}

/* How many files of the pattern there are in the data directory; the first one in *ret (NULL: nobody asks). */
static size_t count_files(struct place *p, const char *pattern, const char **ret)
{
	glob_t found = {0};
	size_t count = 0;

	if (glob(temp_path(&p->t, pattern), 0, NULL, &found) == 0)
		count = found.gl_pathc;
	if (count && ret)
		*ret = arena_str(&p->t.arena, str_of(found.gl_pathv[0])).p;
	globfree(&found);
	return count;
}

static enum store_status restore(struct place *p)
{
	enum store_status status;

	buf_clear(&p->t.error);
	status = store_restore(p->dir, p->file, true, &p->kept, &p->t.error);
	fault.left = -1;
	return status;
}

/* --- Tests --- */

/* The nth call fails. Returns whether that was refused. */
static bool fail_at(int n, bool stays)
{
	struct place p;
	const char *kept = NULL;
	bool refused;
	int64_t found;

	place_init(&p);
	fault.error = EIO;
	fault.stays = stays;
	fault.left = n;
	refused = restore(&p) != STORE_OK;
	fault.stays = false;
	assert_int_equal(refused, p.t.error.len > 0);
	found = memories_in(&p, p.dir);
	count_files(&p, "other/*before-restore*", &kept);
	/* Whatever there is of the old store beside the one in place is named. */
	if (kept)
		assert_non_null(strstr(refused ? p.t.error.data : p.kept.data, kept));
	if (found == OLD_MEMORIES) {
		assert_true(refused);
		assert_true(strstr(p.t.error.data, "left as it is") || strstr(p.t.error.data, "in its place") ||
			    strstr(p.t.error.data, "cannot copy"));
		assert_true(stays || count_files(&p, "other/*restore*", NULL) == 0);
		/* Nothing is in the way of the next try. */
		must(restore(&p));
		assert_int_equal(memories_in(&p, p.dir), 1);
		assert_int_equal(memories_in_file(&p, p.kept.data), OLD_MEMORIES);
	} else {
		assert_int_equal(found, 1);
		assert_non_null(kept);
		assert_int_equal(memories_in_file(&p, kept), OLD_MEMORIES);
	}
	place_release(&p);
	return refused;
}

static void a_call_that_fails_leaves_the_old_store_or_the_new_one_and_says_which(void **state)
{
	enum { CALLS_MAX = 25 };

	(void)state;
	for (int stays = 0; stays < 2; stays++) {
		int refused = 0;

		for (int n = 0; n < CALLS_MAX; n++)
			refused += fail_at(n, stays);
		assert_true(refused > 6);
		assert_false(fail_at(CALLS_MAX, stays));
	}
}

static void a_process_that_is_killed_leaves_the_old_store_or_the_new_one(void **state)
{
	int killed = 0, replaced = 0;

	(void)state;
	for (int n = 0;; n++) {
		struct place p;
		const char *kept = NULL;
		pid_t child;
		int status;

		place_init(&p);
		child = fork();
		if (child == 0) {
			fault.error = 0;
			fault.left = n;
			_exit(restore(&p) == STORE_OK ? 0 : 1);
		}
		status = wait_for_child(child);
		killed += WIFSIGNALED(status);
		if (memories_in(&p, p.dir) != OLD_MEMORIES) {
			replaced++;
			assert_int_equal(count_files(&p, "other/*before-restore*", &kept), 1);
			assert_int_equal(memories_in(&p, p.dir), 1);
			assert_int_equal(memories_in_file(&p, kept), OLD_MEMORIES);
		} else {
			must(restore(&p));
			assert_int_equal(memories_in(&p, p.dir), 1);
			assert_int_equal(memories_in_file(&p, p.kept.data), OLD_MEMORIES);
		}
		place_release(&p);
		if (!WIFSIGNALED(status)) {
			assert_int_equal(status, 0);
			break;
		}
	}
	assert_true(killed > 6);
	assert_true(replaced >= 2);
}

static void without_links_the_old_store_is_kept_as_a_copy(void **state)
{
	struct place p;

	(void)state;
	place_init(&p);
	fault.only = "link";
	fault.error = EPERM;
	fault.left = 0;
	must(restore(&p));
	fault.only = NULL;
	assert_int_equal(memories_in(&p, p.dir), 1);
	assert_int_equal(memories_in_file(&p, p.kept.data), OLD_MEMORIES);
	place_release(&p);
}

/* What is restored over is often damaged: that must not be in the way. */
static void a_store_that_cannot_be_opened_is_kept_with_its_log(void **state)
{
	struct place p;
	FILE *f;

	(void)state;
	for (int fails = 1; fails >= 0; fails--) {
		struct stat before, after;
		const char *wal;

		place_init(&p);
		wal = temp_path(&p.t, "other/spine.db-wal");
		f = fopen(p.database, "r+");
		assert_non_null(f);
		assert_int_equal(fwrite("no database at all", 1, 18, f), 18);
		fclose(f);
		f = fopen(wal, "r+");	/* nor does the log bring its first page back */
		assert_non_null(f);
		assert_int_equal(fwrite("no log", 1, 6, f), 6);
		fclose(f);
		assert_int_equal(stat(wal, &before), 0);
		fault.only = "rename";
		fault.error = EIO;
		fault.left = fails ? 1 : -1;
		assert_int_equal(restore(&p) == STORE_OK, !fails);
		fault.only = NULL;
		if (fails) {
			assert_int_equal(count_files(&p, "other/*restore*", NULL), 0);
		} else {
			assert_int_equal(memories_in(&p, p.dir), 1);
			wal = arena_printf(&p.t.arena, "%s-wal", p.kept.data).p;
			assert_int_equal(access(p.kept.data, F_OK), 0);
		}
		assert_int_equal(stat(wal, &after), 0);
		assert_int_equal(after.st_size, before.st_size);
		place_release(&p);
	}
}

static void a_store_that_is_being_read_is_not_replaced(void **state)
{
	struct place p;
	struct store_conn *reader;
	int64_t space;

	(void)state;
	place_init(&p);
	reader = store_open(p.dir, STORE_READ, &p.t.error);
	assert_non_null(reader);
	assert_true(store_snapshot_begin(reader));
	must(store_space_find(reader, STR("default"), &space));
	assert_int_not_equal(restore(&p), STORE_OK);
	assert_non_null(strstr(p.t.error.data, "somebody reads it"));
	store_snapshot_end(reader);
	must(restore(&p));
	must(store_space_count(reader, space, &space));
	assert_int_equal(space, OLD_MEMORIES);
	store_close(reader);
	assert_int_equal(memories_in(&p, p.dir), 1);
	place_release(&p);
}

int main(void)
{
	const struct CMUnitTest restores[] = {
		cmocka_unit_test(a_call_that_fails_leaves_the_old_store_or_the_new_one_and_says_which),
		cmocka_unit_test(a_process_that_is_killed_leaves_the_old_store_or_the_new_one),
		cmocka_unit_test(without_links_the_old_store_is_kept_as_a_copy),
		cmocka_unit_test(a_store_that_cannot_be_opened_is_kept_with_its_log),
		cmocka_unit_test(a_store_that_is_being_read_is_not_replaced),
	};

	return cmocka_run_group_tests(restores, NULL, NULL);
}
