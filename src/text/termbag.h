/* The distinct terms of a text, each with its count: what a document is to the index, and what a query is.
 *
 * A bag is filled without any lock, so that the work on a long text is done before the index is touched. It keeps its
 * memory when it is cleared; one per thread.
 */
#ifndef SPINE_TEXT_TERMBAG_H
#define SPINE_TEXT_TERMBAG_H

#include "base/str.h"

struct analyzer;

/* A query may have two texts, what is looked for and what it is about: each document is as relevant as it is to one of
 * them. */
enum termbag_part { TERMBAG_MAIN = 1, TERMBAG_ASIDE = 2 };

struct termbag_term {
	uint64_t hash;		/* hash_bytes of the term with the bag's seed */
	uint32_t at;		/* where its bytes begin */
	uint32_t len;
	uint32_t count;
	float share;		/* of a word, the largest of its occurrences (text/analyze.h) */
	uint8_t parts;		/* of a query that it is in: bits of enum termbag_part */
};

struct termbag {
	struct termbag_term *terms;	/* in the order of first appearance */
	size_t term_count;
	size_t term_cap;
	char *bytes;
	size_t byte_count;
	size_t byte_cap;
	uint32_t *slots;		/* hash table of 1 + position in terms; 0 is free */
	size_t slot_count;		/* a power of two, more than term_count */
	uint64_t length;		/* all occurrences together */
	uint64_t seed;
	uint32_t weight;		/* of the text being added */
	uint8_t part;			/* that it is */
};

/* seed must be that of the index the bag is meant for. Allocates nothing. */
void termbag_init(struct termbag *bag, uint64_t seed);
void termbag_release(struct termbag *bag);
/* Empties the bag, keeps its memory (but for what one huge text left behind). */
void termbag_clear(struct termbag *bag);

/* Adds the terms of text, each occurrence `weight` times (at least 1). text is borrowed for the call. */
void termbag_add_text(struct termbag *bag, struct analyzer *a, struct str text, uint32_t weight);
/* The same, of the part of a query that says what it is about. */
void termbag_add_aside(struct termbag *bag, struct analyzer *a, struct str text, uint32_t weight);

static inline struct str termbag_str(const struct termbag *bag, size_t i)
{
	return (struct str){bag->bytes + bag->terms[i].at, bag->terms[i].len};
}

#endif
