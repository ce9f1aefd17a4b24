/* Memories. */
#include "conformance.h"

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

/* --- Numbers -------------------------------------------------------------------------------------- */

static void numbers_count_up_from_one_in_each_space(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");

	assert_int_equal(temp_insert(t, t->space, "a"), 1);
	assert_int_equal(temp_insert(t, t->space, "b"), 2);
	assert_int_equal(temp_insert(t, other, "c"), 1);
	assert_int_equal(temp_insert(t, t->space, "d"), 3);
}

static uint64_t next(struct store_conn *c, int64_t space)
{
	uint64_t num = 0;

	must(store_memory_next(c, space, &num));
	return num;
}

static void the_next_number_is_known_before_it_is_taken(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "c");
	uint64_t num;

	assert_int_equal(next(t->c, t->space), 1);
	temp_insert(t, t->space, "a");
	assert_int_equal(next(t->c, t->space), 2);
	must(store_begin(t->c));
	m.num = 12;
	must(store_memory_insert(t->c, &m));
	assert_int_equal(next(t->c, t->space), 13);
	store_rollback(t->c);
	assert_int_equal(next(t->c, t->space), 2);
	assert_int_equal(store_memory_next(t->c, t->space + 1, &num), STORE_NOT_FOUND);
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

static void a_free_number_may_be_given_and_the_sequence_goes_on_above_the_highest(void **state)
{
	struct temp_store *t = *state;
	uint64_t num;

	must(insert_as(t, 100, "given", &num));
	assert_int_equal(num, 100);
	assert_int_equal(temp_insert(t, t->space, "next"), 101);
	must(insert_as(t, 50, "lower", &num));
	assert_int_equal(temp_insert(t, t->space, "next"), 102);
	assert_str(get(t, t->c, t->space, 50, 0).content, "lower");
}

static void a_taken_number_is_refused_and_nothing_changes(void **state)
{
	struct temp_store *t = *state;
	uint64_t num;

	must(insert_as(t, 7, "first", &num));
	assert_int_equal(insert_as(t, 7, "second", &num), STORE_EXISTS);
	assert_str(get(t, t->c, t->space, 7, 0).content, "first");
	assert_int_equal(get(t, t->c, t->space, 7, 0).current_version, 1);
	assert_int_equal(count(t->c, t->space), 1);
	assert_int_equal(temp_insert(t, t->space, "next"), 8);
}

static void the_number_of_a_forgotten_memory_stays_taken(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "a"), ret;

	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0 + 1));
	must(store_commit(t->c));
	assert_int_equal(insert_as(t, num, "b", &ret), STORE_EXISTS);
	assert_int_equal(temp_insert(t, t->space, "c"), num + 1);
}

static void the_sequence_ends_at_the_highest_number(void **state)
{
	struct temp_store *t = *state;
	uint64_t num;

	must(insert_as(t, MEMORY_NUM_MAX, "last", &num));
	assert_str(get(t, t->c, t->space, MEMORY_NUM_MAX, 0).content, "last");
	assert_int_equal(insert_as(t, 0, "one more", &num), STORE_EXISTS);
	assert_int_equal(num, 0);
	must(insert_as(t, 5, "a free one", &num));
	assert_int_equal(count(t->c, t->space), 2);
}

static void what_is_rolled_back_takes_no_number(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "gone");

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	assert_int_equal(m.num, 1);
	store_rollback(t->c);
	assert_int_equal(temp_insert(t, t->space, "kept"), 1);
	assert_int_equal(count(t->c, t->space), 1);
}

/* --- Content -------------------------------------------------------------------------------------- */

static void every_field_comes_back_as_it_was_given(void **state)
{
	struct temp_store *t = *state;
	struct memory m = {
		.space = t->space, .num = 4821, .pinned = true, .created_at_ms = T0 - 5, .supersedes = 12,
		.updated_at_ms = T0, .expires_at_ms = T0 + 9, .importance = IMPORTANCE_CRITICAL,
			.trust = TRUST_EXTERNAL,
		.content = STR("Ärger, 長い文, \xf0\x9f\x98\x80\n\t\"'\\ ;--"), .summary = STR("kürzer"),
			.kind = STR("decision"),
		.tags = STR("[\"a\",\"b\"]"), .agent = STR("researcher"), .task = STR("task-1"),
			.metadata = STR("{\"k\":1}"),
	};
	struct memory r;

	sha256(m.content, m.digest);
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_commit(t->c));
	conformance_reopen(t);
	r = get(t, t->c, t->space, 4821, 0);
	assert_int_equal(r.space, t->space);
	assert_int_equal(r.num, 4821);
	assert_int_equal(r.version, 1);
	assert_int_equal(r.current_version, 1);
	assert_true(r.pinned);
	assert_int_equal(r.created_at_ms, T0 - 5);
	assert_int_equal(r.updated_at_ms, T0);
	assert_int_equal(r.expires_at_ms, T0 + 9);
	assert_int_equal(r.supersedes, 12);
	assert_int_equal(r.superseded_by, 0);
	assert_int_equal(r.forgotten_at_ms, 0);
	assert_int_equal(r.importance, IMPORTANCE_CRITICAL);
	assert_int_equal(r.trust, TRUST_EXTERNAL);
	assert_true(str_eq(r.content, m.content));
	assert_str(r.summary, "kürzer");
	assert_str(r.kind, "decision");
	assert_str(r.tags, "[\"a\",\"b\"]");
	assert_str(r.agent, "researcher");
	assert_str(r.task, "task-1");
	assert_str(r.metadata, "{\"k\":1}");
	assert_memory_equal(r.digest, m.digest, sizeof(m.digest));
}

static void text_that_is_not_set_differs_from_empty_text(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "a"), r;

	m.summary = STR("");
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_commit(t->c));
	r = get(t, t->c, t->space, m.num, 0);
	assert_non_null(r.summary.p);
	assert_int_equal(r.summary.n, 0);
	assert_null(r.agent.p);
	assert_null(r.task.p);
}

static void text_is_kept_by_its_length(void **state)
{
	struct temp_store *t = *state;
	size_t n = 256 * 1024;
	char *text = mem_alloc(n);
	struct memory m = temp_memory(t->space, ""), r;

	for (size_t i = 0; i < n; i++)
		text[i] = (char)(i % 127);	/* NUL bytes among them */
	m.content = (struct str){text, n};
	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	must(store_commit(t->c));
	r = get(t, t->c, t->space, m.num, 0);
	assert_int_equal(r.content.n, n);
	assert_memory_equal(r.content.p, text, n);
	free(text);
}

static void an_unknown_memory_is_not_found(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "a");
	struct memory m = {.num = 77};

	assert_int_equal(store_memory_get(t->c, t->space, num + 1, 0, &t->arena, &m), STORE_NOT_FOUND);
	assert_int_equal(store_memory_get(t->c, t->space, num, 2, &t->arena, &m), STORE_NOT_FOUND);
	assert_int_equal(store_memory_get(t->c, t->space + 1, num, 0, &t->arena, &m), STORE_NOT_FOUND);
	assert_int_equal(store_memory_get(t->c, 0, num, 0, &t->arena, &m), STORE_NOT_FOUND);
	assert_int_equal(m.num, 77);
}

/* --- Versions ------------------------------------------------------------------------------------- */

static void each_version_is_kept_and_the_newest_is_the_answer(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "one");

	add_version(t, num, "two");
	add_version(t, num, "three");
	assert_str(get(t, t->c, t->space, num, 0).content, "three");
	assert_int_equal(get(t, t->c, t->space, num, 0).version, 3);
	assert_str(get(t, t->c, t->space, num, 1).content, "one");
	assert_str(get(t, t->c, t->space, num, 2).content, "two");
	assert_int_equal(get(t, t->c, t->space, num, 1).version, 1);
	assert_int_equal(get(t, t->c, t->space, num, 1).current_version, 3);
	assert_int_equal(get(t, t->c, t->space, num, 1).created_at_ms, T0);
	assert_int_equal(get(t, t->c, t->space, num, 3).updated_at_ms, T0 + 2);
	assert_int_equal(count(t->c, t->space), 1);
}

static void a_version_of_an_unknown_memory_is_refused(void **state)
{
	struct temp_store *t = *state;
	struct memory m = temp_memory(t->space, "a"), r;

	m.num = 9;
	m.version = 2;
	must(store_begin(t->c));
	assert_int_equal(store_memory_add_version(t->c, &m), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_int_equal(store_memory_get(t->c, t->space, 9, 0, &t->arena, &r), STORE_NOT_FOUND);
	assert_int_equal(store_memory_get(t->c, t->space, 9, 2, &t->arena, &r), STORE_NOT_FOUND);
}

static void versions_are_listed_the_newest_first_and_in_pieces(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "1"), other = temp_insert(t, t->space, "x");
	struct memory list[10];
	size_t n = 99;

	for (int i = 2; i <= 5; i++)
		add_version(t, num, (const char *[]){"2", "3", "4", "5"}[i - 2]);
	add_version(t, other, "y");
	must(store_memory_versions(t->c, t->space, num, 0, 10, &t->arena, list, &n));
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(list[i].num, num);
		assert_int_equal(list[i].version, 5 - i);
		assert_int_equal(list[i].current_version, 5);
		assert_int_equal(list[i].content.p[0], '5' - (int)i);
	}
	must(store_memory_versions(t->c, t->space, num, 0, 2, &t->arena, list, &n));
	assert_int_equal(n, 2);
	assert_int_equal(list[1].version, 4);
	must(store_memory_versions(t->c, t->space, num, 4, 2, &t->arena, list, &n));
	assert_int_equal(n, 2);
	assert_int_equal(list[0].version, 3);
	must(store_memory_versions(t->c, t->space, num, 1, 2, &t->arena, list, &n));
	assert_int_equal(n, 0);
	n = 99;
	must(store_memory_versions(t->c, t->space, 77, 0, 2, &t->arena, list, &n));
	assert_int_equal(n, 0);
}

/* --- State of a memory ---------------------------------------------------------------------------- */

static void a_pin_makes_no_version_and_holds_for_all_of_them(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "one");

	add_version(t, num, "two");
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	assert_int_equal(store_memory_set_pinned(t->c, t->space, num + 1, true), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_true(get(t, t->c, t->space, num, 0).pinned);
	assert_true(get(t, t->c, t->space, num, 1).pinned);
	assert_int_equal(get(t, t->c, t->space, num, 0).current_version, 2);
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, false));
	must(store_commit(t->c));
	assert_false(get(t, t->c, t->space, num, 0).pinned);
}

static void a_quarantine_holds_for_all_versions_and_is_found_by_itself(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "one"), other = temp_insert(t, t->space, "two"), third;
	struct memory list[3];
	size_t n = 99;

	third = temp_insert(t, t->space, "three");
	add_version(t, num, "again");
	must(store_memories_quarantined(t->c, t->space, 0, 3, &t->arena, list, &n));
	assert_int_equal(n, 0);
	must(store_begin(t->c));
	must(store_memory_set_quarantined(t->c, t->space, num, 77));
	must(store_memory_set_quarantined(t->c, t->space, third, 78));
	assert_int_equal(store_memory_set_quarantined(t->c, t->space, third + 1, 77), STORE_NOT_FOUND);
	must(store_commit(t->c));
	conformance_reopen(t);
	assert_int_equal(get(t, t->c, t->space, num, 0).quarantined_at_ms, 77);
	assert_int_equal(get(t, t->c, t->space, num, 1).quarantined_at_ms, 77);
	assert_int_equal(get(t, t->c, t->space, other, 0).quarantined_at_ms, 0);
	must(store_memories_quarantined(t->c, t->space, 0, 3, &t->arena, list, &n));
	assert_int_equal(n, 2);
	assert_str(list[0].content, "again");
	must(store_memories_quarantined(t->c, t->space, num, 3, &t->arena, list, &n));
	assert_int_equal(n, 1);
	assert_int_equal(list[0].num, third);
	must(store_memories_quarantined(t->c, t->space + 1, 0, 3, &t->arena, list, &n));
	assert_int_equal(n, 0);
	must(store_begin(t->c));
	must(store_memory_set_quarantined(t->c, t->space, num, 0));
	must(store_memory_forget(t->c, t->space, third, 5));
	must(store_commit(t->c));
	must(store_memories_quarantined(t->c, t->space, 0, 3, &t->arena, list, &n));
	assert_int_equal(n, 0);
	assert_int_equal(get(t, t->c, t->space, third, 0).quarantined_at_ms, 0);
}

static void each_version_keeps_where_it_came_from(void **state)
{
	struct temp_store *t = *state;
	struct memory m = {.space = t->space, .content = STR("x"), .kind = STR("note"), .tags = STR("[]"),
			   .metadata = STR("{}"), .origin = STR("{\"key\":\"key-7\"}")};

	must(store_begin(t->c));
	must(store_memory_insert(t->c, &m));
	m.version = 2;
	m.origin = STR_NULL;
	must(store_memory_add_version(t->c, &m));
	must(store_commit(t->c));
	conformance_reopen(t);
	assert_str(get(t, t->c, t->space, m.num, 1).origin, "{\"key\":\"key-7\"}");
	assert_null(get(t, t->c, t->space, m.num, 2).origin.p);
}

static void a_superseded_memory_names_its_successor_and_keeps_its_content(void **state)
{
	struct temp_store *t = *state;
	uint64_t old = temp_insert(t, t->space, "old"), new = temp_insert(t, t->space, "new");

	must(store_begin(t->c));
	must(store_memory_set_superseded(t->c, t->space, old, new));
	assert_int_equal(store_memory_set_superseded(t->c, t->space, 99, new), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_int_equal(get(t, t->c, t->space, old, 0).superseded_by, new);
	assert_str(get(t, t->c, t->space, old, 0).content, "old");
	assert_int_equal(get(t, t->c, t->space, new, 0).superseded_by, 0);
	assert_int_equal(count(t->c, t->space), 2);
}

static void forgetting_removes_the_text_of_every_version_and_leaves_a_tombstone(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "one");
	struct memory list[3], m;
	size_t n = 99;

	add_version(t, num, "two");
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, num, true));
	must(store_memory_forget(t->c, t->space, num, T0 + 5));
	must(store_commit(t->c));
	conformance_reopen(t);
	for (uint32_t version = 0; version <= 2; version++) {
		m = get(t, t->c, t->space, num, version);
		assert_int_equal(m.num, num);
		assert_int_equal(m.version, version ? version : 2);
		assert_int_equal(m.current_version, 2);
		assert_int_equal(m.forgotten_at_ms, T0 + 5);
		assert_int_equal(m.created_at_ms, T0);
		assert_false(m.pinned);
		assert_null(m.content.p);
		assert_null(m.summary.p);
		assert_null(m.tags.p);
		assert_null(m.agent.p);
		assert_null(m.task.p);
		assert_null(m.metadata.p);
	}
	assert_int_equal(store_memory_get(t->c, t->space, num, 3, &t->arena, &m), STORE_NOT_FOUND);
	must(store_memory_versions(t->c, t->space, num, 0, 3, &t->arena, list, &n));
	assert_int_equal(n, 0);
	assert_int_equal(count(t->c, t->space), 0);
}

static void forgetting_what_is_forgotten_or_unknown_changes_nothing(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "a");

	temp_insert(t, t->space, "b");
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0 + 5));
	assert_int_equal(store_memory_forget(t->c, t->space, num, T0 + 6), STORE_NOT_FOUND);
	assert_int_equal(store_memory_forget(t->c, t->space, 77, T0 + 6), STORE_NOT_FOUND);
	must(store_commit(t->c));
	assert_int_equal(get(t, t->c, t->space, num, 0).forgotten_at_ms, T0 + 5);
	assert_int_equal(count(t->c, t->space), 1);
}

/* --- Scan ----------------------------------------------------------------------------------------- */

static void a_scan_goes_through_the_newest_versions_of_a_space_in_order(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct memory list[4];
	uint64_t ret, after = 0, seen = 0;
	size_t n = 99;

	must(store_memory_scan(t->c, t->space, 0, 4, &t->arena, list, &n));
	assert_int_equal(n, 0);
	for (int i = 1; i <= 9; i++)
		temp_insert(t, t->space, "a");
	temp_insert(t, other, "not here");
	must(insert_as(t, MEMORY_NUM_MAX, "last", &ret));
	add_version(t, 2, "changed");
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, 3, T0));
	must(store_memory_set_superseded(t->c, t->space, 4, 5));
	must(store_commit(t->c));
	do {
		must(store_memory_scan(t->c, t->space, after, 4, &t->arena, list, &n));
		for (size_t i = 0; i < n; i++, seen++) {
			assert_true(list[i].num > after);
			assert_int_equal(list[i].space, t->space);
			assert_int_not_equal(list[i].num, 3);
			assert_int_equal(list[i].version, list[i].num == 2 ? 2 : 1);
			after = list[i].num;
		}
	} while (n > 0);
	assert_int_equal(after, MEMORY_NUM_MAX);
	assert_int_equal(seen, 9);
}

/* --- Spaces are apart ----------------------------------------------------------------------------- */

static void what_is_done_in_one_space_is_not_seen_in_another(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");
	struct memory m, list[4];
	size_t n;

	temp_insert(t, t->space, "mine");
	temp_insert(t, other, "theirs");
	add_version(t, 1, "mine, again");
	must(store_begin(t->c));
	must(store_memory_set_pinned(t->c, t->space, 1, true));
	must(store_memory_set_superseded(t->c, t->space, 1, 9));
	must(store_commit(t->c));
	m = get(t, t->c, other, 1, 0);
	assert_str(m.content, "theirs");
	assert_int_equal(m.current_version, 1);
	assert_false(m.pinned);
	assert_int_equal(m.superseded_by, 0);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, 1, T0));
	must(store_commit(t->c));
	assert_int_equal(get(t, t->c, other, 1, 0).forgotten_at_ms, 0);
	assert_int_equal(count(t->c, other), 1);
	must(store_memory_versions(t->c, other, 1, 0, 4, &t->arena, list, &n));
	assert_int_equal(n, 1);
	must(store_memory_scan(t->c, other, 0, 4, &t->arena, list, &n));
	assert_int_equal(n, 1);
	assert_str(list[0].content, "theirs");
}

static const struct CMUnitTest memories[] = {
	with_engine(numbers_count_up_from_one_in_each_space),
	with_engine(the_next_number_is_known_before_it_is_taken),
	with_engine(a_free_number_may_be_given_and_the_sequence_goes_on_above_the_highest),
	with_engine(a_taken_number_is_refused_and_nothing_changes),
	with_engine(the_number_of_a_forgotten_memory_stays_taken),
	with_engine(the_sequence_ends_at_the_highest_number),
	with_engine(what_is_rolled_back_takes_no_number),
	with_engine(every_field_comes_back_as_it_was_given),
	with_engine(text_that_is_not_set_differs_from_empty_text),
	with_engine(text_is_kept_by_its_length),
	with_engine(an_unknown_memory_is_not_found),
	with_engine(each_version_is_kept_and_the_newest_is_the_answer),
	with_engine(a_version_of_an_unknown_memory_is_refused),
	with_engine(versions_are_listed_the_newest_first_and_in_pieces),
	with_engine(a_pin_makes_no_version_and_holds_for_all_of_them),
	with_engine(a_quarantine_holds_for_all_versions_and_is_found_by_itself),
	with_engine(each_version_keeps_where_it_came_from),
	with_engine(a_superseded_memory_names_its_successor_and_keeps_its_content),
	with_engine(forgetting_removes_the_text_of_every_version_and_leaves_a_tombstone),
	with_engine(forgetting_what_is_forgotten_or_unknown_changes_nothing),
	with_engine(a_scan_goes_through_the_newest_versions_of_a_space_in_order),
	with_engine(what_is_done_in_one_space_is_not_seen_in_another),
};

CONFORMANCE_PART(memories);
