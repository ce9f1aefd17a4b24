/* Recall: which memories of a space answer a query, in which order. An in-memory index a space, over text/index.h, with
 * what the protocol says about scores, filters and states.
 *
 * THREADS. Any thread may search. The changes (recall_put, recall_remove, …) come from the writer's thread after its
 * commit, so that what a client was told is there is found by its next search. A space's index is built once, by
 * recall_build on another thread, from short reads of the store; changes that come meanwhile are noted, and made good
 * before the index is shown. Before anybody asked for a space's index, changes to it cost nothing.
 */
#ifndef SPINE_CORE_RECALL_H
#define SPINE_CORE_RECALL_H

#include "core/memory/memory.h"

struct recall;
struct recall_scratch;

/* seed: of the hash tables; random, so that nobody can prepare collisions. Results do not depend on it. */
struct recall *recall_new(uint64_t seed);
void recall_free(struct recall *r);
/* Working memory of a thread that searches. Returns owned. */
struct recall_scratch *recall_scratch_new(struct recall *r);
void recall_scratch_free(struct recall_scratch *s);

bool recall_is_ready(struct recall *r, int64_t space);
/* Reads the space and builds its index. One thread at a time. */
enum store_status recall_build(struct recall *r, struct store_conn *c, int64_t space, size_t *ret_count);

/* A memory was stored or changed. */
void recall_put(struct recall *r, const struct memory *m);
void recall_set_superseded(struct recall *r, int64_t space, uint64_t num);
void recall_remove(struct recall *r, int64_t space, uint64_t num);
/* The space was removed: its index goes. Who builds it later builds it anew, and has to forget it again. */
void recall_forget(struct recall *r, int64_t space);

enum recall_state { RECALL_ACTIVE, RECALL_SUPERSEDED, RECALL_EXPIRED, RECALL_ANY };

/* The value of RECALL_PINNED that finds the pins without a task: those of the whole space. */
#define RECALL_PINNED_SPACE "space"

enum { RECALL_FILTERS_MAX = 64, RECALL_LIMIT_MAX = 1024 };

/* A field that must have one of some values. Filters on the same field are alternatives, but for tags and metadata,
 * which must all hold. */
struct recall_filter {
	enum recall_field {
		RECALL_TAG,
		RECALL_KIND,
		RECALL_AGENT,
		RECALL_TASK,
		RECALL_IMPORTANCE,
		RECALL_TRUST,
		RECALL_PINNED,
		RECALL_METADATA,
	} field;
	struct str key;		/* of metadata */
	struct str value;
};

/* The value of RECALL_TASK that finds the memories without a task. */
#define RECALL_NO_TASK "\0"

struct recall_query {
	struct str text;	/* p == NULL: a listing, by number */
	struct str more;	/* of a search: what it is about, in words that count half; p == NULL: not told */
	/* Only its rarest words find memories, as many as stand in so many of them (0: all do). Where that leaves some
	 * out, all words rank the shortlist of those that are the best by the rarest. */
	uint64_t max_postings;
	size_t shortlist;	/* at most RECALL_LIMIT_MAX */
	const struct recall_filter *filters;
	size_t filter_count;
	enum recall_state state;
	int64_t created_from_ms;	/* 0: no bound */
	int64_t created_to_ms;		/* exclusive; 0: no bound */
	bool oldest_first;		/* of a listing */
	uint64_t after_num;		/* where the page before ended; 0: from the start */
	double after_score;		/* of a search, the same */
	size_t limit;
	size_t first_limit;		/* of a search: that of the first page, where it was another; 0: it was not */
	int64_t now_ms;
	bool is_of_tasks;		/* the filters are tasks alone, which never part neighbours */
	bool explain;
};

struct recall_term {
	struct str term;	/* as it was looked for: folded and stemmed */
	double score;
	double idf;
	uint32_t count;		/* in the memory */
};

struct recall_hit {
	uint64_t num;
	double score;		/* 0 in a listing; the same for the next ones */
	double own;		/* the text score of its own words */
	double text;		/* with what its neighbours lend it */
	double relevance;	/* 0 to 1: text/index.h */
	/* Where explain was asked for: */
	double boost;		/* 1 + importance + pinned */
	double recency;
	struct recall_term *terms;
	size_t term_count;
};

/* The parts of a memory's boost, for explain. */
double recall_importance_part(enum importance importance);
double recall_pinned_part(bool pinned);

/* Fills ret with up to query->limit hits. False where the index is not ready. */
bool recall_search(struct recall *r, struct recall_scratch *scratch, int64_t space, const struct recall_query *query,
		   struct arena *arena, struct recall_hit *ret, size_t *ret_count);

/* How relevant each of these memories is to the query, whatever its filters: 0 to 1, and 0 for one that is not in the
 * index. False where the index is not ready. */
bool recall_rate(struct recall *r, struct recall_scratch *scratch, int64_t space, const struct recall_query *query,
		 struct arena *arena, const uint64_t *nums, size_t count, double *ret);

/* For each of these memories, but for the first `from`, the first of those before it that it only repeats; 0: it says
 * something of its own. */
bool recall_repeats(struct recall *r, int64_t space, const uint64_t *nums, size_t count, size_t from, uint64_t *ret);

/* The highest number of a memory in the index; 0 where there is none. */
uint64_t recall_highest(struct recall *r, int64_t space);

/* Bytes of all indexes together, and how many memories are in them. */
void recall_usage(struct recall *r, size_t *ret_bytes, size_t *ret_memories);

#endif
