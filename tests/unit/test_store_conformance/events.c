/* The history, and pages of it. */
#include "conformance.h"

enum { KIND_PLAIN = 1, KIND_RANGE = 22, KIND_AGENT = 30, KIND_NOTE = 32, KIND_WORD = 38, ROWS = 16 };

#define BIT(kind) (UINT64_C(1) << (kind))

static int64_t add(struct temp_store *t, struct event_row e)
{
	if (e.space == 0)
		e.space = t->space;
	if (e.kind == 0)
		e.kind = KIND_PLAIN;
	must(store_begin(t->c));
	must(store_event_add(t->c, &e));
	must(store_commit(t->c));
	return e.id;
}

/* The ids of a page, as text. */
static const char *page(struct temp_store *t, struct event_filter filter, int64_t after, int64_t until, size_t max)
{
	struct event_row rows[ROWS];
	struct buf text;
	const char *result;
	size_t n = 99;

	buf_init(&text, 4096);
	must(store_event_page(t->c, &filter, after, until, max, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%lld", i ? " " : "", (long long)rows[i].id);
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

static void a_page_is_a_stretch_of_the_history_in_either_order(void **state)
{
	struct temp_store *t = *state;

	for (int i = 0; i < 6; i++)
		assert_int_equal(add(t, (struct event_row){.at_ms = T0 + i}), i + 1);
	assert_string_equal(page(t, (struct event_filter){0}, 0, 100, ROWS), "1 2 3 4 5 6");
	assert_string_equal(page(t, (struct event_filter){0}, 2, 5, ROWS), "3 4 5");
	assert_string_equal(page(t, (struct event_filter){0}, 2, 5, 2), "3 4");
	assert_string_equal(page(t, (struct event_filter){.newest_first = true}, 2, 5, 2), "5 4");
	assert_string_equal(page(t, (struct event_filter){0}, 6, 100, ROWS), "");
}

static void a_filter_holds_what_it_says(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");

	add(t, (struct event_row){.handoff = 7, .envelope = 3, .actor = STR("ann")});				/* 1 */
	add(t, (struct event_row){.handoff = 8, .envelope = 3, .actor = STR("ben"), .access_key = 7});		/* 2 */
	add(t, (struct event_row){.handoff = 7, .envelope = 4, .space = other, .actor = STR("ann")});		/* 3 */
	add(t, (struct event_row){.kind = KIND_RANGE, .memory = 10, .value = {10, 20}});			/* 4 */
	add(t, (struct event_row){.kind = 23, .memory = 15, .value = {0, 99}});					/* 5 */
	add(t, (struct event_row){.kind = KIND_AGENT, .agent = STR("docs")});					/* 6 */
	add(t, (struct event_row){.kind = KIND_NOTE, .note = STR("docs"), .agent = STR("ann")});		/* 7 */
	add(t, (struct event_row){.kind = KIND_WORD, .note = STR("docs are late"), .agent = STR("ann")});	/* 8 */
	add(t, (struct event_row){.kind = KIND_WORD, .note = STR("docsish"), .handoff = 7});			/* 9 */
	assert_string_equal(page(t, (struct event_filter){.space = other}, 0, INT64_MAX, ROWS), "3");
	assert_string_equal(page(t, (struct event_filter){.space = t->space, .handoff = 7}, 0, INT64_MAX, ROWS), "1 9");
	assert_string_equal(page(t, (struct event_filter){.space = t->space, .handoff = 7, .newest_first = true}, 0,
				 INT64_MAX, ROWS), "9 1");
	assert_string_equal(page(t, (struct event_filter){.space = t->space, .envelope = 3}, 0, INT64_MAX, ROWS),
			    "1 2");
	assert_string_equal(page(t, (struct event_filter){.actor = STR("ann")}, 0, 100, ROWS), "1 3");
	assert_string_equal(page(t, (struct event_filter){.access_key = 7}, 0, 100, ROWS), "2");
	assert_string_equal(page(t, (struct event_filter){.access_key = 8}, 0, 100, ROWS), "");
	assert_string_equal(page(t, (struct event_filter){.kinds = BIT(23) | BIT(KIND_AGENT)}, 0, 100, ROWS), "5 6");
	assert_string_equal(page(t, (struct event_filter){.kinds = BIT(63)}, 0, 100, ROWS), "");
	assert_string_equal(page(t, (struct event_filter){.memory = 15, .range_kinds = BIT(KIND_RANGE)}, 0, 100,
				 ROWS), "4 5");
	assert_string_equal(page(t, (struct event_filter){.memory = 21, .range_kinds = BIT(KIND_RANGE)}, 0, 100,
				 ROWS), "");
	assert_string_equal(page(t, (struct event_filter){.name = STR("docs"), .agent_kinds = BIT(KIND_AGENT),
							  .note_kinds = BIT(KIND_NOTE),
							  .word_kinds = BIT(KIND_WORD)}, 0, 100, ROWS), "6 7 8");
	assert_string_equal(page(t, (struct event_filter){.name = STR("docs")}, 0, 100, ROWS), "");
}

static int64_t add_event(struct temp_store *t, int64_t space, uint64_t handoff, int kind)
{
	struct event_row e = {.space = space, .at_ms = T0 + kind, .kind = kind, .handoff = handoff, .envelope = 3,
			      .attempt = 2,
			      .agent = STR("ann"), .note = STR("ü")};

	must(store_begin(t->c));
	must(store_event_add(t->c, &e));
	must(store_commit(t->c));
	return e.id;
}

static void events_come_back_in_order_all_or_of_a_space_or_of_a_handoff(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), last = 77, first;
	struct event_row e[8];
	size_t n = 99;

	must(store_event_last(t->c, 0, &last));
	assert_int_equal(last, 0);
	first = add_event(t, t->space, 1, 11);
	add_event(t, t->space, 2, 12);
	add_event(t, other, 1, 13);
	add_event(t, t->space, 0, 14);
	last = add_event(t, t->space, 1, 15);
	assert_true(last > first);
	conformance_reopen(t);
	must(store_events(t->c, 0, 0, 0, 8, &t->arena, e, &n));
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(e[i].kind, 11 + (int)i);
	assert_int_equal(e[0].id, first);
	assert_int_equal(e[0].space, t->space);
	assert_int_equal(e[0].at_ms, T0 + 11);
	assert_int_equal(e[0].handoff, 1);
	assert_int_equal(e[0].envelope, 3);
	assert_int_equal(e[0].attempt, 2);
	assert_str(e[0].agent, "ann");
	assert_null(e[0].actor.p);
	assert_str(e[0].note, "ü");
	must(store_events(t->c, t->space, 0, 0, 3, &t->arena, e, &n));
	assert_int_equal(n, 3);
	assert_int_equal(e[2].kind, 14);
	must(store_events(t->c, t->space, 0, e[2].number, 3, &t->arena, e, &n));
	assert_int_equal(n, 1);
	assert_int_equal(e[0].kind, 15);
	must(store_events(t->c, t->space, 1, 0, 8, &t->arena, e, &n));
	assert_int_equal(n, 2);
	assert_int_equal(e[0].kind, 11);
	assert_int_equal(e[1].kind, 15);
	must(store_events(t->c, t->space, 1, e[0].number, 8, &t->arena, e, &n));
	assert_int_equal(n, 1);
	must(store_event_last(t->c, 0, &first));
	assert_int_equal(first, last);
}

static void the_last_event_of_a_space_is_its_own(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), own, last = 99, id;

	must(store_event_last(t->c, t->space, &own));
	add(t, (struct event_row){.at_ms = T0});
	id = add(t, (struct event_row){.space = other, .at_ms = T0 + 5});
	must(store_event_last(t->c, t->space, &last));
	assert_int_equal(last, ++own);
	must(store_event_before(t->c, t->space, T0 + 9, &last));
	assert_int_equal(last, own);
	must(store_event_last(t->c, 0, &last));
	assert_int_equal(last, id);
	must(store_begin(t->c));
	must(store_events_prune(t->c, t->space, &own, 1));
	must(store_event_last(t->c, t->space, &last));
	assert_int_equal(last, own);
	must(store_commit(t->c));
	must(store_event_last(t->c, t->space, &last));
	assert_int_equal(last, own);
	must(store_event_last(t->c, other + 100, &last));
	assert_int_equal(last, 0);
}

static void the_last_event_before_a_time_is_found(void **state)
{
	struct temp_store *t = *state;
	int64_t id = 99;

	must(store_event_before(t->c, 0, T0, &id));
	assert_int_equal(id, 0);
	for (int i = 0; i < 100; i++)
		add(t, (struct event_row){.at_ms = T0 + i / 3 * 10});
	for (int i = 0; i <= 34; i++) {
		must(store_event_before(t->c, 0, T0 + i * 10, &id));
		assert_int_equal(id, i * 3 < 100 ? i * 3 : 100);
	}
	must(store_event_before(t->c, 0, T0 - 1, &id));
	assert_int_equal(id, 0);
	must(store_event_before(t->c, 0, INT64_MAX, &id));
	assert_int_equal(id, 100);
}

/* What others write shows in nothing that a space can see. */
static void numbers_of_a_space_have_no_gaps_whatever_others_write(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other"), first = 0;
	struct event_filter filter = {.space = t->space};
	struct event_row e[ROWS];
	size_t n = 0;

	must(store_event_last(t->c, t->space, &first));
	for (int i = 0; i < 6; i++) {
		add(t, (struct event_row){.at_ms = T0 + i, .handoff = 7});
		for (int k = 0; k < i; k++)
			add(t, (struct event_row){.space = other, .at_ms = T0 + i, .handoff = 7});
		conformance_reopen(t);
	}
	must(store_event_page(t->c, &filter, first, first + 6, ROWS, &t->arena, e, &n));
	assert_int_equal(n, 6);
	for (int i = 0; i < 6; i++)
		assert_true(e[i].number == first + 1 + i && e[i].at_ms == T0 + i && e[i].space == t->space);
	filter.newest_first = true;
	must(store_event_page(t->c, &filter, first + 2, first + 5, 2, &t->arena, e, &n));
	assert_true(n == 2 && e[0].number == first + 5 && e[1].number == first + 4);
	must(store_events(t->c, t->space, 7, first + 4, ROWS, &t->arena, e, &n));
	assert_true(n == 2 && e[0].number == first + 5);
	must(store_event_before(t->c, t->space, T0 + 3, &first));
	assert_int_equal(first, e[0].number - 2);
}

static void a_space_that_is_made_again_numbers_above_the_one_before(void **state)
{
	struct temp_store *t = *state;
	int64_t doomed = temp_space(t, "doomed"), again, last = 0, first = 0;

	for (int i = 0; i < 5; i++)
		add(t, (struct event_row){.space = doomed, .at_ms = T0});
	must(store_event_last(t->c, doomed, &last));
	must(store_begin(t->c));
	must(store_space_remove(t->c, doomed, T0));
	must(store_space_create(t->c, STR("doomed"), T0 + 1, &again));
	must(store_event_last(t->c, again, &first));
	must(store_commit(t->c));
	assert_true(again != doomed && first > last);
}

static size_t events_now(struct temp_store *t, uint64_t handoff)
{
	struct event_row rows[40];
	size_t n = 0;

	must(store_events(t->c, t->space, handoff, 0, 40, &t->arena, rows, &n));
	for (size_t i = 0; i < n; i++)
		assert_true(rows[i].id == (int64_t)i + 1 && rows[i].number == rows[0].number + (int64_t)i);
	return n;
}

static void events_of_a_transaction_are_read_within_it(void **state)
{
	struct temp_store *t = *state;
	struct event_row e = {.space = t->space, .at_ms = T0, .kind = 1, .handoff = 7, .note = STR("a note")};
	int64_t count = 0;

	must(store_begin(t->c));
	for (size_t i = 1; i <= 20; i++) {
		must(store_event_add(t->c, &e));
		assert_int_equal(e.id, i);
		if (i % 3 == 0)
			assert_int_equal(events_now(t, i % 2 ? 7 : 0), i);
	}
	must(store_savepoint(t->c));
	must(store_event_add(t->c, &e));
	must(store_rollback_to(t->c));
	must(store_event_count(t->c, t->space, 7, &count));
	assert_int_equal(count, 20);
	must(store_event_add(t->c, &e));
	assert_int_equal(e.id, 21);
	must(store_commit(t->c));
	assert_int_equal(events_now(t, 0), 21);
	must(store_begin(t->c));
	must(store_event_add(t->c, &e));
	store_rollback(t->c);
	assert_int_equal(events_now(t, 7), 21);
}

static struct event_row event_at(struct temp_store *t, int64_t id)
{
	struct event_row e = {0};
	size_t n = 0;

	must(store_events(t->c, 0, 0, id - 1, 1, &t->arena, &e, &n));
	assert_true(n == 1 && e.id == id);
	return e;
}

static void events_of_a_forgotten_memory_lose_their_actor_and_nothing_else(void **state)
{
	struct temp_store *t = *state;
	uint64_t num = temp_insert(t, t->space, "a"), other = temp_insert(t, t->space, "b");
	struct event_row own = {
		.memory = num, .kind = 5, .actor = STR("ann"), .access_key = 7, .note = STR("n"), .at_ms = T0,
	};
	struct event_filter filter = {
		.space = t->space, .kinds = BIT(5) | BIT(7), .memory = num, .range_kinds = BIT(7),
	};
	int64_t ids[] = {
		add(t, own), add(t, (struct event_row){.memory = other, .kind = 5, .actor = STR("bob")}),
		add(t, (struct event_row){.memory = num, .kind = 6, .actor = STR("eve")}),
		/* A batch has its first memory as well as the range: here another one of it is forgotten. */
		add(t, (struct event_row){.memory = other, .kind = 7, .value = {(double)num, (double)other},
					  .actor = STR("ann")}),
		add(t, (struct event_row){.kind = 7, .value = {(double)other, 99}, .actor = STR("bob")}),
		add(t, own), add(t, (struct event_row){.memory = num, .kind = 5, .access_key = 8}),
	};
	struct event_row e;

	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0 + 1));
	must(store_events_unname(t->c, &filter, 0, event_at(t, ids[4]).number));
	store_rollback(t->c);
	assert_str(event_at(t, ids[0]).actor, "ann");
	assert_int_equal(event_at(t, ids[0]).access_key, 7);
	must(store_begin(t->c));
	must(store_memory_forget(t->c, t->space, num, T0 + 1));
	must(store_events_unname(t->c, &filter, 0, event_at(t, ids[4]).number));
	must(store_commit(t->c));
	conformance_reopen(t);
	e = event_at(t, ids[0]);
	assert_null(e.actor.p);
	assert_int_equal(e.access_key, 7);
	assert_true(e.memory == num && e.kind == 5 && e.at_ms == T0 && str_is(e.note, "n"));
	assert_str(event_at(t, ids[1]).actor, "bob");
	assert_str(event_at(t, ids[2]).actor, "eve");
	assert_null(event_at(t, ids[3]).actor.p);
	assert_str(event_at(t, ids[4]).actor, "bob");
	assert_str(event_at(t, ids[5]).actor, "ann");
	assert_int_equal(event_at(t, ids[5]).access_key, 7);
	must(store_begin(t->c));
	must(store_events_unname(t->c, &filter, 0, event_at(t, ids[6]).number));
	must(store_commit(t->c));
	assert_int_equal(event_at(t, ids[6]).access_key, 8);
}

static const struct CMUnitTest events[] = {
	with_engine(events_of_a_forgotten_memory_lose_their_actor_and_nothing_else),
	with_engine(events_of_a_transaction_are_read_within_it),
	with_engine(a_page_is_a_stretch_of_the_history_in_either_order),
	with_engine(a_filter_holds_what_it_says),
	with_engine(events_come_back_in_order_all_or_of_a_space_or_of_a_handoff),
	with_engine(numbers_of_a_space_have_no_gaps_whatever_others_write),
	with_engine(a_space_that_is_made_again_numbers_above_the_one_before),
	with_engine(the_last_event_before_a_time_is_found), with_engine(the_last_event_of_a_space_is_its_own),
};

CONFORMANCE_PART(events);
