/* core/memory/recall.h: which memories answer, and that the index says what the store says, whatever happens
 * meanwhile. */
#include "temp_store.h"

#include "core/memory/recall.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#define DAY_MS (INT64_C(24) * 3600 * 1000)

struct library {
	struct temp_store store;
	struct recall *recall;
	struct recall_scratch *scratch;
};

static int setup(void **state)
{
	struct library *l = mem_zalloc(sizeof(*l));

	temp_store_init(&l->store);
	l->recall = recall_new(12345);
	l->scratch = recall_scratch_new(l->recall);
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct library *l = *state;

	recall_scratch_free(l->scratch);
	recall_free(l->recall);
	temp_store_release(&l->store);
	free(l);
	return 0;
}

static void build(struct library *l, int64_t space)
{
	struct store_conn *reader = temp_store_open(&l->store, STORE_READ);
	size_t count = 0;

	must(recall_build(l->recall, reader, space, &count));
	store_close(reader);
}

/* Stores a memory and tells the index, as the writer does. */
static uint64_t put(struct library *l, struct memory m)
{
	must(store_begin(l->store.c));
	must(store_memory_insert(l->store.c, &m));
	must(store_commit(l->store.c));
	recall_put(l->recall, &m);
	return m.num;
}

static uint64_t put_text(struct library *l, const char *content)
{
	return put(l, temp_memory(l->store.space, content));
}

/* The same with a task of its own: it has no neighbours. */
static uint64_t put_alone(struct library *l, const char *content)
{
	static unsigned tasks;
	struct memory m = temp_memory(l->store.space, content);

	m.task = arena_printf(&l->store.arena, "alone-%u", ++tasks);
	return put(l, m);
}

static struct recall_query query_of(const char *text)
{
	return (struct recall_query){.text = str_of(text), .limit = 100, .now_ms = T0 + DAY_MS};
}

/* The numbers that answer, as text: "3 1 2". */
static const char *answer(struct library *l, int64_t space, const struct recall_query *q)
{
	struct recall_hit hits[200];
	struct buf text;
	size_t n = 0;
	const char *result;

	buf_init(&text, 65536);
	assert_true(recall_search(l->recall, l->scratch, space, q, &l->store.arena, hits, &n));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%llu", i ? " " : "", (unsigned long long)hits[i].num);
	result = arena_cstr(&l->store.arena, buf_str(&text));
	buf_release(&text);
	return result;
}

#define assert_answer(l, q, expected) assert_string_equal(answer(l, (l)->store.space, q), expected)

static void assert_found(struct library *l, const char *text, const char *expected)
{
	struct recall_query q = query_of(text);

	assert_answer(l, &q, expected);
}

/* --- Being ready ---------------------------------------------------------------------------------- */

/* More memories than are read at a time, each with words of its own. */
static void a_large_space_is_read_whole_and_in_order(void **state)
{
	enum { MEMORIES = 1100 };
	struct library *l = *state;
	struct recall_query q = query_of(NULL);
	char text[64], expected[32];
	size_t bytes, memories;

	must(store_begin(l->store.c));
	for (int i = 1; i <= MEMORIES; i++) {
		struct memory m;

		snprintf(text, sizeof(text), "%d common", 100000 + i);
		m = temp_memory(l->store.space, text);
		must(store_memory_insert(l->store.c, &m));
		assert_int_equal(m.num, i);
	}
	must(store_commit(l->store.c));
	build(l, l->store.space);
	recall_usage(l->recall, &bytes, &memories);
	assert_int_equal(memories, MEMORIES);
	for (int i = 1; i <= MEMORIES; i++) {
		snprintf(text, sizeof(text), "%d", 100000 + i);
		/* Its neighbours follow. */
		if (i == 1)
			snprintf(expected, sizeof(expected), "1 2");
		else if (i == MEMORIES)
			snprintf(expected, sizeof(expected), "%d %d", i, i - 1);
		else
			snprintf(expected, sizeof(expected), "%d %d %d", i, i + 1, i - 1);
		assert_found(l, text, expected);
	}
	q.text = STR_NULL;
	q.limit = 3;
	assert_answer(l, &q, "1100 1099 1098");
	q = query_of("common");
	q.limit = 3;
	/* The last one has one neighbour only. */
	assert_answer(l, &q, "1099 1098 1097");
}

static void a_space_answers_once_its_index_was_built(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of("gateway");
	struct recall_hit hits[1];
	size_t n = 77;

	put_text(l, "the gateway");
	q.limit = 1;
	assert_false(recall_is_ready(l->recall, l->store.space));
	assert_false(recall_search(l->recall, l->scratch, l->store.space, &q, &l->store.arena, hits, &n));
	assert_int_equal(n, 77);
	build(l, l->store.space);
	assert_true(recall_is_ready(l->recall, l->store.space));
	assert_false(recall_is_ready(l->recall, l->store.space + 1));
	assert_found(l, "gateway", "1");
}

static void an_empty_space_answers_with_nothing(void **state)
{
	struct library *l = *state;
	struct recall_query list = query_of(NULL);

	build(l, l->store.space);
	assert_found(l, "gateway", "");
	assert_answer(l, &list, "");
}

static void what_was_there_before_and_what_comes_after_are_found_alike(void **state)
{
	struct library *l = *state;

	put_text(l, "the gateway answers");
	put_text(l, "the gateway asks");
	build(l, l->store.space);
	put_text(l, "a gateway afterwards");
	assert_found(l, "answers", "1 2");
	assert_found(l, "afterwards", "3 2");
	assert_int_equal(strlen(answer(l, l->store.space, &(struct recall_query){.text = STR("gateway"), .limit = 10,
			.now_ms = T0})), 5);
}

static void a_space_with_many_memories_is_read_whole(void **state)
{
	struct library *l = *state;
	struct recall_query list = query_of(NULL);
	size_t bytes = 0, memories = 0;

	must(store_begin(l->store.c));
	for (int i = 0; i < 2345; i++) {
		struct memory m = temp_memory(l->store.space, "one of many");

		must(store_memory_insert(l->store.c, &m));
	}
	must(store_commit(l->store.c));
	build(l, l->store.space);
	recall_usage(l->recall, &bytes, &memories);
	assert_int_equal(memories, 2345);
	assert_true(bytes > 2345);
	list.limit = 3;
	assert_answer(l, &list, "2345 2344 2343");
	list.oldest_first = true;
	assert_answer(l, &list, "1 2 3");
}

/* --- Keeping current ------------------------------------------------------------------------------ */

static void a_change_replaces_what_the_memory_said(void **state)
{
	struct library *l = *state;
	struct memory m = temp_memory(l->store.space, "alpha");

	build(l, l->store.space);
	m.num = put_text(l, "alpha");
	m.content = STR("beta");
	m.tags = STR("[\"gamma\"]");
	m.summary = STR("delta");
	m.current_version = m.version = 2;
	recall_put(l->recall, &m);
	assert_found(l, "alpha", "");
	assert_found(l, "beta", "1");
	assert_found(l, "gamma", "1");
	assert_found(l, "delta", "1");
}

static void superseded_and_removed_memories_go(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of("word");

	build(l, l->store.space);
	for (int i = 0; i < 3; i++)
		put_alone(l, "word");
	recall_set_superseded(l->recall, l->store.space, 1);
	recall_remove(l->recall, l->store.space, 2);
	assert_answer(l, &q, "3");
	q.state = RECALL_SUPERSEDED;
	assert_answer(l, &q, "1");
	q.state = RECALL_ANY;
	assert_answer(l, &q, "3 1");
	/* Unknown ones, and spaces that nobody asked for, are no matter. */
	recall_remove(l->recall, l->store.space, 99);
	recall_set_superseded(l->recall, l->store.space, 99);
	recall_remove(l->recall, 99, 1);
	recall_set_superseded(l->recall, 99, 1);
	assert_answer(l, &q, "3 1");
}

static void spaces_are_apart(void **state)
{
	struct library *l = *state;
	int64_t other = temp_space(&l->store, "other");
	struct recall_query q = query_of("word");

	put(l, temp_memory(other, "word theirs"));
	put_text(l, "word mine");
	build(l, l->store.space);
	build(l, other);
	put(l, temp_memory(other, "word theirs again"));
	assert_string_equal(answer(l, l->store.space, &q), "1");
	q.text = STR("theirs");
	assert_string_equal(answer(l, l->store.space, &q), "");
	recall_remove(l->recall, l->store.space, 1);
	q.text = STR("word");
	assert_int_equal(strlen(answer(l, other, &q)), 3);
}

/* --- Filters and states --------------------------------------------------------------------------- */

static void filters_hold_as_the_protocol_says(void **state)
{
	static const struct {
		struct recall_filter filters[4];
		size_t count;
		const char *expected;
	} cases[] = {
		{{{RECALL_TAG, STR_NULL, STR("a")}}, 1, "3 1"},
		{{{RECALL_TAG, STR_NULL, STR("a")}, {RECALL_TAG, STR_NULL, STR("b")}}, 2, "3"},
		{{{RECALL_KIND, STR_NULL, STR("fact")}, {RECALL_KIND, STR_NULL, STR("note")}}, 2, "3 2 1"},
		{{{RECALL_KIND, STR_NULL, STR("fact")}}, 1, "2"},
		{{{RECALL_AGENT, STR_NULL, STR("ann")}, {RECALL_TAG, STR_NULL, STR("a")}}, 2, "1"},
		{{{RECALL_TASK, STR_NULL, STR("t")}}, 1, "1"},
		{{{RECALL_IMPORTANCE, STR_NULL, STR("high")}}, 1, "2"},
		{{{RECALL_TRUST, STR_NULL, STR("agent")}}, 1, "3 2 1"},
		{{{RECALL_PINNED, STR_NULL, STR("true")}}, 1, "2"},
		{{{RECALL_PINNED, STR_NULL, STR("false")}}, 1, "3 1"},
		{{{RECALL_METADATA, STR("k"), STR("v")}}, 1, "1"},
		{{{RECALL_METADATA, STR("k"), STR("1.5")}}, 1, "2"},
		{{{RECALL_METADATA, STR("k"), STR("true")}}, 1, "3"},
		{{{RECALL_METADATA, STR("k"), STR("v")}, {RECALL_METADATA, STR("l"), STR("2")}}, 2, "1"},
		{{{RECALL_METADATA, STR("l"), STR("v")}}, 1, ""},
		{{{RECALL_KIND, STR_NULL, STR("a")}}, 1, ""},
	};
	struct library *l = *state;
	struct memory m = temp_memory(l->store.space, "word one");

	m.tags = STR("[\"a\"]");
	m.agent = STR("ann");
	m.task = STR("t");
	m.metadata = STR("{\"k\":\"v\",\"l\":2,\"n\":{\"k\":\"w\"}}");
	put(l, m);
	m = temp_memory(l->store.space, "word two");
	m.kind = STR("fact");
	m.importance = IMPORTANCE_HIGH;
	m.pinned = true;
	m.metadata = STR("{\"k\":1.5}");
	put(l, m);
	build(l, l->store.space);
	m = temp_memory(l->store.space, "word three");
	m.tags = STR("[\"b\",\"a\"]");
	m.metadata = STR("{\"k\":true}");
	put(l, m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recall_query q = query_of(NULL);

		q.filters = cases[i].filters;
		q.filter_count = cases[i].count;
		assert_answer(l, &q, cases[i].expected);
	}
}

/* A label that is too long for the index is told apart by its digest. */
static void very_long_values_are_filtered_by_exactly(void **state)
{
	struct library *l = *state;
	char *one = mem_zalloc(3000), *two = mem_zalloc(3000);
	struct recall_filter filter = {RECALL_METADATA, STR("k"), STR_NULL};
	struct recall_query q = query_of(NULL);
	struct memory m = temp_memory(l->store.space, "x");

	memset(one, 'x', 2000);
	memset(two, 'x', 2000);
	two[1999] = 'y';
	m.metadata = arena_printf(&l->store.arena, "{\"k\":\"%s\"}", one);
	put(l, m);
	m.metadata = arena_printf(&l->store.arena, "{\"k\":\"%s\"}", two);
	m.num = 0;
	put(l, m);
	build(l, l->store.space);
	q.filters = &filter;
	q.filter_count = 1;
	filter.value = str_of(one);
	assert_answer(l, &q, "1");
	filter.value = str_of(two);
	assert_answer(l, &q, "2");
	free(one);
	free(two);
}

static void expired_memories_are_found_where_asked_for(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of("word");
	struct memory m = temp_memory(l->store.space, "word");

	build(l, l->store.space);
	m.expires_at_ms = T0 + 100;
	put(l, m);
	m.num = 0;
	m.expires_at_ms = 0;
	m.task = STR("another");
	put(l, m);
	q.now_ms = T0 + 99;
	assert_answer(l, &q, "2 1");
	q.now_ms = T0 + 100;
	assert_answer(l, &q, "2");
	q.state = RECALL_EXPIRED;
	assert_answer(l, &q, "1");
	q.state = RECALL_ANY;
	assert_answer(l, &q, "2 1");
	/* One that has expired and was superseded is superseded. */
	recall_set_superseded(l->recall, l->store.space, 1);
	q.state = RECALL_EXPIRED;
	assert_answer(l, &q, "");
	q.state = RECALL_SUPERSEDED;
	assert_answer(l, &q, "1");
}

static void creation_times_bound_a_list(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of(NULL);

	for (int i = 0; i < 4; i++) {
		struct memory m = temp_memory(l->store.space, "x");

		m.created_at_ms = T0 + i * 10;
		put(l, m);
	}
	build(l, l->store.space);
	q.created_from_ms = T0 + 10;
	assert_answer(l, &q, "4 3 2");
	q.created_to_ms = T0 + 30;
	assert_answer(l, &q, "3 2");
	q.created_from_ms = 0;
	assert_answer(l, &q, "3 2 1");
}

/* --- Scores and pages ----------------------------------------------------------------------------- */

static void a_score_is_the_product_of_its_parts(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of("retry gateway");
	struct recall_hit hits[10];
	size_t n;

	build(l, l->store.space);
	for (int i = 0; i < 6; i++) {
		struct memory m = temp_memory(l->store.space, i % 2 ? "retry, retry the gateway" : "a gateway");

		m.importance = (enum importance)(i % 4);
		m.pinned = i == 3;
		m.created_at_ms = T0 - i * 3 * DAY_MS;
		put(l, m);
	}
	q.explain = true;
	q.limit = 10;
	q.now_ms = T0;
	assert_true(recall_search(l->recall, l->scratch, l->store.space, &q, &l->store.arena, hits, &n));
	assert_int_equal(n, 6);
	for (size_t i = 0; i < n; i++) {
		int made = (int)hits[i].num - 1;
		double recency = 0.25 * pow(2, -(double)(made * 3) / 7), sum = 0;
		double boost = 1 + recall_importance_part((enum importance)(made % 4)) + recall_pinned_part(made == 3);

		assert_true(fabs(hits[i].recency - recency) < 1e-4);
		assert_true(fabs(hits[i].boost - boost) < 1e-4);
		sum = hits[i].text * (hits[i].boost + hits[i].recency);
		assert_true(fabs(hits[i].score - sum) < 1e-4 * hits[i].score);
		sum = 0;
		for (size_t t = 0; t < hits[i].term_count; t++)
			sum += hits[i].terms[t].score;
		assert_true(fabs(sum - hits[i].own) < 1e-6);
		/* Neighbours of other days lend next to nothing. */
		assert_true(hits[i].text >= hits[i].own && hits[i].text <= 1.001 * hits[i].own);
		assert_true(hits[i].relevance > 0 && hits[i].relevance < 1);
		assert_int_equal(hits[i].term_count, made % 2 ? 2 : 1);
		if (i > 0)
			assert_true(hits[i].score <= hits[i - 1].score);
	}
	assert_true(fabs(recall_importance_part(IMPORTANCE_CRITICAL) - 0.3) < 1e-9);
	assert_true(recall_pinned_part(true) == 0.25 && recall_pinned_part(false) == 0);
}

static void pages_go_on_behind_the_last_hit(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of("word");
	struct recall_hit hits[10];
	bool seen[41] = {false};
	size_t n, total = 0;

	build(l, l->store.space);
	for (int i = 0; i < 40; i++)
		put_text(l, i % 3 ? "word" : "word word other");
	q.limit = 7;
	do {
		assert_true(recall_search(l->recall, l->scratch, l->store.space, &q, &l->store.arena, hits, &n));
		for (size_t i = 0; i < n; i++, total++) {
			assert_false(seen[hits[i].num]);
			seen[hits[i].num] = true;
		}
		if (n > 0) {
			q.after_num = hits[n - 1].num;
			q.after_score = hits[n - 1].score;
			/* A memory that comes in moves every score; the page still goes on behind the same memory. */
			put_alone(l, "something else that makes the others stand out");
		}
	} while (n > 0);
	assert_int_equal(total, 40);
}

static void a_list_goes_on_behind_its_last_number(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of(NULL);

	build(l, l->store.space);
	for (int i = 0; i < 5; i++)
		put_text(l, "x");
	q.limit = 2;
	q.after_num = 4;
	assert_answer(l, &q, "3 2");
	q.after_num = 1;
	assert_answer(l, &q, "");
	q.oldest_first = true;
	q.after_num = 3;
	assert_answer(l, &q, "4 5");
	q.after_num = 5;
	assert_answer(l, &q, "");
}

/* Two servers with the same memories give the same answers, whatever their seeds. */
static void answers_do_not_depend_on_the_seed(void **state)
{
	struct library *l = *state;
	struct recall *other = recall_new(999);
	struct recall_scratch *scratch = recall_scratch_new(other);
	struct store_conn *reader;
	struct recall_query q = query_of("retry gateway policy");
	struct recall_hit hits[50], others[50];
	size_t n, m, count;

	for (int i = 0; i < 50; i++)
		put_text(l, (const char *[]){"retry", "gateway policy", "retry gateway", "policy of the retry policy",
					     "none"}[i % 5]);
	build(l, l->store.space);
	reader = temp_store_open(&l->store, STORE_READ);
	must(recall_build(other, reader, l->store.space, &count));
	store_close(reader);
	q.limit = 50;
	assert_true(recall_search(l->recall, l->scratch, l->store.space, &q, &l->store.arena, hits, &n));
	assert_true(recall_search(other, scratch, l->store.space, &q, &l->store.arena, others, &m));
	assert_int_equal(n, 50);	/* those with none of the words have neighbours with one */
	assert_int_equal(m, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(hits[i].num, others[i].num);
		assert_true(hits[i].score == others[i].score && hits[i].relevance == others[i].relevance);
	}
	recall_scratch_free(scratch);
	recall_free(other);
}

/* --- Neighbours ----------------------------------------------------------------------------------- */

static uint64_t put_of_task(struct library *l, const char *content, const char *task)
{
	struct memory m = temp_memory(l->store.space, content);

	m.task = task ? str_of(task) : STR_NULL;
	return put(l, m);
}

/* Two tasks, and what has none, told in turns. */
static void a_memory_gains_from_those_beside_it_in_its_task(void **state)
{
	struct library *l = *state;

	build(l, l->store.space);
	put_of_task(l, "lorem", NULL);
	put_of_task(l, "ipsum", "t");
	put_of_task(l, "zeppelin", "u");
	put_of_task(l, "dolor", "t");
	put_of_task(l, "amet", "u");
	put_of_task(l, "elitr", NULL);
	put_of_task(l, "sed", "u");
	assert_found(l, "zeppelin", "3 5");
	assert_found(l, "lorem", "1 6");
	assert_found(l, "amet", "5 7 3");
}

static void memories_without_a_task_can_be_asked_for(void **state)
{
	static const struct recall_filter none[] = {{RECALL_TASK, STR_NULL, STR(RECALL_NO_TASK)}},
					  either[] = {{RECALL_TASK, STR_NULL, STR(RECALL_NO_TASK)},
						      {RECALL_TASK, STR_NULL, STR("t")}};
	struct library *l = *state;
	struct recall_query q = query_of("word");

	put_of_task(l, "word", NULL);
	put_of_task(l, "word", "t");
	build(l, l->store.space);
	put_of_task(l, "word", "u");
	q.filters = none;
	q.filter_count = 1;
	q.is_of_tasks = true;
	assert_answer(l, &q, "1");
	q.filters = either;
	q.filter_count = 2;
	assert_answer(l, &q, "2 1");
}

/* A change of its task takes a memory to other neighbours. */
static void a_memory_changes_its_neighbours_with_its_task(void **state)
{
	struct library *l = *state;
	struct memory m = temp_memory(l->store.space, "zeppelin");

	build(l, l->store.space);
	put_of_task(l, "lorem", "t");
	m.task = STR("t");
	m.num = put(l, m);
	put_of_task(l, "ipsum", "u");
	assert_found(l, "zeppelin", "2 1");
	m.task = STR("u");
	recall_put(l->recall, &m);
	assert_found(l, "zeppelin", "2 3");
	recall_remove(l->recall, l->store.space, 2);
	assert_found(l, "zeppelin", "");
}

static void a_memory_is_as_relevant_as_it_is_to_one_of_two_texts(void **state)
{
	struct library *l = *state;
	struct recall_query both = query_of("gateway zeppelin"), half = query_of("gateway"), one = query_of("gateway");
	struct recall_query only = query_of("");
	const uint64_t nums[] = {1, 2, 3, 4, 99};
	double of_both[5], of_half[5], of_one[5], of_only[5];

	build(l, l->store.space);
	put_alone(l, "the gateway");
	put_alone(l, "a zeppelin");
	put_alone(l, "the gateway and the zeppelin");
	put_alone(l, "neither of them");
	half.more = STR("zeppelin");
	only.more = STR("zeppelin");
	assert_true(recall_rate(l->recall, l->scratch, l->store.space, &both, &l->store.arena, nums, 5, of_both));
	assert_true(recall_rate(l->recall, l->scratch, l->store.space, &half, &l->store.arena, nums, 5, of_half));
	assert_true(recall_rate(l->recall, l->scratch, l->store.space, &one, &l->store.arena, nums, 5, of_one));
	assert_true(recall_rate(l->recall, l->scratch, l->store.space, &only, &l->store.arena, nums, 5, of_only));
	assert_true(of_one[1] == 0 && of_half[0] == of_one[0] && of_half[1] == of_only[1]);
	assert_true(of_half[2] == fmax(of_one[2], of_only[2]) && of_half[2] < of_both[2]);
	assert_true(of_only[1] > 0 && of_only[0] == 0);
	for (int i = 3; i < 5; i++)
		assert_true(of_both[i] == 0 && of_half[i] == 0);
	assert_answer(l, &half, "3 1 2");
	assert_false(recall_rate(l->recall, l->scratch, l->store.space + 1, &both, &l->store.arena, nums, 5, of_both));
}

static void a_rating_is_that_of_the_search(void **state)
{
	struct library *l = *state;
	struct recall_query q = query_of("retry gateway policy");
	struct recall_hit hits[50];
	double relevance;
	size_t n;

	build(l, l->store.space);
	for (int i = 0; i < 50; i++) {
		struct memory m = temp_memory(l->store.space, (const char *[]){"retry", "gateway policy", "something",
			"policy of the retry policy", "none"}[i % 5]);

		m.pinned = i % 3 == 0;
		m.created_at_ms = T0 - i * DAY_MS / 100;
		put(l, m);
	}
	q.limit = 50;
	assert_true(recall_search(l->recall, l->scratch, l->store.space, &q, &l->store.arena, hits, &n));
	assert_true(n > 40);
	q.now_ms += 100 * DAY_MS;
	for (size_t i = 0; i < n; i++) {
		assert_true(recall_rate(l->recall, l->scratch, l->store.space, &q, &l->store.arena, &hits[i].num, 1,
					&relevance));
		assert_true(relevance == hits[i].relevance);
	}
}

/* --- Threads -------------------------------------------------------------------------------------- */

struct crowd {
	struct library *l;
	atomic_bool stop;
	atomic_int failures;
};

/* What the writer's thread does: stores, changes, supersedes and forgets, and tells the index after each commit. */
static void *write_on(void *arg)
{
	struct crowd *crowd = arg;
	struct library *l = crowd->l;

	for (int i = 0; i < 1500; i++) {
		struct memory m = temp_memory(l->store.space, i % 3 ? "common word" : "common rare");
		uint64_t target = (uint64_t)i / 2 + 1;

		if (store_begin(l->store.c) != STORE_OK || store_memory_insert(l->store.c, &m) != STORE_OK ||
		    (i % 5 == 0 && store_memory_forget(l->store.c, l->store.space, target, T0) != STORE_OK) ||
		    (i % 7 == 0 && store_memory_set_superseded(l->store.c, l->store.space, m.num, 1) != STORE_OK)) {
			/* What is forgotten already cannot be again: only this one is undone. */
			store_rollback(l->store.c);
			continue;
		}
		if (store_commit(l->store.c) != STORE_OK)
			atomic_fetch_add(&crowd->failures, 1);
		recall_put(l->recall, &m);
		if (i % 5 == 0)
			recall_remove(l->recall, l->store.space, target);
		if (i % 7 == 0)
			recall_set_superseded(l->recall, l->store.space, m.num);
	}
	return NULL;
}

static void *search_on(void *arg)
{
	struct crowd *crowd = arg;
	struct recall_scratch *scratch = recall_scratch_new(crowd->l->recall);
	struct recall_query q = query_of("common rare");
	struct recall_hit hits[100];
	struct arena arena;
	size_t n;

	q.explain = true;
	while (!atomic_load(&crowd->stop)) {
		arena_init(&arena);
		if (recall_search(crowd->l->recall, scratch, crowd->l->store.space, &q, &arena, hits, &n))
			for (size_t i = 1; i < n; i++)
				if (hits[i].score > hits[i - 1].score)
					atomic_fetch_add(&crowd->failures, 1);
		arena_release(&arena);
	}
	recall_scratch_free(scratch);
	return NULL;
}

/* The index is built while the writer writes and others search; in the end it holds what the store holds. */
static void an_index_built_during_writes_says_what_the_store_says(void **state)
{
	enum { SEARCHERS = 3 };
	struct library *l = *state;
	struct crowd crowd = {.l = l};
	pthread_t writer, searchers[SEARCHERS];
	struct recall_query q = query_of(NULL);
	uint64_t after = 0, listed = 0;
	struct recall_hit hits[500];
	struct memory m;
	size_t n;

	for (int i = 0; i < SEARCHERS; i++)
		assert_int_equal(pthread_create(&searchers[i], NULL, search_on, &crowd), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_on, &crowd), 0);
	build(l, l->store.space);
	pthread_join(writer, NULL);
	atomic_store(&crowd.stop, true);
	for (int i = 0; i < SEARCHERS; i++)
		pthread_join(searchers[i], NULL);
	assert_int_equal(atomic_load(&crowd.failures), 0);

	q.limit = 500;
	q.oldest_first = true;
	q.state = RECALL_ANY;
	do {
		q.after_num = after;
		assert_true(recall_search(l->recall, l->scratch, l->store.space, &q, &l->store.arena, hits, &n));
		for (size_t i = 0; i < n; i++) {
			/* Everything between two hits is not there, or was forgotten. */
			for (uint64_t num = after + 1; num < hits[i].num; num++)
				if (store_memory_get(l->store.c, l->store.space, num, 0, &l->store.arena,
						     &m) == STORE_OK)
					assert_true(m.forgotten_at_ms != 0);
			must(store_memory_get(l->store.c, l->store.space, hits[i].num, 0, &l->store.arena, &m));
			assert_int_equal(m.forgotten_at_ms, 0);
			after = hits[i].num;
			listed++;
		}
	} while (n > 0);
	must(store_space_count(l->store.c, l->store.space, (int64_t *)&after));
	assert_int_equal(listed, after);
}

static void *forget_on(void *arg)
{
	struct crowd *crowd = arg;
	struct library *l = crowd->l;

	for (uint64_t num = 1; num <= 400; num++) {
		if (store_begin(l->store.c) != STORE_OK || store_memory_forget(l->store.c, l->store.space, num,
									       T0) != STORE_OK ||
		    store_commit(l->store.c) != STORE_OK)
			atomic_fetch_add(&crowd->failures, 1);
		recall_remove(l->recall, l->store.space, num);
	}
	return NULL;
}

/* The build has read these memories by the time they are forgotten: the changes are made good before the index is
 * shown. */
static void what_changes_behind_the_back_of_a_build_is_made_good(void **state)
{
	struct library *l = *state;
	struct crowd crowd = {.l = l};
	struct recall_query q = query_of(NULL);
	size_t bytes, memories;
	pthread_t thread;

	must(store_begin(l->store.c));
	for (int i = 0; i < 4000; i++) {
		struct memory m =
			temp_memory(l->store.space, "some words, so that reading them takes the build a while");

		must(store_memory_insert(l->store.c, &m));
	}
	must(store_commit(l->store.c));
	assert_int_equal(pthread_create(&thread, NULL, forget_on, &crowd), 0);
	build(l, l->store.space);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&crowd.failures), 0);
	recall_usage(l->recall, &bytes, &memories);
	assert_int_equal(memories, 3600);
	q.oldest_first = true;
	q.limit = 2;
	assert_answer(l, &q, "401 402");
}

int main(void)
{
#define with_library(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest recall[] = {
		with_library(a_space_answers_once_its_index_was_built),
		with_library(a_large_space_is_read_whole_and_in_order),
		with_library(an_empty_space_answers_with_nothing),
		with_library(what_was_there_before_and_what_comes_after_are_found_alike),
		with_library(a_space_with_many_memories_is_read_whole),
		with_library(a_change_replaces_what_the_memory_said),
		with_library(superseded_and_removed_memories_go),
		with_library(spaces_are_apart),
		with_library(filters_hold_as_the_protocol_says),
		with_library(very_long_values_are_filtered_by_exactly),
		with_library(expired_memories_are_found_where_asked_for),
		with_library(creation_times_bound_a_list),
		with_library(a_score_is_the_product_of_its_parts),
		with_library(pages_go_on_behind_the_last_hit),
		with_library(a_list_goes_on_behind_its_last_number),
		with_library(answers_do_not_depend_on_the_seed),
		with_library(a_memory_gains_from_those_beside_it_in_its_task),
		with_library(memories_without_a_task_can_be_asked_for),
		with_library(a_memory_changes_its_neighbours_with_its_task),
		with_library(a_memory_is_as_relevant_as_it_is_to_one_of_two_texts),
		with_library(a_rating_is_that_of_the_search),
		with_library(an_index_built_during_writes_says_what_the_store_says),
		with_library(what_changes_behind_the_back_of_a_build_is_made_good),
	};

	return cmocka_run_group_tests(recall, NULL, NULL);
}
