/* What a query's terms are worth in an index, and what a document's own factor is.
 *
 * Sums of term scores are integers: the score in units of 1 / scale, rounded down for each term. So a sum is the same
 * in whatever order its terms were added, and a bound is a bound to the last digit. Every occurrence is worth at
 * least one unit, so that 0 means "has none of the terms".
 */
#ifndef SPINE_TEXT_INDEX_RANK_H
#define SPINE_TEXT_INDEX_RANK_H

#include "text/index_state.h"
#include "text/score.h"

struct index_rank_term {
	struct str text;	/* borrowed from the query's bag */
	uint32_t term;
	uint32_t query_count;
	uint32_t bag_at;	/* position in the query's bag */
	bool finds;		/* documents; otherwise it only helps to rank them */
	float weight;		/* idf * query_count * (k1 + 1) * scale */
	double idf;
};

struct index_rank {
	struct index_rank_term *terms;	/* that the index has, at most INDEX_QUERY_TERMS, in the order of the query */
	size_t term_count;
	size_t term_cap;
	bool all_find;			/* each of them */
	double scale;			/* a power of two */
	double recency_weight;
	double per_half_life;		/* half-lives in a millisecond */
	int64_t now_ms;
	struct score_curve curve;
};

/* All zero is an empty rank. */
void index_rank_release(struct index_rank *r);
void index_rank_prepare(struct index_rank *r, const struct index *ix, const struct index_query *query, int64_t now_ms);

/* The recency of what was created then: recency_weight * 2^(-age / half_life). */
double index_rank_recency(const struct index_rank *r, int64_t created_ms);

/* Worth of one term in a document of that length. inverse: 1 / count. Grows with the weight, falls with the others. */
static inline uint32_t index_rank_worth(const struct index_rank *r, float weight, float inverse, float length)
{
	return 1 + (uint32_t)(int32_t)score_worth(&r->curve, weight, inverse, length);
}

/* Most that a term is worth in any document of the list. lengths: of the list's segment. */
uint32_t index_rank_bound(const struct index_rank *r, float weight, const struct postings_list *list,
			  const float *lengths);

#endif
