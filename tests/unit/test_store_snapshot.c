/* Several reads of one state of the store, and the newest envelope of a task. */
#include "temp_store.h"

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

static void a_snapshot_within_a_transaction_leaves_it_alone(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "kept"), seen;

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	assert_false(store_snapshot_begin(t->c));
	must(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &seen));
	must(store_commit(t->c));
	assert_true(store_snapshot_begin(t->c));
	assert_false(store_snapshot_begin(t->c));
	store_snapshot_end(t->c);
	must(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &seen));
	assert_str(seen.content, "kept");
}

static void put_envelope(struct temp_store *t, uint64_t num, const char *task)
{
	struct envelope_row row = {
		.space = t->space, .num = num, .task = str_of(task), .hop = 1, .created_at_ms = T0, .body = STR("{}"),
	};

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_commit(t->c));
}

static void the_last_envelope_of_a_task_is_its_newest(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row;

	assert_int_equal(store_task_last(t->c, t->space, STR("a"), &t->arena, &row), STORE_NOT_FOUND);
	put_envelope(t, 3, "a");
	put_envelope(t, 9, "a");
	put_envelope(t, 11, "b");
	put_envelope(t, 7, "a");
	must(store_task_last(t->c, t->space, STR("a"), &t->arena, &row));
	assert_int_equal(row.num, 9);
	assert_str(row.task, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_of_a_snapshot_see_one_state_and_the_next_read_sees_the_new_one,
						temp_store_setup, temp_store_teardown),
		cmocka_unit_test_setup_teardown(a_snapshot_within_a_transaction_leaves_it_alone, temp_store_setup,
						temp_store_teardown),
		cmocka_unit_test_setup_teardown(the_last_envelope_of_a_task_is_its_newest, temp_store_setup,
						temp_store_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
