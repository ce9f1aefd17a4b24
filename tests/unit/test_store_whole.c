/* store/embedded.h: what is done to the whole of a store with files; and what its readers see of a transaction. */
#include "temp_store.h"
#include "temp_database.h"

#include <pthread.h>
#include <stdatomic.h>

static struct memory get(struct temp_store *t, struct store_conn *c, int64_t space, uint64_t num, uint32_t version)
{
	struct memory m;

	must(store_memory_get(c, space, num, version, &t->arena, &m));
	return m;
}

static int64_t count(struct store_conn *c, int64_t space)
{
	int64_t n = -1;

	must(store_space_count(c, space, &n));
	return n;
}

/* Stores a further version with this content, in a transaction of its own. */
static void add_version(struct temp_store *t, uint64_t num, const char *content)
{
	struct memory m = get(t, t->c, t->space, num, 0);

	m.version = m.current_version + 1;
	m.content = str_of(content);
	m.updated_at_ms++;
	sha256(m.content, m.digest);
	must(store_begin(t->c));
	must(store_memory_add_version(t->c, &m));
	must(store_commit(t->c));
}

static enum store_status insert_as(struct temp_store *t, uint64_t num, const char *content, uint64_t *ret_num)
{
	struct memory m = temp_memory(t->space, content);
	enum store_status status;

	m.num = num;
	must(store_begin(t->c));
	status = store_memory_insert(t->c, &m);
	must(store_commit(t->c));
	*ret_num = m.num;
	return status;
}

/* --- Transactions --------------------------------------------------------------------------------- */

static void nothing_is_seen_by_readers_before_the_commit_and_all_of_it_after(void **state)
{
	struct temp_store *t = *state;
	struct store_conn *reader = temp_store_open(t, STORE_READ);
	struct memory a = temp_memory(t->space, "a"), b = temp_memory(t->space, "b"), r;
	int64_t id;

	assert_true(store_is_reader(reader));
	assert_false(store_is_reader(t->c));
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &a));
	must(store_memory_insert(t->c, &b));
	must(store_space_create(t->c, STR("new"), T0, &id));
	assert_int_equal(store_memory_get(reader, t->space, a.num, 0, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_space_find(reader, STR("new"), &id), STORE_NOT_FOUND);
	assert_int_equal(count(reader, t->space), 0);
	must(store_commit(t->c));
	assert_str(get(t, reader, t->space, a.num, 0).content, "a");
	assert_str(get(t, reader, t->space, b.num, 0).content, "b");
	assert_int_equal(count(reader, t->space), 2);
	must(store_space_find(reader, STR("new"), &id));
	store_close(reader);
}

static void reads_of_a_snapshot_see_one_state_and_the_next_read_sees_the_new_one(void **state)
{
	struct temp_store *t = *state;
	struct store_conn *reader = temp_store_open(t, STORE_READ);
	uint64_t num = temp_insert(t, t->space, "one");
	struct memory m;

	assert_true(store_snapshot_begin(reader));
	must(store_memory_get(reader, t->space, num, 0, &t->arena, &m));
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	must(store_commit(t->c));
	must(store_memory_get(reader, t->space, num, 0, &t->arena, &m));
	assert_false(m.pinned);
	store_snapshot_end(reader);
	must(store_memory_get(reader, t->space, num, 0, &t->arena, &m));
	assert_true(m.pinned);
	store_close(reader);
}

static void a_store_says_what_it_is(void **state)
{
	struct temp_store *t = *state;
	struct store_info info;

	must(store_info(t->c, &info));
	assert_true(strlen(info.engine) > 0);
	assert_true(info.schema >= 1);
	assert_true(info.bytes > 0);
}

/* --- The whole ------------------------------------------------------------------------------------ */

static struct store_check check(struct temp_store *t, const char *dir)
{
	struct store_conn *c = store_open(dir, STORE_READ, &t->error);
	struct store_check result = {.problems = -1};
	struct buf problems;

	if (c == NULL)
		print_error("%s\n", t->error.data);
	assert_non_null(c);
	buf_init(&problems, 65536);
	must(store_check(c, &result, &problems));
	if (result.problems)
		print_error("%s", problems.data);
	store_close(c);
	buf_release(&problems);
	return result;
}

static void a_check_finds_nothing_wrong_with_what_the_verbs_made(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct store_check result;
	uint64_t num;

	for (int i = 0; i < 3; i++)
		temp_insert(t, t->space, "a");
	temp_insert(t, other, "b");
	must(insert_as(t, MEMORY_NUM_MAX, "last", &num));
	add_version(t, 1, "b");
	add_version(t, 2, "b");
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, 2, T0));
	must(store_memory_set_superseded(t->c, t->space, 1, 3));
	must(store_commit(t->c));
	result = check(t, t->dir);
	assert_int_equal(result.memories, 5);
	assert_int_equal(result.versions, 5);
	assert_int_equal(result.problems, 0);
}

static void a_backup_holds_what_was_committed_and_can_be_restored(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "backup"), *dir = temp_path(t, "restored/below");
	struct memory open = temp_memory(t->space, "not committed"), r;
	struct store_conn *reader = temp_store_open(t, STORE_READ), *restored;
	struct buf kept;

	buf_init(&kept, 4096);
	temp_insert(t, t->space, "one");
	add_version(t, 1, "two");
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &open));
	must(store_backup(reader, file, &t->error));
	must(store_commit(t->c));
	must(store_restore(dir, file, false, &kept, &t->error));
	assert_int_equal(kept.len, 0);
	restored = store_open(dir, STORE_WRITE, &t->error);
	assert_non_null(restored);
	assert_str(get(t, restored, t->space, 1, 0).content, "two");
	assert_str(get(t, restored, t->space, 1, 1).content, "one");
	assert_int_equal(store_memory_get(restored, t->space, open.num, 0, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(check(t, dir).problems, 0);
	store_close(restored);
	store_close(reader);
	buf_release(&kept);
}

struct load {
	struct temp_store *t;
	atomic_bool stop;
	atomic_bool ended;
	atomic_ullong written;
};

static void *write_on(void *arg)
{
	struct load *load = arg;

	while (!atomic_load(&load->stop)) {
		struct memory m = temp_memory(load->t->space, "written while the backup is made");

		if (store_begin(load->t->c) != STORE_OK || store_memory_insert(load->t->c, &m) != STORE_OK ||
		    store_memory_set_pinned(load->t->c, load->t->space, m.num, true) != STORE_OK ||
		    	store_commit(load->t->c) != STORE_OK)
			break;
		atomic_store(&load->written, m.num);
	}
	atomic_store(&load->ended, true);
	return NULL;
}

static void a_backup_made_while_a_writer_writes_is_consistent(void **state)
{
	struct temp_store *t = *state;
	struct load load = {.t = t};
	struct store_conn *reader = temp_store_open(t, STORE_READ), *c;
	pthread_t thread;

	must(store_begin(t->c));
	for (int i = 0; i < 2000; i++) {	/* so that a backup takes some time */
		struct memory m = temp_memory(t->space, "already there");

		must(store_memory_insert(t->c, &m));
	}
	must(store_commit(t->c));
	assert_int_equal(pthread_create(&thread, NULL, write_on, &load), 0);
	for (int round = 0; round < 3; round++) {
		const char *file = arena_printf(&t->arena, "%s/backup%d", t->root, round).p;
		const char *dir = arena_printf(&t->arena, "%s/restored%d", t->root, round).p;
		unsigned long long before;
		struct store_check result;
		struct memory m;
		struct buf kept;

		while ((before = atomic_load(&load.written)) < 2000u + (unsigned)round * 20) {
			assert_false(atomic_load(&load.ended));
			sched_yield();
		}
		buf_init(&kept, 4096);
		buf_clear(&t->error);
		must(store_backup(reader, file, &t->error));
		must(store_restore(dir, file, false, &kept, &t->error));
		result = check(t, dir);
		assert_int_equal(result.problems, 0);
		assert_true(result.memories >= (int64_t)before);
		c = store_open(dir, STORE_WRITE, &t->error);
		assert_non_null(c);
		/* All up to the last, whole, and none behind it: a state that was there at one moment. */
		for (int64_t num = 2001; num <= result.memories; num++)
			assert_true(get(t, c, t->space, (uint64_t)num, 0).pinned);
		assert_int_equal(store_memory_get(c, t->space, (uint64_t)result.memories + 1, 0, &t->arena, &m),
				 STORE_NOT_FOUND);
		store_close(c);
		buf_release(&kept);
	}
	atomic_store(&load.stop, true);
	pthread_join(thread, NULL);
	store_close(reader);
}

static void a_backup_never_overwrites_a_file(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "backup");
	FILE *f = fopen(file, "w");
	struct stat st;

	assert_non_null(f);
	fputs("precious", f);
	fclose(f);
	assert_int_not_equal(store_backup(t->c, file, &t->error), STORE_OK);
	assert_non_null(strstr(t->error.data, file));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 8);
}

static void a_failed_backup_leaves_nothing_behind(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "no such directory/backup");

	assert_int_not_equal(store_backup(t->c, file, &t->error), STORE_OK);
	assert_non_null(strstr(t->error.data, "No such file"));
	assert_int_not_equal(access(file, F_OK), 0);
	assert_int_equal(temp_insert(t, t->space, "the store goes on"), 1);
}

static void a_restore_refuses_a_store_that_is_there_unless_told_and_then_keeps_it(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "backup"), *dir = temp_path(t, "other");
	struct store_conn *c;
	struct buf kept;
	int64_t space;

	buf_init(&kept, 4096);
	temp_insert(t, t->space, "from the backup");
	must(store_backup(t->c, file, &t->error));
	c = store_open(dir, STORE_WRITE, &t->error);
	assert_non_null(c);
	must(store_begin(c));
	must(store_space_create(c, STR("precious"), T0, &space));
	must(store_commit(c));
	store_close(c);

	assert_int_not_equal(store_restore(dir, file, false, &kept, &t->error), STORE_OK);
	assert_non_null(strstr(t->error.data, "--replace"));
	assert_int_equal(kept.len, 0);
	c = store_open(dir, STORE_WRITE, &t->error);
	assert_non_null(c);
	must(store_space_find(c, STR("precious"), &space));

	/* Nor where a server holds it. */
	buf_clear(&t->error);
	assert_int_not_equal(store_restore(dir, file, true, &kept, &t->error), STORE_OK);
	assert_non_null(strstr(t->error.data, "another server"));
	store_close(c);

	must(store_restore(dir, file, true, &kept, &t->error));
	assert_true(kept.len > 0);
	assert_int_equal(access(kept.data, F_OK), 0);
	c = store_open(dir, STORE_WRITE, &t->error);
	assert_non_null(c);
	assert_int_equal(store_space_find(c, STR("precious"), &space), STORE_NOT_FOUND);
	assert_str(get(t, c, t->space, 1, 0).content, "from the backup");
	store_close(c);
	buf_release(&kept);
}

static void a_backup_with_a_changed_byte_is_refused_by_the_page_and_its_table(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "backup"), *dir = temp_path(t, "other");
	char bytes[1 << 16], *at;
	struct buf kept;
	size_t size;
	FILE *f;

	buf_init(&kept, 4096);
	temp_insert(t, t->space, "one");
	temp_insert(t, t->space, "the quick brown fox");
	must(store_backup(t->c, file, &t->error));
	f = fopen(file, "r+");
	assert_non_null(f);
	do {
		long place = ftell(f);

		size = fread(bytes, 1, sizeof(bytes), f);
		at = memmem(bytes, size, "brown", 5);
		if (at)
			fseek(f, place + (at - bytes), SEEK_SET);
	} while (at == NULL && size > 0);
	assert_non_null(at);
	assert_int_equal(fwrite("green", 1, 5, f), 5);
	assert_int_equal(fclose(f), 0);
	assert_int_not_equal(store_restore(dir, file, false, &kept, &t->error), STORE_OK);
	assert_non_null(strstr(t->error.data, "does not match its checksum; it belongs to the table memory_version"));
	assert_int_not_equal(access(dir, F_OK), 0);
	buf_release(&kept);
}

/* Somebody has changed it with SQLite, by the way that pages get their checksums. */
static void a_backup_with_a_changed_text_is_refused_by_the_name_of_the_memory(void **state)
{
	struct temp_store *t = *state;
	const char *file = temp_path(t, "backup"), *dir = temp_path(t, "other");
	struct buf kept;
	sqlite3 *db;

	buf_init(&kept, 4096);
	temp_insert(t, t->space, "one");
	temp_insert(t, t->space, "the quick brown fox");
	must(store_backup(t->c, file, &t->error));
	assert_int_equal(temp_database(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE memory_version SET content = replace(content, 'brown', 'green')",
				      NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_not_equal(store_restore(dir, file, false, &kept, &t->error), STORE_OK);
	assert_non_null(strstr(t->error.data, "ms-2@1: the content does not match its digest"));
	assert_int_not_equal(access(dir, F_OK), 0);
	buf_release(&kept);
}

static void a_second_writer_is_refused_and_told_who_holds_the_store(void **state)
{
	struct temp_store *t = *state;
	char pid[32];

	snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
	assert_null(store_open(t->dir, STORE_WRITE, &t->error));
	assert_non_null(strstr(t->error.data, pid));
	assert_non_null(strstr(t->error.data, t->dir));
	assert_int_equal(temp_insert(t, t->space, "the first one goes on"), 1);
}

int main(void)
{
	const struct CMUnitTest store_whole[] = {
		with_store(nothing_is_seen_by_readers_before_the_commit_and_all_of_it_after),
		with_store(reads_of_a_snapshot_see_one_state_and_the_next_read_sees_the_new_one),
		with_store(a_store_says_what_it_is),
		with_store(a_check_finds_nothing_wrong_with_what_the_verbs_made),
		with_store(a_backup_holds_what_was_committed_and_can_be_restored),
		with_store(a_backup_made_while_a_writer_writes_is_consistent),
		with_store(a_backup_never_overwrites_a_file),
		with_store(a_failed_backup_leaves_nothing_behind),
		with_store(a_restore_refuses_a_store_that_is_there_unless_told_and_then_keeps_it),
		with_store(a_backup_with_a_changed_byte_is_refused_by_the_page_and_its_table),
		with_store(a_backup_with_a_changed_text_is_refused_by_the_name_of_the_memory),
		with_store(a_second_writer_is_refused_and_told_who_holds_the_store),
	};

	return cmocka_run_group_tests(store_whole, NULL, NULL);
}
