/* Full text search in memory: the documents of one space, found by their words and by their labels, ranked by BM25.
 *
 * SCORE. text(d) * (boost(d) + recency_weight * 2^(-age / half_life)), where text(d) is BM25 over all terms of the
 * query, and boost(d) is a number of the document's own. Document frequencies and the average length are those of the
 * live documents (hidden and expired ones included, removed ones not), so that the same documents are ranked the
 * same, however they came into the index. Documents with the same score stand in the order of their ids, the highest
 * first. The k best are the k best: nothing is skipped that could be among them.
 *
 * LABELS are byte strings that a document either has or has not. Filters ask for labels, times, ids.
 *
 * THREADS. Nothing here takes a lock. Functions with a const index may run at the same time, each thread with a
 * scratch of its own; the others need the index for themselves (a pthread_rwlock should be of the kind that prefers
 * writers: by default readers that come without a pause keep the writer out for ever). Adding a document takes some
 * microseconds; once in 32,768 documents, or when a third of a segment was removed, the segment is rewritten, which
 * takes 20 to 30 ms whatever the size of the index.
 *
 * LIMITS. A query counts its INDEX_QUERY_TERMS weightiest terms; a page has at most INDEX_PAGE hits.
 */
#ifndef SPINE_TEXT_INDEX_H
#define SPINE_TEXT_INDEX_H

#include "base/str.h"

struct index;
struct index_scratch;
struct termbag;

enum {
	INDEX_QUERY_TERMS = 1024,
	INDEX_QUERY_COUNT = 4,		/* a term of the query weighs as often as it occurs, up to this */
	INDEX_PAGE = 1024,
	INDEX_FILTER_LABELS = 256,	/* of a filter, all groups together */
	INDEX_ID_BITS = 40,		/* an id is below 2^40 */
};

#define INDEX_NEVER INT64_MAX

struct index_config {
	double k1;			/* 1.2 */
	double b;			/* 0.75 */
	double note_length;		/* 24: of a short text, in terms; see text/score.h and index_search_near */
	uint64_t seed;			/* of the hashes: random, so that nobody can prepare collisions */
	uint32_t segment_documents;	/* 1 to 65,536: how many are rewritten together; small only in tests */
};

/* The values above, with seed 0 and segments of 32,768 documents. */
extern const struct index_config index_config_default;

/* Returns owned. */
struct index *index_new(const struct index_config *config);
/* NULL-safe. */
void index_free(struct index *ix);

/* --- Documents -------------------------------------------------------------------------------------- */

struct index_document {
	uint64_t id;			/* mostly the highest so far */
	const struct termbag *terms;	/* its seed is the index's */
	const struct str *labels;
	size_t label_count;
	struct str group;		/* one of the labels, or p == NULL; those with the same are neighbours */
	int64_t created_ms;
	int64_t expires_ms;		/* not found from then on; INDEX_NEVER */
	float boost;			/* at least 0; 1 is usual */
	bool hidden;			/* found only where the filter says include_hidden */
};

/* Adds the document; one with the same id is replaced. Everything is copied. */
void index_add(struct index *ix, const struct index_document *doc);
/* These return false where there is no such document. */
bool index_remove(struct index *ix, uint64_t id);
bool index_set_boost(struct index *ix, uint64_t id, float boost);
bool index_set_hidden(struct index *ix, uint64_t id, bool hidden);
bool index_has(const struct index *ix, uint64_t id);

/* Documents that were added and not removed. */
uint64_t index_documents(const struct index *ix);
/* The highest id; 0 where there is none. */
uint64_t index_highest(const struct index *ix);
/* Memory in use, all of it. */
size_t index_bytes(const struct index *ix);

/* --- Filters ---------------------------------------------------------------------------------------- */

/* At least one of these labels. Borrowed. */
struct index_labels {
	const struct str *labels;
	size_t count;
};

/* index_filter_any() lets everything through that is neither hidden nor expired. Each further condition must hold,
 * too. */
struct index_filter {
	const struct index_labels *require;	/* groups; borrowed */
	size_t require_count;
	struct index_labels exclude;		/* none of these */
	int64_t created_from_ms;		/* first and last that are in */
	int64_t created_to_ms;
	uint64_t id_from;
	uint64_t id_to;
	bool include_hidden;
	bool include_expired;
	bool only_hidden;			/* with include_hidden: nothing else */
	bool only_expired;			/* with include_expired: nothing else */
};

static inline struct index_filter index_filter_any(void)
{
	return (struct index_filter){.created_from_ms = INT64_MIN, .created_to_ms = INT64_MAX, .id_to = UINT64_MAX};
}

/* --- Searching -------------------------------------------------------------------------------------- */

/* Memory for one thread's searches: 110 KB, and for index_list 8 KB for each segment. Returns owned. */
struct index_scratch *index_scratch_new(void);
/* NULL-safe. */
void index_scratch_free(struct index_scratch *scratch);

struct index_query {
	const struct termbag *terms;	/* borrowed; its seed is the index's */
	/* Only the weightiest terms find documents, as many as stand together in so many of them, but at least three;
	 * 0: all do. Where that leaves some out, all terms rank the `shortlist` (1 to INDEX_PAGE) documents that are
	 * the best by those that find. It bounds the time that a search takes by what it looks at instead of what there
	 * is. */
	uint64_t max_postings;
	size_t shortlist;
	struct index_filter filter;
	bool is_of_groups;		/* the filter lets the neighbours of what it lets through, through */
	double recency_weight;		/* at least 0 */
	int64_t half_life_ms;		/* above 0 where recency_weight is */
	size_t first_k;			/* of index_search_near: the k of the list's first page; 0: this one's */
	bool has_after;			/* only what stands behind this hit of the same query at the same now_ms */
	double after_score;
	uint64_t after_id;
};

struct index_hit {
	uint64_t id;
	double score;
	/* Where neighbours count (index_search_near, index_rate): */
	double own;		/* the text score of its own words */
	double text;		/* with what its neighbours lend it */
	double relevance;	/* 0 to 1 */
};

/* The first k (at most INDEX_PAGE) documents with at least one term of the query that pass the filter, the best
 * first, into ret_hits; returns how many. */
size_t index_search(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
		    struct index_scratch *scratch, struct index_hit *ret_hits);

/* The same with neighbours. What was said just before and after belongs to what was said: a document's neighbours are
 * the active (neither hidden nor expired) documents of its group with the next lower and the next higher id, whatever
 * the filter; they are looked for among the sixteen next ones on each side. Each lends half of its worth for a term,
 * and half of that for each hour between the two (INDEX_NEAR_MS); a document longer than a short text
 * (config.note_length) stands by itself, and borrows the less the longer it is. A term counts in full where it is
 * worth most, of the three, and by half elsewhere:
 *
 *     text(d) = sum over the terms of best + rest / 2 of own, c * before / 2, c * after / 2
 *     c = score_shortness(length of d) * 2^(-hours between them)
 *
 * It is worked out for the seeds, the best by their own words, three times as many as are wanted on the first page (at
 * least INDEX_NEAR_MIN, at most INDEX_PAGE), and for their neighbours that pass the filter, which need no word of the
 * query themselves. Where the filter may part neighbours, those of the best without the filter are looked at, too.
 * Behind the seeds and the neighbours that are worth more than the last seed follow the others, by their own words
 * alone: so every document with a term of the query is found once, and scores only fall from page to page. That holds
 * for pages with the same first_k, while nothing changes.
 *
 * The relevance of a document is comparable between queries, and depends on no other hit, time or boost. Each word of
 * the query weighs its idf over that of a word that no document has, with INDEX_BACKGROUND more documents in which it
 * does not occur, since a small index knows little of how rare its words are; a part of a compound weighs less
 * (text/analyze.h), and so does a word that goes with any subject (text/everyday.h). With `worth` as above, `best` the
 * most of the three, and `full` the worth of one occurrence in a text of average length,
 *
 *     coverage = sum of weight * min(1, worth / full) / (1 + sum of weights)	of the query; one word is unsaid
 *     found    = sum of shares of a word * min(1, INDEX_FOUND * best / full)	how many words it or its neighbours have
 *     x = coverage * found^2 / 2 * ln(INDEX_USUAL) / ln(1 + documents)
 *     relevance = x / (1 + x)
 *
 * Of a query of two texts (text/termbag.h) it is the higher of the relevances to each of them. Two words found
 * together say more than one. The more documents there are, the more of them have some words of a query by chance:
 * singling out one of n takes ln(n). INDEX_USUAL sets the scale, the size of a usual space.
 */
enum { INDEX_NEAR_MIN = 64, INDEX_BACKGROUND = 100, INDEX_USUAL = 500 };
#define INDEX_NEAR_MS (3600.0 * 1000)
#define INDEX_FOUND 1.5		/* so a word that only a neighbour has counts three quarters */
size_t index_search_near(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
			 struct index_scratch *scratch, struct index_hit *ret_hits);
/* The same numbers for these ids, in their order; all 0 for one that is not there. */
void index_rate(const struct index *ix, const struct index_query *query, int64_t now_ms, const uint64_t *ids,
		size_t count, struct index_scratch *scratch, struct index_hit *ret_hits);

/* For each of these ids, but for the first `from`, the first of those before it that it only repeats: that one has all
 * of its terms, and at most twice as many. 0: it says something of its own. Takes count * (count - from) steps at
 * most. */
void index_repeats(const struct index *ix, const uint64_t *ids, size_t count, size_t from, uint64_t *ret);

/* The first k (at most INDEX_PAGE) ids that pass the filter, the highest first (the lowest where ascending), into
 * ret_ids; returns how many. With the filter's id_from and id_to a list goes on where the last page ended. */
size_t index_list(const struct index *ix, const struct index_filter *filter, int64_t now_ms, bool ascending, size_t k,
		  struct index_scratch *scratch, uint64_t *ret_ids);
/* How many documents pass the filter. */
uint64_t index_count(const struct index *ix, const struct index_filter *filter, int64_t now_ms,
		     struct index_scratch *scratch);

/* --- Explaining ------------------------------------------------------------------------------------- */

struct index_explained_term {
	struct str term;	/* borrowed from the query's bag */
	uint32_t query_count;	/* how often the query counts it */
	uint32_t count;		/* how often the document has it */
	uint64_t holders;	/* documents with it */
	double idf;
	double score;		/* its share of text */
};

struct index_explanation {
	struct index_explained_term *terms;	/* owned: those that the document has, in the order of the query */
	size_t term_count;
	uint32_t length;			/* of the document, in terms */
	double average_length;
	double text;				/* the sum of the terms' scores */
	double boost;
	double recency;				/* recency_weight * 2^(-age / half_life) */
	double score;				/* text * (boost + recency): as index_search returns it */
};

/* How the document's score comes about, whatever the query's filter. False where there is no such document. */
bool index_explain(const struct index *ix, const struct index_query *query, int64_t now_ms, uint64_t id,
		   struct index_scratch *scratch, struct index_explanation *ret);
void index_explanation_release(struct index_explanation *e);

#endif
