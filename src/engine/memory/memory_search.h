/* Searching the memories of a space, or listing them. */
#ifndef SPINE_ENGINE_MEMORY_SEARCH_H
#define SPINE_ENGINE_MEMORY_SEARCH_H

#include "core/memory/recall.h"
#include "engine/op.h"
#include "engine/page.h"

struct memory_search {
	struct op op;
	/* In. */
	struct recall_query query;	/* what is asked for; the engine puts in the filters and the page */
	struct recall_filter filters[RECALL_FILTERS_MAX];	/* query.filter_count of them */
	struct page page;		/* position: the last memory before it; extra: the bits of its score */
	/* Out. */
	struct recall_hit *hits;
	struct memory *memories;	/* num 0: gone since the index was asked */
	size_t count;
	bool more;
};

extern const struct op_kind memory_search_kind;

#endif
