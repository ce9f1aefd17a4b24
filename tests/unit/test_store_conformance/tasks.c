/* Lists of tasks: by their newest change, by what is open, by their words; and how the handoffs of one stand. */
#include "handoff_rows.h"

/* An envelope of a task. */
static void pack(struct temp_store *t, int64_t space, uint64_t num, const char *task, const char *summary)
{
	struct envelope_row row = {.space = space, .num = num, .task = str_of(task), .parent = 0,
				   .hop = (int64_t)num, .created_at_ms = T0 + (int64_t)num, .body = STR("{}"),
				   .intent = STR("The Intent"), .summary = str_of(summary), .tokens = 10};

	must(store_begin(t->c));
	must(store_envelope_insert(t->c, &row));
	must(store_commit(t->c));
}

static int64_t tell(struct temp_store *t, int64_t space, int kind, uint64_t handoff, uint64_t envelope)
{
	struct event_row event = {.space = space, .at_ms = T0, .kind = kind, .handoff = handoff, .envelope = envelope};

	must(store_begin(t->c));
	must(store_event_add(t->c, &event));
	must(store_commit(t->c));
	return event.number;
}

static void change(struct temp_store *t, uint64_t num, enum handoff_state state, int64_t at_ms)
{
	struct handoff_row h = get(t, t->space, num);

	h.state = state;
	h.due_ms = state < HANDOFF_ACKED ? T0 + 15000 : 0;
	h.changed_at_ms = at_ms;
	put(t, &h);
}

/* The names of the tasks at those places. */
static const char *named(struct temp_store *t, const struct task_place *places, size_t count)
{
	struct buf text;
	const char *result;

	buf_init(&text, 4096);
	for (size_t i = 0; i < count; i++) {
		struct task_row row;

		must(store_task_get(t->c, places[i].id, &t->arena, &row));
		buf_printf(&text, "%s%.*s", i ? " " : "", STR_ARG(row.name));
	}
	result = arena_cstr(&t->arena, buf_str(&text));
	buf_release(&text);
	return result;
}

static const char *changed(struct temp_store *t, int64_t before, int64_t after, size_t max, int64_t *ret_last)
{
	struct task_place places[10];
	size_t count = 0;

	must(store_tasks_changed(t->c, t->space, before, after, max, places, &count));
	if (ret_last)
		*ret_last = count ? places[count - 1].at : 0;
	return named(t, places, count);
}

static const char *open_ones(struct temp_store *t, unsigned states, int64_t agent)
{
	struct task_place places[10];
	size_t count = 0;

	must(store_tasks_open(t->c, t->space, states, agent, NULL, 10, places, &count));
	return named(t, places, count);
}

static const char *matching(struct temp_store *t, const char *text)
{
	struct task_place places[10];
	size_t count = 0;
	bool is_more;

	must(store_tasks_matching(t->c, t->space, str_of(text), 100, 10, places, &count, &is_more));
	assert_false(is_more);
	return named(t, places, count);
}

#define ID(space, num) ((int64_t)((uint64_t)(space) << 40 | (num)))

static void a_task_is_known_by_the_words_of_its_newest_envelope(void **state)
{
	struct temp_store *t = *state;
	struct task_row row;

	pack(t, t->space, 1, "a", "first");
	pack(t, t->space, 2, "a", "second");
	must(store_task_get(t->c, ID(t->space, 1), &t->arena, &row));
	assert_str(row.name, "a");
	assert_str(row.summary, "second");
	assert_str(row.intent, "The Intent");
	assert_true(row.envelopes == 2 && row.hops == 2 && row.tokens == 20);
	assert_int_equal(store_task_get(t->c, ID(t->space, 2), &t->arena, &row), STORE_NOT_FOUND);
	conformance_check(t);
}

static void the_handoff_that_decides_is_the_parked_then_the_taken_then_the_queued_one(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	static const enum handoff_state order[] = {HANDOFF_COMPLETED, HANDOFF_DELAYED, HANDOFF_LEASED, HANDOFF_PARKED};
	struct task_work work;

	pack(t, t->space, 1, "a", "x");
	must(store_task_work(t->c, ID(t->space, 1), &t->arena, &work));
	assert_true(work.handoff == 0 && work.recent == 0 && work.changed_at_ms == 0);
	for (uint64_t i = 0; i < 4; i++) {
		pack(t, t->space, i + 2, "a", "x");
		add(t, t->space, i + 2, i % 2 ? bob : ann, order[i], 5);
		must(store_task_work(t->c, ID(t->space, 1), &t->arena, &work));
		assert_int_equal(work.handoff, i + 1);
		assert_int_equal(work.state, order[i]);
		assert_str(work.agent_name, i % 2 ? "bob" : "ann");
	}
	/* Whatever came later. */
	pack(t, t->space, 9, "a", "x");
	add(t, t->space, 9, ann, HANDOFF_QUEUED, 5);
	change(t, 1, HANDOFF_COMPLETED, T0 + 77);
	must(store_task_work(t->c, ID(t->space, 1), &t->arena, &work));
	assert_true(work.handoff == 4 && work.agent == bob && work.recent == 1 && work.changed_at_ms == T0 + 77);
	assert_true(work.counts[HANDOFF_QUEUED] == 1 && work.counts[HANDOFF_PARKED] == 1 &&
		    work.counts[HANDOFF_COMPLETED] == 1);
}

static void tasks_come_in_the_order_of_their_newest_events_on_all_pages(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), other = temp_space(t, "other"), last;
	static const char *const names[] = {"a", "b", "c"};

	for (uint64_t i = 0; i < 3; i++) {
		pack(t, t->space, i + 1, names[i], "x");
		add(t, t->space, i + 1, ann, HANDOFF_QUEUED, 5);
		tell(t, t->space, 1, i + 1, i + 1);
	}
	pack(t, other, 1, "theirs", "x");
	tell(t, other, EVENT_ROW_PACKED, 0, 1);
	assert_string_equal(changed(t, 0, 0, 10, NULL), "c b a");
	tell(t, t->space, 2, 1, 1);
	assert_string_equal(changed(t, 0, 0, 10, NULL), "a c b");
	assert_string_equal(changed(t, 0, 0, 2, &last), "a c");
	assert_string_equal(changed(t, last, 0, 2, &last), "b");
	assert_string_equal(changed(t, last, 0, 2, NULL), "");
	/* One that was never handed to anybody counts by its newest packing, the others do not. */
	pack(t, t->space, 4, "packed", "x");
	tell(t, t->space, EVENT_ROW_PACKED, 0, 4);
	pack(t, t->space, 5, "packed", "x");
	last = tell(t, t->space, EVENT_ROW_PACKED, 0, 5);
	pack(t, t->space, 6, "b", "x");
	tell(t, t->space, EVENT_ROW_PACKED, 0, 6);
	assert_string_equal(changed(t, 0, 0, 10, NULL), "packed a c b");
	assert_string_equal(changed(t, last, 0, 10, NULL), "a c b");
	assert_string_equal(changed(t, 0, last - 1, 10, NULL), "packed");
}

static void open_tasks_are_found_by_what_their_handoffs_wait_for(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	static const enum handoff_state states[] = {HANDOFF_QUEUED, HANDOFF_DELAYED, HANDOFF_LEASED, HANDOFF_WORKING,
						    HANDOFF_ACKED, HANDOFF_PARKED, HANDOFF_DISCARDED};
	static const char *const names[] = {"queued", "delayed", "leased", "working", "acked", "parked", "gone"};
	struct task_place places[10], behind;
	size_t count;

	for (uint64_t i = 0; i < 7; i++) {
		pack(t, t->space, i + 1, names[i], "x");
		add(t, t->space, i + 1, i % 2 ? bob : ann, states[i], 5);
		change(t, i + 1, states[i], T0 + (int64_t)i);
	}
	assert_string_equal(open_ones(t, 1u << TASK_PARKED, 0), "parked");
	assert_string_equal(open_ones(t, 1u << TASK_WORKING, 0), "working leased");
	assert_string_equal(open_ones(t, 1u << TASK_WAITING, 0), "delayed queued");
	assert_string_equal(open_ones(t, 1u << TASK_HELD, 0), "");
	assert_string_equal(open_ones(t, 15, 0), "parked working leased delayed queued");
	assert_string_equal(open_ones(t, 15, ann), "leased queued");
	/* Behind a breaker that is not closed what is queued may be either; what passes it is not held. */
	must(store_begin(t->c));
	must(store_target_put(t->c, ann, &(struct target_row){.failures = 3, .open_until_ms = T0}));
	must(store_commit(t->c));
	assert_string_equal(open_ones(t, 1u << TASK_HELD, 0), "queued");
	assert_string_equal(open_ones(t, 1u << TASK_WAITING, 0), "delayed queued");
	must(store_tasks_open(t->c, t->space, 15, 0, NULL, 2, places, &count));
	assert_string_equal(named(t, places, count), "parked working");
	behind = places[1];
	must(store_tasks_open(t->c, t->space, 15, 0, &behind, 10, places, &count));
	assert_string_equal(named(t, places, count), "leased delayed queued");
}

static void tasks_are_found_by_their_name_intent_and_newest_summary_in_any_case(void **state)
{
	struct temp_store *t = *state;
	int64_t other = temp_space(t, "other");

	pack(t, t->space, 1, "INVOICE-1", "draft it");
	pack(t, t->space, 2, "INVOICE-1", "Check the SUM");
	pack(t, t->space, 3, "second", "draft 100 %");
	pack(t, other, 1, "invoice-2", "check");
	assert_string_equal(matching(t, "invoice"), "INVOICE-1");
	assert_string_equal(matching(t, "check the sum"), "INVOICE-1");
	assert_string_equal(matching(t, "DRAFT"), "second");
	assert_string_equal(matching(t, "%"), "second");
	assert_string_equal(matching(t, "the intent"), "second INVOICE-1");
	assert_string_equal(matching(t, "nowhere"), "");
}

static void a_search_of_tasks_looks_at_so_many_and_says_when_there_are_more(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann");
	struct task_place places[10];
	size_t count;
	bool more;

	for (uint64_t i = 1; i <= 4; i++) {
		static const char *const names[] = {"one", "two", "three", "four"};

		pack(t, t->space, i, names[i - 1], i % 2 ? "odd" : "even");
	}
	add(t, t->space, 3, ann, HANDOFF_QUEUED, 5);
	change(t, 1, HANDOFF_ACKED, T0 + 77);
	must(store_tasks_matching(t->c, t->space, STR("odd"), 4, 10, places, &count, &more));
	assert_string_equal(named(t, places, count), "three one");
	assert_true(places[0].at == T0 + 77 && places[1].at == T0 + 1 && !more);
	must(store_tasks_matching(t->c, t->space, STR("odd"), 3, 10, places, &count, &more));
	assert_string_equal(named(t, places, count), "three");
	assert_true(more);
	must(store_tasks_matching(t->c, t->space, STR("e"), 4, 2, places, &count, &more));
	assert_true(count == 2 && more);
}

static bool is_quiet(struct temp_store *t, uint64_t num, int64_t since, int64_t until_ms)
{
	bool quiet;

	must(store_task_is_quiet(t->c, t->space, ID(t->space, num), since, until_ms, &quiet));
	return quiet;
}

static void a_task_is_quiet_where_nothing_was_told_of_its_handoffs_since(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), first, second;
	bool quiet;

	pack(t, t->space, 1, "sent", "x");
	pack(t, t->space, 2, "sent", "x");
	add(t, t->space, 1, ann, HANDOFF_QUEUED, 5);
	add(t, t->space, 2, ann, HANDOFF_QUEUED, 5);
	first = tell(t, t->space, 1, 2, 2);
	second = tell(t, t->space, 1, 1, 1);
	assert_false(is_quiet(t, 1, first - 1, INT64_MAX));
	assert_false(is_quiet(t, 1, second - 1, INT64_MAX));
	assert_true(is_quiet(t, 1, second, 0));
	/* By its newest envelope, where it was never handed to anybody. */
	pack(t, t->space, 3, "packed", "x");
	pack(t, t->space, 4, "packed", "x");
	tell(t, t->space, EVENT_ROW_PACKED, 0, 4);
	assert_false(is_quiet(t, 3, 0, T0 + 3));
	assert_true(is_quiet(t, 3, 0, T0 + 4));
	assert_int_equal(store_task_is_quiet(t->c, t->space, ID(t->space, 4), 0, 0, &quiet), STORE_NOT_FOUND);
}

static void lists_of_handoffs_are_filtered_by_task_reason_and_age_and_counted(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), total = 0;
	struct handoff_filter f = {.space = t->space, .states = 1u << HANDOFF_PARKED};
	struct handoff_row rows[10];
	size_t count;

	for (uint64_t i = 1; i <= 4; i++) {
		struct handoff_row h;

		pack(t, t->space, i, i < 3 ? "a" : "b", "x");
		add(t, t->space, i, ann, HANDOFF_PARKED, 5);
		h = get(t, t->space, i);
		h.reason = i % 2 ? STR("HTTP 529: Overloaded") : STR_NULL;
		h.changed_at_ms = T0 + (int64_t)i;
		put(t, &h);
	}
	must(store_handoffs_count(t->c, &f, &total));
	assert_int_equal(total, 4);
	f.reason = STR("overLOADED");
	must(store_handoffs_count(t->c, &f, &total));
	assert_int_equal(total, 2);
	f.task = STR("a");
	must(store_handoffs(t->c, &f, 0, 10, &t->arena, rows, &count));
	assert_true(count == 1 && rows[0].num == 1);
	f = (struct handoff_filter){.space = t->space, .states = f.states, .since_ms = T0 + 2, .before_ms = T0 + 4};
	must(store_handoffs(t->c, &f, 0, 10, &t->arena, rows, &count));
	assert_true(count == 2 && rows[0].num == 2 && rows[1].num == 3);
	f = (struct handoff_filter){.space = t->space, .states = f.states, .task = STR("none")};
	must(store_handoffs_count(t->c, &f, &total));
	assert_int_equal(total, 0);
	/* Other states, too. */
	change(t, 4, HANDOFF_QUEUED, T0 + 9);
	f = (struct handoff_filter){.space = t->space, .states = 1u << HANDOFF_QUEUED, .task = STR("b")};
	must(store_handoffs(t->c, &f, 0, 10, &t->arena, rows, &count));
	assert_true(count == 1 && rows[0].num == 4);
	must(store_handoffs_count(t->c, &f, &total));
	assert_int_equal(total, 1);
}

static void a_queue_is_listed_in_its_order_behind_any_place(void **state)
{
	struct temp_store *t = *state;
	int64_t ann = agent_id(t, t->space, "ann"), bob = agent_id(t, t->space, "bob");
	static const int priorities[] = {5, 9, 0, 9, 5};
	static const uint64_t order[] = {2, 4, 1, 5, 3};
	struct handoff_row rows[10], behind;
	size_t count;

	for (uint64_t i = 0; i < 5; i++) {
		add_envelope(t, t->space, i + 1);
		add(t, t->space, i + 1, ann, HANDOFF_QUEUED, priorities[i]);
	}
	add_envelope(t, t->space, 6);
	add_envelope(t, t->space, 7);
	add(t, t->space, 6, bob, HANDOFF_QUEUED, 9);
	add(t, t->space, 7, ann, HANDOFF_DELAYED, 9);
	must(store_handoffs_queued(t->c, ann, NULL, 10, &t->arena, rows, &count));
	assert_int_equal(count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(rows[i].num, order[i]);
	behind = rows[1];
	must(store_handoffs_queued(t->c, ann, &behind, 2, &t->arena, rows, &count));
	assert_true(count == 2 && rows[0].num == 1 && rows[1].num == 5);
	must(store_handoffs_flight(t->c, ann, 1u << HANDOFF_DELAYED, 0, 10, &t->arena, rows, &count));
	assert_true(count == 1 && rows[0].num == 7);
	must(store_handoffs_flight(t->c, ann, 1u << HANDOFF_LEASED, 0, 10, &t->arena, rows, &count));
	assert_int_equal(count, 0);
	must(store_handoffs_flight(t->c, ann, 15, 7, 10, &t->arena, rows, &count));
	assert_int_equal(count, 0);
}

static void an_agent_that_was_deleted_is_in_no_list_and_has_its_id_again(void **state)
{
	struct temp_store *t = *state;
	struct agent_row row = {.name = STR("ann"), .settings = STR("{\"a\":1}"), .created_at_ms = T0,
				.updated_at_ms = T0}, rows[4];
	int64_t id, again = 0;
	struct target_row target;
	size_t count;

	must(store_begin(t->c));
	assert_int_equal(store_agent_delete(t->c, t->space, STR("ann")), STORE_NOT_FOUND);
	must(store_agent_put(t->c, t->space, &row));
	must(store_agent_id(t->c, t->space, STR("ann"), false, T0, &id));
	must(store_target_put(t->c, id, &(struct target_row){.seen_at_ms = T0, .failures = 2}));
	must(store_commit(t->c));
	must(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &rows[0]));
	assert_true(rows[0].is_registered);
	must(store_begin(t->c));
	must(store_agent_delete(t->c, t->space, STR("ann")));
	must(store_commit(t->c));
	assert_int_equal(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &row), STORE_NOT_FOUND);
	assert_int_equal(store_agent_id(t->c, t->space, STR("ann"), false, T0, &again), STORE_NOT_FOUND);
	must(store_agents(t->c, t->space, STR_NULL, 4, &t->arena, rows, &count));
	assert_int_equal(count, 0);
	conformance_reopen(t);
	must(store_begin(t->c));
	must(store_agent_id(t->c, t->space, STR("ann"), true, T0 + 5, &again));
	must(store_commit(t->c));
	assert_int_equal(again, id);
	must(store_agent_get(t->c, t->space, STR("ann"), &t->arena, &row));
	assert_true(!row.is_registered && row.created_at_ms == T0 + 5);
	assert_str(row.settings, "{}");
	must(store_target_get(t->c, id, &target));
	assert_true(target.seen_at_ms == 0 && target.failures == 0);
	conformance_check(t);
}

/* Above what an engine reads at once: pages of some hundred rows. */
enum { LONG = 600 };

/* Of the first and the last one alone the task and the handoff say so. */
static void fill_long(struct temp_store *t, int64_t agent)
{
	must(store_begin(t->c));
	for (uint64_t num = 1; num <= LONG; num++) {
		bool is_edge = num == 1 || num == LONG;
		struct envelope_row row = {.space = t->space, .num = num, .created_at_ms = T0, .body = STR("{}"),
					   .summary = is_edge ? STR("at the Edge") : STR("within"),
					   .task = arena_printf(&t->arena, "t%d", (int)num)};
		struct handoff_row h = new_handoff(t->space, num, agent);
		struct event_row event = {.space = t->space, .at_ms = T0, .kind = 1};

		must(store_envelope_insert(t->c, &row));
		h.reason = row.summary;
		must(store_handoff_insert(t->c, &h));
		event.handoff = h.num;
		/* Many events of one task, and one of another behind them. */
		event.envelope = num == 1 ? 1 : 2;
		must(store_event_add(t->c, &event));
	}
	must(store_commit(t->c));
}

static void a_long_list_is_gone_through_to_its_end(void **state)
{
	struct temp_store *t = *state;
	struct handoff_filter filter = {.space = t->space, .reason = STR("edge")};
	struct handoff_row rows[3];
	struct task_place places[3];
	int64_t fit = 0;
	size_t count = 0;
	bool more = true;

	fill_long(t, agent_id(t, t->space, "ann"));
	must(store_tasks_matching(t->c, t->space, STR("edge"), LONG, 3, places, &count, &more));
	assert_string_equal(named(t, places, count), "t600 t1");
	assert_false(more);
	must(store_tasks_matching(t->c, t->space, STR("edge"), LONG - 1, 3, places, &count, &more));
	assert_string_equal(named(t, places, count), "t600");
	assert_true(more);
	assert_string_equal(changed(t, 0, 0, 10, NULL), "t2 t1");
	for (int newest = 0; newest < 2; newest++) {
		filter.newest_first = newest;
		must(store_handoffs(t->c, &filter, 0, 3, &t->arena, rows, &count));
		assert_int_equal(count, 2);
		assert_int_equal(rows[newest].num, 1);
		assert_int_equal(rows[1 - newest].num, LONG);
	}
	must(store_handoffs_count(t->c, &filter, &fit));
	assert_int_equal(fit, 2);
}

static const struct CMUnitTest tasks[] = {
	with_engine(a_task_is_known_by_the_words_of_its_newest_envelope),
	with_engine(the_handoff_that_decides_is_the_parked_then_the_taken_then_the_queued_one),
	with_engine(tasks_come_in_the_order_of_their_newest_events_on_all_pages),
	with_engine(open_tasks_are_found_by_what_their_handoffs_wait_for),
	with_engine(tasks_are_found_by_their_name_intent_and_newest_summary_in_any_case),
	with_engine(a_search_of_tasks_looks_at_so_many_and_says_when_there_are_more),
	with_engine(a_task_is_quiet_where_nothing_was_told_of_its_handoffs_since),
	with_engine(lists_of_handoffs_are_filtered_by_task_reason_and_age_and_counted),
	with_engine(a_queue_is_listed_in_its_order_behind_any_place),
	with_engine(an_agent_that_was_deleted_is_in_no_list_and_has_its_id_again),
	with_engine(a_long_list_is_gone_through_to_its_end),
};
CONFORMANCE_PART(tasks);
