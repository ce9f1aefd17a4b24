/* The words of a query, and the documents that a search with neighbours looks at: who stands beside whom, and which
 * words each has. */
#include "text/index_near_internal.h"

#include "base/mem.h"
#include "text/everyday.h"
#include "text/termbag.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { STEPS_MAX = 16 };	/* among which an active neighbour is looked for */

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

void near_set_words(struct index_near *n)
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
struct index_near *near_begin(const struct index *ix, const struct index_query *query, int64_t now_ms,
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
uint32_t near_doc_of(struct index_near *n, uint32_t where)
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
void near_read_doc(struct index_near *n, uint32_t at)
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

double near_factor_of(struct index_near *n, uint32_t at)
{
	struct near_doc *d = &n->docs[at];

	if (!d->is_weighed)
		d->factor = d->s->boosts[d->doc] + index_rank_recency(&n->x->rank, d->s->created_ms[d->doc]);
	d->is_weighed = true;
	return d->factor;
}

/* The next active document of the group, in that direction; NEAR_NOBODY. */
static uint32_t step_aside(const struct index_near *n, struct order_place at, uint32_t group, bool forward)
{
	const struct order *groups = &n->ix->groups;
	int steps;

	for (steps = 0; steps < STEPS_MAX; steps++) {
		const struct segment *s;
		uint32_t where;

		if (!(forward ? order_next(groups, &at) : order_previous(groups, &at)) ||
		    order_key(groups, at) >> INDEX_ID_BITS != (group & 0xffffff))
			return NEAR_NOBODY;
		where = order_value(groups, at);
		s = n->ix->slots[where >> 16];
		if (s->groups[(uint16_t)where] == group && segment_is_active(s, (uint16_t)where, n->now_ms))
			return where;
	}
	return NEAR_NOBODY;
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

	ret[0] = is_next(n, d, (uint32_t)d->doc - 1, id - 1) ? d->where - 1 : NEAR_NOBODY;
	ret[1] = is_next(n, d, (uint32_t)d->doc + 1, id + 1) ? d->where + 1 : NEAR_NOBODY;
	if ((ret[0] != NEAR_NOBODY || d->is_placed[0]) && (ret[1] != NEAR_NOBODY || d->is_placed[1]))
		return;
	if (!order_at_most(&n->ix->groups, index_group_key(group, id), &at))
		abort();
	if (ret[0] == NEAR_NOBODY && !d->is_placed[0])
		ret[0] = step_aside(n, at, group, false);
	if (ret[1] == NEAR_NOBODY && !d->is_placed[1])
		ret[1] = step_aside(n, at, group, true);
}

/* Finds who stands beside the document. An active document is beside those that are beside it. */
void near_place_doc(struct index_near *n, uint32_t at)
{
	struct near_doc *d = &n->docs[at];
	uint32_t where[2], i;

	if (d->is_placed[0] && d->is_placed[1])
		return;
	find_beside(n, d, where);
	for (i = 0; i < 2; i++) {
		uint32_t one = NEAR_NOBODY;

		d = &n->docs[at];
		if (d->is_placed[i])
			continue;
		if (where[i] != NEAR_NOBODY)
			one = near_doc_of(n, where[i]);
		d = &n->docs[at];
		d->is_placed[i] = true;
		d->beside[i] = one;
		if (one == NEAR_NOBODY)
			continue;
		if (segment_is_active(d->s, d->doc, n->now_ms)) {
			n->docs[one].is_placed[1 - i] = true;
			n->docs[one].beside[1 - i] = at;
		}
	}
}

void near_prefetch_words(const struct near_doc *d)
{
	const uint8_t *p = d->s->forward + d->s->forward_at[d->doc];

	mem_prefetch(p);
	mem_prefetch(p + 64);
}
