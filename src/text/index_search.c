/* The k best documents of a query, exactly, without looking at all of them.
 *
 * Segments are searched one after the other, the newest first, since recency makes the newest the likeliest. In a
 * segment the terms are ordered by the most that each can be worth there. Once there are k hits, the worst of them
 * says what a document must reach, and all the terms at the end of that order which together cannot reach it are of
 * no use for finding documents (MaxScore). So, for one window of documents after the other:
 *
 *   1. the postings of the other, essential terms are added up, term by term, into an array of sums that stays in the
 *      first cache;
 *   2. the documents that could reach the threshold, with everything that the remaining terms are worth at most,
 *      become candidates;
 *   3. candidates are looked up in the remaining terms, the weightiest first, and dropped as soon as they cannot make
 *      it.
 *
 * The frequent words of a query are worth little, so that they are almost never essential, and their long lists are
 * not read but looked up. What a document must reach depends on its factor; a window's highest boost bounds it, and
 * since rewritten segments are ordered by boost, those bounds are tight.
 *
 * Where a filter leaves only few documents of a segment, those are the candidates, and no term is essential.
 *
 * Where the query bounds its postings, only its weightiest terms are searched for like that. What they find is then
 * ranked by the others, too, which are found in the documents' own terms and not in the lists: those are long, and far
 * apart in memory.
 *
 * A count that is too high for the four bits of the lists (text/score.h) is at first taken for the highest that can be,
 * which is almost the same. Only the sums of those that then are hits are corrected, by counts from another place.
 *
 * Everything is compared in exact integers or with a margin on the safe side, see text/index_rank.h.
 */
#include "text/index_scratch.h"

#include "base/mem.h"
#include "text/index_near.h"
#include "text/termbag.h"

#include <assert.h>
#include <stdlib.h>

struct search {
	const struct index *ix;
	const struct index_query *query;
	struct index_scratch *x;
	const struct index_rank *rank;
	struct index_top top;
	double threshold;		/* what is found must reach it; 0: any will do */
	bool is_short;			/* a shortlist is being made */
	bool has_after;
	double after_score;		/* in units of 1 / scale */

	/* Of the segment at hand. */
	const struct segment *s;
	uint32_t age;
	const uint64_t *allowed;
	double newest;			/* the highest recency of a document, of the window at hand */
	size_t list_count;
	bool has_many;			/* a count of one of the lists stands elsewhere */
};

struct index_scratch *index_scratch_new(void)
{
	struct index_scratch *x = mem_zalloc(sizeof(*x));
	size_t i;

	for (i = 0; i < 256; i++) {
		x->pairs[i][0] = score_inverse[i & 15];
		x->pairs[i][1] = score_inverse[i >> 4];
	}
	return x;
}

void index_scratch_free(struct index_scratch *x)
{
	if (x == NULL)
		return;
	index_rank_release(&x->rank);
	free(x->lists);
	free(x->by_bound);
	free(x->rest);
	free(x->bitmaps);
	index_near_free(x->near);
	free(x);
}

/* --- What is found ---------------------------------------------------------------------------------- */

static void offer(struct search *q, struct index_found one)
{
	if (q->has_after && (one.score > q->after_score ||
			     (one.score == q->after_score && one.id >= q->query->after_id)))
		return;
	index_top_offer(&q->top, one);
	if (index_top_bar(&q->top) > q->threshold)
		q->threshold = index_top_bar(&q->top);
}

/* The smallest sum that reaches the threshold with a factor of at most `factor`; perhaps a little less. At least
 * 1, as 0 is no match; UINT32_MAX where nothing does. */
static inline uint32_t sum_needed(double threshold, double factor)
{
	double sum;

	if (threshold <= 0)
		return 1;
	if (factor <= 0)
		return UINT32_MAX;
	sum = threshold / factor * (1 - 1e-9);
	return sum < 1 ? 1 : sum > INT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* --- Terms of a segment ----------------------------------------------------------------------------- */

static void reserve_lists(struct index_scratch *x, size_t count)
{
	if (count <= x->list_cap)
		return;
	x->list_cap = count + count / 2;
	x->lists = mem_reallocarray(x->lists, x->list_cap, sizeof(*x->lists));
	x->by_bound = mem_reallocarray(x->by_bound, x->list_cap, sizeof(*x->by_bound));
	x->rest = mem_reallocarray(x->rest, x->list_cap + 1, sizeof(*x->rest));
}

/* The query's terms in the segment, those that find documents, by falling bound. Each is slow to reach in memory: so
 * all slots are fetched first, then all lists. */
static void find_lists(struct search *q)
{
	const struct postings *terms = &q->s->terms;
	struct index_scratch *x = q->x;
	size_t i, at, n = 0;

	q->has_many = false;
	reserve_lists(x, q->rank->term_count);
	for (i = 0; i < q->rank->term_count; i++)
		if (q->rank->terms[i].finds)
			postings_prefetch_term(terms, q->rank->terms[i].term);
	for (i = 0; i < q->rank->term_count; i++) {
		const struct index_rank_term *t = &q->rank->terms[i];
		const struct postings_slot *slot = t->finds ? postings_slot_find(terms, t->term) : NULL;

		if (slot == NULL)
			continue;
		postings_prefetch(terms, slot);
		x->lists[n++] = (struct index_term_list){.slot = slot, .term = t->term, .weight = t->weight};
	}
	for (i = 0; i < n; i++) {
		struct index_term_list *l = &x->lists[i];

		postings_list_of(terms, l->slot, &l->list);
		l->bound = index_rank_bound(q->rank, l->weight, &l->list, q->s->lengths);
		q->has_many |= l->list.bounds.max_count == SCORE_COUNT_MANY;
		for (at = i; at > 0 && x->lists[x->by_bound[at - 1]].bound < l->bound; at--)
			x->by_bound[at] = x->by_bound[at - 1];
		x->by_bound[at] = (uint16_t)i;
	}
	q->list_count = n;
	x->rest[n] = 0;
	for (i = n; i > 0; i--)
		x->rest[i - 1] = x->rest[i] + x->lists[x->by_bound[i - 1]].bound;
}

/* --- Essential terms -------------------------------------------------------------------------------- */

/* The position of the last document that is not above doc, at or behind l->cursor; l->cursor itself where there is
 * none. */
static inline uint32_t seek(const struct index_term_list *l, uint32_t doc)
{
	const uint16_t *docs = l->list.docs;
	uint32_t low = l->cursor, step = 1, count = l->list.count;

	/* In steps that double, then by halves. */
	while (low + step < count && docs[low + step] <= doc) {
		low += step;
		step *= 2;
	}
	for (step /= 2; step > 0; step /= 2)
		if (low + step < count && docs[low + step] <= doc)
			low += step;
	return low;
}

/* The position of the first document from `doc` on, at or behind l->cursor. */
static inline uint32_t seek_from(const struct index_term_list *l, uint32_t doc)
{
	uint32_t at = l->cursor;

	/* It is there already, unless windows were left out. */
	if (l->list.docs[at] < doc)
		at = seek(l, doc);
	return at + (l->list.docs[at] < doc);
}

/* The worth of a term in a document; where its count code is SCORE_COUNT_MANY, the most that it can be. */
static inline int32_t worth_of(const struct search *q, const struct index_term_list *l, uint32_t code, uint32_t doc)
{
	return (int32_t)index_rank_worth(q->rank, l->weight, score_inverse[code], q->s->lengths[doc]);
}

/* The same, and 0 for a code of 0. Without a branch on that, which could not be predicted: it is worth less than 1. */
static inline int32_t worth_if_any(const struct search *q, const struct index_term_list *l, uint32_t code,
				   uint32_t doc)
{
	return (code > 0) + (int32_t)score_worth(&q->rank->curve, l->weight, score_inverse[code], q->s->lengths[doc]);
}

typedef float four_floats __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));
typedef uint64_t two_pairs __attribute__((vector_size(16)));

/* What the worth of a term is made of, for four documents at once. A copy, which no store into the sums can change. */
struct four {
	float base, slope, weight;
	const float (*pairs)[2];
};

static inline struct four four_of(const struct search *q, const struct index_term_list *l)
{
	return (struct four){q->rank->curve.base, q->rank->curve.slope, l->weight, q->x->pairs};
}

/* 1 / count of four documents. */
static inline four_floats four_inverses(struct four f, const uint8_t *counts)
{
	uint64_t first, second;

	memcpy(&first, f.pairs[counts[0]], sizeof(first));
	memcpy(&second, f.pairs[counts[1]], sizeof(second));
	return (four_floats)(two_pairs){first, second};
}

/* Their worths, less 1. */
static inline four_ints four_worths(struct four f, four_floats inverses, four_floats lengths)
{
	four_floats worths = f.weight / (1 + (f.base + f.slope * lengths) * inverses);

	return __builtin_convertvector(worths, four_ints);
}

/* The sums of the window, by the numbers of its documents. By way of an integer: in C no pointer stands before its
 * array. */
static inline int32_t *sums_by_doc(const struct search *q, uint32_t base)
{
	return (int32_t *)((uintptr_t)q->x->sums - base * sizeof(q->x->sums[0]));
}

/* Adds up the documents of the window [base, end), four at a time where that is possible. */
static void add_sparse(struct search *q, struct index_term_list *l, uint32_t base, uint32_t end)
{
	const uint16_t *docs = l->list.docs;
	const uint8_t *counts = l->list.counts;
	const float *lengths = q->s->lengths;
	struct four four = four_of(q, l);
	int32_t *sums = sums_by_doc(q, base);
	uint32_t i = seek_from(l, base), count = l->list.count;

	/* Counts are stored in pairs. */
	if ((i & 1) && i < count && docs[i] < end) {
		sums[docs[i]] += worth_of(q, l, counts[i / 2] >> 4, docs[i]);
		i++;
	}
	for (; i + 4 <= count && docs[i + 3] < end; i += 4) {
		const uint16_t *d = docs + i;
		four_floats four_lengths = {lengths[d[0]], lengths[d[1]], lengths[d[2]], lengths[d[3]]};
		four_ints worths = four_worths(four, four_inverses(four, counts + i / 2), four_lengths) + 1;

		sums[d[0]] += worths[0];
		sums[d[1]] += worths[1];
		sums[d[2]] += worths[2];
		sums[d[3]] += worths[3];
	}
	for (; i < count && docs[i] < end; i++)
		sums[docs[i]] += worth_of(q, l, postings_count_at(counts, i), docs[i]);
	l->cursor = i < count ? i : count - 1;
}

static void add_dense(struct search *q, const struct index_term_list *l, uint32_t base, uint32_t end)
{
	const uint8_t *counts = l->list.counts;
	int32_t *sums = sums_by_doc(q, base);
	const float *lengths = q->s->lengths;
	struct four four = four_of(q, l);
	uint32_t doc = base;

	end = end < l->list.dense_docs ? end : l->list.dense_docs;
	for (; doc + 4 <= end; doc += 4) {
		four_floats four_lengths, inverses = four_inverses(four, counts + doc / 2);
		four_ints four_sums;

		memcpy(&four_lengths, lengths + doc, sizeof(four_lengths));
		memcpy(&four_sums, sums + doc, sizeof(four_sums));
		/* Where it is true, a comparison gives -1: so those that do not hold the term are worth nothing. */
		four_sums += four_worths(four, inverses, four_lengths) - (inverses <= 1);
		memcpy(sums + doc, &four_sums, sizeof(four_sums));
	}
	for (; doc < end; doc++)
		sums[doc] += worth_if_any(q, l, postings_count_at(counts, doc), doc);
}

/* --- Candidates ------------------------------------------------------------------------------------- */

/* The count code of doc, 0 where it does not hold the term. Documents are asked for in ascending order. */
static inline uint32_t look_up(struct index_term_list *l, uint32_t doc)
{
	if (l->list.dense_docs)
		return doc < l->list.dense_docs ? postings_count_at(l->list.counts, doc) : 0;
	l->cursor = seek(l, doc);
	return l->list.docs[l->cursor] == doc ? postings_count_at(l->list.counts, l->cursor) : 0;
}

/* True where `sum` can make a hit of a document with at most this factor. */
static inline bool is_enough(double threshold, uint32_t sum, double factor)
{
	return sum * factor >= threshold * (1 - 1e-9);
}

/* Keeps the candidates that the filter lets through and that can make it with all terms from position `first` on;
 * returns how many. */
static size_t sift_candidates(struct search *q, size_t count, size_t first)
{
	struct index_candidate *c = q->x->candidates;
	uint32_t rest = q->x->rest[first];
	size_t i, kept = 0;

	for (i = 0; i < count; i++) {
		struct index_candidate one = c[i];

		one.factor = q->s->boosts[one.doc] + q->newest;
		c[kept] = one;
		kept += (size_t)is_enough(q->threshold, one.sum + rest, one.factor) &
			(size_t)segment_bit(q->allowed, one.doc);
	}
	return kept;
}

/* By how much the sum of a document is too high: high counts were taken for the highest. */
static uint32_t excess_of(const struct search *q, uint16_t doc)
{
	uint32_t excess = 0;
	size_t i;

	if (!q->has_many || !segment_bit(q->s->many, doc))
		return 0;
	for (i = 0; i < q->list_count; i++) {
		const struct index_term_list *l = &q->x->lists[i];
		float inverse;

		if (l->list.bounds.max_count < SCORE_COUNT_MANY || postings_code_of(&l->list, doc) < SCORE_COUNT_MANY)
			continue;
		inverse = 1.0f / (float)segment_many(q->s, doc, l->term);
		excess += (uint32_t)worth_of(q, l, SCORE_COUNT_MANY, doc) -
			  index_rank_worth(q->rank, l->weight, inverse, q->s->lengths[doc]);
	}
	return excess;
}

/* Completes the sums of the candidates with the terms from position `first` on, and offers those that make it. */
static void score_candidates(struct search *q, size_t count, size_t first)
{
	struct index_candidate *c = q->x->candidates;
	const struct segment *s = q->s;
	size_t t, i;

	count = sift_candidates(q, count, first);
	for (t = first; t < q->list_count && count > 0; t++) {
		struct index_term_list *l = &q->x->lists[q->x->by_bound[t]];
		uint32_t rest = q->x->rest[t + 1];
		size_t kept = 0;

		for (i = 0; i < count; i++) {
			struct index_candidate one = c[i];

			one.sum += (uint32_t)worth_if_any(q, l, look_up(l, one.doc), one.doc);
			c[kept] = one;
			kept += is_enough(q->threshold, one.sum + rest, one.factor);
		}
		count = kept;
	}
	for (i = 0; i < count; i++) {
		struct index_found one = {.part = (uint16_t)q->age, .doc = c[i].doc};

		/* The threshold has risen since. */
		if (c[i].sum == 0 || !is_enough(q->threshold, c[i].sum, c[i].factor))
			continue;
		one.id = s->ids[one.doc];
		one.sum = c[i].sum - excess_of(q, one.doc);
		one.score = one.sum * (s->boosts[one.doc] + index_rank_recency(q->rank, s->created_ms[one.doc]));
		offer(q, one);
	}
}

/* True where one of 16 sums is at least `bar`. */
static inline bool any_reaches(const int32_t *sums, int32_t bar)
{
	const four_ints *v = (const four_ints *)(const void *)sums;
	four_ints bars = {bar, bar, bar, bar}, any = (v[0] >= bars) | (v[1] >= bars) | (v[2] >= bars) | (v[3] >= bars);
	uint64_t halves[2];

	memcpy(halves, &any, sizeof(any));
	return halves[0] | halves[1];
}

/* Finds the candidates among the sums of the first `first` terms of a window, scores them, and clears the sums. */
static void score_window(struct search *q, uint32_t base, uint32_t end, uint32_t need, size_t first)
{
	struct index_candidate *c = q->x->candidates;
	int32_t *sums = q->x->sums, bar = need > q->x->rest[first] ? (int32_t)(need - q->x->rest[first]) : 1;
	uint32_t i, j, size = (end - base + 15) / 16 * 16;
	size_t n = 0;

	for (i = 0; i < size; i += 16) {
		if (!any_reaches(sums + i, bar))
			continue;
		for (j = i; j < i + 16; j++) {
			c[n].sum = (uint32_t)sums[j];
			c[n].doc = (uint16_t)(base + j);
			n += sums[j] >= bar;
		}
		if (n >= INDEX_CHUNK) {
			score_candidates(q, n, first);
			n = 0;
		}
	}
	memset(sums, 0, size * sizeof(*sums));
	score_candidates(q, n, first);
}

static void set_newest(struct search *q, int64_t created_ms)
{
	/* A margin, since nobody promises that exp2 rises everywhere. */
	q->newest = index_rank_recency(q->rank, created_ms) * (1 + 1e-12);
}

static void search_window(struct search *q, uint32_t window)
{
	uint32_t base = window * SEGMENT_WINDOW, end = base + SEGMENT_WINDOW, need;
	size_t i;

	if (end > q->s->doc_count)
		end = q->s->doc_count;
	set_newest(q, q->s->window_created_ms[window]);
	need = sum_needed(q->threshold, q->s->window_boosts[window] + q->newest);
	if (q->list_count == 0 || q->x->rest[0] < need)
		return;
	/* More terms are added than are essential: the less the others are worth, the fewer documents remain
	 * possible. Adding until those are worth half of what is needed takes the least time; where the postings are
	 * few, adding all of them. */
	for (i = 0; i < q->list_count && (q->is_short || q->x->rest[i] >= need / 2); i++) {
		struct index_term_list *l = &q->x->lists[q->x->by_bound[i]];

		if (l->list.dense_docs)
			add_dense(q, l, base, end);
		else
			add_sparse(q, l, base, end);
	}
	score_window(q, base, end, need, i);
}

/* All documents that the filter lets through are candidates. */
static void score_allowed(struct search *q)
{
	size_t n = 0, w, words = segment_words(q->s);
	uint64_t left;

	for (w = 0; w < words; w++)
		for (left = q->allowed[w]; left; left &= left - 1) {
			uint32_t doc = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(left);

			q->x->candidates[n++] = (struct index_candidate){.doc = (uint16_t)doc};
			if (n < INDEX_CHUNK)
				continue;
			score_candidates(q, n, 0);
			n = 0;
		}
	score_candidates(q, n, 0);
}

static void search_segment(struct search *q, uint32_t age)
{
	struct index_scratch *x = q->x;
	uint64_t postings = 0;
	uint32_t window;
	size_t i;

	q->age = age;
	q->s = index_segment(q->ix, age);
	q->allowed = index_filter_segment(&x->filter, q->s, true, x->allowed, x->spare);
	if (q->allowed == NULL)
		return;
	find_lists(q);
	set_newest(q, q->s->max_created_ms);
	if (q->allowed == x->allowed) {
		/* Looking up a document in a list takes about as long as adding up eight. */
		for (i = 0; i < q->list_count; i++)
			postings += x->lists[i].list.count;
		if (index_filter_count(x->allowed, segment_words(q->s)) * q->list_count * 8 < postings) {
			score_allowed(q);
			return;
		}
	}
	for (window = 0; window * SEGMENT_WINDOW < q->s->doc_count; window++)
		search_window(q, window);
}

/* --- A shortlist ------------------------------------------------------------------------------------ */

static int compare_term(const void *a, const void *b)
{
	const struct index_term_list *x = a, *y = b;

	return x->term < y->term ? -1 : x->term > y->term;
}

/* The terms that do not find documents, ascending; returns how many. */
static size_t find_others(struct search *q)
{
	struct index_scratch *x = q->x;
	size_t i, n = 0;

	reserve_lists(x, q->rank->term_count);
	for (i = 0; i < q->rank->term_count; i++)
		if (!q->rank->terms[i].finds)
			x->lists[n++] = (struct index_term_list){.term = q->rank->terms[i].term,
								 .weight = q->rank->terms[i].weight};
	qsort(x->lists, n, sizeof(*x->lists), compare_term);
	for (i = 0; i < n; i++)
		x->others[i] = x->lists[i].term;
	return n;
}

/* Makes of what the weightiest terms have found the k best by all terms. */
static void rank_again(struct search *q, size_t k)
{
	struct index_scratch *x = q->x;
	size_t i, j, matches, count = q->top.count;
	struct segment_wanted others;

	segment_want(&others, x->others, find_others(q));
	for (i = 0; i < count; i++) {
		const struct segment *s = index_segment(q->ix, x->found[i].part);

		x->shortlist[i] = x->found[i];
		mem_prefetch(s->forward + s->forward_at[x->found[i].doc]);
	}
	q->top.k = k;
	q->top.count = 0;
	q->threshold = 0;
	q->has_after = q->query->has_after;
	for (i = 0; i < count; i++) {
		struct index_found one = x->shortlist[i];
		const struct segment *s = index_segment(q->ix, one.part);

		matches = segment_matches(s, one.doc, &others, x->matches, x->counts);
		for (j = 0; j < matches; j++)
			one.sum += index_rank_worth(q->rank, x->lists[x->matches[j]].weight,
						    1.0f / (float)x->counts[j], s->lengths[one.doc]);
		one.score = one.sum * (s->boosts[one.doc] + index_rank_recency(q->rank, s->created_ms[one.doc]));
		offer(q, one);
	}
}

size_t index_search_top(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
			struct index_scratch *x)
{
	struct search q = {.ix = ix, .query = query, .x = x, .rank = &x->rank, .top = {x->found, 0, k},
			   .has_after = query->has_after};
	uint32_t i;

	assert(k <= INDEX_PAGE && query->shortlist <= INDEX_PAGE);
	index_rank_prepare(&x->rank, ix, query, now_ms);
	index_filter_prepare(&x->filter, ix, &query->filter, now_ms);
	if (k == 0 || x->rank.term_count == 0 || x->filter.nothing)
		return 0;
	q.after_score = query->after_score * q.rank->scale;
	if (!x->rank.all_find) {
		assert(query->shortlist > 0);
		q.is_short = true;
		q.top.k = query->shortlist;
		q.has_after = false;
	}
	for (i = ix->segment_count; i > 0; i--)
		search_segment(&q, i - 1);
	if (q.is_short)
		rank_again(&q, k);
	return q.top.count;
}

size_t index_search(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
		    struct index_scratch *x, struct index_hit *ret_hits)
{
	struct index_top top = {x->found, index_search_top(ix, query, now_ms, k, x), k};
	size_t count = top.count;

	while (top.count > 0) {
		struct index_found worst = index_top_take(&top);

		ret_hits[top.count] = (struct index_hit){.id = worst.id, .score = worst.score / x->rank.scale};
	}
	return count;
}
