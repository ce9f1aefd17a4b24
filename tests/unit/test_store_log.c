/* store/sqlite/sqlite_file.c: how a commit reaches the log, and a checkpoint the database file. What happens when the
 * disk fails is in test_store_faults.c.
 */
#include "temp_store.h"

#include "fault_vfs.h"

#include <sys/stat.h>

static void add(struct temp_store *t, const char *content)
{
	struct memory m = temp_memory(t->space, content);

	must(store_memory_insert(t->c, &m));
}

static void assert_content(struct temp_store *t, uint64_t num, const char *content)
{
	struct memory m;

	must(store_memory_get(t->c, t->space, num, 0, &t->arena, &m));
	assert_true(str_is(m.content, content));
}

static void a_commit_is_one_write_and_one_sync(void **state)
{
	struct temp_store *t = *state;

	temp_insert(t, t->space, "the log has its header");
	must(store_begin(t->c));
	for (int i = 0; i < 50; i++)
		add(t, "some text that takes a little room, so that there are several pages to write in the end");
	fault_clear();
	must(store_commit(t->c));
	assert_int_equal(atomic_load(&fault_write.calls), 1);
	assert_int_equal(atomic_load(&fault_sync.calls), 1);
}

/* 4 MB of pages, enough for a checkpoint: to the log, and from there to the database file. */
static void a_checkpoint_writes_neighbouring_pages_together(void **state)
{
	enum { MEMORIES = 18, BYTES = 256 * 1024, CALLS_MAX = 2 * (MEMORIES * BYTES / (120 * 1024)) + 20 };
	struct temp_store *t = *state;
	char *text = mem_zalloc(BYTES + 1);
	struct stat st;

	memset(text, 'x', BYTES);
	fault_clear();
	must(store_begin(t->c));
	for (int i = 0; i < MEMORIES; i++)
		add(t, text);
	must(store_commit(t->c));
	assert_int_equal(stat(temp_path(t, "data/spine.db"), &st), 0);
	assert_true(st.st_size > MEMORIES * BYTES);
	assert_true(atomic_load(&fault_write.calls) < CALLS_MAX);
	free(text);
}

/* Where a reader needs a part of the log, nothing that could report a failure follows the writes (sqlite_file.c). */
static void pages_are_written_one_by_one_while_a_reader_keeps_a_part_of_the_log(void **state)
{
	enum { MEMORIES = 18, BYTES = 256 * 1024, PAGES = MEMORIES * BYTES / 4096 };
	struct temp_store *t = *state;
	struct store_conn *reader = temp_store_open(t, STORE_READ);
	char *text = mem_zalloc(BYTES + 1);
	struct memory m;

	memset(text, 'x', BYTES);
	must(store_begin(t->c));
	for (int i = 0; i < 3; i++)
		add(t, text);
	must(store_commit(t->c));
	assert_true(store_snapshot_begin(reader));
	must(store_memory_get(reader, t->space, 1, 0, &t->arena, &m));
	fault_clear();
	must(store_begin(t->c));
	for (int i = 0; i < MEMORIES; i++)
		add(t, text);
	must(store_commit(t->c));
	assert_true(atomic_load(&fault_write.calls) > 3 * BYTES / 4096);
	store_snapshot_end(reader);
	fault_clear();
	temp_insert(t, t->space, "the next commit moves the rest");
	assert_true(atomic_load(&fault_write.calls) < PAGES / 4);
	store_close(reader);
	free(text);
}

/* More than the page cache holds: pages go to the log early, are read from it again, and written again in their place.
 */
static void a_transaction_larger_than_the_cache_sees_all_of_itself(void **state)
{
	enum { MEMORIES = 90, BYTES = 256 * 1024 };
	struct temp_store *t = *state;
	char *text = mem_zalloc(BYTES + 1);
	struct memory m;

	must(store_begin(t->c));
	for (int i = 0; i < MEMORIES; i++) {
		memset(text, 'a' + i % 26, BYTES);
		add(t, text);
	}
	for (int i = 0; i < MEMORIES; i++) {
		memset(text, 'a' + i % 26, BYTES);
		assert_content(t, (uint64_t)i + 1, text);
		arena_release(&t->arena);
	}
	must(store_memory_forget(t->c, t->space, 1, T0)); /* its pages are in the log already, and are overwritten */
	must(store_commit(t->c));
	temp_store_reopen(t);
	must(store_memory_get(t->c, t->space, 1, 0, &t->arena, &m));
	assert_int_equal(m.forgotten_at_ms, T0);
	for (int i = 1; i < MEMORIES; i++) {
		memset(text, 'a' + i % 26, BYTES);
		assert_content(t, (uint64_t)i + 1, text);
		arena_release(&t->arena);
	}
	free(text);
}

/* A rollback after pages went to the log: the next transaction writes over them. */
static void what_was_rolled_back_is_written_over(void **state)
{
	enum { MEMORIES = 90, BYTES = 256 * 1024 };
	struct temp_store *t = *state;
	char *text = mem_zalloc(BYTES + 1);

	memset(text, 'x', BYTES);
	temp_insert(t, t->space, "before");
	must(store_begin(t->c));
	for (int i = 0; i < MEMORIES; i++)
		add(t, text);
	store_rollback(t->c);
	assert_int_equal(temp_insert(t, t->space, "after"), 2);
	temp_store_reopen(t);
	assert_content(t, 1, "before");
	assert_content(t, 2, "after");
	free(text);
}

int main(void)
{
	const struct CMUnitTest store_log[] = {
		with_store(a_commit_is_one_write_and_one_sync),
		with_store(a_checkpoint_writes_neighbouring_pages_together),
		with_store(pages_are_written_one_by_one_while_a_reader_keeps_a_part_of_the_log),
		with_store(a_transaction_larger_than_the_cache_sees_all_of_itself),
		with_store(what_was_rolled_back_is_written_over),
	};

	fault_vfs_install();
	return cmocka_run_group_tests(store_log, NULL, NULL);
}
