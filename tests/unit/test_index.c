/* The index against a plain scan of all documents: the same hits, in the same order, with the same scores,
 * whatever happened before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index_model.h"

#include "text/index_rank.h"

static struct index_config config_of(uint32_t segment_documents)
{
	struct index_config config = index_config_default;

	config.segment_documents = segment_documents;
	return config;
}

static void random_query(struct model *m, struct termbag *terms, struct model_filter *f, struct index_query *q)
{
	char *text = model_text(m, MODEL_WORDS, 1 + model_random(m, 30));

	termbag_clear(terms);
	termbag_add_text(terms, m->analyzer, str_of(text), 1);
	free(text);
	model_random_filter(m, f);
	*q = (struct index_query){.terms = terms, .filter = f->filter, .half_life_ms = 1 + model_random(m, 300000)};
	q->recency_weight = model_random(m, 3) ? model_random(m, 20) / 10.0 : 0;
	q->max_postings = model_random(m, 3) ? 0 : 1 + model_random(m, 3 * (uint32_t)m->count + 1);
	q->shortlist = 1 + model_random(m, 60);
}

static void assert_same_hits(const struct index_hit *got, size_t got_count, const struct index_hit *want,
			     size_t want_count)
{
	size_t i;

	assert_int_equal(got_count, want_count);
	for (i = 0; i < want_count; i++) {
		assert_int_equal(got[i].id, want[i].id);
		assert_true(got[i].score == want[i].score);
	}
}

/* Asks both the same question. */
static void compare_search(struct model *m, const struct index *ix, struct index_scratch *x)
{
	struct index_hit got[INDEX_PAGE], *want;
	struct model_filter f;
	struct index_query q;
	struct termbag terms;
	size_t k = 1 + model_random(m, model_random(m, 4) ? 20 : 200), n, from = 0;

	termbag_init(&terms, 0);
	random_query(m, &terms, &f, &q);
	want = model_search(m, &q, &f, &n);
	if (n > 0 && model_random(m, 3) == 0) {
		from = model_random(m, (uint32_t)n);
		q.has_after = true;
		q.after_score = want[from].score;
		q.after_id = want[from].id;
		from++;
	}
	n -= from;
	assert_same_hits(got, index_search(ix, &q, m->now_ms, k, x, got), want + from, n < k ? n : k);
	free(want);
	termbag_release(&terms);
}

static void compare_list(struct model *m, const struct index *ix, struct index_scratch *x)
{
	uint64_t got[INDEX_PAGE];
	struct model_filter f;
	size_t k = 1 + model_random(m, 50), n, i, j, above, count = 0;
	bool ascending = model_random(m, 2);

	model_random_filter(m, &f);
	n = index_list(ix, &f.filter, m->now_ms, ascending, k, x, got);
	for (i = 0; i < m->count; i++) {
		if (!model_passes(m, &f, &m->docs[i]))
			continue;
		count++;
		/* Its place among those that pass says whether it is on the page. */
		for (j = 0, above = 0; j < m->count; j++)
			above += model_passes(m, &f, &m->docs[j]) &&
				 (ascending ? m->docs[j].id < m->docs[i].id : m->docs[j].id > m->docs[i].id);
		if (above < k)
			assert_true(above < n && got[above] == m->docs[i].id);
	}
	assert_int_equal(n, count < k ? count : k);
	assert_int_equal(index_count(ix, &f.filter, m->now_ms, x), count);
}

/* --- Promises --------------------------------------------------------------------------------------- */

static void search_is_exact_through_any_history(void **state)
{
	struct index_scratch *x = index_scratch_new();
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct index_config config = config_of(1 + (uint32_t)(seed * seed * 7) % 400);
		struct index *ix = index_new(&config);
		struct model m;
		int i;

		model_init(&m, seed);
		for (i = 0; i < 900; i++) {
			/* Mostly growing, then mostly shrinking. */
			model_change(&m, ix, i < 500 ? 10 : 60);
			if (i % 12 == 0)
				compare_search(&m, ix, x);
		}
		assert_int_equal(index_documents(ix), m.count);
		model_release(&m);
		index_free(ix);
	}
	index_scratch_free(x);
}

static void search_is_exact_in_segments_of_several_windows(void **state)
{
	struct index_scratch *x = index_scratch_new();
	struct index_config config = config_of(9500);
	struct index *ix = index_new(&config);
	struct model m;
	int i;

	(void)state;
	model_init(&m, 77);
	for (i = 0; i < 12000; i++)
		model_put(&m, ix, m.next_id);
	for (i = 0; i < 6; i++)
		compare_search(&m, ix, x);
	for (i = 0; i < 3000; i++)
		model_change(&m, ix, 50);
	for (i = 0; i < 6; i++)
		compare_search(&m, ix, x);
	model_release(&m);
	index_free(ix);
	index_scratch_free(x);
}

static void lists_and_counts_are_exact_through_any_history(void **state)
{
	struct index_scratch *x = index_scratch_new();
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		struct index_config config = config_of(1 + (uint32_t)(seed * 31) % 300);
		struct index *ix = index_new(&config);
		struct model m;
		int i;

		model_init(&m, seed + 1000);
		for (i = 0; i < 600; i++) {
			model_change(&m, ix, i < 400 ? 10 : 60);
			if (i % 10 == 0)
				compare_list(&m, ix, x);
		}
		model_release(&m);
		index_free(ix);
	}
	index_scratch_free(x);
}

/* Adds the model's documents in the order of their ids to a new index. */
static struct index *rebuild(struct model *m, uint32_t segment_documents)
{
	struct index_config config = config_of(segment_documents);
	struct index *ix = index_new(&config);
	uint64_t id;

	for (id = 0; id <= m->next_id; id++) {
		struct model_doc *d = model_find(m, id);

		if (d)
			model_index(m, ix, d);
	}
	return ix;
}

static void ranking_does_not_depend_on_how_the_index_came_to_be(void **state)
{
	struct index_scratch *x = index_scratch_new();
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		struct index_config config = config_of(100);
		struct index *old = index_new(&config), *fresh;
		struct index_hit a[50], b[50];
		struct model_filter f;
		struct index_query q;
		struct termbag terms;
		struct model m;
		int i;

		model_init(&m, seed + 2000);
		termbag_init(&terms, 0);
		for (i = 0; i < 1000; i++)
			model_change(&m, old, i < 600 ? 15 : 50);
		fresh = rebuild(&m, 65536);
		for (i = 0; i < 100; i++) {
			random_query(&m, &terms, &f, &q);
			assert_same_hits(a, index_search(old, &q, m.now_ms, 50, x, a), b,
					 index_search(fresh, &q, m.now_ms, 50, x, b));
		}
		termbag_release(&terms);
		model_release(&m);
		index_free(old);
		index_free(fresh);
	}
	index_scratch_free(x);
}

static void scores_are_bm25(void **state)
{
	struct index_scratch *x = index_scratch_new();
	struct index_config config = config_of(64);
	struct index *ix = index_new(&config);
	struct model_filter f;
	struct index_query q;
	struct index_hit hits[20];
	struct model_scorer s;
	struct termbag terms;
	struct model m;
	size_t n, h;
	int i;

	(void)state;
	model_init(&m, 5);
	termbag_init(&terms, 0);
	for (i = 0; i < 300; i++)
		model_change(&m, ix, 10);
	for (i = 0; i < 50; i++) {
		random_query(&m, &terms, &f, &q);
		n = index_search(ix, &q, m.now_ms, 20, x, hits);
		model_scorer_init(&m, &terms, &s);
		for (h = 0; h < n; h++) {
			struct model_doc *d = model_find(&m, hits[h].id);
			double plain = model_bm25(&m, &s, &terms, d, true) * model_factor(&m, &q, d);

			assert_true(fabs(plain - hits[h].score) <= 1e-4 * (1 + plain));
		}
		model_scorer_release(&s);
	}
	termbag_release(&terms);
	model_release(&m);
	index_free(ix);
	index_scratch_free(x);
}

/* Of each list of a segment: no document in it may be worth more than its bound. */
static void assert_bounds(const struct index_rank *r, const struct segment *s)
{
	struct postings_list list;
	uint32_t i, j;

	for (i = 0; i < s->terms.slot_count; i++) {
		uint32_t bound;

		if (s->terms.slots[i].term == POSTINGS_FREE)
			continue;
		postings_list_of(&s->terms, &s->terms.slots[i], &list);
		bound = index_rank_bound(r, 1e6f, &list, s->lengths);
		for (j = 0; j < (list.dense_docs ? s->doc_count : list.count); j++) {
			uint32_t doc = list.dense_docs ? j : list.docs[j];
			bool beyond = list.dense_docs && doc >= list.dense_docs;
			uint32_t count = beyond ? 0 : postings_count_at(list.counts, j);

			if (count == SCORE_COUNT_MANY)
				count = segment_many(s, (uint16_t)doc, s->terms.slots[i].term);
			if (count > 0)
				assert_true(index_rank_worth(r, 1e6f, 1.0f / (float)count, s->lengths[doc]) <= bound);
		}
	}
}

static void bounds_hold_for_any_average_length(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		struct index_config config = config_of(60 + 40 * (uint32_t)seed);
		struct index *ix = index_new(&config);
		struct index_rank r = {0};
		struct model m;
		uint32_t i;
		int step;

		model_init(&m, seed + 3000);
		for (step = 0; step < 2500; step++) {
			model_change(&m, ix, step < 1300 ? 10 : 75);
			if (step % 50 != 0)
				continue;
			score_curve_set(&r.curve, 1.2, 0.75, 1 + model_random(&m, 60), 24);
			for (i = 0; i < ix->segment_count; i++)
				assert_bounds(&r, index_segment(ix, i));
		}
		model_release(&m);
		index_free(ix);
	}
}

static void pages_are_the_whole_without_gap_or_repeat(void **state)
{
	struct index_scratch *x = index_scratch_new();
	struct index_config config = config_of(200);
	struct index *ix = index_new(&config);
	struct index_hit all[INDEX_PAGE], page[7];
	struct model_filter f;
	struct index_query q;
	struct termbag terms;
	struct model m;
	size_t n, got, at;
	int i;

	(void)state;
	model_init(&m, 6);
	termbag_init(&terms, 0);
	for (i = 0; i < 800; i++)
		model_put(&m, ix, m.next_id);
	random_query(&m, &terms, &f, &q);
	q.filter = index_filter_any();
	q.max_postings = 1000;
	q.shortlist = 100;
	n = index_search(ix, &q, m.now_ms, INDEX_PAGE, x, all);
	assert_true(n > 50);
	for (at = 0; (got = index_search(ix, &q, m.now_ms, 7, x, page)) > 0; at += got) {
		assert_same_hits(page, got, all + at, n - at < 7 ? n - at : 7);
		q.has_after = true;
		q.after_score = page[got - 1].score;
		q.after_id = page[got - 1].id;
	}
	assert_int_equal(at, n);
	termbag_release(&terms);
	model_release(&m);
	index_free(ix);
	index_scratch_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_is_exact_through_any_history),
		cmocka_unit_test(search_is_exact_in_segments_of_several_windows),
		cmocka_unit_test(lists_and_counts_are_exact_through_any_history),
		cmocka_unit_test(ranking_does_not_depend_on_how_the_index_came_to_be),
		cmocka_unit_test(bounds_hold_for_any_average_length),
		cmocka_unit_test(scores_are_bm25),
		cmocka_unit_test(pages_are_the_whole_without_gap_or_repeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
