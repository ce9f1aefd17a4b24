/* A store whose disk fails: every sync and every write in turn. What was committed is there afterwards, what was not
 * committed has left no trace, and after a failed sync nothing is committed any more. */
#include "fault_vfs.h"
#include "temp_store.h"

#include <limits.h>

enum { TRANSACTIONS = 12, PARTS = 3 };

/* One transaction of the workload: PARTS memories, and changes to others. */
static enum store_status work(struct temp_store *t, int round)
{
	enum store_status status = store_begin(t->c);
	char text[4000];

	memset(text, 'a' + round, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; status == STORE_OK && i < PARTS; i++) {
		struct memory m = temp_memory(t->space, text);

		m.num = (uint64_t)(round * PARTS + i + 1);
		status = store_memory_insert(t->c, &m);
		if (status == STORE_OK && i == 1)
			status = store_memory_set_pinned(t->c, t->space, m.num, true);
	}
	if (status != STORE_OK) {
		store_rollback(t->c);
		return status;
	}
	return store_commit(t->c);
}

static void assert_sound(struct store_conn *c)
{
	struct store_check result;
	struct buf problems;

	buf_init(&problems, 65536);
	must(store_check(c, &result, &problems));
	if (result.problems)
		fail_msg("%s", problems.data);
	buf_release(&problems);
}

/* Every memory of an acknowledged transaction is there, whole; of a refused one all or none of them. */
static void verify(struct temp_store *t, const enum store_status results[TRANSACTIONS])
{
	struct memory m;

	for (int round = 0; round < TRANSACTIONS; round++) {
		int found = 0;

		for (int i = 0; i < PARTS; i++) {
			enum store_status status = store_memory_get(t->c, t->space, (uint64_t)(round * PARTS + i + 1),
								    0, &t->arena, &m);

			assert_true(status == STORE_OK || status == STORE_NOT_FOUND);
			found += status == STORE_OK;
			if (status == STORE_OK) {
				assert_int_equal(m.content.p[0], 'a' + round);
				assert_int_equal(m.pinned, i == 1);
			}
		}
		if (results[round] == STORE_OK && found != PARTS)
			fail_msg("transaction %d was acknowledged, but %d of its %d memories are there", round, found,
				 PARTS);
		if (results[round] == STORE_FULL)
			assert_int_equal(found, 0);
		assert_true(found == 0 || found == PARTS);
	}
	assert_sound(t->c);
}

/* Each sync fails once, in turn. Syncs happen at commits and at checkpoints: forgetting makes one of each. */
static void after_a_failed_sync_nothing_is_committed_any_more_and_nothing_is_lost(void **state)
{
	struct temp_store *t = *state;
	int strikes = 0;

	for (int n = 0;; n++) {
		enum store_status results[TRANSACTIONS];
		bool struck_before = false;
		int64_t space;

		temp_store_release(t);
		temp_store_init(t);
		space = t->space;
		fault_set(&fault_sync, n, false);
		for (int round = 0; round < TRANSACTIONS; round++) {
			results[round] = work(t, round);
			/* Whatever happens to the first, the next one knows. */
			if (struck_before)
				assert_int_equal(results[round], STORE_FAILED);
			struck_before = atomic_load(&fault_sync.hits) > 0;
			assert_int_equal(struck_before, store_is_failed(t->c));
			if (round == 5 && store_begin(t->c) == STORE_OK) {
				uint64_t extra = 0;
				struct memory m = temp_memory(space, "to be forgotten");

				m.num = 1000;
				if (store_memory_insert(t->c, &m) == STORE_OK)
					extra = m.num;
				if (store_memory_forget(t->c, space, extra, T0) != STORE_OK)
					store_rollback(t->c);
				else
					store_commit(t->c);
				struck_before = atomic_load(&fault_sync.hits) > 0;
				assert_int_equal(struck_before, store_is_failed(t->c));
			}
		}
		strikes += struck_before;
		temp_store_reopen(t);
		fault_clear();
		verify(t, results);
		assert_false(store_is_failed(t->c));
		must(work(t, TRANSACTIONS));
		if (!struck_before)
			break;
	}
	assert_true(strikes > TRANSACTIONS);
}

static void a_full_disk_refuses_whole_transactions_until_there_is_room(void **state)
{
	struct temp_store *t = *state;
	bool struck = true;
	int refused = 0;

	for (int n = 0; struck; n += 3) {
		enum store_status results[TRANSACTIONS];

		temp_store_release(t);
		temp_store_init(t);
		fault_set(&fault_write, n, true);
		for (int round = 0; round < TRANSACTIONS; round++) {
			if (round == TRANSACTIONS - 2)
				fault_set(&fault_write, -1, false);	/* room was made */
			results[round] = work(t, round);
			if (round < TRANSACTIONS - 2)
				struck = atomic_load(&fault_write.hits) > 0;
			if (results[round] != STORE_OK)
				assert_int_equal(results[round], STORE_FULL);
			refused += results[round] == STORE_FULL;
		}
		assert_int_equal(results[TRANSACTIONS - 1], STORE_OK);
		assert_int_equal(results[TRANSACTIONS - 2], STORE_OK);
		verify(t, results);
		temp_store_reopen(t);
		verify(t, results);
	}
	assert_true(refused > TRANSACTIONS);
}

/* The checkpoint of a big log finds the disk failing: what it moves stays in the log, and no later sync is trusted. */
static void a_failed_checkpoint_keeps_the_log_and_ends_the_writing(void **state)
{
	struct temp_store *t = *state;
	const char *wal = arena_printf(&t->arena, "%s/spine.db-wal", t->dir).p;
	struct memory m = temp_memory(t->space, "x");
	uint64_t acknowledged = 0;
	enum store_status status;
	struct stat before, after;
	char *text = mem_zalloc(256 * 1024);

	memset(text, 'x', 256 * 1024 - 1);
	m.content = str_of(text);
	while (!store_is_failed(t->c)) {
		must(store_begin(t->c));
		m.num = 0;
		must(store_memory_insert(t->c, &m));
		fault_set(&fault_sync, 1, true);	/* the commit is synced, a checkpoint is not */
		must(store_commit(t->c));
		acknowledged = m.num;
		assert_true(acknowledged < 100);
	}
	assert_int_equal(atomic_load(&fault_sync.hits), 1);
	assert_int_equal(stat(wal, &before), 0);
	fault_clear();
	assert_int_equal(store_begin(t->c), STORE_FAILED);
	store_close(t->c);
	assert_int_equal(stat(wal, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	t->c = temp_store_open(t, STORE_WRITE);
	for (uint64_t num = 1; num <= acknowledged; num++) {
		status = store_memory_get(t->c, t->space, num, 0, &t->arena, &m);
		assert_int_equal(status, STORE_OK);
		assert_int_equal(m.content.n, 256 * 1024 - 1);
	}
	free(text);
}

/* --- Every write of a checkpoint --- */

enum checkpoint { BY_SIZE, BY_SIZE_BESIDE_A_READER, BY_FORGETTING, BY_CLOSING, CHECKPOINTS };
enum { SMALL = 20000, LARGE = 256 * 1024, LARGE_COUNT = 12 };

/* A memory of so many bytes. */
static enum store_status put(struct temp_store *t, uint64_t num, size_t bytes)
{
	char *text = mem_zalloc(bytes + 1);
	struct memory m;
	enum store_status status = store_begin(t->c);

	memset(text, 'a' + (int)(num % 26), bytes);
	m = temp_memory(t->space, text);
	m.num = num;
	if (status == STORE_OK)
		status = store_memory_insert(t->c, &m);
	if (status == STORE_OK)
		status = store_commit(t->c);
	else
		store_rollback(t->c);
	free(text);
	return status;
}

/* A checkpoint, of a log that is filled first, whose writes fail behind the first so many: nobody sees anything wrong,
 * neither beside it nor later. Returns how many writes there were. */
static int play_checkpoint(struct temp_store *t, enum checkpoint kind, int good_writes, bool stays)
{
	struct store_conn *reader = NULL;
	int writes;

	temp_store_release(t);
	temp_store_init(t);
	for (uint64_t num = 1; num <= 6; num++)
		must(put(t, num, SMALL));
	for (uint64_t num = 10; kind <= BY_SIZE_BESIDE_A_READER && num < 10 + LARGE_COUNT; num++)
		must(put(t, num, LARGE));
	if (kind == BY_SIZE_BESIDE_A_READER) {
		struct memory m;

		reader = temp_store_open(t, STORE_READ);
		assert_true(store_snapshot_begin(reader));
		must(store_memory_get(reader, t->space, 1, 0, &t->arena, &m));
		must(put(t, 30, SMALL));
	}
	fault_set(&fault_write, good_writes, stays);
	if (kind <= BY_SIZE_BESIDE_A_READER)
		for (uint64_t num = 40; num < 45; num++)
			put(t, num, LARGE);
	if (kind == BY_FORGETTING && store_begin(t->c) == STORE_OK) {
		if (store_memory_forget(t->c, t->space, 3, T0) == STORE_OK)
			store_commit(t->c);
		else
			store_rollback(t->c);
	}
	if (kind == BY_CLOSING)
		store_close(t->c);
	writes = atomic_load(&fault_write.calls);
	fault_clear();
	if (reader) {
		store_snapshot_end(reader);
		assert_sound(reader);
		store_close(reader);
	}
	if (kind == BY_CLOSING)
		t->c = temp_store_open(t, STORE_WRITE);
	else
		assert_sound(t->c);
	temp_store_reopen(t);
	assert_sound(t->c);
	return writes;
}

static void whichever_write_of_a_checkpoint_fails_the_store_is_sound(void **state)
{
	struct temp_store *t = *state;

	for (enum checkpoint kind = 0; kind < CHECKPOINTS; kind++) {
		int writes = play_checkpoint(t, kind, INT_MAX, false);

		assert_true(writes > 1);
		/* Of hundreds not all: beside a reader the pages are written one by one. */
		for (int n = 0; n < writes; n += writes < 100 || n + 61 > writes ? 1 : 31) {
			play_checkpoint(t, kind, n, false);
			play_checkpoint(t, kind, n, true);
		}
	}
}

static int clear(void **state)
{
	fault_clear();
	return temp_store_setup(state);
}

static int end(void **state)
{
	fault_clear();
	return temp_store_teardown(state);
}

int main(void)
{
	const struct CMUnitTest store_faults[] = {
		cmocka_unit_test_setup_teardown(whichever_write_of_a_checkpoint_fails_the_store_is_sound, clear, end),
		cmocka_unit_test_setup_teardown(after_a_failed_sync_nothing_is_committed_any_more_and_nothing_is_lost,
		 clear, end),
		cmocka_unit_test_setup_teardown(a_full_disk_refuses_whole_transactions_until_there_is_room, clear, end),
		cmocka_unit_test_setup_teardown(a_failed_checkpoint_keeps_the_log_and_ends_the_writing, clear, end),
	};

	fault_vfs_install();
	return cmocka_run_group_tests(store_faults, NULL, NULL);
}
