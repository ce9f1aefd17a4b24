/* The index as its callers use it: explanations, in-place changes, hostile input, memory, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index_model.h"

#include <inttypes.h>
#include <pthread.h>

static const int64_t NOW_MS = 1000000;

/* An index, and what is needed to ask it. */
struct fixture {
	struct index *ix;
	struct index_scratch *scratch;
	struct analyzer *analyzer;
	struct termbag bag;
	struct termbag terms;
};

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	f->ix = index_new(&index_config_default);
	f->scratch = index_scratch_new();
	f->analyzer = analyzer_new();
	termbag_init(&f->bag, 0);
	termbag_init(&f->terms, 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	index_free(f->ix);
	index_scratch_free(f->scratch);
	analyzer_free(f->analyzer);
	termbag_release(&f->bag);
	termbag_release(&f->terms);
	free(f);
	return 0;
}

static struct index_document document(struct fixture *f, uint64_t id, struct str text)
{
	termbag_clear(&f->bag);
	termbag_add_text(&f->bag, f->analyzer, text, 1);
	return (struct index_document){
		.id = id, .terms = &f->bag, .created_ms = NOW_MS, .expires_ms = INDEX_NEVER, .boost = 1,
	};
}

static void add(struct fixture *f, uint64_t id, const char *text)
{
	struct index_document d = document(f, id, str_of(text));

	index_add(f->ix, &d);
}

static struct index_query query(struct fixture *f, struct str text)
{
	termbag_clear(&f->terms);
	termbag_add_text(&f->terms, f->analyzer, text, 1);
	return (struct index_query){.terms = &f->terms, .filter = index_filter_any()};
}

/* The ids of the hits, as "3 1 2". Borrowed until the next call. */
static const char *search(struct fixture *f, const char *text)
{
	static char out[1024];
	struct index_query q = query(f, str_of(text));
	struct index_hit hits[20];
	size_t n = index_search(f->ix, &q, NOW_MS, 20, f->scratch, hits), i, at = 0;

	out[0] = '\0';
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%" PRIu64, i ? " " : "", hits[i].id);
	return out;
}

static void finds_words_names_and_paths_by_their_parts(void **state)
{
	struct fixture *f = *state;

	add(f, 1, "The retryPolicy of the gateway retries three times");
	add(f, 2, "See src/payments/gateway.c for how payments are retried");
	add(f, 3, "Nothing of the sort: Café Zürich, 東京都に行く");
	add(f, 4, "ms-4821 supersedes ms-4711");
	assert_string_equal(search(f, "retry_policy"), "1 2");
	assert_string_equal(search(f, "PAYMENT"), "2");
	assert_string_equal(search(f, "gateway.c"), "2 1");
	assert_string_equal(search(f, "src/payments/gateway.c"), "2 1");
	assert_string_equal(search(f, "cafe zurich"), "3");
	assert_string_equal(search(f, "東京"), "3");
	assert_string_equal(search(f, "4821"), "4");
	assert_string_equal(search(f, "absent"), "");
	assert_string_equal(search(f, ""), "");
	assert_string_equal(search(f, "\" OR (* NEAR/3 AND NOT ) :"), "");
}

/* Words that stand in one, two, ... twenty documents: of a query with all of them the rarest find documents, until they
 * have been met in so many, but never fewer than three. */
static void a_bounded_query_finds_by_its_rarest_words(void **state)
{
	static const struct { uint64_t max_postings; int words;
	} cases[] = {
		{0, 20}, {1, 3},   {6, 3},    {9, 3},    {10, 4},      {15, 5},
		{54, 9}, {55, 10}, {209, 19}, {210, 20}, {100000, 20},
	};
	struct fixture *f = *state;
	char all[512] = "", word[16];

	for (int w = 1; w <= 20; w++) {
		snprintf(word, sizeof(word), "k%ckob ", 'a' + w - 1);
		strcat(all, word);
		for (int i = 0; i < w; i++)
			add(f, (uint64_t)(w * 100 + i), word);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct index_query q = query(f, str_of(all));
		struct index_hit hits[INDEX_PAGE];
		size_t n, expected = 0;

		q.max_postings = cases[i].max_postings;
		q.shortlist = INDEX_PAGE;
		n = index_search(f->ix, &q, NOW_MS, INDEX_PAGE, f->scratch, hits);
		for (int w = 1; w <= cases[i].words; w++)
			expected += (size_t)w;
		assert_int_equal(n, expected < INDEX_PAGE ? expected : INDEX_PAGE);
		assert_int_equal(hits[0].id, 100);
	}
}

static void equal_scores_stand_by_id_highest_first(void **state)
{
	struct fixture *f = *state;

	add(f, 5, "same words");
	add(f, 9, "same words");
	add(f, 2, "same words");
	add(f, 7, "same words");
	assert_string_equal(search(f, "words"), "9 7 5 2");
	add(f, 5, "same words");	/* again: a replacement keeps its place */
	assert_string_equal(search(f, "words"), "9 7 5 2");
}

static void replacing_and_removing_take_effect_at_once(void **state)
{
	struct fixture *f = *state;

	add(f, 1, "alpha");
	add(f, 2, "alpha beta");
	add(f, 1, "gamma");
	assert_string_equal(search(f, "alpha"), "2");
	assert_string_equal(search(f, "gamma"), "1");
	assert_true(index_remove(f->ix, 2));
	assert_false(index_remove(f->ix, 2));
	assert_string_equal(search(f, "alpha"), "");
	assert_true(index_has(f->ix, 1));
	assert_false(index_has(f->ix, 2));
	assert_int_equal(index_documents(f->ix), 1);
}

static void boosts_and_hiding_change_in_place(void **state)
{
	struct fixture *f = *state;

	add(f, 1, "alpha");
	add(f, 2, "alpha");
	add(f, 3, "alpha");
	assert_true(index_set_boost(f->ix, 1, 2));
	assert_string_equal(search(f, "alpha"), "1 3 2");
	assert_true(index_set_boost(f->ix, 1, 0.5f));
	assert_string_equal(search(f, "alpha"), "3 2 1");
	assert_true(index_set_hidden(f->ix, 3, true));
	assert_string_equal(search(f, "alpha"), "2 1");
	assert_true(index_set_hidden(f->ix, 3, false));
	assert_string_equal(search(f, "alpha"), "3 2 1");
	assert_false(index_set_boost(f->ix, 4, 1));
	assert_false(index_set_hidden(f->ix, 4, true));
}

/* The ids that pass, the highest first, as "30 20 10". Borrowed until the next call. Counting must agree with listing:
 * it goes another way. */
static const char *list(struct fixture *f, const struct index_filter *filter)
{
	static char text[256];
	uint64_t ids[INDEX_PAGE];
	size_t count = index_list(f->ix, filter, NOW_MS, false, INDEX_PAGE, f->scratch, ids), n = 0;

	assert_int_equal(index_count(f->ix, filter, NOW_MS, f->scratch), count);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu64, i ? " " : "", ids[i]);
	return text;
}

static void labels_that_few_carry_are_listed_by_every_condition(void **state)
{
	enum { DOCUMENTS = 1000 };
	static const struct str rare[] = {STR("pin"), STR("flag")}, odd = STR("odd");
	const struct index_labels pin = {rare, 1}, either = {rare, 2}, pin_and_odd[] = {{&odd, 1}, {rare, 1}};
	struct index_filter filter = index_filter_any();
	struct fixture *f = *state;

	for (uint64_t id = 1; id <= DOCUMENTS; id++) {
		struct index_document d = document(f, id, STR("words"));
		struct str labels[3];

		d.labels = labels;
		if (id % 2)
			labels[d.label_count++] = odd;
		if (id % 111 == 0)
			labels[d.label_count++] = rare[0];
		if (id % 333 == 0 || id == 500)
			labels[d.label_count++] = rare[1];
		d.hidden = id == 444;
		d.created_ms = NOW_MS - (int64_t)id;
		index_add(f->ix, &d);
	}
	filter.require = &pin;
	filter.require_count = 1;
	assert_string_equal(list(f, &filter), "999 888 777 666 555 333 222 111");
	filter.include_hidden = true;
	assert_string_equal(list(f, &filter), "999 888 777 666 555 444 333 222 111");
	filter.only_hidden = true;
	assert_string_equal(list(f, &filter), "444");
	filter.include_hidden = filter.only_hidden = false;
	filter.id_from = 222;
	filter.id_to = 887;
	assert_string_equal(list(f, &filter), "777 666 555 333 222");
	filter.created_from_ms = NOW_MS - 700;
	filter.created_to_ms = NOW_MS - 333;
	assert_string_equal(list(f, &filter), "666 555 333");
	filter.exclude = (struct index_labels){&odd, 1};
	assert_string_equal(list(f, &filter), "666");
	filter = index_filter_any();
	filter.require = &either;
	filter.require_count = 1;
	assert_string_equal(list(f, &filter), "999 888 777 666 555 500 333 222 111");
	filter.require = pin_and_odd;
	filter.require_count = 2;
	assert_string_equal(list(f, &filter), "999 777 555 333 111");
	index_remove(f->ix, 555);
	assert_string_equal(list(f, &filter), "999 777 333 111");
	for (uint64_t id = 333; id <= 777; id += 222) {
		struct index_document d = document(f, id, STR("words"));
		struct str labels[] = {odd, rare[0]};

		d.labels = labels;
		d.label_count = 2;
		d.expires_ms = NOW_MS - (id == 333);
		index_add(f->ix, &d);
	}
	assert_string_equal(list(f, &filter), "999 111");
	filter.include_expired = true;
	assert_string_equal(list(f, &filter), "999 777 555 333 111");
	filter.only_expired = true;
	assert_string_equal(list(f, &filter), "777 555 333");
}

static void recency_lifts_the_new_and_expiry_ends(void **state)
{
	struct fixture *f = *state;
	struct index_document old = document(f, 2, STR("alpha beta"));
	struct index_query q;
	struct index_hit hits[5];

	old.created_ms = NOW_MS - 1000;
	old.expires_ms = NOW_MS + 10;
	index_add(f->ix, &old);
	add(f, 1, "alpha beta");
	q = query(f, STR("alpha"));
	assert_int_equal(index_search(f->ix, &q, NOW_MS, 5, f->scratch, hits), 2);
	assert_int_equal(hits[0].id, 2);	/* the same score: by id */
	q.recency_weight = 1;
	q.half_life_ms = 1000;
	assert_int_equal(index_search(f->ix, &q, NOW_MS, 5, f->scratch, hits), 2);
	assert_int_equal(hits[0].id, 1);
	assert_true(fabs(hits[1].score / hits[0].score - 1.5 / 2) < 1e-9);
	assert_int_equal(index_search(f->ix, &q, NOW_MS + 9, 5, f->scratch, hits), 2);
	assert_int_equal(index_search(f->ix, &q, NOW_MS + 10, 5, f->scratch, hits), 1);
	q.filter.include_expired = true;
	assert_int_equal(index_search(f->ix, &q, NOW_MS + 10, 5, f->scratch, hits), 2);
}

static void an_explanation_adds_up_to_the_score(void **state)
{
	struct fixture *f = *state;
	struct index_explanation e;
	struct index_query q;
	struct index_hit hits[5];
	double sum = 0;
	size_t i;

	add(f, 1, "alpha alpha beta gamma");
	add(f, 2, "alpha delta");
	index_set_boost(f->ix, 1, 1.25f);
	q = query(f, STR("beta alpha beta omega"));
	q.recency_weight = 0.5;
	q.half_life_ms = 1000;
	assert_int_equal(index_search(f->ix, &q, NOW_MS + 1000, 5, f->scratch, hits), 2);
	assert_true(index_explain(f->ix, &q, NOW_MS + 1000, hits[0].id, f->scratch, &e));
	assert_int_equal(hits[0].id, 1);
	assert_int_equal(e.term_count, 2);
	assert_true(str_is(e.terms[0].term, "beta"));
	assert_int_equal(e.terms[0].query_count, 2);
	assert_int_equal(e.terms[0].count, 1);
	assert_int_equal(e.terms[0].holders, 1);
	assert_true(str_is(e.terms[1].term, "alpha"));
	assert_int_equal(e.terms[1].count, 2);
	assert_int_equal(e.terms[1].holders, 2);
	for (i = 0; i < e.term_count; i++)
		sum += e.terms[i].score;
	assert_true(e.text == sum);
	assert_true(e.boost == 1.25 && e.recency == 0.25);
	assert_int_equal(e.length, 4);
	assert_true(e.average_length == 3);
	assert_true(e.score == e.text * (e.boost + e.recency) && e.score == hits[0].score);
	index_explanation_release(&e);
	assert_false(index_explain(f->ix, &q, NOW_MS, 3, f->scratch, &e));
}

/* Counts and lengths are told, and counted, as they are. */
static void a_word_said_a_thousand_times_counts_a_thousand(void **state)
{
	struct fixture *f = *state;
	struct index_explanation e;
	struct index_document d;
	struct index_query q;
	unsigned count, id;

	for (id = 1, count = 13; count <= 1013; id++, count += 10) {
		termbag_clear(&f->bag);
		termbag_add_text(&f->bag, f->analyzer, STR("said often"), count);
		termbag_add_text(&f->bag, f->analyzer, STR("padding"), 1100 - count);
		d = (struct index_document){
			.id = id, .terms = &f->bag, .created_ms = NOW_MS, .expires_ms = INDEX_NEVER, .boost = 1,
		};
		index_add(f->ix, &d);
	}
	q = query(f, STR("often"));
	for (id = 1, count = 13; count <= 1013; id++, count += 10) {
		assert_true(index_explain(f->ix, &q, NOW_MS, id, f->scratch, &e));
		assert_int_equal(e.length, 1100 + count);
		assert_int_equal(e.terms[0].count, count);
		index_explanation_release(&e);
	}
	/* The more often, the better, though the text grows by as much. */
	assert_memory_equal(search(f, "often"), "101 100 99 98 97 ", 17);
	while (--id > 1)
		assert_true(index_remove(f->ix, id));
	assert_string_equal(search(f, "often"), "1");
}

static void fields_can_weigh_more(void **state)
{
	struct fixture *f = *state;
	struct index_document d;

	add(f, 2, "title words here body");
	termbag_clear(&f->bag);
	termbag_add_text(&f->bag, f->analyzer, STR("title"), 3);
	termbag_add_text(&f->bag, f->analyzer, STR("words"), 1);
	d = (struct index_document){
		.id = 1, .terms = &f->bag, .created_ms = NOW_MS, .expires_ms = INDEX_NEVER, .boost = 1,
	};
	index_add(f->ix, &d);
	assert_string_equal(search(f, "title"), "1 2");
}

static void hostile_texts_are_only_texts(void **state)
{
	enum { SIZE = 256 << 10 };
	struct fixture *f = *state;
	char *text = mem_alloc(SIZE);
	struct index_document d;
	struct index_query q;
	struct index_hit hits[5];
	size_t at = 0;
	unsigned i;

	add(f, 1, "");
	memset(text, 'a', SIZE);
	d = document(f, 2, (struct str){text, SIZE});
	index_add(f->ix, &d);
	q = query(f, (struct str){text, SIZE});
	assert_int_equal(index_search(f->ix, &q, NOW_MS, 5, f->scratch, hits), 1);
	for (i = 0; at + 8 < SIZE; i++)
		at += (size_t)snprintf(text + at, SIZE - at, "%x ", i * 2654435761u);
	d = document(f, 3, (struct str){text, at});
	assert_true(f->bag.term_count > 25000);
	index_add(f->ix, &d);
	q = query(f, (struct str){text, at});
	assert_int_equal(index_search(f->ix, &q, NOW_MS, 5, f->scratch, hits), 1);
	assert_int_equal(hits[0].id, 3);
	for (at = 0; at < SIZE; at++)
		text[at] = (char)((at * 2654435761u) >> 13);
	d = document(f, 4, (struct str){text, SIZE});
	index_add(f->ix, &d);
	q = query(f, (struct str){text, SIZE});
	assert_true(index_search(f->ix, &q, NOW_MS, 5, f->scratch, hits) > 0);
	for (i = 1; i <= 4; i++)
		assert_true(index_remove(f->ix, i));
	assert_int_equal(index_documents(f->ix), 0);
	assert_string_equal(search(f, "aaaa"), "");
	free(text);
}

static void a_hundred_thousand_terms_of_one_document(void **state)
{
	struct fixture *f = *state;
	char *text = mem_alloc(1 << 20);
	struct index_document d;
	size_t at = 0;
	unsigned i;

	for (i = 0; i < 100000; i++)
		at += (size_t)snprintf(text + at, (1 << 20) - at, "%05u ", i);
	d = document(f, 1, (struct str){text, at});
	index_add(f->ix, &d);
	assert_int_equal(f->bag.term_count, 100000);
	add(f, 2, "09999");
	assert_string_equal(search(f, "09999"), "2 1");
	assert_string_equal(search(f, "54321 99999"), "1");
	assert_true(index_remove(f->ix, 1));
	assert_string_equal(search(f, "09999 54321"), "2");
	free(text);
}

/* Documents come and go, each with words and labels of its own: what is gone takes no memory. */
static void memory_follows_what_is_live(void **state)
{
	struct fixture *f = *state;
	size_t early = 0;
	uint64_t id;

	for (id = 1; id <= 60000; id++) {
		char text[64], label[32];
		struct str labels[1];
		struct index_document d;

		snprintf(text, sizeof(text), "u%" PRIu64 "x v%" PRIu64 "x common", id, id * 7);
		snprintf(label, sizeof(label), "task.%" PRIu64, id);
		labels[0] = str_of(label);
		d = document(f, id, str_of(text));
		d.labels = labels;
		d.label_count = 1;
		d.expires_ms = NOW_MS + (int64_t)id;
		index_add(f->ix, &d);
		if (id > 500)
			assert_true(index_remove(f->ix, id - 500));
		if (id == 2000)
			early = index_bytes(f->ix);
	}
	assert_int_equal(index_documents(f->ix), 500);
	assert_true(index_bytes(f->ix) < 2 * early);
	/* And one document that is replaced all the time. */
	for (id = 0; id < 20000; id++)
		add(f, 60000, id % 2 ? "odd common words" : "even common words");
	assert_true(index_bytes(f->ix) < 2 * early);
	assert_string_equal(search(f, "even"), "");
	assert_string_equal(search(f, "odd"), "60000");
}

/* --- Threads ---------------------------------------------------------------------------------------- */

struct shared {
	pthread_rwlock_t lock;
	struct index *ix;
	bool done;		/* under the lock */
};

/* Returns NULL, or its argument where something was not as it should be. */
static void *read_all_the_time(void *arg)
{
	struct shared *s = arg;
	struct index_scratch *x = index_scratch_new();
	struct analyzer *a = analyzer_new();
	struct termbag terms;
	struct index_hit hits[10];
	uint64_t ids[10];
	bool done = false, right = true;

	termbag_init(&terms, 0);
	termbag_add_text(&terms, a, STR("common words of retryPolicy five"), 1);
	while (!done) {
		struct index_query q = {.terms = &terms, .filter = index_filter_any()};
		size_t n, i;

		q.recency_weight = 1;
		q.half_life_ms = 1000;
		pthread_rwlock_rdlock(&s->lock);
		n = index_search(s->ix, &q, NOW_MS, 10, x, hits);
		for (i = 1; i < n; i++)
			right = right && (hits[i - 1].score > hits[i].score ||
					  (hits[i - 1].score == hits[i].score && hits[i - 1].id > hits[i].id));
		index_list(s->ix, &q.filter, NOW_MS, false, 10, x, ids);
		right = right && index_count(s->ix, &q.filter, NOW_MS, x) == index_documents(s->ix);
		done = s->done;
		pthread_rwlock_unlock(&s->lock);
	}
	termbag_release(&terms);
	analyzer_free(a);
	index_scratch_free(x);
	return right ? NULL : arg;
}

static void many_may_search_while_none_writes(void **state)
{
	struct fixture *f = *state;
	struct index_config config = index_config_default;
	struct shared s = {.done = false};
	pthread_rwlockattr_t attr;
	pthread_t threads[3];
	uint64_t id;
	size_t i;

	/* By default readers that never pause keep the writer out for ever. */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&s.lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	config.segment_documents = 256;
	s.ix = index_new(&config);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all_the_time, &s), 0);
	for (id = 1; id <= 3000; id++) {
		char text[64];
		struct index_document d;

		snprintf(text, sizeof(text), "common %s retryPolicy%" PRIu64, id % 5 ? "words" : "five", id % 100);
		d = document(f, id, str_of(text));
		d.boost = (float)(id % 7);
		pthread_rwlock_wrlock(&s.lock);
		index_add(s.ix, &d);
		if (id % 3 == 0)
			index_remove(s.ix, id / 2);
		index_set_boost(s.ix, id - 1, 2);
		pthread_rwlock_unlock(&s.lock);
	}
	pthread_rwlock_wrlock(&s.lock);
	s.done = true;
	pthread_rwlock_unlock(&s.lock);
	for (i = 0; i < 3; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	index_free(s.ix);
	pthread_rwlock_destroy(&s.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_words_names_and_paths_by_their_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bounded_query_finds_by_its_rarest_words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_scores_stand_by_id_highest_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(replacing_and_removing_take_effect_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(boosts_and_hiding_change_in_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(labels_that_few_carry_are_listed_by_every_condition, set_up, tear_down),
		cmocka_unit_test_setup_teardown(recency_lifts_the_new_and_expiry_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_explanation_adds_up_to_the_score, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_word_said_a_thousand_times_counts_a_thousand, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fields_can_weigh_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_texts_are_only_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_hundred_thousand_terms_of_one_document, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_follows_what_is_live, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_may_search_while_none_writes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
