/* A reader that shares rows with the writer: it sees what is committed, at once, and nothing else. */
#include "temp_store.h"

struct shared {
	struct temp_store *t;
	struct store_conn *reader;
};

static struct shared open_shared(void **state)
{
	struct shared s = {*state, temp_store_open(*state, STORE_READ)};

	store_share(s.reader, s.t->c);
	return s;
}

static struct memory read_memory(const struct shared *s, uint64_t num)
{
	struct memory m;

	must(store_memory_get(s->reader, s->t->space, num, 0, &s->t->arena, &m));
	return m;
}

static void a_changed_memory_is_seen_from_the_commit_on(void **state)
{
	struct shared s = open_shared(state);
	struct temp_store *t = s.t;
	uint64_t num = temp_insert(t, t->space, "one");
	struct memory m = read_memory(&s, num), next;

	assert_str(m.content, "one");
	assert_str(read_memory(&s, num).content, "one");
	next = m;
	next.version = 2;
	next.content = STR("two");
	must(store_begin(t->c));
	must(store_memory_add_version(t->c, &next));
	assert_str(read_memory(&s, num).content, "one");
	must(store_memory_get(t->c, t->space, num, 0, &t->arena, &m));
	assert_str(m.content, "two");		/* the writer sees its own */
	assert_str(read_memory(&s, num).content, "one");
	must(store_commit(t->c));
	assert_str(read_memory(&s, num).content, "two");
	assert_int_equal(read_memory(&s, num).version, 2);
	must(store_memory_get(s.reader, t->space, num, 1, &t->arena, &m));
	assert_str(m.content, "one");
	must(store_memory_get(s.reader, t->space, num, 2, &t->arena, &m));
	assert_str(m.content, "two");
	store_close(s.reader);
}

static void a_new_memory_that_the_writer_has_read_is_not_seen_before_the_commit(void **state)
{
	struct shared s = open_shared(state);
	struct temp_store *t = s.t;
	struct memory m = temp_memory(t->space, "new"), r;

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_memory_get(t->c, t->space, m.num, 0, &t->arena, &r));
	assert_int_equal(store_memory_get(s.reader, t->space, m.num, 0, &t->arena, &r), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_str(read_memory(&s, m.num).content, "new");
	store_close(s.reader);
}

static void each_state_of_a_memory_is_seen(void **state)
{
	struct shared s = open_shared(state);
	struct temp_store *t = s.t;
	uint64_t num = temp_insert(t, t->space, "secret"), other = temp_insert(t, t->space, "other");

	assert_false(read_memory(&s, num).pinned);
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	must(store_commit(t->c));
	assert_true(read_memory(&s, num).pinned);
	must(store_begin(t->c));
	must(store_memory_set_superseded(t->c, t->space, num, other));
	must(store_commit(t->c));
	assert_int_equal(read_memory(&s, num).superseded_by, other);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0 + 5));
	must(store_commit(t->c));
	assert_int_equal(read_memory(&s, num).forgotten_at_ms, T0 + 5);
	assert_null(read_memory(&s, num).content.p);
	store_close(s.reader);
}

static void what_is_rolled_back_is_never_seen(void **state)
{
	struct shared s = open_shared(state);
	struct temp_store *t = s.t;
	uint64_t num = temp_insert(t, t->space, "one");
	struct envelope_row row = {
		.space = t->space, .num = 4, .task = STR("t"), .hop = 1, .created_at_ms = T0, .body = STR("{}"),
	};
	struct memory another = temp_memory(t->space, "another");
	struct envelope_row seen;

	read_memory(&s, num);
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	must(store_envelope_insert(t->c, &row));
	store_rollback(t->c);
	must(store_begin(t->c));
	must(store_savepoint(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_rollback_to(t->c));
	must(store_memory_insert(t->c, &another));
	must(store_commit(t->c));
	assert_false(read_memory(&s, num).pinned);
	assert_int_equal(store_envelope_get(s.reader, t->space, 4, &t->arena, &seen), STORE_NOT_FOUND);
	row.body = STR("{\"at\":\"last\"}");
	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	assert_int_equal(store_envelope_get(s.reader, t->space, 4, &t->arena, &seen), STORE_NOT_FOUND);
	must(store_commit(t->c));
	must(store_envelope_get(s.reader, t->space, 4, &t->arena, &seen));
	assert_str(seen.body, "{\"at\":\"last\"}");
	assert_str(seen.task, "t");
	assert_int_equal(seen.hop, 1);
	store_close(s.reader);
}

static void an_envelope_whose_number_is_taken_leaves_no_task_behind(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row = {
		.space = t->space, .num = 4, .task = STR("first"), .hop = 1, .created_at_ms = T0, .body = STR("{}"),
	};
	struct task_row tasks[4];
	size_t count;

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	row.task = STR("second");
	assert_int_equal(store_envelope_insert(t->c, &row), STORE_EXISTS);
	/* The same where the number is that of an envelope that did not begin its task. */
	row = (struct envelope_row){
		.space = t->space,
		.num = 5,
		.task = STR("first"),
		.parent = 4,
		.hop = 2,
		.created_at_ms = T0,
		.body = STR("{}"),
	};
	must(store_envelope_insert(t->c, &row));
	row.task = STR("third");
	row.parent = 0;
	assert_int_equal(store_envelope_insert(t->c, &row), STORE_EXISTS);
	must(store_commit(t->c));
	must(store_tasks(t->c, t->space, 0, 4, &t->arena, tasks, &count));
	assert_int_equal(count, 1);
	assert_str(tasks[0].name, "first");
}

static void agents_targets_and_policies_are_seen_as_they_are(void **state)
{
	struct shared s = open_shared(state);
	struct temp_store *t = s.t;
	struct agent_row agent = {STR("worker"), STR("{\"a\":1}"), T0, T0, false}, seen;
	struct target_row target = {.seen_at_ms = T0};
	int64_t id = 0, other = 0, guard = -1;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(store_agent_get(s.reader, t->space, STR("worker"), &t->arena, &seen), STORE_NOT_FOUND);
		assert_int_equal(store_agent_get(t->c, t->space, STR("worker"), &t->arena, &seen), STORE_NOT_FOUND);
		must(store_begin(t->c));
		must(store_agent_put(t->c, t->space, &agent));
		must(store_agent_get(t->c, t->space, STR("worker"), &t->arena, &seen));
		store_rollback(t->c);
	}
	must(store_begin(t->c));
	must(store_agent_put(t->c, t->space, &agent));
	must(store_agent_id(t->c, t->space, STR("worker"), false, T0, &id));
	must(store_commit(t->c));
	for (int i = 0; i < 2; i++) {
		must(store_agent_get(s.reader, t->space, STR("worker"), &t->arena, &seen));
		assert_str(seen.settings, "{\"a\":1}");
		must(store_agent_id(s.reader, t->space, STR("worker"), false, T0, &other));
		assert_int_equal(other, id);
		must(store_target_get(s.reader, id, &target));
		assert_int_equal(target.failures, 0);
		must(store_space_guard(s.reader, t->space, &guard));
		assert_int_equal(guard, 0);
	}
	must(store_begin(t->c));
	agent.settings = STR("{\"a\":2}");
	must(store_agent_put(t->c, t->space, &agent));
	target.failures = 3;
	must(store_target_put(t->c, id, &target));
	must(store_space_set_guard(t->c, t->space, 2));
	must(store_commit(t->c));
	must(store_agent_get(s.reader, t->space, STR("worker"), &t->arena, &seen));
	assert_str(seen.settings, "{\"a\":2}");
	must(store_target_get(s.reader, id, &target));
	assert_int_equal(target.failures, 3);
	must(store_space_guard(s.reader, t->space, &guard));
	assert_int_equal(guard, 2);
	/* One that is made on first use was known not to be there. */
	assert_int_equal(store_agent_get(s.reader, t->space, STR("new"), &t->arena, &seen), STORE_NOT_FOUND);
	must(store_begin(t->c));
	must(store_agent_id(t->c, t->space, STR("new"), true, T0, &id));
	must(store_commit(t->c));
	must(store_agent_get(s.reader, t->space, STR("new"), &t->arena, &seen));
	assert_str(seen.name, "new");
	/* The same name in another space is somebody else. */
	assert_int_equal(store_agent_get(s.reader, t->space + 1, STR("worker"), &t->arena, &seen), STORE_NOT_FOUND);
	store_close(s.reader);
}

static void the_rows_that_are_kept_can_be_limited(void **state)
{
	struct temp_store *t = *state;
	struct shared s = {t, temp_store_open(t, STORE_READ)};
	uint64_t num = temp_insert(t, t->space, "one");

	store_set_cache(t->c, 0);
	store_share(s.reader, t->c);
	assert_str(read_memory(&s, num).content, "one");
	assert_str(read_memory(&s, num).content, "one");
	assert_int_equal(store_cache_bytes(t->c), 0);
	store_set_cache(t->c, 1 << 20);
	store_share(s.reader, t->c);
	assert_str(read_memory(&s, num).content, "one");
	assert_in_range(store_cache_bytes(t->c), 1, 1024);
	store_close(s.reader);
}

/* A snapshot that began before a change: what it reads is of one state as long as nothing was kept of the row, and
 * never a mixture of two states of one row. */
static void a_snapshot_does_not_keep_an_old_row_for_others(void **state)
{
	struct shared s = open_shared(state), second = open_shared(state);
	struct temp_store *t = s.t;
	uint64_t num = temp_insert(t, t->space, "one");

	assert_true(store_snapshot_begin(s.reader));
	assert_false(store_snapshot_begin(s.reader));
	assert_false(read_memory(&s, num).pinned);
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	must(store_commit(t->c));
	assert_false(read_memory(&s, num).pinned);
	assert_true(read_memory(&second, num).pinned);
	assert_false(read_memory(&s, num).pinned);
	store_snapshot_end(s.reader);
	assert_true(read_memory(&s, num).pinned);
	assert_true(read_memory(&second, num).pinned);
	store_close(s.reader);
	store_close(second.reader);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_store_setup, temp_store_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_changed_memory_is_seen_from_the_commit_on),
		TEST(a_new_memory_that_the_writer_has_read_is_not_seen_before_the_commit),
		TEST(each_state_of_a_memory_is_seen),
		TEST(what_is_rolled_back_is_never_seen),
		TEST(an_envelope_whose_number_is_taken_leaves_no_task_behind),
		TEST(agents_targets_and_policies_are_seen_as_they_are),
		TEST(the_rows_that_are_kept_can_be_limited),
		TEST(a_snapshot_does_not_keep_an_old_row_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
