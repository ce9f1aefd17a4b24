#include "text/index_rank.h"

#include "base/mem.h"
#include "text/termbag.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
	SCALE_BITS = 20,	/* the finest scale */
	SUM_BITS = 30,		/* sums stay below 2^30, and so do their bounds */
	SHORT_LIST = 8,		/* its bound is found by looking at each document */
	TERMS_MIN = 3,		/* so many find documents however frequent they are */
};

void index_rank_release(struct index_rank *r)
{
	free(r->terms);
	*r = (struct index_rank){0};
}

/* The weightier first; the same weight in the order of the strings, which no history of the index can change. */
static int compare_weight(const void *a, const void *b)
{
	const struct index_rank_term *x = a, *y = b;
	double wx = x->idf * x->query_count, wy = y->idf * y->query_count;

	if (wx != wy)
		return wx > wy ? -1 : 1;
	return str_cmp(x->text, y->text);
}

static int compare_place(const void *a, const void *b)
{
	const struct index_rank_term *x = a, *y = b;

	return x->bag_at < y->bag_at ? -1 : x->bag_at > y->bag_at;
}

/* Says which of the terms, which are in the order of their weights, find documents. */
static void choose_finders(struct index_rank *r, const struct index *ix, uint64_t max_postings)
{
	uint64_t postings = 0;
	size_t i;

	for (i = 0; i < r->term_count; i++) {
		postings += ix->terms.entries[r->terms[i].term].holders;
		r->terms[i].finds = max_postings == 0 || postings <= max_postings || i < TERMS_MIN;
		r->all_find &= r->terms[i].finds;
	}
}

static void find_terms(struct index_rank *r, const struct index *ix, const struct termbag *bag, uint64_t max_postings)
{
	size_t i;

	if (bag->term_count > r->term_cap) {
		r->term_cap = bag->term_count;
		r->terms = mem_reallocarray(r->terms, r->term_cap, sizeof(*r->terms));
	}
	r->term_count = 0;
	r->all_find = true;
	for (i = 0; i < bag->term_count; i++) {
		uint32_t term = dictionary_find(&ix->terms, bag->terms[i].hash), count;

		if (term == DICTIONARY_NONE || ix->terms.entries[term].holders == 0)
			continue;
		count = bag->terms[i].count < INDEX_QUERY_COUNT ? bag->terms[i].count : INDEX_QUERY_COUNT;
		r->terms[r->term_count++] = (struct index_rank_term){
			.text = termbag_str(bag, i),
			.term = term,
			.query_count = count,
			.bag_at = (uint32_t)i,
			.finds = true,
			.idf = score_idf(ix->live_docs, ix->terms.entries[term].holders),
		};
	}
	if (r->term_count > INDEX_QUERY_TERMS || (max_postings && r->term_count > 0)) {
		qsort(r->terms, r->term_count, sizeof(*r->terms), compare_weight);
		if (r->term_count > INDEX_QUERY_TERMS)
			r->term_count = INDEX_QUERY_TERMS;
		choose_finders(r, ix, max_postings);
		qsort(r->terms, r->term_count, sizeof(*r->terms), compare_place);
	}
}

void index_rank_prepare(struct index_rank *r, const struct index *ix, const struct index_query *query, int64_t now_ms)
{
	double most = 1;
	size_t i;

	assert(query->terms->seed == ix->config.seed);
	assert(query->recency_weight >= 0 && (query->recency_weight == 0 || query->half_life_ms > 0));
	r->recency_weight = query->recency_weight;
	r->per_half_life = query->half_life_ms > 0 ? 1.0 / (double)query->half_life_ms : 0;
	r->now_ms = now_ms;
	find_terms(r, ix, query->terms, query->max_postings);
	score_curve_set(&r->curve, ix->config.k1, ix->config.b, index_average_length(ix), ix->config.note_length);
	for (i = 0; i < r->term_count; i++)
		most += r->terms[i].idf * r->terms[i].query_count * (ix->config.k1 + 1);
	r->scale = ldexp(1, SCALE_BITS);
	while (most * r->scale + INDEX_QUERY_TERMS >= ldexp(1, SUM_BITS))
		r->scale /= 2;
	for (i = 0; i < r->term_count; i++) {
		struct index_rank_term *t = &r->terms[i];

		t->weight = (float)(t->idf * t->query_count * (ix->config.k1 + 1) * r->scale);
	}
}

double index_rank_recency(const struct index_rank *r, int64_t created_ms)
{
	double age_ms = (double)r->now_ms - (double)created_ms;

	if (r->recency_weight == 0)
		return 0;
	return r->recency_weight * exp2(age_ms > 0 ? -age_ms * r->per_half_life : 0);
}

uint32_t index_rank_bound(const struct index_rank *r, float weight, const struct postings_list *list,
			  const float *lengths)
{
	const struct postings_bounds *b = &list->bounds;
	uint32_t i, bound = 0, worth;

	if (list->count <= SHORT_LIST && list->dense_docs == 0) {
		for (i = 0; i < list->count; i++) {
			float inverse = score_inverse[postings_count_at(list->counts, i)];

			worth = index_rank_worth(r, weight, inverse, lengths[list->docs[i]]);
			bound = worth > bound ? worth : bound;
		}
		return bound;
	}
	for (i = 0; i < 3; i++) {
		/* The highest count of the class: 1, 2, or the list's own. */
		uint32_t count = i < 2 && i + 1 < b->max_count ? i + 1 : b->max_count;

		worth = index_rank_worth(r, weight, score_inverse[count], score_length_of(b->lengths[i]));
		bound = worth > bound ? worth : bound;
	}
	return bound;
}
