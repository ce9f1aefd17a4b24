/* Spaces. */
#include "conformance.h"

static int64_t count(struct store_conn *c, int64_t space)
{
	int64_t n = -1;

	must(store_space_count(c, space, &n));
	return n;
}

static void a_space_is_found_by_its_name_once_it_was_made(void **state)
{
	struct temp_store *t = *state;
	int64_t id = temp_space(t, "other"), found = 0;

	must(store_space_find(t->c, STR("other"), &found));
	assert_int_equal(found, id);
	assert_int_not_equal(id, t->space);
	assert_int_equal(count(t->c, id), 0);
}

static void an_unknown_space_is_not_found(void **state)
{
	struct temp_store *t = *state;
	int64_t id = 77;

	assert_int_equal(store_space_find(t->c, STR("nowhere"), &id), STORE_NOT_FOUND);
	assert_int_equal(store_space_find(t->c, STR(""), &id), STORE_NOT_FOUND);
	assert_int_equal(store_space_find(t->c, STR("defaul"), &id), STORE_NOT_FOUND);
	assert_int_equal(id, 77);
}

static void a_space_cannot_be_made_twice(void **state)
{
	struct temp_store *t = *state;
	int64_t id = 77, found;

	must(store_begin(t->c));
	assert_int_equal(store_space_create(t->c, STR("default"), T0, &id), STORE_EXISTS);
	assert_int_equal(id, 77);
	must(store_space_create(t->c, STR("another"), T0, &id));
	must(store_commit(t->c));
	must(store_space_find(t->c, STR("default"), &found));
	assert_int_equal(found, t->space);
	must(store_space_find(t->c, STR("another"), &found));
	assert_int_equal(found, id);
}

static void spaces_are_listed_in_order_and_in_pieces_with_what_they_hold(void **state)
{
	struct temp_store *t = *state;
	int64_t second = temp_space(t, "second"), third = temp_space(t, "third");
	struct store_conn *reader;
	struct space_row rows[4];
	size_t n = 77;

	temp_insert(t, second, "one");
	temp_insert(t, second, "two");
	must(store_begin(t->c));
	must(store_memory_forget(t->c, second, 1, T0));
	must(store_commit(t->c));
	reader = conformance_open(t, STORE_READ);
	must(store_spaces(reader, 0, 4, &t->arena, rows, &n));
	assert_int_equal(n, 3);
	assert_str(rows[0].name, "default");
	assert_str(rows[1].name, "second");
	assert_str(rows[2].name, "third");
	assert_int_equal(rows[1].id, second);
	assert_int_equal(rows[1].memories, 1);
	assert_int_equal(rows[1].created_at_ms, T0);
	assert_int_equal(rows[2].memories, 0);
	must(store_spaces(reader, second, 4, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].id, third);
	must(store_spaces(reader, 0, 2, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	must(store_spaces(reader, third, 4, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	store_close(reader);
	/* The writer sees its own transaction. */
	must(store_begin(t->c));
	must(store_memory_forget(t->c, second, 2, T0));
	must(store_spaces(t->c, 0, 4, &t->arena, rows, &n));
	assert_int_equal(rows[1].memories, 0);
	store_rollback(t->c);
}

static void a_space_keeps_its_policy(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), guard = 77;

	must(store_space_guard(t->c, t->space, &guard));
	assert_int_equal(guard, 0);
	must(store_begin(t->c));
	must(store_space_set_guard(t->c, t->space, 2));
	assert_int_equal(store_space_set_guard(t->c, other + 1, 2), STORE_NOT_FOUND);
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_space_guard(t->c, t->space, &guard));
	assert_int_equal(guard, 2);
	must(store_space_guard(t->c, other, &guard));
	assert_int_equal(guard, 0);
	assert_int_equal(store_space_guard(t->c, other + 1, &guard), STORE_NOT_FOUND);
}

static void a_space_keeps_what_it_locks(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct str locked = STR("something");

	must(store_space_locked(t->c, t->space, &t->arena, &locked));
	assert_null(locked.p);
	must(store_begin(t->c));
	must(store_space_set_locked(t->c, t->space, STR("[\"a\"]")));
	assert_int_equal(store_space_set_locked(t->c, other + 1, STR("[]")), STORE_NOT_FOUND);
	must(store_commit(t->c));
	must(store_begin(t->c));
	must(store_space_set_locked(t->c, t->space, STR("[]")));
	store_rollback(t->c);
	conformance_reopen(t);
	must(store_space_locked(t->c, t->space, &t->arena, &locked));
	assert_true(str_is(locked, "[\"a\"]"));
	must(store_space_locked(t->c, other, &t->arena, &locked));
	assert_null(locked.p);
	assert_int_equal(store_space_locked(t->c, other + 1, &t->arena, &locked), STORE_NOT_FOUND);
}

static void a_space_has_its_name(void **state)
{
	struct temp_store *t = *state;
	struct str name = STR("untouched");

	assert_int_equal(store_space_name(t->c, t->space + 1, &t->arena, &name), STORE_NOT_FOUND);
	assert_str(name, "untouched");
	must(store_space_name(t->c, t->space, &t->arena, &name));
	assert_str(name, "default");
}

static struct space_row space_of(struct temp_store *t)
{
	struct space_row row = {0};

	must(store_space_get(t->c, t->space, &t->arena, &row));
	return row;
}

static void a_space_keeps_its_limits(void **state)
{
	struct temp_store *t = *state;
	struct space_quota quota = {1, 2, 3, 4, 5}, kept;

	assert_int_equal(space_of(t).quota.memories, QUOTA_AS_SERVER);
	assert_int_equal(space_of(t).quota.agents, QUOTA_AS_SERVER);
	assert_int_equal(space_of(t).trust_floor, TRUST_EXTERNAL);
	must(store_begin(t->c));
	must(store_space_set_quota(t->c, t->space, &quota));
	must(store_space_set_floor(t->c, t->space, TRUST_USER));
	assert_int_equal(store_space_set_quota(t->c, t->space + 9, &quota), STORE_NOT_FOUND);
	assert_int_equal(store_space_set_floor(t->c, t->space + 9, TRUST_USER), STORE_NOT_FOUND);
	must(store_commit(t->c));
	conformance_reopen(t);
	kept = space_of(t).quota;
	assert_memory_equal(&kept, &quota, sizeof(quota));
	assert_int_equal(space_of(t).trust_floor, TRUST_USER);
}

static void a_space_counts_its_bytes_and_its_agents(void **state)
{
	struct temp_store *t = *state;
	struct memory m = {.space = t->space, .content = STR("12345"), .summary = STR("12"), .kind = STR("note"),
			   .tags = STR("[]"), .metadata = STR("{}")};
	struct envelope_row e = {.space = t->space, .num = 1, .task = STR("t"), .body = STR("{\"a\":1}"),
				 .intent = STR_NULL};
	struct agent_row agent = {.name = STR("a"), .settings = STR("{}")};
	int64_t id, handoffs;

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	m.version = 2;
	must(store_memory_add_version(t->c, &m));
	must(store_envelope_insert(t->c, &e));
	assert_int_equal(space_of(t).bytes, 2 * 9 + 7);
	must(store_agent_put(t->c, t->space, &agent));
	must(store_agent_put(t->c, t->space, &agent));
	must(store_agent_id(t->c, t->space, STR("b"), true, 1, &id));
	must(store_agent_id(t->c, t->space, STR("b"), true, 1, &id));
	assert_int_equal(space_of(t).agents, 2);
	must(store_savepoint(t->c));
	must(store_agent_delete(t->c, t->space, STR("b")));
	must(store_memory_forget(t->c, t->space, m.num, 1));
	assert_int_equal(space_of(t).agents, 1);
	assert_int_equal(space_of(t).bytes, 7);
	must(store_rollback_to(t->c));
	assert_int_equal(space_of(t).agents, 2);
	assert_int_equal(space_of(t).bytes, 2 * 9 + 7);
	must(store_agent_delete(t->c, t->space, STR("b")));
	must(store_agent_put(t->c, t->space, &(struct agent_row){.name = STR("b"), .settings = STR("{}")}));
	must(store_memory_prune(t->c, t->space, m.num, 1));
	must(store_envelope_prune(t->c, t->space, 1, &handoffs));
	must(store_commit(t->c));
	conformance_reopen(t);
	assert_int_equal(space_of(t).agents, 2);
	assert_int_equal(space_of(t).bytes, 0);
	conformance_check(t);
}

static const struct CMUnitTest spaces[] = {
	with_engine(a_space_is_found_by_its_name_once_it_was_made),
	with_engine(an_unknown_space_is_not_found),
	with_engine(a_space_cannot_be_made_twice),
	with_engine(spaces_are_listed_in_order_and_in_pieces_with_what_they_hold),
	with_engine(a_space_keeps_its_policy),
	with_engine(a_space_keeps_what_it_locks),
	with_engine(a_space_has_its_name),
	with_engine(a_space_keeps_its_limits),
	with_engine(a_space_counts_its_bytes_and_its_agents),
};

CONFORMANCE_PART(spaces);
