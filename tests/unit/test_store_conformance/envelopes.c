/* Envelopes, tasks and receipts. */
#include "conformance.h"

static struct envelope_row envelope(int64_t space, uint64_t num, const char *task, const char *body)
{
	struct envelope_row row = {.space = space, .num = num, .task = str_of(task), .hop = 1,
				   .created_at_ms = T0 + (int64_t)num, .body = str_of(body)};

	memset(row.digest, (int)num, sizeof(row.digest));
	return row;
}

static enum store_status insert(struct temp_store *t, const struct envelope_row *row)
{
	enum store_status status;

	must(store_begin(t->c));
	status = store_envelope_insert(t->c, row);
	must(store_commit(t->c));
	return status;
}

static void add(struct temp_store *t, int64_t space, uint64_t num, const char *task)
{
	struct envelope_row row = envelope(space, num, task, "{}");

	must(insert(t, &row));
}

/* The names of the tasks, as text. */
static const char *tasks(struct temp_store *t, int64_t space, int64_t before, size_t max, int64_t *ret_last)
{
	struct task_row rows[10];
	struct buf text;
	const char *result;
	size_t n;

	buf_init(&text, 4096);
	must(store_tasks(t->c, space, before, max, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%.*s:%lld", i ? " " : "", STR_ARG(rows[i].name), (long long)rows[i].envelopes);
	if (ret_last)
		*ret_last = n ? rows[n - 1].id : 0;
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

/* --- Envelopes ------------------------------------------------------------------------------------ */

static void an_envelope_comes_back_as_it_was_stored(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row = envelope(t->space, 7, "täsk", "{\"a\":\"ü\"}"), r;

	row.parent = 3;
	row.hop = 4;
	row.has_body_digest = true;
	memset(row.body_digest, 9, sizeof(row.body_digest));
	must(insert(t, &row));
	add(t, t->space, 8, "without a digest of the body");
	conformance_reopen(t);
	must(store_envelope_get(t->c, t->space, 8, &t->arena, &r));
	assert_false(r.has_body_digest);
	must(store_envelope_get(t->c, t->space, 7, &t->arena, &r));
	assert_int_equal(r.space, t->space);
	assert_int_equal(r.num, 7);
	assert_str(r.task, "täsk");
	assert_int_equal(r.parent, 3);
	assert_int_equal(r.hop, 4);
	assert_int_equal(r.created_at_ms, T0 + 7);
	assert_memory_equal(r.digest, row.digest, sizeof(r.digest));
	assert_true(r.has_body_digest);
	assert_memory_equal(r.body_digest, row.body_digest, sizeof(r.body_digest));
	assert_str(r.body, "{\"a\":\"ü\"}");
}

static void an_unknown_envelope_is_not_found(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row r = {.num = 77};

	add(t, t->space, 1, "task");
	assert_int_equal(store_envelope_get(t->c, t->space, 2, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_envelope_get(t->c, t->space + 1, 1, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(r.num, 77);
}

static void a_taken_number_is_refused_and_nothing_changes(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row = envelope(t->space, 1, "another task", "{\"second\":1}"), r;

	add(t, t->space, 1, "task");
	assert_int_equal(insert(t, &row), STORE_EXISTS);
	must(store_envelope_get(t->c, t->space, 1, &t->arena, &r));
	assert_str(r.body, "{}");
	assert_string_equal(tasks(t, t->space, 0, 10, NULL), "task:1");
}

static void a_task_that_is_begun_must_not_be_there(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row = envelope(t->space, 2, "task", "{\"second\":1}"), r;

	add(t, t->space, 1, "task");
	row.begins_task = true;
	assert_int_equal(insert(t, &row), STORE_EXISTS);
	assert_int_equal(store_envelope_get(t->c, t->space, 2, &t->arena, &r), STORE_NOT_FOUND);
	assert_string_equal(tasks(t, t->space, 0, 10, NULL), "task:1");
	row.task = STR("another");
	must(insert(t, &row));
	assert_string_equal(tasks(t, t->space, 0, 10, NULL), "another:1 task:1");
}

static void the_highest_number_is_known_for_each_space(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	uint64_t last = 77;

	must(store_envelope_last(t->c, t->space, &last));
	assert_int_equal(last, 0);
	add(t, t->space, 5, "task");
	add(t, t->space, 3, "task");
	add(t, other, 9, "task");
	must(store_envelope_last(t->c, t->space, &last));
	assert_int_equal(last, 5);
	must(store_envelope_last(t->c, other, &last));
	assert_int_equal(last, 9);
	must(store_envelope_last(t->c, other + 1, &last));
	assert_int_equal(last, 0);
}

static void envelopes_and_what_is_left_of_them_are_gone_through_in_order(void **state)
{
	static const uint64_t expected[] = {3, 5, 1ULL << 38, 1ULL << 39, 0};
	struct temp_store *t = *state;
	uint64_t num = 0;

	add(t, t->space, 1ULL << 38, "task");
	add(t, t->space, 3, "task");
	add(t, temp_space(t, "other"), 4, "task");
	must(store_begin(t->c));
	must(store_pruned_envelope_put(t->c, t->space, &(struct pruned_envelope){.num = 5}));
	must(store_pruned_envelope_put(t->c, t->space, &(struct pruned_envelope){.num = 1ULL << 39}));
	must(store_commit(t->c));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		must(store_envelope_next(t->c, t->space, num, &num));
		assert_true(num == expected[i]);
	}
}

/* --- Tasks ---------------------------------------------------------------------------------------- */

static void the_envelopes_of_a_task_are_listed_in_order_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct envelope_row rows[4];
	size_t n = 99;

	add(t, t->space, 1, "a");
	add(t, t->space, 2, "b");
	add(t, other, 3, "a");
	for (uint64_t num = 4; num <= 8; num++)
		add(t, t->space, num, "a");
	must(store_task_envelopes(t->c, t->space, STR("a"), 0, 4, &t->arena, rows, &n));
	assert_int_equal(n, 4);
	assert_int_equal(rows[0].num, 1);
	assert_int_equal(rows[1].num, 4);
	assert_int_equal(rows[3].num, 6);
	must(store_task_envelopes(t->c, t->space, STR("a"), 6, 4, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	assert_int_equal(rows[1].num, 8);
	must(store_task_envelopes(t->c, t->space, STR("a"), 8, 4, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	must(store_task_envelopes(t->c, t->space, STR("nothing"), 0, 4, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	must(store_task_envelopes(t->c, other, STR("a"), 0, 4, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].num, 3);
}

static void tasks_are_listed_the_newest_first_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), last;

	assert_string_equal(tasks(t, t->space, 0, 10, NULL), "");
	add(t, t->space, 1, "a");
	add(t, t->space, 2, "b");
	add(t, other, 1, "theirs");
	add(t, t->space, 3, "a");
	add(t, t->space, 4, "c");
	assert_string_equal(tasks(t, t->space, 0, 10, NULL), "c:1 b:1 a:2");
	assert_string_equal(tasks(t, t->space, 0, 2, &last), "c:1 b:1");
	assert_string_equal(tasks(t, t->space, last, 2, &last), "a:2");
	assert_string_equal(tasks(t, t->space, last, 2, NULL), "");
	assert_string_equal(tasks(t, other, 0, 10, NULL), "theirs:1");
}

static void the_last_envelope_of_a_task_is_its_newest(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row;

	assert_int_equal(store_task_last(t->c, t->space, STR("a"), &t->arena, &row), STORE_NOT_FOUND);
	add(t, t->space, 3, "a");
	add(t, t->space, 9, "a");
	add(t, t->space, 11, "b");
	add(t, t->space, 7, "a");
	must(store_task_last(t->c, t->space, STR("a"), &t->arena, &row));
	assert_int_equal(row.num, 9);
	assert_str(row.task, "a");
}

static void the_links_of_a_task_say_what_goes_on_from_what(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct envelope_link links[4];
	size_t n = 77;

	must(store_task_links(t->c, t->space, STR("a"), 0, 4, links, &n));
	assert_int_equal(n, 0);
	add(t, t->space, 3, "a");
	add(t, t->space, 4, "b");
	add(t, other, 5, "a");
	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &(struct envelope_row){
		.space = t->space, .num = 9, .task = STR("a"), .parent = 3, .hop = 2, .body = STR("{}"),
	}));
	must(store_commit(t->c));
	must(store_task_links(t->c, t->space, STR("a"), 0, 4, links, &n));
	assert_int_equal(n, 2);
	assert_true(links[0].num == 3 && links[0].parent == 0 && links[1].num == 9 && links[1].parent == 3);
	must(store_task_links(t->c, t->space, STR("a"), 3, 4, links, &n));
	assert_true(n == 1 && links[0].num == 9);
	must(store_task_links(t->c, t->space, STR("a"), 0, 1, links, &n));
	assert_true(n == 1 && links[0].num == 3);
}

/* --- Waivers -------------------------------------------------------------------------------------- */

static void what_was_waived_for_a_task_is_kept_in_order(void **state)
{
	struct temp_store *t = *state;
	struct waiver_row first = {.key = STR("k"), .reason = STR("why"), .by = STR("kim"), .at_ms = T0},
		second = first;
	struct waiver_row rows[4];
	size_t n;

	add(t, t->space, 1, "a");
	add(t, t->space, 2, "b");
	second.key = STR("l");
	second.access_key = 7;
	must(store_begin(t->c));
	must(store_waiver_add(t->c, t->space, STR("a"), &first));
	must(store_waiver_add(t->c, t->space, STR("b"), &(struct waiver_row){.key = STR("k"), .reason = STR("r"),
									      .by = STR("x")}));
	must(store_waiver_add(t->c, t->space, STR("a"), &second));
	assert_int_equal(store_waiver_add(t->c, t->space, STR("none"), &second), STORE_NOT_FOUND);
	must(store_commit(t->c));
	conformance_reopen(t);
	must(store_waivers(t->c, t->space, STR("a"), 4, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	assert_true(rows[0].id == first.id && rows[1].id > rows[0].id && rows[0].at_ms == T0);
	assert_str(rows[0].key, "k");
	assert_str(rows[0].reason, "why");
	assert_str(rows[0].by, "kim");
	assert_str(rows[1].key, "l");
	assert_true(rows[0].access_key == 0 && rows[1].access_key == 7);
	must(store_waivers(t->c, t->space, STR("a"), 1, &t->arena, rows, &n));
	assert_int_equal(n, 1);
	must(store_waivers(t->c, t->space, STR("none"), 4, &t->arena, rows, &n));
	assert_int_equal(n, 0);
}

/* --- Receipts ------------------------------------------------------------------------------------- */

static void a_receipt_is_kept_once_for_each_memory_and_agent(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct receipt_row rows[5];
	size_t n;

	add(t, t->space, 1, "task");
	add(t, other, 1, "task");
	must(store_begin(t->c));
	must(store_receipt_put(t->c, t->space, 1, &(struct receipt_row){5, STR("ann"), T0 + 1}));
	must(store_receipt_put(t->c, t->space, 1, &(struct receipt_row){6, STR("ann"), T0 + 2}));
	must(store_receipt_put(t->c, t->space, 1, &(struct receipt_row){5, STR("bob"), T0 + 3}));
	must(store_receipt_put(t->c, t->space, 1, &(struct receipt_row){5, STR("ann"), T0 + 4}));
	must(store_commit(t->c));
	must(store_receipts(t->c, t->space, 1, 5, &t->arena, rows, &n));
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		assert_true(rows[i].memory == 5 || rows[i].memory == 6);
		if (rows[i].memory == 5 && str_is(rows[i].agent, "ann"))
			assert_int_equal(rows[i].at_ms, T0 + 1);
	}
	must(store_receipts(t->c, t->space, 1, 2, &t->arena, rows, &n));
	assert_int_equal(n, 2);
	must(store_receipts(t->c, other, 1, 5, &t->arena, rows, &n));
	assert_int_equal(n, 0);
	must(store_receipts(t->c, t->space, 2, 5, &t->arena, rows, &n));
	assert_int_equal(n, 0);
}

static void put_agent(struct temp_store *t, int64_t space, const char *name, const char *settings, int64_t at_ms)
{
	must(store_begin(t->c));
	must(store_agent_put(t->c, space, &(struct agent_row){str_of(name), str_of(settings), at_ms, at_ms, false}));
	must(store_commit(t->c));
}

/* --- Together ------------------------------------------------------------------------------------- */

static void a_rollback_undoes_these_verbs_too(void **state)
{
	struct temp_store *t = *state;
	struct envelope_row row = envelope(t->space, 2, "new task", "{}"), r;
	struct receipt_row receipts[2];
	struct agent_row agent;
	int64_t guard;
	size_t n;

	add(t, t->space, 1, "task");
	put_agent(t, t->space, "ann", "{\"a\":1}", T0);
	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_receipt_put(t->c, t->space, 1, &(struct receipt_row){5, STR("ann"), T0}));
	must(store_agent_put(t->c, t->space, &(struct agent_row){STR("ann"), STR("{}"), T0 + 1, T0 + 1, false}));
	must(store_agent_put(t->c, t->space, &(struct agent_row){STR("bob"), STR("{}"), T0 + 1, T0 + 1, false}));
	must(store_space_set_guard(t->c, t->space, 1));
	store_rollback(t->c);
	assert_int_equal(store_envelope_get(t->c, t->space, 2, &t->arena, &r), STORE_NOT_FOUND);
	assert_string_equal(tasks(t, t->space, 0, 10, NULL), "task:1");
	must(store_receipts(t->c, t->space, 1, 2, &t->arena, receipts, &n));
	assert_int_equal(n, 0);
	must(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &agent));
	assert_str(agent.settings, "{\"a\":1}");
	assert_int_equal(store_agent_get(t->c, t->space, STR("bob"), &t->arena, &agent), STORE_NOT_FOUND);
	must(store_space_guard(t->c, t->space, &guard));
	assert_int_equal(guard, 0);
}

static void a_check_finds_nothing_wrong_with_them(void **state)
{
	struct temp_store *t = *state;

	add(t, t->space, 1, "task");
	add(t, t->space, 2, "task");
	put_agent(t, t->space, "ann", "{}", T0);
	conformance_check(t);
}

static const struct CMUnitTest envelopes[] = {
	with_engine(envelopes_and_what_is_left_of_them_are_gone_through_in_order),
	with_engine(an_envelope_comes_back_as_it_was_stored),
	with_engine(an_unknown_envelope_is_not_found),
	with_engine(a_taken_number_is_refused_and_nothing_changes),
	with_engine(a_task_that_is_begun_must_not_be_there),
	with_engine(the_highest_number_is_known_for_each_space),
	with_engine(the_envelopes_of_a_task_are_listed_in_order_and_in_pieces),
	with_engine(tasks_are_listed_the_newest_first_and_in_pieces),
	with_engine(the_last_envelope_of_a_task_is_its_newest),
	with_engine(the_links_of_a_task_say_what_goes_on_from_what),
	with_engine(what_was_waived_for_a_task_is_kept_in_order),
	with_engine(a_receipt_is_kept_once_for_each_memory_and_agent),
	with_engine(a_rollback_undoes_these_verbs_too),
	with_engine(a_check_finds_nothing_wrong_with_them),
};

CONFORMANCE_PART(envelopes);
