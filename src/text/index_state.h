/* What an index is made of. Only for the files index*.c. */
#ifndef SPINE_TEXT_INDEX_STATE_H
#define SPINE_TEXT_INDEX_STATE_H

#include "text/dictionary.h"
#include "text/index.h"
#include "text/order.h"
#include "text/segment.h"

struct index {
	struct index_config config;
	struct dictionary terms;
	struct dictionary labels;
	/* Where the document of an id is: the segment's slot in the upper 16 bits, its number there in the lower. */
	struct order order;
	/* The same of the documents of each group, one group after the other: what stands before and after one. */
	struct order groups;
	struct segment **slots;		/* NULL: free */
	uint32_t slot_count;
	uint16_t *ages;			/* slots of all segments, the oldest first; the last takes new documents */
	uint32_t segment_count;
	uint64_t live_docs;
	float min_boost;		/* no document has had less */
	uint64_t total_length;		/* of the live documents */

	/* Room for one document's terms and labels on their way in. */
	struct postings_new *new_terms;	/* twice new_terms_cap, for sorting */
	size_t new_terms_cap;
	struct postings_new *new_labels;
	size_t new_labels_cap;
};

/* The key of a document in index.groups. A group is 0 for "none", or 1 + the number of its label; two groups may have
 * the same 24 bits, so that a neighbour's group is looked at. */
static inline uint64_t index_group_key(uint32_t group, uint64_t id)
{
	return (uint64_t)(group & 0xffffff) << INDEX_ID_BITS | id;
}

static inline struct segment *index_segment(const struct index *ix, uint32_t age)
{
	return ix->slots[ix->ages[age]];
}

static inline double index_average_length(const struct index *ix)
{
	/* An index of empty documents has no terms to weigh; any positive number will do. */
	return ix->total_length ? (double)ix->total_length / (double)ix->live_docs : 1.0;
}

/* Finds a live document. */
bool index_find(const struct index *ix, uint64_t id, struct segment **ret_segment, uint16_t *ret_doc);

#endif
