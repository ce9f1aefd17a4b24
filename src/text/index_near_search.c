/* Searching with neighbours: seeds by own words, those beside them, and what follows. See text/index_near.c. */
#include "text/index_near_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct near_search {
	struct index_near *n;
	struct index_top top;
	size_t k;
	uint32_t seed_count;		/* of n->docs */
	uint32_t beside_count;		/* of n->docs: seeds, and who stands beside them */
	size_t extra_count;
	bool is_cut;			/* there may be more hits than the seeds */
	struct index_found last;	/* then: the worst of them */
	bool has_more;			/* there may be documents with words of the query that are no seeds */
	double unread;			/* then: what such a one scores at most by its own words */
	bool has_after;
	struct index_found after;	/* what is listed stands behind it */
};

/* Searches by own words for up to `count`, into n->found, the best first; returns how many. */
static size_t find_best(struct index_near *n, const struct index_query *query, size_t count)
{
	struct index_top top = {n->x->found, index_search_top(n->ix, query, n->now_ms, count, n->x), count};
	size_t found = top.count;

	while (top.count > 0) {
		struct index_found one = index_top_take(&top);

		n->found[top.count] = one;
	}
	return found;
}

static uint32_t where_of(const struct index_near *n, const struct index_found *f)
{
	return (uint32_t)n->ix->ages[f->part] << 16 | f->doc;
}

/* Makes seeds of the best by their own words; returns how many there are. Sets unread. */
static size_t find_seeds(struct near_search *q, const struct index_query *query, size_t count, enum near_role role)
{
	struct index_near *n = q->n;
	size_t i, found = find_best(n, query, count);

	for (i = 0; i < found; i++) {
		uint32_t at = near_doc_of(n, where_of(n, &n->found[i]));
		struct near_doc *d = &n->docs[at];

		d->role = d->role == NEAR_HIT ? NEAR_HIT : (uint8_t)role;
		d->is_summed = true;
		d->sum = n->found[i].sum;
		mem_prefetch(d->s->ids + d->doc);
		mem_prefetch(d->s->groups + d->doc);
	}
	/* Words that do not find documents may be worth anything in one that was not found. */
	q->has_more = found == count || !n->x->rank.all_find;
	q->unread = n->x->rank.all_find && q->has_more ? n->found[found - 1].score : INFINITY;
	return found;
}

/* Whether the filter asks for more than that a document is active. */
static bool narrows(const struct index_near *n)
{
	const struct index_filter *f = &n->query->filter;

	return n->x->filter.narrows || f->id_from > 0 || f->id_to < UINT64_MAX;
}

/* The best by their own words. Where the filter may part neighbours, the best without it, too: they are no hits, but
 * their neighbours may be. */
static void find_all_seeds(struct near_search *q, size_t count)
{
	struct index_near *n = q->n;
	struct index_query own = *n->query;

	own.has_after = false;
	q->is_cut = find_seeds(q, &own, count, NEAR_HIT) == count;
	if (q->is_cut)
		q->last = n->found[count - 1];
	if (narrows(n) && !n->query->is_of_groups && !n->x->filter.nothing) {
		own.filter = index_filter_any();
		find_seeds(q, &own, count, NEAR_SEED);
	}
	/* The searches have borrowed filters that end with this function. */
	index_filter_prepare(&n->x->filter, n->ix, &n->query->filter, n->now_ms);
	q->seed_count = n->doc_count;
}

static void place_seeds(struct near_search *q)
{
	struct index_near *n = q->n;
	uint32_t i;

	for (i = 0; i < q->seed_count; i++) {
		const struct near_doc *d = &n->docs[i];

		order_prefetch(&n->ix->groups, index_group_key(d->s->groups[d->doc], d->s->ids[d->doc]));
	}
	for (i = 0; i < q->seed_count; i++)
		near_place_doc(n, i);
	q->beside_count = n->doc_count;
	for (i = 0; i < q->beside_count; i++)
		near_prefetch_words(&n->docs[i]);
}

static bool is_before(double score, uint64_t id, const struct index_found *than)
{
	return score > than->score || (score == than->score && id > than->id);
}

static void offer(struct near_search *q, uint32_t at, double score)
{
	struct index_found one = {.score = score, .id = q->n->docs[at].s->ids[q->n->docs[at].doc], .sum = at};

	if (!q->has_after || is_before(q->after.score, q->after.id, &one))
		index_top_offer(&q->top, one);
}

/* Most that a document's own words are worth, in units; exact where they have been summed up. */
static double most_of(struct near_search *q, uint32_t at)
{
	double factor;

	if (at == NEAR_NOBODY)
		return 0;
	if (q->n->docs[at].is_summed)
		return q->n->docs[at].sum;
	if (!q->has_more)
		return 0;
	factor = near_factor_of(q->n, at);
	return factor > 0 ? q->unread / factor : INFINITY;
}

/* The same of a neighbour on that side. One that has not been looked for is no seed: a seed that is active has made
 * itself known to who stands beside it. */
static double most_beside(struct near_search *q, uint32_t at, int side)
{
	const struct near_doc *d = &q->n->docs[at];

	if (d->is_placed[side])
		return most_of(q, d->beside[side]);
	if (!q->has_more)
		return 0;
	return q->n->ix->min_boost > 0 ? q->unread / q->n->ix->min_boost : INFINITY;
}

/* Whether a document can be worth `bar` with its neighbours. What is not known yet is looked up one by one: its own
 * words, who stands beside it, and their words. Not a number, which infinity times 0 is, reaches anything. */
static bool can_reach(struct near_search *q, uint32_t at, double bar)
{
	struct index_near *n = q->n;
	double factor = near_factor_of(n, at) * (1 + 1e-9), lend = factor * near_lending(n, &n->docs[at]);
	double own = factor * most_of(q, at), side[2] = {lend * most_beside(q, at, 0), lend * most_beside(q, at, 1)};
	uint32_t i, one;

	if (own + side[0] + side[1] < bar)
		return false;
	if (!n->docs[at].is_summed) {
		near_read_doc(n, at);
		own = factor * n->docs[at].sum;
		if (own + side[0] + side[1] < bar)
			return false;
	}
	near_place_doc(n, at);
	for (i = 0; i < 2; i++) {
		one = n->docs[at].beside[i];
		if (one != NEAR_NOBODY && !n->docs[one].is_summed)
			near_read_doc(n, one);
		side[i] = one == NEAR_NOBODY ? 0 : lend * n->docs[one].sum;
		if (own + side[0] + side[1] < bar)
			return false;
	}
	return true;
}

/* Of a document beside a seed that the filter lets through: its score, or less than 0 where it does not stand before
 * what follows the seeds, or has no word to show. */
static double score_beside(struct near_search *q, uint32_t at)
{
	struct index_near *n = q->n;
	uint64_t twice = near_text_of(n, at);
	double score = 0.5 * (double)twice * near_factor_of(n, at);
	uint64_t id = n->docs[at].s->ids[n->docs[at].doc];

	return twice > 0 && (!q->is_cut || is_before(score, id, &q->last)) ? score : -1;
}

/* A neighbour is active: so that none has expired, and all pass where nothing more is asked for. */
static bool passes(const struct near_search *q, uint32_t at)
{
	const struct near_doc *d = &q->n->docs[at];

	if (!narrows(q->n))
		return true;
	return !q->n->query->filter.only_expired && index_filter_document(&q->n->x->filter, d->s, d->doc);
}

/* Offers the hits, and their neighbours that are worth more than what follows the hits. */
static void offer_all(struct near_search *q)
{
	struct index_near *n = q->n;
	double floor = q->is_cut ? q->last.score : 0;
	uint32_t i;

	for (i = 0; i < q->seed_count; i++)
		if (n->docs[i].role == NEAR_HIT && can_reach(q, i, index_top_bar(&q->top)))
			offer(q, i, near_score_of(n, i));
	for (; i < q->beside_count && !n->x->filter.nothing; i++) {
		double bar = index_top_bar(&q->top), score;

		if (!passes(q, i) || !can_reach(q, i, bar > floor ? bar : floor))
			continue;
		score = score_beside(q, i);
		if (score < 0)
			continue;
		n->docs[i].role = NEAR_EXTRA;
		q->extra_count++;
		offer(q, i, score);
	}
}

/* What the page before ended with has moved since, as every document that comes or goes moves all scores a little: its
 * score of now counts, where it is still there and a hit. */
static void set_after(struct near_search *q)
{
	struct index_near *n = q->n;
	struct index_found one = {.id = n->query->after_id, .score = n->query->after_score * n->x->rank.scale};
	uint32_t where, at;
	double own, near;

	q->has_after = n->query->has_after;
	q->after = one;
	if (!q->has_after || !order_get(&n->ix->order, one.id, &where))
		return;
	at = near_doc_of(n, where);
	near = near_score_of(n, at);
	own = n->docs[at].sum * near_factor_of(n, at);
	if (n->docs[at].role == NEAR_HIT) {
		q->after.score = near;
	} else if (at >= q->seed_count && at < q->beside_count && passes(q, at) && score_beside(q, at) >= 0) {
		q->after.score = near;
	} else if (n->docs[at].sum > 0) {
		/* One that stands behind the seeds, or would be one of them had it not been hidden since. */
		q->after.score = q->is_cut && !is_before(own, one.id, &q->last) ? own : near;
	}
}

/* The best of the heap as hits, the best first; returns how many. */
static size_t list_head(struct near_search *q, struct index_hit *ret)
{
	size_t count = q->top.count;

	while (q->top.count > 0) {
		struct index_found worst = index_top_take(&q->top);

		ret[q->top.count] = near_hit_of(q->n, worst.sum);
	}
	return count;
}

/* Goes on behind the seeds, by own words alone, until there are k; returns how many there are then. */
static size_t list_rest(struct near_search *q, size_t count, struct index_hit *ret)
{
	struct index_near *n = q->n;
	struct index_query own = *n->query;
	struct index_found after = q->has_after && is_before(q->last.score, q->last.id, &q->after) ? q->after : q->last;
	size_t i, found, want;

	do {
		own.has_after = true;
		own.after_score = after.score / n->x->rank.scale;
		own.after_id = after.id;
		want = q->k - count + q->extra_count;
		want = want < INDEX_PAGE ? want : INDEX_PAGE;
		found = find_best(n, &own, want);
		for (i = 0; i < found && count < q->k; i++) {
			uint32_t at = near_doc_of(n, where_of(n, &n->found[i]));

			if (n->docs[at].role == NEAR_EXTRA)
				continue;
			ret[count] = near_hit_of(n, at);
			ret[count].text = ret[count].own;
			ret[count++].score = n->found[i].score / n->x->rank.scale;
		}
		if (found > 0)
			after = n->found[found - 1];
	} while (count < q->k && found == want);
	return count;
}

static size_t seeds_for(size_t k)
{
	if (k >= INDEX_PAGE)
		return INDEX_PAGE;
	return 3 * k < INDEX_NEAR_MIN ? INDEX_NEAR_MIN : 3 * k < INDEX_PAGE ? 3 * k : INDEX_PAGE;
}

size_t index_search_near(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
			 struct index_scratch *x, struct index_hit *ret)
{
	size_t count = seeds_for(query->first_k ? query->first_k : k), found;
	struct near_search q = {.n = near_begin(ix, query, now_ms, x), .top = {x->found, 0, k}, .k = k};

	assert(k <= INDEX_PAGE);
	if (k == 0)
		return 0;
	find_all_seeds(&q, count);
	if (q.seed_count == 0)
		return 0;
	near_set_words(q.n);
	place_seeds(&q);
	set_after(&q);
	offer_all(&q);
	found = list_head(&q, ret);
	return found < k && q.is_cut ? list_rest(&q, found, ret) : found;
}
