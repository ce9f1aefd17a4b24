/* A filter, made ready for one index and one moment: which documents of a segment pass, as a bitmap. */
#ifndef SPINE_TEXT_INDEX_FILTER_H
#define SPINE_TEXT_INDEX_FILTER_H

#include "text/index_state.h"

enum { INDEX_FILTER_WORDS = SEGMENT_DOCUMENTS / 64 };

struct index_filter_plan {
	const struct index_filter *filter;	/* borrowed */
	int64_t now_ms;
	bool nothing;				/* no document can pass: a label that is required is not in the index */
	bool narrows;				/* there are labels or a range of times */
	/* Numbers of the labels that are in the index: those to exclude, then the groups, each up to its end. */
	uint32_t labels[INDEX_FILTER_LABELS];
	size_t exclude_count;
	size_t group_ends[INDEX_FILTER_LABELS];
	size_t group_count;
};

/* filter is borrowed as long as the plan is used. It has at most INDEX_FILTER_LABELS labels and as many groups. */
void index_filter_prepare(struct index_filter_plan *plan, const struct index *ix, const struct index_filter *filter,
			  int64_t now_ms);

/* The documents of s that pass, as segment_words(s) words: bits, or borrowed from the segment where all that is
 * visible passes. NULL where it is clear that none does. bits and spare have room for INDEX_FILTER_WORDS. The
 * range of ids is looked at only where with_ids says so. */
const uint64_t *index_filter_segment(const struct index_filter_plan *plan, const struct segment *s, bool with_ids,
				     uint64_t *bits, uint64_t *spare);

/* Whether one document of s passes, whatever its expiry. */
bool index_filter_document(const struct index_filter_plan *plan, const struct segment *s, uint16_t doc);

/* Written out, because a compiler for any x86-64 makes a call of each popcount. */
static inline uint32_t index_filter_count(const uint64_t *bits, size_t words)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < words; i++) {
		uint64_t v = bits[i] - (bits[i] >> 1 & UINT64_C(0x5555555555555555));

		v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
		v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
		count += v * UINT64_C(0x0101010101010101) >> 56;
	}
	return (uint32_t)count;
}

#endif
