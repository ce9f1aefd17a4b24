/* What the files index_near*.c share. */
#ifndef SPINE_TEXT_INDEX_NEAR_INTERNAL_H
#define SPINE_TEXT_INDEX_NEAR_INTERNAL_H

#include "text/index_near.h"
#include "text/index_scratch.h"

#define NEAR_NOBODY UINT32_MAX

/* A term of the query. */
struct near_word {
	uint32_t term;
	float weight;		/* index_rank_term's */
	double full;		/* worth of one occurrence in a text of average length */
	double share;		/* of a word */
	uint8_t parts;		/* of the query that it is in */
	double rarity;		/* what it says: share * idf over the highest */
};

/* A term in a document: a position in words, and its worth. */
struct near_match {
	uint32_t word;
	uint32_t worth;
};

enum near_role {
	NEAR_OTHER,		/* not a seed */
	NEAR_SEED,		/* among the best by own words, but the filter does not let it through */
	NEAR_HIT,		/* among the best by own words that the filter lets through */
	NEAR_EXTRA,		/* no seed, but worth more than what follows the seeds */
};

struct near_doc {
	const struct segment *s;
	uint32_t where;			/* as in index.order */
	uint16_t doc;
	uint8_t role;
	bool is_summed, is_read, is_weighed;
	bool is_placed[2];
	uint32_t from, count;		/* its matches (is_read) */
	uint32_t sum;			/* of their worths (is_summed) */
	uint32_t beside[2];		/* before and after: positions in docs, or NEAR_NOBODY (is_placed) */
	double factor;			/* boost and recency (is_weighed) */
};

struct index_near {
	const struct index *ix;
	const struct index_query *query;
	struct index_scratch *x;
	int64_t now_ms;
	double totals[2];		/* weight of all words of each part of the query */
	double certainty;		/* that a match is not by chance, for the number of documents */

	struct near_word *words;	/* ascending by term */
	size_t word_count;
	size_t word_cap;
	uint32_t *terms;		/* of the words */
	struct segment_wanted wanted;	/* the same */
	struct near_doc *docs;		/* seeds, then who stands beside them, then who stands beside those */
	uint32_t doc_count;
	uint32_t doc_cap;
	struct near_match *matches;
	size_t match_count;
	size_t match_cap;
	uint32_t *slots;		/* hash table of 1 + position in docs; 0 is free */
	size_t slot_count;		/* a power of two */
	/* For each word, of the document at hand. All 0 in between. */
	uint32_t best[INDEX_QUERY_TERMS];
	uint64_t all[INDEX_QUERY_TERMS];
	struct index_found found[INDEX_PAGE];
};

/* --- index_near_docs.c: the query, and the documents that a search looks at -------------------------- */

/* Begins with a query, and forgets the documents of the one before. Its words are set when x->rank is the query's. */
struct index_near *near_begin(const struct index *ix, const struct index_query *query, int64_t now_ms,
			      struct index_scratch *x);
void near_set_words(struct index_near *n);
/* The position in docs of the document that is there, which is added where it is new. */
uint32_t near_doc_of(struct index_near *n, uint32_t where);
/* Reads the words of the document. */
void near_read_doc(struct index_near *n, uint32_t at);
/* Boost and recency. */
double near_factor_of(struct index_near *n, uint32_t at);
/* Finds who stands beside the document. */
void near_place_doc(struct index_near *n, uint32_t at);
/* Says that its words will be read soon. */
void near_prefetch_words(const struct near_doc *d);

/* --- index_near.c: what a document is worth ----------------------------------------------------------- */

/* How much of what its neighbours have for a term a document gets at most: of those that were made when it was. */
double near_lending(const struct index_near *n, const struct near_doc *d);
/* Twice the text score, in units. */
uint64_t near_text_of(struct index_near *n, uint32_t at);
/* In units. */
double near_score_of(struct index_near *n, uint32_t at);
/* Everything about a document. */
struct index_hit near_hit_of(struct index_near *n, uint32_t at);

#endif
