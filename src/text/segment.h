/* Up to 65,536 documents of the index, numbered from 0, with everything a search needs of them.
 *
 * The newest segment of an index takes the new documents. A removed document only loses its bits; its space comes
 * back when the segment is rewritten (text/segment_merge.c), alone or together with a neighbour: work that is bounded
 * by the size of a segment, whatever the size of the index. Rewriting also brings documents with a similar boost
 * together, in windows with tight bounds.
 */
#ifndef SPINE_TEXT_SEGMENT_H
#define SPINE_TEXT_SEGMENT_H

#include "text/dictionary.h"
#include "text/postings.h"

enum {
	SEGMENT_DOCUMENTS = POSTINGS_DOCUMENTS,
	SEGMENT_WINDOW = 4096,		/* documents that a search looks at together */
	SEGMENT_WINDOWS = SEGMENT_DOCUMENTS / SEGMENT_WINDOW,
};

#define SEGMENT_NEVER INT64_MAX		/* an expiry that does not come */

struct segment_expiry {
	int64_t at_ms;
	uint16_t doc;
};

struct segment {
	uint32_t doc_count;		/* removed ones included */
	uint32_t live_count;
	uint32_t doc_cap;

	/* A value for each document. */
	uint64_t *ids;
	int64_t *created_ms;
	float *boosts;
	float *lengths;			/* text/score.h */
	uint32_t *forward_at;		/* where its terms begin in forward */
	uint32_t *groups;		/* as they were given (text/index_state.h) */
	int64_t *expires_ms;		/* NULL where no document has an expiry */
	/* A bit for each document. */
	uint64_t *live;			/* not removed */
	uint64_t *visible;		/* live and not hidden */
	uint64_t *many;			/* a count code of it is SCORE_COUNT_MANY */

	struct postings terms;
	struct postings labels;
	uint8_t *forward;		/* of each document its terms, see text/segment.c */
	size_t forward_bytes;
	size_t forward_cap;
	struct segment_expiry *expiries;	/* of the documents that have one: a heap, the earliest on top */
	size_t expiry_count;
	size_t expiry_cap;

	/* Bounds over all documents; removed ones may still count. */
	float window_boosts[SEGMENT_WINDOWS];	/* the highest of each window */
	int64_t window_created_ms[SEGMENT_WINDOWS];	/* the newest of each window */
	int64_t min_created_ms, max_created_ms;
	uint64_t min_id, max_id;
};

struct segment_document {
	uint64_t id;
	int64_t created_ms;
	int64_t expires_ms;		/* SEGMENT_NEVER: not at all */
	float boost;
	float length;
	bool hidden;
	uint32_t group;
	const struct postings_new *terms;	/* ascending, each once */
	size_t term_count;
	const struct postings_new *labels;	/* each once */
	size_t label_count;
};

/* Returns owned. */
struct segment *segment_new(void);
/* NULL-safe. The dictionaries are not told. */
void segment_free(struct segment *s);
size_t segment_bytes(const struct segment *s);

/* Adds a document, counts it among the holders of its terms, and returns its number. The segment must not be full. */
uint16_t segment_add(struct segment *s, const struct segment_document *doc, struct dictionary *terms);
/* doc must be live. */
void segment_remove(struct segment *s, uint16_t doc);
void segment_set_hidden(struct segment *s, uint16_t doc, bool hidden);
void segment_set_boost(struct segment *s, uint16_t doc, float boost);
/* Part of segment_add and segment_merge: the document was created then. */
void segment_set_created(struct segment *s, uint16_t doc, int64_t created_ms);

/* Part of segment_add and segment_merge: the document has an expiry. */
void segment_add_expiry(struct segment *s, uint16_t doc, int64_t at_ms);
static inline bool segment_has_expired(const struct segment *s, int64_t now_ms)
{
	return s->expiry_count > 0 && s->expiries[0].at_ms <= now_ms;
}
/* Clears the bit of each document whose expiry is now or before; takes time for those alone. */
void segment_clear_expired(const struct segment *s, int64_t now_ms, uint64_t *bits);

/* How often the document has a term whose count code is SCORE_COUNT_MANY. */
uint32_t segment_many(const struct segment *s, uint16_t doc, uint32_t term);

enum { SEGMENT_MARKS = 16 };

/* Terms that documents are asked for. */
struct segment_wanted {
	const uint32_t *terms;		/* ascending; borrowed */
	size_t count;
	uint64_t marks[SEGMENT_MARKS];	/* a bit for each term; several may share one */
};

void segment_want(struct segment_wanted *w, const uint32_t *terms, size_t count);

/* Which of the terms the document has, and how often: positions in them, ascending, and counts. Returns how many; both
 * arrays have room for all. */
size_t segment_matches(const struct segment *s, uint16_t doc, const struct segment_wanted *wanted, uint16_t *ret_at,
		       uint32_t *ret_counts);
/* The terms of the document: how many, and all of them, ascending. */
size_t segment_term_count(const struct segment *s, uint16_t doc);
void segment_terms(const struct segment *s, uint16_t doc, uint32_t *ret);
/* Neither removed nor hidden nor expired. */
static inline bool segment_is_active(const struct segment *s, uint16_t doc, int64_t now_ms)
{
	return (s->visible[doc >> 6] >> (doc & 63) & 1) && (s->expires_ms == NULL || s->expires_ms[doc] > now_ms);
}

/* One holder less for each term of the document. */
void segment_forget_terms(const struct segment *s, uint16_t doc, struct dictionary *terms);

/* Returns owned: a segment of the live documents of the given ones (1 or 2, together not too many), as small as
 * can be, those with the highest boosts first. Terms and labels that occur in none of `all` (some NULL) any more
 * are dropped from the dictionaries. The given segments, which are among `all`, are still there; they must be
 * freed, not used. */
struct segment *segment_merge(struct segment *const *parts, size_t part_count, struct segment *const *all,
			      size_t all_count, struct dictionary *terms, struct dictionary *labels);

static inline bool segment_bit(const uint64_t *bits, uint32_t doc)
{
	return bits[doc >> 6] >> (doc & 63) & 1;
}

static inline size_t segment_words(const struct segment *s)
{
	return (s->doc_count + 63) / 64;
}

#endif
