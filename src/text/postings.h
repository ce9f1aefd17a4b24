/* Which documents of a segment hold a term, and how often: one list for each term, appended to in the order of the
 * documents.
 *
 * Documents are 16-bit numbers, so that a list needs no decoding. Three forms:
 *   - one document: inside the term's slot of the table; nothing else is allocated;
 *   - sparse: an array of documents and an array of 4-bit counts;
 *   - dense, where that is no larger: 4 bits for every document of the segment. Frequent words are dense, and a
 *     search that only wants to know their count in a few documents finds it at once.
 * A store without counts (labels) has sparse lists of documents alone, and bitmaps as dense lists.
 *
 * Beside a list stands what bounds its worth, whatever the average length: the shortest length among the documents
 * that hold the term once, twice, and more often (rounded down, text/score.h), and the highest count code.
 */
#ifndef SPINE_TEXT_POSTINGS_H
#define SPINE_TEXT_POSTINGS_H

#include "text/score.h"

#include <stdbool.h>
#include <stddef.h>

enum { POSTINGS_DOCUMENTS = 1 << 16 };	/* at most, in a segment */

/* The upper half of `where` has its top bit set for a single document: then doc is the document, and each byte of
 * the upper half is 0x80 | its count. Otherwise the two are an offset into `memory`, in units of 4 bytes. */
struct postings_slot {
	uint32_t term;		/* POSTINGS_FREE: the slot is free */
	uint16_t doc;
	uint16_t upper;
};

#define POSTINGS_FREE UINT32_MAX

struct postings {
	struct postings_slot *slots;
	uint32_t slot_count;
	uint32_t used;
	unsigned char *memory;
	uint32_t units;		/* used, of 4 bytes */
	uint32_t cap_units;
	uint32_t *free_blocks;	/* per size class; 0: none; NULL before the first */
	bool counted;		/* lists have counts */
};

/* Bounds of a list, see above. lengths[0..2]: codes, of documents with count 1, 2, 3 and more; 255 where there is
 * none. */
struct postings_bounds {
	uint8_t lengths[3];
	uint8_t max_count;
};

/* A list as a reader sees it. Borrowed until the store changes. */
struct postings_list {
	uint32_t count;
	uint32_t dense_docs;		/* dense: documents from this one on do not hold the term; 0: sparse */
	const uint16_t *docs;		/* sparse: ascending */
	const uint8_t *counts;		/* 4 bits each, the lower half first: of docs, or (dense) of the segment */
	const uint64_t *bits;		/* dense, without counts: a bitmap of dense_docs / 64 words */
	struct postings_bounds bounds;
};

void postings_init(struct postings *p, bool counted);
void postings_release(struct postings *p);
size_t postings_bytes(const struct postings *p);

/* A term on its way into the store. */
struct postings_new {
	uint32_t term;
	uint32_t count;		/* at least 1; 1 where the store is not counted */
};

/* Adds doc, above all documents so far, to the lists of its terms, each of which is named once. lengths: of all
 * documents of the segment, which has doc_count of them, this one included. */
void postings_append(struct postings *p, uint16_t doc, const struct postings_new *terms, size_t term_count,
		     const float *lengths, uint32_t doc_count);

/* Makes room for that many terms at once, without waste, before postings_put. */
void postings_reserve(struct postings *p, uint32_t terms);
/* A new term with its whole list of count documents, written as small as can be. counts: codes, a byte each; NULL
 * in a store without them. bounds: of the list, where it has more than one document; only read in a store with
 * counts. */
void postings_put(struct postings *p, uint32_t term, const uint16_t *docs, const uint8_t *counts, uint32_t count,
		  struct postings_bounds bounds, uint32_t doc_count);
/* Bounds of the list with these count codes; lengths: of all documents of the segment. */
struct postings_bounds postings_bounds_of(const uint16_t *docs, const uint8_t *counts, uint32_t count,
					  const float *lengths);
/* Gives back memory that was reserved ahead. */
void postings_trim(struct postings *p);

/* The slot of a term; NULL where no document holds it. */
const struct postings_slot *postings_slot_find(const struct postings *p, uint32_t term);
/* False where no document holds the term. */
bool postings_find(const struct postings *p, uint32_t term, struct postings_list *ret);
void postings_list_of(const struct postings *p, const struct postings_slot *slot, struct postings_list *ret);
/* The count code of the document in a list with counts, 0 where it is not in it. */
uint8_t postings_code_of(const struct postings_list *list, uint16_t doc);
/* Says that a term will be looked for soon. */
void postings_prefetch_term(const struct postings *p, uint32_t term);
/* Says that the list of a slot in use will be asked for soon. */
void postings_prefetch(const struct postings *p, const struct postings_slot *slot);

static inline uint8_t postings_count_at(const uint8_t *counts, uint32_t i)
{
	return counts[i >> 1] >> ((i & 1) << 2) & 15;
}

#endif
