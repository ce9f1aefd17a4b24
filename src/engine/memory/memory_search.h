/* Searching the memories of a space, or listing them. */
#ifndef SPINE_ENGINE_MEMORY_SEARCH_H
#define SPINE_ENGINE_MEMORY_SEARCH_H

#include "core/memory/recall.h"
#include "engine/op.h"
#include "engine/page.h"

/* score = (text + neighbours) * (1 + importance + pinned + recency) */
struct memory_explained {
	double text;			/* of its own words */
	double neighbours;		/* what those beside it lend it */
	double importance;
	double pinned;
	double recency;
	const struct recall_term *terms;
	size_t term_count;
};

struct memory_found {
	struct memory memory;
	double score;			/* -1 in a listing; the same for the next */
	double relevance;		/* in thousandths */
	bool is_below_floor;		/* it is trusted less than what goes along with handoffs of the space */
	const struct memory_explained *explained;	/* NULL: nobody asked */
};

struct memory_search {
	struct op op;
	/* In. */
	struct recall_query query;	/* what is asked for; the engine puts in the filters and the page */
	struct recall_filter filters[RECALL_FILTERS_MAX];	/* query.filter_count of them */
	struct page page;		/* position: the last memory before it; extra: the bits of its score */
	/* Out. */
	struct memory_found *found;	/* without those that are gone since the index was asked */
	size_t count;
	enum trust trust_floor;		/* of the space */
};

extern const struct op_kind memory_search_kind;

#endif
