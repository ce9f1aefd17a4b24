/* Searching with neighbours: against a plain model, and what it promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index_near_model.h"

#include <inttypes.h>

static struct index_config config_of(uint32_t segment_documents)
{
	struct index_config config = index_config_default;

	config.segment_documents = segment_documents;
	return config;
}

/* Words of the vocabulary, some of them in a compound; some count half. */
static void random_terms(struct model *m, struct termbag *terms)
{
	char *text = model_text(m, MODEL_WORDS, 1 + model_random(m, 12));
	size_t i;

	termbag_clear(terms);
	for (i = 0; text[i]; i++)
		if (text[i] == ' ' && text[i + 1] && model_random(m, 6) == 0)
			text[i] = '-';
	termbag_add_text(terms, m->analyzer, str_of(text), model_random(m, 3) ? 1 : 2);
	free(text);
	if (model_random(m, 4))
		return;
	text = model_text(m, MODEL_WORDS, 1 + model_random(m, 12));
	termbag_add_aside(terms, m->analyzer, str_of(text), 1);
	free(text);
}

static void random_query(struct model *m, struct termbag *terms, struct model_filter *f, struct index_query *q)
{
	random_terms(m, terms);
	model_random_filter(m, f);
	if (model_random(m, 3) == 0)
		*f = (struct model_filter){.filter = index_filter_any()};
	f->filter.require = f->lists;
	*q = (struct index_query){.terms = terms, .filter = f->filter, .half_life_ms = 1 + model_random(m, 300000)};
	q->recency_weight = model_random(m, 3) ? model_random(m, 20) / 10.0 : 0;
	q->max_postings = model_random(m, 4) ? 0 : 1 + model_random(m, 3 * (uint32_t)m->count + 1);
	q->shortlist = 1 + model_random(m, 200);
}

static void assert_same_hit(const struct index_hit *got, const struct index_hit *want)
{
	assert_int_equal(got->id, want->id);
	assert_true(got->score == want->score && got->own == want->own && got->text == want->text);
	assert_true(fabs(got->relevance - want->relevance) < 1e-9);
	assert_true(got->relevance >= 0 && got->relevance <= 1);
}

/* Asks for pages of k until there is none, and compares each hit. */
static void compare_pages(struct model *m, const struct index *ix, struct index_scratch *x, size_t pages_max)
{
	struct index_hit *page, *want;
	struct model_filter f;
	struct near_model near;
	struct index_query q;
	struct termbag terms;
	size_t k = 1 + model_random(m, model_random(m, 4) ? 20 : 200), n, got, i, at = 0, pages = 0;

	page = mem_calloc(INDEX_PAGE, sizeof(*page));
	termbag_init(&terms, 0);
	random_query(m, &terms, &f, &q);
	near_model_init(&near, m, &q);
	want = near_model_search(&near, &f, k, &n);
	do {
		got = index_search_near(ix, &q, m->now_ms, k, x, page);
		assert_int_equal(got, n - at < k ? n - at : k);
		for (i = 0; i < got; i++, at++)
			assert_same_hit(&page[i], &want[at]);
		if (got > 0) {
			/* Every second list has pages of different sizes. */
			q.first_k = q.first_k ? q.first_k : k;
			k = q.first_k % 2 ? k : 1 + model_random(m, 50);
			q.has_after = true;
			q.after_id = page[got - 1].id;
			q.after_score = page[got - 1].score;
		}
	} while (got > 0 && ++pages < pages_max);
	near_model_release(&near);
	free(want);
	free(page);
	termbag_release(&terms);
}

static void compare_rates(struct model *m, const struct index *ix, struct index_scratch *x)
{
	uint64_t ids[40];
	struct index_hit got[40];
	struct model_filter f;
	struct near_model near;
	struct index_query q;
	struct termbag terms;
	size_t i;

	termbag_init(&terms, 0);
	random_query(m, &terms, &f, &q);
	near_model_init(&near, m, &q);
	for (i = 0; i < 40; i++)
		ids[i] = model_random(m, (uint32_t)m->next_id + 5);
	index_rate(ix, &q, m->now_ms, ids, 40, x, got);
	for (i = 0; i < 40; i++) {
		struct index_hit none = {.id = ids[i]};

		assert_same_hit(&got[i], model_find(m, ids[i]) ? &near.rated[near_model_at(&near, ids[i])] : &none);
	}
	near_model_release(&near);
	termbag_release(&terms);
}

/* --- Against the model ------------------------------------------------------------------------------ */

/* Scores, relevances, order, filters, and pages that follow on without gap or repeat. */
static void pages_and_ratings_are_the_models_through_any_history(void **state)
{
	struct index_scratch *x = index_scratch_new();
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 24; seed++) {
		struct index_config config = config_of(1 + (uint32_t)(seed * seed * 7) % 200);
		struct index *ix = index_new(&config);
		struct model m;
		int i;

		model_init(&m, seed + 5000);
		m.least_boost = seed % 3 ? 0.5f : 0;
		for (i = 0; i < 600; i++) {
			model_change(&m, ix, i < 400 ? 10 : 60);
			if (i % 40 == 7)
				compare_pages(&m, ix, x, 100);
			if (i % 40 == 9)
				compare_rates(&m, ix, x);
		}
		model_release(&m);
		index_free(ix);
	}
	index_scratch_free(x);
}

/* Every word that is in many documents: pages go far beyond the seeds. */
static void every_document_with_a_word_is_on_one_page(void **state)
{
	struct index_scratch *x = index_scratch_new();
	struct index_config config = config_of(150);
	struct index *ix = index_new(&config);
	struct index_query q;
	struct termbag terms;
	struct model m;
	size_t i, k;

	(void)state;
	model_init(&m, 11);
	termbag_init(&terms, 0);
	for (i = 0; i < 900; i++)
		model_change(&m, ix, 15);
	for (k = 1; k <= 301; k += 60) {
		int *seen = mem_calloc(m.next_id + 1, sizeof(*seen));
		struct index_hit *page = mem_calloc(k, sizeof(*page));
		struct near_model near;
		size_t got, with_word = 0;
		double last = INFINITY;

		random_terms(&m, &terms);
		q = (struct index_query){.terms = &terms, .filter = index_filter_any()};
		near_model_init(&near, &m, &q);
		while ((got = index_search_near(ix, &q, m.now_ms, k, x, page)) > 0) {
			for (i = 0; i < got; i++) {
				assert_int_equal(seen[page[i].id]++, 0);
				assert_true(page[i].score <= last);
				last = page[i].score;
			}
			q.has_after = true;
			q.after_id = page[got - 1].id;
			q.after_score = page[got - 1].score;
		}
		for (i = 0; i < m.count; i++) {
			if (near.rated[i].own == 0 || !near_model_is_active(&m, &m.docs[i]))
				continue;
			with_word++;
			assert_int_equal(seen[m.docs[i].id], 1);
		}
		assert_true(k > 1 || with_word > INDEX_NEAR_MIN);
		near_model_release(&near);
		free(page);
		free(seen);
	}
	termbag_release(&terms);
	model_release(&m);
	index_free(ix);
	index_scratch_free(x);
}

static struct index *rebuild(struct model *m, uint32_t segment_documents)
{
	struct index_config config = config_of(segment_documents);
	struct index *ix = index_new(&config);
	size_t i;

	for (i = m->count; i > 0; i--)
		model_index(m, ix, &m->docs[i - 1]);
	return ix;
}

/* To the last bit. */
static void hits_do_not_depend_on_how_the_index_came_to_be(void **state)
{
	struct index_scratch *x = index_scratch_new(), *y = index_scratch_new();
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		struct index_config config = config_of(80);
		struct index *old = index_new(&config), *fresh;
		struct index_hit a[50], b[50];
		struct model_filter f;
		struct index_query q;
		struct termbag terms;
		struct model m;
		size_t n, i, j;

		model_init(&m, seed + 7000);
		termbag_init(&terms, 0);
		for (i = 0; i < 900; i++)
			model_change(&m, old, i < 600 ? 15 : 50);
		fresh = rebuild(&m, 65536);
		for (i = 0; i < 100; i++) {
			size_t k = 1 + model_random(&m, 50);

			random_query(&m, &terms, &f, &q);
			n = index_search_near(old, &q, m.now_ms, k, x, a);
			assert_int_equal(index_search_near(fresh, &q, m.now_ms, k, y, b), n);
			for (j = 0; j < n; j++)
				assert_true(a[j].id == b[j].id && a[j].score == b[j].score && a[j].own == b[j].own &&
					    a[j].text == b[j].text && a[j].relevance == b[j].relevance);
		}
		termbag_release(&terms);
		model_release(&m);
		index_free(old);
		index_free(fresh);
	}
	index_scratch_free(x);
	index_scratch_free(y);
}

/* --- Among the first -------------------------------------------------------------------------------- */

enum { TALK_DOCS = 6000, TALK_GROUPS = 12, TALK_TOPICS = 300, TALK_TOPIC_WORDS = 20, TALK_WORDS = 4000 };

/* A word of the topic, or one of everybody's, few of which are frequent. */
static void talk_word(struct model *m, uint32_t topic, bool of_topic, char out[8])
{
	double u = model_random(m, 1000000) / 1e6;
	uint32_t n = of_topic ? topic * TALK_TOPIC_WORDS + model_random(m, TALK_TOPIC_WORDS)
			      : (uint32_t)(u * u * u * TALK_WORDS);

	snprintf(out, 8, "%c%c%c%cx", of_topic ? 't' : 'v', 'b' + n / 400, 'b' + n / 20 % 20, 'b' + n % 20);
}

/* Talks about one topic after the other: what stands side by side shares words that are rare elsewhere. */
static void talk(struct model *m, uint32_t *topics, uint32_t group, char *out, size_t size)
{
	uint32_t words = 4 + model_random(m, 20), i;
	size_t n = 0;

	if (model_random(m, 6) == 0)
		topics[group] = model_random(m, TALK_TOPICS);
	for (i = 0; i < words; i++) {
		char word[8];

		talk_word(m, topics[group], model_random(m, 3) == 0, word);
		n += (size_t)snprintf(out + n, size - n, "%s ", word);
	}
}

static struct index *make_talks(struct model *m)
{
	struct index *ix = index_new(&index_config_default);
	uint32_t topics[TALK_GROUPS] = {0};
	uint64_t id;

	for (id = 1; id <= TALK_DOCS; id++) {
		uint32_t group = model_random(m, 1 + model_random(m, TALK_GROUPS));
		char text[256], name[16];
		struct str label = str_of(model_label((int)group, name));

		talk(m, topics, group, text, sizeof(text));
		termbag_clear(&m->bag);
		termbag_add_text(&m->bag, m->analyzer, str_of(text), 1);
		index_add(ix, &(struct index_document){
			.id = id, .terms = &m->bag, .labels = &label, .label_count = 1, .group = label,
			.created_ms = m->now_ms - (int64_t)(TALK_DOCS - id) * 1000, .expires_ms = INDEX_NEVER,
			.boost = (float[]){1, 1, 1, 1.15f, 1.55f}[model_random(m, 5)],
		});
	}
	return ix;
}

/* A question: words of one topic, and of everybody. */
static void random_question(struct model *m, struct termbag *terms)
{
	uint32_t topic = model_random(m, TALK_TOPICS), about = 1 + model_random(m, 4), i;
	uint32_t words = about + model_random(m, 5);
	char word[8];

	termbag_clear(terms);
	for (i = 0; i < words; i++) {
		talk_word(m, topic, i < about, word);
		termbag_add_text(terms, m->analyzer, str_of(word), 1);
	}
}

/* The k best of all documents, each of which is rated. index_rate itself is compared with the model elsewhere. */
static void rate_all(const struct index *ix, const struct index_query *q, int64_t now_ms, struct index_scratch *x,
		     struct index_hit *ret)
{
	static uint64_t ids[TALK_DOCS];
	size_t i;

	for (i = 0; i < TALK_DOCS; i++)
		ids[i] = i + 1;
	index_rate(ix, q, now_ms, ids, TALK_DOCS, x, ret);
	qsort(ret, TALK_DOCS, sizeof(*ret), model_compare_hits);
}

static void the_first_are_those_that_scoring_everything_gives(void **state)
{
	enum { QUESTIONS = 400 };
	static const size_t sizes[] = {5, 10, 20, 50};
	static struct index_hit all[TALK_DOCS];
	struct index_scratch *x = index_scratch_new();
	size_t wanted[4] = {0}, found[4] = {0}, i, s, h, w;
	struct termbag terms;
	struct index *ix;
	struct model m;

	(void)state;
	model_init(&m, 12);
	termbag_init(&terms, 0);
	ix = make_talks(&m);
	for (i = 0; i < QUESTIONS; i++) {
		struct index_query q = {.terms = &terms, .filter = index_filter_any(), .recency_weight = 0.25,
					.half_life_ms = 1000000};

		random_question(&m, &terms);
		rate_all(ix, &q, m.now_ms, x, all);
		for (s = 0; s < 4; s++) {
			struct index_hit hits[50];
			size_t n = index_search_near(ix, &q, m.now_ms, sizes[s], x, hits);

			for (w = 0; w < sizes[s] && all[w].score > 0; w++) {
				wanted[s]++;
				for (h = 0; h < n; h++)
					found[s] += hits[h].id == all[w].id && hits[h].score == all[w].score;
			}
		}
	}
	for (s = 0; s < 4; s++) {
		print_message("first %zu: %.2f %% of %zu\n", sizes[s], 100.0 * (double)found[s] / (double)wanted[s],
			      wanted[s]);
		assert_true(wanted[s] > QUESTIONS * 4 && (double)found[s] >= 0.99 * (double)wanted[s]);
	}
	termbag_release(&terms);
	model_release(&m);
	index_free(ix);
	index_scratch_free(x);
}

/* --- What lends, and what does not ------------------------------------------------------------------ */

static const int64_t NOW_MS = 1000000;

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

/* Documents 10, 11, ... with these texts, in one group; each has the label "odd" or "even" of its id. */
static void add_texts(struct fixture *f, const char *const *texts, size_t count)
{
	uint64_t id;

	for (id = 10; id < 10 + count; id++) {
		struct str labels[] = {STR("group"), id % 2 ? STR("odd") : STR("even")};

		termbag_clear(&f->bag);
		termbag_add_text(&f->bag, f->analyzer, str_of(texts[id - 10]), 1);
		index_add(f->ix, &(struct index_document){
			.id = id, .terms = &f->bag, .labels = labels, .label_count = 2, .group = labels[0],
			.created_ms = NOW_MS, .expires_ms = id == 14 ? NOW_MS + 100 : INDEX_NEVER, .boost = 1,
		});
	}
}

static struct index_query query(struct fixture *f, struct str text)
{
	termbag_clear(&f->terms);
	termbag_add_text(&f->terms, f->analyzer, text, 1);
	return (struct index_query){.terms = &f->terms, .filter = index_filter_any()};
}

/* The ids of the hits, as "3 1 2". Borrowed until the next call. */
static const char *search(struct fixture *f, const struct index_query *q, int64_t now_ms)
{
	static char out[1024];
	struct index_hit hits[20];
	size_t n = index_search_near(f->ix, q, now_ms, 20, f->scratch, hits), i, at = 0;

	out[0] = '\0';
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%" PRIu64, i ? " " : "", hits[i].id);
	return out;
}

static struct index_hit rate(struct fixture *f, const struct index_query *q, int64_t now_ms, uint64_t id)
{
	struct index_hit hit;

	index_rate(f->ix, q, now_ms, &id, 1, f->scratch, &hit);
	return hit;
}

static const char *const five[] = {"lorem ipsum", "zeppelin flight", "dolor sit", "amet magna", "zeppelin mast"};

static void a_neighbour_of_what_is_found_is_found_behind_it(void **state)
{
	struct fixture *f = *state;
	struct index_query q = query(f, STR("zeppelin"));
	struct index_hit found, beside;

	add_texts(f, five, 5);
	assert_string_equal(search(f, &q, NOW_MS), "14 11 13 12 10");
	found = rate(f, &q, NOW_MS, 11);
	beside = rate(f, &q, NOW_MS, 10);
	assert_true(found.own == found.text && beside.own == 0);
	assert_true(fabs(beside.text - found.text / 2) < 1e-5);
	assert_true(found.relevance > beside.relevance && beside.relevance > 0);
	assert_true(rate(f, &q, NOW_MS, 99).relevance == 0);
}

static void another_group_lends_nothing(void **state)
{
	struct fixture *f = *state;
	struct index_query q = query(f, STR("zeppelin"));
	struct str label = STR("elsewhere");

	add_texts(f, five, 5);
	termbag_clear(&f->bag);
	termbag_add_text(&f->bag, f->analyzer, STR("dolor sit"), 1);
	index_add(f->ix, &(struct index_document){
		.id = 12, .terms = &f->bag, .labels = &label, .label_count = 1, .group = label,
		.created_ms = NOW_MS, .expires_ms = INDEX_NEVER, .boost = 1,
	});
	/* 13 is beside 11 now. */
	assert_string_equal(search(f, &q, NOW_MS), "14 11 13 10");
	assert_true(rate(f, &q, NOW_MS, 12).text == 0);
	assert_true(rate(f, &q, NOW_MS, 13).text > rate(f, &q, NOW_MS, 10).text);
}

static void what_is_hidden_or_has_expired_lends_nothing(void **state)
{
	struct fixture *f = *state;
	struct index_query q = query(f, STR("zeppelin"));

	add_texts(f, five, 5);
	assert_string_equal(search(f, &q, NOW_MS + 99), "14 11 13 12 10");
	assert_string_equal(search(f, &q, NOW_MS + 100), "11 12 10");
	assert_true(rate(f, &q, NOW_MS + 100, 13).text == 0);
	assert_true(index_set_hidden(f->ix, 11, true));
	assert_string_equal(search(f, &q, NOW_MS), "14 13");
	assert_true(rate(f, &q, NOW_MS, 12).text == 0);
	assert_string_equal(search(f, &q, NOW_MS + 100), "");
	assert_true(index_set_hidden(f->ix, 11, false));
	assert_string_equal(search(f, &q, NOW_MS), "14 11 13 12 10");
}

/* One that is shown though it is hidden has neighbours, but is none. */
static void what_is_hidden_borrows_where_it_is_shown(void **state)
{
	struct fixture *f = *state;
	struct index_query q = query(f, STR("zeppelin"));
	static const char *const texts[] = {"lorem ipsum", "zeppelin flight", "zeppelin dolor", "amet", "elitr sed"};

	add_texts(f, texts, 5);
	assert_true(index_set_hidden(f->ix, 12, true));
	assert_string_equal(search(f, &q, NOW_MS), "11 13 10");
	assert_true(rate(f, &q, NOW_MS, 11).text == rate(f, &q, NOW_MS, 11).own);
	q.filter.include_hidden = q.filter.only_hidden = true;
	assert_string_equal(search(f, &q, NOW_MS), "12");
	assert_true(fabs(rate(f, &q, NOW_MS, 12).text / rate(f, &q, NOW_MS, 12).own - 1.25) < 1e-4);
}

static void neighbours_lend_whatever_the_filter(void **state)
{
	struct fixture *f = *state;
	struct index_query q = query(f, STR("zeppelin"));
	struct str even = STR("even"), odd = STR("odd");
	const struct index_labels only_even = {&even, 1}, only_odd = {&odd, 1};
	double text;

	add_texts(f, five, 5);
	text = rate(f, &q, NOW_MS, 12).text;
	q.filter.require = &only_even;
	q.filter.require_count = 1;
	assert_string_equal(search(f, &q, NOW_MS), "14 12 10");
	assert_true(text > 0 && rate(f, &q, NOW_MS, 12).text == text);
	q.filter.require = &only_odd;
	assert_string_equal(search(f, &q, NOW_MS), "11 13");
	q.filter = index_filter_any();
	q.filter.id_from = q.filter.id_to = 12;
	assert_string_equal(search(f, &q, NOW_MS), "12");
}

/* A document as long as several notes stands by itself. */
static void a_long_text_borrows_little(void **state)
{
	struct fixture *f = *state;
	char text[4096] = "";
	const char *const texts[] = {"zeppelin", text, "zeppelin", "short", "zeppelin"};
	struct index_query q;
	unsigned i;

	for (i = 0; i < 60; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "x%uy ", i);
	add_texts(f, texts, 5);
	q = query(f, STR("zeppelin"));
	/* x1y is x1y, x, 1 and y: 240 terms, ten times a short text. It borrows less by the square. */
	assert_true(fabs(rate(f, &q, NOW_MS, 13).text / rate(f, &q, NOW_MS, 11).text - 100) < 0.1);
}

static void what_was_made_in_another_hour_lends_less(void **state)
{
	static const int64_t hour_ms = 3600 * 1000;
	struct fixture *f = *state;
	struct index_query q;
	double lent[4];
	uint64_t id;

	for (id = 10; id < 18; id++) {
		struct str labels[] = {id % 2 ? STR("odd") : STR("even")};
		struct str group = id < 12 ? STR("a") : id < 14 ? STR("b") : id < 16 ? STR("c") : STR("d");
		struct str both[] = {labels[0], group};

		/* Each second one is made 0, 1, 2 and 1,000 hours after the one before it. */
		static const int64_t hours[] = {0, 1, 2, 1000};

		termbag_clear(&f->bag);
		termbag_add_text(&f->bag, f->analyzer, id % 2 ? STR("lorem") : STR("zeppelin"), 1);
		index_add(f->ix, &(struct index_document){
			.id = id, .terms = &f->bag, .labels = both, .label_count = 2, .group = group,
			.created_ms = NOW_MS + (id % 2 ? hours[(id - 10) / 2] * hour_ms : 0), .expires_ms = INDEX_NEVER,
			.boost = 1,
		});
	}
	q = query(f, STR("zeppelin"));
	for (id = 11; id < 18; id += 2)
		lent[(id - 11) / 2] = rate(f, &q, NOW_MS, id).text;
	assert_true(lent[0] > 0 && fabs(lent[1] / lent[0] - 0.5) < 1e-3 && fabs(lent[2] / lent[0] - 0.25) < 1e-3);
	assert_true(lent[3] == 0);
}

static void what_only_repeats_one_before_it_is_told(void **state)
{
	struct fixture *f = *state;
	const char *const texts[] = {
		"The zeppelin leaks at the valve since the flood", "since the flood a zeppelin leaks, at its valve!",
		"zeppelin: valve leaks", "zeppelin", "the zeppelin leaks at the valve since the storm", "",
	};
	const uint64_t ids[] = {12, 10, 11, 13, 14, 15, 12, 99};
	uint64_t of[8];

	add_texts(f, texts, 6);
	index_repeats(f->ix, ids, 8, 0, of);
	/* 10 says more than 12; 13 less than half of what 12 says; 14 another word; 15 nothing. */
	assert_true(of[0] == 0 && of[1] == 0 && of[2] == 10 && of[3] == 0 && of[4] == 0 && of[5] == 0);
	assert_true(of[6] == 10 && of[7] == 0);
	index_repeats(f->ix, ids, 8, 3, of);
	assert_true(of[2] == 0 && of[6] == 10);
	index_repeats(f->ix, NULL, 0, 0, of);
}

/* A word that goes with any subject says less than one that does not. */
static void an_everyday_word_says_little(void **state)
{
	struct fixture *f = *state;
	const char *const texts[] = {"hello", "lorem", "zeppelin"};
	struct index_query q;

	add_texts(f, texts, 3);
	q = query(f, STR("hello zeppelin"));
	assert_true(rate(f, &q, NOW_MS, 10).relevance < rate(f, &q, NOW_MS, 12).relevance / 2);
	assert_true(rate(f, &q, NOW_MS, 10).text == rate(f, &q, NOW_MS, 12).text);
}

static void relevance_depends_on_no_time_boost_filter_or_other_hit(void **state)
{
	struct index_scratch *x = index_scratch_new();
	struct index_config config = config_of(100);
	struct index *ix = index_new(&config);
	struct model_filter f;
	struct termbag terms;
	struct model m;
	size_t i, n, h;

	(void)state;
	model_init(&m, 13);
	termbag_init(&terms, 0);
	for (i = 0; i < 500; i++)
		model_change(&m, ix, 10);
	for (i = 0; i < m.count; i++)
		m.docs[i].expires_ms = INDEX_NEVER;
	index_free(ix);
	ix = rebuild(&m, 100);
	for (i = 0; i < 60; i++) {
		struct index_query q, plain;
		struct index_hit hits[100], alone;
		size_t k = 1 + model_random(&m, 100);

		random_query(&m, &terms, &f, &q);
		plain = (struct index_query){.terms = &terms, .filter = index_filter_any()};
		n = index_search_near(ix, &q, m.now_ms, k, x, hits);
		for (h = 0; h < n; h++) {
			float boost = model_find(&m, hits[h].id)->boost;

			assert_true(index_set_boost(ix, hits[h].id, 7));
			index_rate(ix, &plain, m.now_ms + 12345678, &hits[h].id, 1, x, &alone);
			assert_true(alone.relevance == hits[h].relevance && alone.relevance > 0);
			assert_true(index_set_boost(ix, hits[h].id, boost));
		}
	}
	termbag_release(&terms);
	model_release(&m);
	index_free(ix);
	index_scratch_free(x);
}

/* Two of the words found together say far more than twice as much as one of them; all of them more again. */
static void relevance_grows_with_the_words_that_are_found(void **state)
{
	static const char *const texts[] = {"gateway retries", "lorem ipsum", "gateway amet", "magna dolor",
					    "gateway retries thrice", "sit elitr"};
	struct fixture *f = *state;
	struct index_query q;
	double one, two, three;

	add_texts(f, texts, 6);
	q = query(f, STR("gateway retries thrice"));
	one = rate(f, &q, NOW_MS, 12).relevance;
	two = rate(f, &q, NOW_MS, 10).relevance;
	three = rate(f, &q, NOW_MS, 14).relevance;
	assert_true(0 < one && one < two && two < three && three < 1);
	assert_true(two / (1 - two) > 6 * one / (1 - one));
	/* Words of the query that nobody has make everything less relevant. */
	q = query(f, STR("gateway retries thrice zeppelin mast"));
	assert_true(rate(f, &q, NOW_MS, 14).relevance < three);
}

/* --- Words ------------------------------------------------------------------------------------------ */

static void stop_words_find_nothing(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {"what is the matter with it", "the and of to", "matter of fact"};
	static const char *const questions[] = {"the", "What is it?", "to and of the WITH", "I", "don't", "a"};
	struct index_hit hits[5];
	struct index_query q;
	size_t i;

	add_texts(f, texts, 3);
	for (i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		q = query(f, str_of(questions[i]));
		assert_int_equal(f->terms.term_count, 0);
		assert_int_equal(index_search_near(f->ix, &q, NOW_MS, 5, f->scratch, hits), 0);
		assert_int_equal(index_search(f->ix, &q, NOW_MS, 5, f->scratch, hits), 0);
		assert_true(rate(f, &q, NOW_MS, 10).relevance == 0);
	}
	q = query(f, STR("what is the matter"));
	assert_int_equal(f->terms.term_count, 1);
	assert_string_equal(search(f, &q, NOW_MS), "10 12 11");
}

static void a_compound_is_found_in_any_spelling(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {"lorem", "ipsum", "The retryPolicy of the gateway", "dolor", "amet"};
	static const char *const spellings[] = {"retrypolicy", "RETRYPOLICY", "retry_policy", "retry-policy",
						"RetryPolicy", "retryPolicies"};
	size_t i;

	add_texts(f, texts, 5);
	for (i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		struct index_query q = query(f, str_of(spellings[i]));

		assert_string_equal(search(f, &q, NOW_MS), "12 13 11");
	}
}

/* One word is one word, however many terms it gives. */
static void a_compound_says_as_much_as_a_word(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = {"lorem", "ipsum", "alphaBetaGamma", "dolor", "amet", "elitr", "zeppelin"};
	struct index_query q;
	double compound, word;

	add_texts(f, texts, 7);
	q = query(f, STR("alpha_beta_gamma"));
	assert_int_equal(f->terms.term_count, 4);
	compound = rate(f, &q, NOW_MS, 12).relevance;
	q = query(f, STR("zeppelin"));
	word = rate(f, &q, NOW_MS, 16).relevance;
	assert_true(compound > 0 && fabs(compound - word) < 0.02);
}

static void any_bytes_are_a_query(void **state)
{
	struct fixture *f = *state;
	struct model m;
	int i;

	add_texts(f, five, 5);
	model_init(&m, 14);
	for (i = 0; i < 3000; i++) {
		char text[200];
		size_t n = model_random(&m, sizeof(text)), k = model_random(&m, 30), found, h;
		struct index_hit hits[30];
		struct index_query q;

		for (h = 0; h < n; h++)
			text[h] = model_random(&m, 4) ? (char)model_random(&m, 256)
						      : "zeplinmast doryghfu"[model_random(&m, 19)];
		q = query(f, (struct str){text, n});
		q.has_after = model_random(&m, 3) == 0;
		q.after_id = model_random(&m, 20);
		q.after_score = model_random(&m, 100) / 10.0 - 1;
		found = index_search_near(f->ix, &q, NOW_MS + model_random(&m, 200), k, f->scratch, hits);
		assert_true(found <= k);
		for (h = 0; h < found; h++)
			assert_true(hits[h].id >= 10 && hits[h].id < 15 && hits[h].text > 0 && hits[h].relevance >= 0 &&
				    hits[h].relevance <= 1 && (h == 0 || hits[h - 1].score >= hits[h].score));
	}
	model_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_and_ratings_are_the_models_through_any_history),
		cmocka_unit_test(every_document_with_a_word_is_on_one_page),
		cmocka_unit_test(hits_do_not_depend_on_how_the_index_came_to_be),
		cmocka_unit_test(the_first_are_those_that_scoring_everything_gives),
		cmocka_unit_test_setup_teardown(a_neighbour_of_what_is_found_is_found_behind_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_group_lends_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_hidden_or_has_expired_lends_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_hidden_borrows_where_it_is_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(neighbours_lend_whatever_the_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_text_borrows_little, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_made_in_another_hour_lends_less, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_only_repeats_one_before_it_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_everyday_word_says_little, set_up, tear_down),
		cmocka_unit_test(relevance_depends_on_no_time_boost_filter_or_other_hit),
		cmocka_unit_test_setup_teardown(relevance_grows_with_the_words_that_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stop_words_find_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_compound_is_found_in_any_spelling, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_compound_says_as_much_as_a_word, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_bytes_are_a_query, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
