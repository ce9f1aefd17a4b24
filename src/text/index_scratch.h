/* What one thread's searches write to. */
#ifndef SPINE_TEXT_INDEX_SCRATCH_H
#define SPINE_TEXT_INDEX_SCRATCH_H

#include "text/index_filter.h"
#include "text/index_rank.h"
#include "text/index_top.h"

enum { INDEX_CHUNK = 256 };	/* candidates that are scored together */

/* A term of the query in the segment at hand. */
struct index_term_list {
	const struct postings_slot *slot;
	struct postings_list list;
	uint32_t term;
	float weight;
	uint32_t bound;
	uint32_t cursor;	/* sparse: a position; all before it are below the documents that will be asked for */
};

struct index_candidate {
	double factor;		/* at least the document's */
	uint32_t sum;		/* of the terms looked at so far: at least that */
	uint16_t doc;
};

struct index_scratch {
	struct index_rank rank;
	struct index_filter_plan filter;
	uint64_t allowed[INDEX_FILTER_WORDS];
	uint64_t spare[INDEX_FILTER_WORDS];

	float pairs[256][2];		/* score_inverse of both halves of a byte, the lower one first */
	/* For each document of the window at hand; all 0 between windows. */
	int32_t sums[SEGMENT_WINDOW] __attribute__((aligned(64)));

	struct index_term_list *lists;		/* of the query's terms in the segment at hand */
	uint16_t *by_bound;			/* positions in lists, the highest bound first */
	uint32_t *rest;				/* sum of the bounds from each position of by_bound on */
	size_t list_cap;
	struct index_candidate candidates[INDEX_CHUNK + 16];
	struct index_found found[INDEX_PAGE];		/* a heap, the worst on top */
	struct index_found shortlist[INDEX_PAGE];
	uint32_t others[INDEX_QUERY_TERMS];		/* terms that rank the shortlist, ascending */
	uint16_t matches[INDEX_QUERY_TERMS];		/* terms that the document at hand has, and how often */
	uint32_t counts[INDEX_QUERY_TERMS];
	struct index_near *near;			/* of index_search_near; NULL before the first */

	/* Bitmaps of all segments, for index_list. */
	uint64_t *bitmaps;
	size_t bitmap_cap;
};

/* What index_search finds, left in scratch->found: a heap with the worst on top. Scores are in units of 1 / scale, a
 * part is the age of a segment. Returns how many. The filter is borrowed as long as scratch->filter is used. */
size_t index_search_top(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
			struct index_scratch *scratch);

#endif
