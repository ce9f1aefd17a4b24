#include "text/index_scratch.h"

#include "base/mem.h"

#include <stdlib.h>

/* How often the document has the term. */
static uint32_t count_in(const struct segment *s, uint16_t doc, uint32_t term)
{
	struct postings_list list;
	uint8_t code;

	if (!postings_find(&s->terms, term, &list))
		return 0;
	code = postings_code_of(&list, doc);
	return code < SCORE_COUNT_MANY ? code : segment_many(s, doc, term);
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
		.length = (uint32_t)s->lengths[doc],
		.average_length = index_average_length(ix),
		.boost = s->boosts[doc],
		.recency = index_rank_recency(r, s->created_ms[doc]),
	};
	for (i = 0; i < r->term_count; i++) {
		uint32_t count = count_in(s, doc, r->terms[i].term), worth;

		if (count == 0)
			continue;
		worth = index_rank_worth(r, r->terms[i].weight, 1.0f / (float)count, s->lengths[doc]);
		sum += worth;
		ret->terms[ret->term_count++] = (struct index_explained_term){
			.term = r->terms[i].text,
			.query_count = r->terms[i].query_count,
			.count = count,
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
