/* Documents together with their neighbours: see index_search_near in text/index.h.
 *
 * A search first finds the seeds, the best by their own words, and then looks at them and at who stands beside them. A
 * document's words are read from its forward list, once, and only where it can still be among the best: a seed's own
 * sum is known, and a document that is no seed is worth at most the worst seed.
 *
 * Worths are whole numbers of units of 1 / scale (text/index_rank.h), what is lent is rounded down to them, and the
 * parts of a relevance are whole numbers of units of 1 / GRAIN. So sums are the same in whatever order they are added,
 * and no history of the index shows in them.
 */
#include "text/index_near.h"

#include "base/mem.h"
#include "text/everyday.h"
#include "text/index_scratch.h"
#include "text/termbag.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define GRAIN 0x1p48

enum {
	STEPS_MAX = 16,		/* among which an active neighbour is looked for */
	NOBODY = UINT32_MAX,
};

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
	uint32_t beside[2];		/* before and after: positions in docs, or NOBODY (is_placed) */
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

void index_near_free(struct index_near *n)
{
	if (n == NULL)
		return;
	free(n->words);
	free(n->terms);
	free(n->docs);
	free(n->matches);
	free(n->slots);
	free(n);
}

/* --- The query ------------------------------------------------------------------------------------ */

static int compare_word(const void *a, const void *b)
{
	const struct near_word *x = a, *y = b;

	return x->term < y->term ? -1 : x->term > y->term;
}

/* What a term of the query says, were it in no document. */
static double meaning_of(const struct termbag *bag, size_t i)
{
	const struct termbag_term *t = &bag->terms[i];

	return t->share * (everyday_word(termbag_str(bag, i)) ? EVERYDAY_WEIGHT : 1);
}

static void add_total(struct index_near *n, uint8_t parts, double meaning)
{
	for (int i = 0; i < 2; i++)
		n->totals[i] += parts >> i & 1 ? meaning : 0;
}

static void set_words(struct index_near *n)
{
	const struct index_rank *r = &n->x->rank;
	const struct termbag *bag = n->query->terms;
	uint64_t documents = n->ix->live_docs + INDEX_BACKGROUND;
	double highest = score_idf(documents, 0);
	size_t i;

	if (r->term_count > n->word_cap) {
		n->word_cap = r->term_count + 64;
		n->words = mem_reallocarray(n->words, n->word_cap, sizeof(*n->words));
		n->terms = mem_reallocarray(n->terms, n->word_cap, sizeof(*n->terms));
	}
	n->totals[0] = n->totals[1] = 0;
	n->certainty = log(INDEX_USUAL) / log1p((double)n->ix->live_docs);
	for (i = 0; i < bag->term_count; i++)
		add_total(n, bag->terms[i].parts, meaning_of(bag, i));
	n->word_count = r->term_count;
	for (i = 0; i < r->term_count; i++) {
		const struct index_rank_term *t = &r->terms[i];
		double meaning = meaning_of(bag, t->bag_at);
		double idf = score_idf(documents, n->ix->terms.entries[t->term].holders);

		n->words[i] = (struct near_word){
			.term = t->term, .weight = t->weight, .rarity = meaning * idf / highest,
			.share = bag->terms[t->bag_at].share, .parts = bag->terms[t->bag_at].parts,
			 .full = t->weight / (n->ix->config.k1 + 1),
		};
		add_total(n, n->words[i].parts, n->words[i].rarity - meaning);
	}
	if (n->word_count > 1)
		qsort(n->words, n->word_count, sizeof(*n->words), compare_word);
	for (i = 0; i < n->word_count; i++)
		n->terms[i] = n->words[i].term;
	segment_want(&n->wanted, n->terms, n->word_count);
}

/* Begins with a query, and forgets the documents of the one before. Its words are set when x->rank is the query's. */
static struct index_near *begin(const struct index *ix, const struct index_query *query, int64_t now_ms,
				struct index_scratch *x)
{
	struct index_near *n = x->near ? x->near : mem_zalloc(sizeof(*n));

	x->near = n;
	n->ix = ix;
	n->query = query;
	n->x = x;
	n->now_ms = now_ms;
	if (n->slots)
		memset(n->slots, 0, n->slot_count * sizeof(*n->slots));
	n->doc_count = 0;
	n->match_count = 0;
	return n;
}

/* --- Documents ------------------------------------------------------------------------------------ */

static size_t slot_of(const struct index_near *n, uint32_t where)
{
	size_t at = where * UINT32_C(2654435761) & (n->slot_count - 1);

	while (n->slots[at] && n->docs[n->slots[at] - 1].where != where)
		at = (at + 1) & (n->slot_count - 1);
	return at;
}

/* Keeps the table at most half full. */
static void reserve_slot(struct index_near *n)
{
	uint32_t i;

	if (2 * (size_t)n->doc_count < n->slot_count)
		return;
	free(n->slots);
	n->slot_count = n->slot_count ? 2 * n->slot_count : 1024;
	n->slots = mem_calloc(n->slot_count, sizeof(*n->slots));
	for (i = 0; i < n->doc_count; i++)
		n->slots[slot_of(n, n->docs[i].where)] = i + 1;
}

static void prefetch_doc(const struct near_doc *d)
{
	mem_prefetch(d->s->forward_at + d->doc);
	mem_prefetch(d->s->lengths + d->doc);
	mem_prefetch(d->s->boosts + d->doc);
	mem_prefetch(d->s->created_ms + d->doc);
}

/* The position of the document, which may be new. */
static uint32_t doc_of(struct index_near *n, uint32_t where)
{
	size_t at;

	reserve_slot(n);
	at = slot_of(n, where);
	if (n->slots[at])
		return n->slots[at] - 1;
	if (n->doc_count == n->doc_cap) {
		n->doc_cap = n->doc_cap * 2 + 512;
		n->docs = mem_reallocarray(n->docs, n->doc_cap, sizeof(*n->docs));
	}
	n->docs[n->doc_count] = (struct near_doc){
		.s = n->ix->slots[where >> 16], .where = where, .doc = (uint16_t)where,
	};
	prefetch_doc(&n->docs[n->doc_count]);
	n->slots[at] = ++n->doc_count;
	return n->doc_count - 1;
}

/* Reads the words of the document. */
static void read_doc(struct index_near *n, uint32_t at)
{
	struct near_doc *d = &n->docs[at];
	struct index_scratch *x = n->x;
	size_t i, count;

	if (d->is_read)
		return;
	count = segment_matches(d->s, d->doc, &n->wanted, x->matches, x->counts);
	if (n->match_count + count > n->match_cap) {
		n->match_cap = n->match_cap * 2 + count + 4096;
		n->matches = mem_reallocarray(n->matches, n->match_cap, sizeof(*n->matches));
	}
	d->is_read = d->is_summed = true;
	d->from = (uint32_t)n->match_count;
	d->count = (uint32_t)count;
	d->sum = 0;
	for (i = 0; i < count; i++) {
		struct near_match *m = &n->matches[n->match_count++];

		m->word = x->matches[i];
		m->worth = index_rank_worth(&x->rank, n->words[m->word].weight, 1.0f / (float)x->counts[i],
					    d->s->lengths[d->doc]);
		d->sum += m->worth;
	}
}

static double factor_of(struct index_near *n, uint32_t at)
{
	struct near_doc *d = &n->docs[at];

	if (!d->is_weighed)
		d->factor = d->s->boosts[d->doc] + index_rank_recency(&n->x->rank, d->s->created_ms[d->doc]);
	d->is_weighed = true;
	return d->factor;
}

/* The next active document of the group, in that direction; NOBODY. */
static uint32_t step_aside(const struct index_near *n, struct order_place at, uint32_t group, bool forward)
{
	const struct order *groups = &n->ix->groups;
	int steps;

	for (steps = 0; steps < STEPS_MAX; steps++) {
		const struct segment *s;
		uint32_t where;

		if (!(forward ? order_next(groups, &at) : order_previous(groups, &at)) ||
		    order_key(groups, at) >> INDEX_ID_BITS != (group & 0xffffff))
			return NOBODY;
		where = order_value(groups, at);
		s = n->ix->slots[where >> 16];
		if (s->groups[(uint16_t)where] == group && segment_is_active(s, (uint16_t)where, n->now_ms))
			return where;
	}
	return NOBODY;
}

/* What was added one after the other stands side by side in a segment: where the next id is that of a document of the
 * same group, nobody can be in between. */
static bool is_next(const struct index_near *n, const struct near_doc *d, uint32_t next, uint64_t id)
{
	const struct segment *s = d->s;

	return next < s->doc_count && s->ids[next] == id && s->groups[next] == s->groups[d->doc] &&
	       segment_is_active(s, (uint16_t)next, n->now_ms);
}

/* Where the sides are that have not been found yet. */
static void find_beside(const struct index_near *n, const struct near_doc *d, uint32_t ret[2])
{
	uint64_t id = d->s->ids[d->doc];
	uint32_t group = d->s->groups[d->doc];
	struct order_place at;

	ret[0] = is_next(n, d, (uint32_t)d->doc - 1, id - 1) ? d->where - 1 : NOBODY;
	ret[1] = is_next(n, d, (uint32_t)d->doc + 1, id + 1) ? d->where + 1 : NOBODY;
	if ((ret[0] != NOBODY || d->is_placed[0]) && (ret[1] != NOBODY || d->is_placed[1]))
		return;
	if (!order_at_most(&n->ix->groups, index_group_key(group, id), &at))
		abort();
	if (ret[0] == NOBODY && !d->is_placed[0])
		ret[0] = step_aside(n, at, group, false);
	if (ret[1] == NOBODY && !d->is_placed[1])
		ret[1] = step_aside(n, at, group, true);
}

/* Finds who stands beside the document. An active document is beside those that are beside it. */
static void place_doc(struct index_near *n, uint32_t at)
{
	struct near_doc *d = &n->docs[at];
	uint32_t where[2], i;

	if (d->is_placed[0] && d->is_placed[1])
		return;
	find_beside(n, d, where);
	for (i = 0; i < 2; i++) {
		uint32_t one = NOBODY;

		d = &n->docs[at];
		if (d->is_placed[i])
			continue;
		if (where[i] != NOBODY)
			one = doc_of(n, where[i]);
		d = &n->docs[at];
		d->is_placed[i] = true;
		d->beside[i] = one;
		if (one == NOBODY)
			continue;
		if (segment_is_active(d->s, d->doc, n->now_ms)) {
			n->docs[one].is_placed[1 - i] = true;
			n->docs[one].beside[1 - i] = at;
		}
	}
}

static void prefetch_words(const struct near_doc *d)
{
	const uint8_t *p = d->s->forward + d->s->forward_at[d->doc];

	mem_prefetch(p);
	mem_prefetch(p + 64);
}

/* --- Rating --------------------------------------------------------------------------------------- */

/* How much of what its neighbours have for a term a document gets. */
static double lending(const struct index_near *n, const struct near_doc *d)
{
	return 0.5 * score_shortness(d->s->lengths[d->doc], n->ix->config.note_length);
}

static void read_with_neighbours(struct index_near *n, uint32_t at)
{
	int i;

	place_doc(n, at);
	read_doc(n, at);
	for (i = 0; i < 2; i++)
		if (n->docs[at].beside[i] != NOBODY)
			read_doc(n, n->docs[at].beside[i]);
}

/* Twice the text score, in units: of each word all that there is, and once more the best of it. */
static uint64_t text_of(struct index_near *n, uint32_t at)
{
	const struct near_doc *d;
	const struct near_match *m, *end;
	uint64_t twice;
	double lend;
	int i;

	read_with_neighbours(n, at);
	d = &n->docs[at];
	lend = lending(n, d);
	twice = 2 * (uint64_t)d->sum;
	for (m = n->matches + d->from, end = m + d->count; m < end; m++)
		n->best[m->word] = m->worth;
	for (i = 0; i < 2; i++) {
		if (d->beside[i] == NOBODY)
			continue;
		m = n->matches + n->docs[d->beside[i]].from;
		for (end = m + n->docs[d->beside[i]].count; m < end; m++) {
			uint32_t lent = (uint32_t)(lend * m->worth);

			twice += lent;
			if (lent > n->best[m->word]) {
				twice += lent - n->best[m->word];
				n->best[m->word] = lent;
			}
		}
	}
	for (m = n->matches + d->from, end = m + d->count; m < end; m++)
		n->best[m->word] = 0;
	for (i = 0; i < 2; i++) {
		if (d->beside[i] == NOBODY)
			continue;
		m = n->matches + n->docs[d->beside[i]].from;
		for (end = m + n->docs[d->beside[i]].count; m < end; m++)
			n->best[m->word] = 0;
	}
	return twice;
}

/* In units. */
static double score_of(struct index_near *n, uint32_t at)
{
	return 0.5 * (double)text_of(n, at) * factor_of(n, at);
}

/* Adds what the document has, times `lend`, to best and all. */
static void gather(struct index_near *n, const struct near_doc *d, double lend)
{
	const struct near_match *m = n->matches + d->from, *end = m + d->count;

	for (; m < end; m++) {
		uint32_t worth = (uint32_t)(lend * m->worth);

		n->best[m->word] = worth > n->best[m->word] ? worth : n->best[m->word];
		n->all[m->word] += worth;
	}
}

static uint64_t grains(double share, double part)
{
	return (uint64_t)(share * (part < 1 ? part : 1) * GRAIN);
}

/* What of the words of the query was found, by its parts, in grains. */
struct near_sums {
	uint64_t mass[2], found[2];
};

static void add_found(struct near_sums *sums, const struct near_word *w, uint64_t twice, uint32_t best)
{
	for (int i = 0; i < 2; i++) {
		if (!(w->parts >> i & 1))
			continue;
		sums->mass[i] += grains(w->rarity, 0.5 * (double)twice / w->full);
		sums->found[i] += grains(w->share, INDEX_FOUND * best / w->full);
	}
}

/* To the part that it is more relevant to. */
static double relevance_of(const struct index_near *n, const struct near_sums *sums)
{
	double most = 0;

	for (int i = 0; i < 2; i++) {
		double words = (double)sums->found[i] / GRAIN;
		double x = (double)sums->mass[i] / GRAIN / (1 + n->totals[i]) * words * words / 2 * n->certainty;

		most = x > most ? x : most;
	}
	return most / (1 + most);
}

/* Everything about a document. */
static struct index_hit hit_of(struct index_near *n, uint32_t at)
{
	double scale = n->x->rank.scale;
	struct near_sums sums = {0};
	uint64_t twice = 0;
	struct near_doc d;
	size_t i;

	read_with_neighbours(n, at);
	d = n->docs[at];
	gather(n, &d, 1);
	for (i = 0; i < 2; i++)
		if (d.beside[i] != NOBODY)
			gather(n, &n->docs[d.beside[i]], lending(n, &d));
	for (i = 0; i < n->word_count; i++) {
		uint64_t worth = n->all[i] + n->best[i];	/* twice as well */

		if (worth == 0)
			continue;
		twice += worth;
		add_found(&sums, &n->words[i], worth, n->best[i]);
		n->all[i] = n->best[i] = 0;
	}
	return (struct index_hit){
		.id = d.s->ids[d.doc],
		.score = 0.5 * (double)twice * factor_of(n, at) / scale,
		.own = d.sum / scale,
		.text = 0.5 * (double)twice / scale,
		.relevance = relevance_of(n, &sums),
	};
}

void index_rate(const struct index *ix, const struct index_query *query, int64_t now_ms, const uint64_t *ids,
		size_t count, struct index_scratch *x, struct index_hit *ret)
{
	struct index_near *n;
	size_t i;

	index_rank_prepare(&x->rank, ix, query, now_ms);
	n = begin(ix, query, now_ms, x);
	set_words(n);
	for (i = 0; i < count; i++) {
		uint32_t where;

		ret[i] = (struct index_hit){.id = ids[i]};
		if (order_get(&ix->order, ids[i], &where))
			ret[i] = hit_of(n, doc_of(n, where));
	}
}

/* --- Searching ------------------------------------------------------------------------------------ */

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
		uint32_t at = doc_of(n, where_of(n, &n->found[i]));
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
		place_doc(n, i);
	q->beside_count = n->doc_count;
	for (i = 0; i < q->beside_count; i++)
		prefetch_words(&n->docs[i]);
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

	if (at == NOBODY)
		return 0;
	if (q->n->docs[at].is_summed)
		return q->n->docs[at].sum;
	if (!q->has_more)
		return 0;
	factor = factor_of(q->n, at);
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
	double factor = factor_of(n, at) * (1 + 1e-9), lend = factor * lending(n, &n->docs[at]);
	double own = factor * most_of(q, at), side[2] = {lend * most_beside(q, at, 0), lend * most_beside(q, at, 1)};
	uint32_t i, one;

	if (own + side[0] + side[1] < bar)
		return false;
	if (!n->docs[at].is_summed) {
		read_doc(n, at);
		own = factor * n->docs[at].sum;
		if (own + side[0] + side[1] < bar)
			return false;
	}
	place_doc(n, at);
	for (i = 0; i < 2; i++) {
		one = n->docs[at].beside[i];
		if (one != NOBODY && !n->docs[one].is_summed)
			read_doc(n, one);
		side[i] = one == NOBODY ? 0 : lend * n->docs[one].sum;
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
	uint64_t twice = text_of(n, at);
	double score = 0.5 * (double)twice * factor_of(n, at);
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
			offer(q, i, score_of(n, i));
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
	at = doc_of(n, where);
	near = score_of(n, at);
	own = n->docs[at].sum * factor_of(n, at);
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

		ret[q->top.count] = hit_of(q->n, worst.sum);
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
			uint32_t at = doc_of(n, where_of(n, &n->found[i]));

			if (n->docs[at].role == NEAR_EXTRA)
				continue;
			ret[count] = hit_of(n, at);
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
	struct near_search q = {.n = begin(ix, query, now_ms, x), .top = {x->found, 0, k}, .k = k};

	assert(k <= INDEX_PAGE);
	if (k == 0)
		return 0;
	find_all_seeds(&q, count);
	if (q.seed_count == 0)
		return 0;
	set_words(q.n);
	place_seeds(&q);
	set_after(&q);
	offer_all(&q);
	found = list_head(&q, ret);
	return found < k && q.is_cut ? list_rest(&q, found, ret) : found;
}
