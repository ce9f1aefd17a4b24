#include "text/index_scratch.h"

#include "base/mem.h"

#include <stdlib.h>

/* The count code of the term in the document, 0 where it does not hold it. */
static uint8_t count_in(const struct segment *s, uint16_t doc, uint32_t term)
{
	struct postings_list list;
	uint32_t low = 0, high;

	if (!postings_find(&s->terms, term, &list))
		return 0;
	if (list.dense_docs)
		return doc < list.dense_docs ? postings_count_at(list.counts, doc) : 0;
	for (high = list.count; low < high;) {
		uint32_t middle = (low + high) / 2;

		if (list.docs[middle] < doc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list.count && list.docs[low] == doc ? postings_count_at(list.counts, low) : 0;
}

bool index_explain(const struct index *ix, const struct index_query *query, int64_t now_ms, uint64_t id,
		   struct index_scratch *x, struct index_explanation *ret)
{
	const struct index_rank *r = &x->rank;
	struct segment *s;
	uint32_t sum = 0;
	uint16_t doc;
	size_t i;

	if (!index_find(ix, id, &s, &doc))
		return false;
	index_rank_prepare(&x->rank, ix, query, now_ms);
	*ret = (struct index_explanation){
		.terms = mem_calloc(r->term_count, sizeof(*ret->terms)),
		.length = score_length_of(s->lengths[doc]),
		.average_length = index_average_length(ix),
		.boost = s->boosts[doc],
		.recency = index_rank_recency(r, s->created_ms[doc]),
	};
	for (i = 0; i < r->term_count; i++) {
		uint8_t count = count_in(s, doc, r->terms[i].term);
		float part = r->table.part[count * SCORE_LENGTHS + s->lengths[doc]];
		uint32_t worth = index_rank_worth(r->terms[i].weight, part);

		if (count == 0)
			continue;
		sum += worth;
		ret->terms[ret->term_count++] = (struct index_explained_term){
			.term = r->terms[i].text,
			.query_count = r->terms[i].query_count,
			.count = score_count_of(count),
			.holders = ix->terms.entries[r->terms[i].term].holders,
			.idf = r->terms[i].idf,
			.score = worth / r->scale,
		};
	}
	ret->text = sum / r->scale;
	ret->score = ret->text * (ret->boost + ret->recency);
	return true;
}

void index_explanation_release(struct index_explanation *e)
{
	free(e->terms);
	*e = (struct index_explanation){0};
}
