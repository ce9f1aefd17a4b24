/* Documents together with their neighbours: see index_search_near in text/index.h.
 *
 * The terms that a document has are read from its forward list, once for each document of a search: seeds, their
 * neighbours, and the neighbours of those neighbours that may still be among the best. A neighbour that is no seed is
 * worth at most the worst seed; so most are ruled out before anything of them is read.
 */
#include "text/index_near.h"

#include "base/mem.h"
#include "text/everyday.h"
#include "text/index_scratch.h"
#include "text/termbag.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
	STEPS_MAX = 16,		/* that a neighbour is looked for among inactive documents */
	NO_DOC = UINT32_MAX,
};

/* A term of the query. */
struct near_word {
	uint32_t term;
	float weight;		/* index_rank_term's */
	double full;		/* worth of one occurrence in a text of average length */
	double share;		/* of a word */
	double rarity;		/* what it says: share * idf over the highest */
};

/* A term in a document: a position in words, and its worth. */
struct near_match {
	uint32_t word;
	uint32_t worth;
};

/* A document that was read. */
struct near_doc {
	uint32_t where;		/* as in index.order */
	uint32_t from, count;	/* its matches */
	uint32_t sum;		/* of their worths */
};

/* A document and who stands beside it. */
struct near_place {
	const struct segment *s;
	uint32_t where;
	uint32_t beside[2];		/* before and after; NO_DOC: nobody */
	uint16_t doc;
	bool is_hit;			/* found by its own words, and passes the filter */
};

struct index_near {
	const struct index *ix;
	const struct index_query *query;
	struct index_scratch *x;
	int64_t now_ms;
	double total;			/* weight of all words of the query */

	struct near_word *words;	/* ascending by term */
	size_t word_count;
	size_t word_cap;
	uint32_t *terms;		/* of the words */
	struct near_doc *docs;
	size_t doc_count;
	size_t doc_cap;
	struct near_match *matches;
	size_t match_count;
	size_t match_cap;
	uint32_t *slots;		/* hash table of 1 + position in docs; 0 is free */
	size_t slot_count;		/* a power of two */
	/* Of a search: */
	size_t room;			/* how many are looked for by their own words; what follows has a multiple of it */
	struct index_hit *hits;
	uint64_t *ids, *extra;
	struct near_place *places, *others;
};


struct near_rating {
	double own, text;		/* in units of 1 / scale */
	double factor;			/* boost and recency */
	double mass;			/* weight of the words that were found */
	double found;			/* how many */
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
	free(n->hits);
	free(n->ids);
	free(n->extra);
	free(n->places);
	free(n->others);
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
	return bag->terms[i].share * (everyday_word(termbag_str(bag, i)) ? EVERYDAY_WEIGHT : 1);
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
	n->total = 0;
	for (i = 0; i < bag->term_count; i++)
		n->total += meaning_of(bag, i);
	n->word_count = r->term_count;
	for (i = 0; i < r->term_count; i++) {
		const struct index_rank_term *t = &r->terms[i];
		double meaning = meaning_of(bag, t->bag_at);
		double idf = score_idf(documents, n->ix->terms.entries[t->term].holders);

		n->words[i] = (struct near_word){
			.term = t->term, .weight = t->weight, .rarity = meaning * idf / highest,
			.share = bag->terms[t->bag_at].share, .full = t->weight / (n->ix->config.k1 + 1),
		};
		n->total -= meaning - n->words[i].rarity;
	}
	qsort(n->words, n->word_count, sizeof(*n->words), compare_word);
	for (i = 0; i < n->word_count; i++)
		n->terms[i] = n->words[i].term;
}

/* Forgets the documents of the search before. */
static void forget_docs(struct index_near *n)
{
	if (n->slots)
		memset(n->slots, 0, n->slot_count * sizeof(*n->slots));
	n->doc_count = n->match_count = 0;
}

/* Begins with a query; its words are set when x->rank is the query's. */
static struct index_near *begin(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t room,
				struct index_scratch *x)
{
	struct index_near *n = x->near ? x->near : mem_zalloc(sizeof(*n));

	x->near = n;
	n->ix = ix;
	n->query = query;
	n->x = x;
	n->now_ms = now_ms;
	forget_docs(n);
	if (room > n->room) {
		n->room = room;
		n->hits = mem_reallocarray(n->hits, room, sizeof(*n->hits));
		n->ids = mem_reallocarray(n->ids, room, sizeof(*n->ids));
		n->extra = mem_reallocarray(n->extra, 4 * room, sizeof(*n->extra));
		n->places = mem_reallocarray(n->places, 2 * room, sizeof(*n->places));
		n->others = mem_reallocarray(n->others, 4 * room, sizeof(*n->others));
	}
	return n;
}

/* --- Reading documents ---------------------------------------------------------------------------- */

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
	size_t i;

	if (2 * n->doc_count < n->slot_count)
		return;
	free(n->slots);
	n->slot_count = n->slot_count ? 2 * n->slot_count : 512;
	n->slots = mem_calloc(n->slot_count, sizeof(*n->slots));
	for (i = 0; i < n->doc_count; i++)
		n->slots[slot_of(n, n->docs[i].where)] = (uint32_t)i + 1;
}

static void read_matches(struct index_near *n, struct near_doc *d)
{
	const struct segment *s = n->ix->slots[d->where >> 16];
	struct index_scratch *x = n->x;
	uint16_t doc = (uint16_t)d->where;
	size_t i, count = segment_matches(s, doc, n->terms, n->word_count, x->matches, x->counts);

	if (n->match_count + count > n->match_cap) {
		n->match_cap = n->match_cap * 2 + count + 1024;
		n->matches = mem_reallocarray(n->matches, n->match_cap, sizeof(*n->matches));
	}
	d->from = (uint32_t)n->match_count;
	d->count = (uint32_t)count;
	for (i = 0; i < count; i++) {
		struct near_match *m = &n->matches[n->match_count++];

		m->word = x->matches[i];
		m->worth = index_rank_worth(&x->rank, n->words[m->word].weight, 1.0f / (float)x->counts[i],
					    s->lengths[doc]);
		d->sum += m->worth;
	}
}

/* The document, which is read where that was not done. Borrowed until the next call. */
static const struct near_doc *doc_of(struct index_near *n, uint32_t where)
{
	static const struct near_doc nobody;
	size_t at;

	if (where == NO_DOC)
		return &nobody;
	reserve_slot(n);
	at = slot_of(n, where);
	if (n->slots[at] == 0) {
		if (n->doc_count == n->doc_cap) {
			n->doc_cap = n->doc_cap * 2 + 256;
			n->docs = mem_reallocarray(n->docs, n->doc_cap, sizeof(*n->docs));
		}
		n->docs[n->doc_count] = (struct near_doc){.where = where};
		read_matches(n, &n->docs[n->doc_count]);
		n->slots[at] = (uint32_t)++n->doc_count;
	}
	return &n->docs[n->slots[at] - 1];
}

/* The next active document of the group, in that direction. */
static uint32_t beside(const struct index_near *n, struct order_place at, uint32_t group, bool forward)
{
	int steps;

	for (steps = 0; steps < STEPS_MAX; steps++) {
		const struct segment *s;
		uint32_t where;

		if (!(forward ? order_next(&n->ix->groups, &at) : order_previous(&n->ix->groups, &at)) ||
		    order_key(&n->ix->groups, at) >> INDEX_ID_BITS != (group & 0xffffff))
			return NO_DOC;
		where = order_value(&n->ix->groups, at);
		s = n->ix->slots[where >> 16];
		if (s->groups[(uint16_t)where] == group && segment_is_active(s, (uint16_t)where, n->now_ms))
			return where;
	}
	return NO_DOC;
}

static struct near_place place_of(const struct index_near *n, uint32_t where)
{
	const struct segment *s = n->ix->slots[where >> 16];
	struct near_place p = {.s = s, .doc = (uint16_t)where, .where = where};
	uint32_t group = s->groups[p.doc];
	struct order_place at;

	if (!order_at_most(&n->ix->groups, index_group_key(group, s->ids[p.doc]), &at))
		abort();
	p.beside[0] = beside(n, at, group, false);
	p.beside[1] = beside(n, at, group, true);
	return p;
}

static void prefetch(const struct index_near *n, uint32_t where)
{
	const struct segment *s;

	if (where == NO_DOC)
		return;
	s = n->ix->slots[where >> 16];
	mem_prefetch(s->forward + s->forward_at[(uint16_t)where]);
}

/* --- Rating --------------------------------------------------------------------------------------- */

static double factor_of(const struct index_near *n, uint32_t where)
{
	const struct segment *s = n->ix->slots[where >> 16];
	uint16_t doc = (uint16_t)where;

	return s->boosts[doc] + index_rank_recency(&n->x->rank, s->created_ms[doc]);
}

/* How much of what its neighbours have for a term a document gets. */
static double lending(const struct index_near *n, const struct near_place *p)
{
	return 0.5 * score_shortness(p->s->lengths[p->doc], n->ix->config.note_length);
}

/* The worth of a word at the front of the list, which then moves on; 0 where the document does not have it. */
static double take_word(const struct index_near *n, const struct near_doc *d, uint32_t *at, uint32_t word)
{
	if (*at == d->count || n->matches[d->from + *at].word != word)
		return 0;
	return n->matches[d->from + (*at)++].worth;
}

static uint32_t front_word(const struct index_near *n, const struct near_doc *d, uint32_t at, uint32_t word)
{
	return at < d->count && n->matches[d->from + at].word < word ? n->matches[d->from + at].word : word;
}

static void add_word(const struct near_word *w, double own, double before, double after, struct near_rating *r)
{
	double lent = before > after ? before : after, best = own > lent ? own : lent;
	double worth = best + 0.5 * (own + before + after - best);

	r->own += own;
	r->text += worth;
	r->mass += w->rarity * (worth < w->full ? worth / w->full : 1);
	r->found += w->share * (2 * best < w->full ? 2 * best / w->full : 1);
}

static struct near_rating rate(struct index_near *n, const struct near_place *p)
{
	struct near_rating r = {.factor = factor_of(n, p->where)};
	struct near_doc own = *doc_of(n, p->where), before = *doc_of(n, p->beside[0]), after = *doc_of(n, p->beside[1]);
	uint32_t i = 0, j = 0, k = 0, word;
	double lend = lending(n, p);

	for (;;) {
		double mine;

		word = front_word(n, &own, i, front_word(n, &before, j, front_word(n, &after, k, UINT32_MAX)));
		if (word == UINT32_MAX)
			break;
		mine = take_word(n, &own, &i, word);
		add_word(&n->words[word], mine, lend * take_word(n, &before, &j, word),
			 lend * take_word(n, &after, &k, word), &r);
	}
	return r;
}

static struct index_hit hit_of(const struct index_near *n, const struct near_place *p, const struct near_rating *r)
{
	double x = r->mass / (1 + n->total) * r->found * r->found / 2, scale = n->x->rank.scale;

	return (struct index_hit){
		.id = p->s->ids[p->doc],
		.score = r->text * r->factor / scale,
		.own = r->own / scale,
		.text = r->text / scale,
		.relevance = x / (1 + x),
	};
}

static double score_of(struct index_near *n, const struct near_place *p)
{
	struct near_rating r = rate(n, p);

	return r.text * r.factor / n->x->rank.scale;
}

/* Most that a neighbour can lend whose words may not have been read: no more than `score`, by its own words. */
static double most_of(const struct index_near *n, uint32_t where, double score)
{
	size_t at;
	double factor;

	if (where == NO_DOC)
		return 0;
	at = slot_of(n, where);
	if (n->slots[at])
		return n->docs[n->slots[at] - 1].sum;
	factor = factor_of(n, where);
	return factor > 0 ? score / factor : INFINITY;
}

void index_rate(const struct index *ix, const struct index_query *query, int64_t now_ms, const uint64_t *ids,
		size_t count, struct index_scratch *x, struct index_hit *ret)
{
	struct index_near *n;
	size_t i;

	index_rank_prepare(&x->rank, ix, query, now_ms);
	n = begin(ix, query, now_ms, 0, x);
	set_words(n);
	for (i = 0; i < count; i++) {
		struct near_place place;
		struct near_rating rating;
		uint32_t where;

		ret[i] = (struct index_hit){.id = ids[i]};
		if (!order_get(&ix->order, ids[i], &where))
			continue;
		place = place_of(n, where);
		rating = rate(n, &place);
		ret[i] = hit_of(n, &place, &rating);
	}
}

/* --- Searching ------------------------------------------------------------------------------------ */

struct near_search {
	struct index_near *n;
	struct index_top top;
	size_t k;
	size_t place_count;		/* of n->places: the best by their own words, ascending by where */
	bool is_cut;			/* there may be more than those */
	struct index_hit last;		/* then: the worst of them */
	double unread;			/* what a document that is not among them scores at most by its own words */
	bool has_after;
	double after_score;
	size_t extra_count;		/* of n->extra: ids of neighbours that stand before what follows the best */
};

static int compare_where(const void *a, const void *b)
{
	const struct near_place *x = a, *y = b;

	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	return y->is_hit - x->is_hit;
}

/* Leaves each place once; where one of several is a hit, that one. */
static size_t sort_places(struct near_place *places, size_t count)
{
	size_t i, kept = 0;

	qsort(places, count, sizeof(*places), compare_where);
	for (i = 0; i < count; i++)
		if (kept == 0 || places[i].where != places[kept - 1].where)
			places[kept++] = places[i];
	return kept;
}

/* Searches by own words for up to `count`, and notes where they are. Sets unread. */
static size_t find_seeds(struct near_search *q, const struct index_query *query, size_t count, bool is_hit)
{
	struct index_near *n = q->n;
	size_t i, found = index_search(n->ix, query, n->now_ms, count, n->x, n->hits);

	for (i = 0; i < found; i++) {
		struct near_place *p = &n->places[q->place_count++];

		*p = (struct near_place){.is_hit = is_hit};
		if (!order_get(&n->ix->order, n->hits[i].id, &p->where))
			abort();
	}
	q->unread = found == count ? n->hits[found - 1].score : 0;
	return found;
}

/* The best by their own words. Where the filter may part neighbours, the best without it, too: they are no hits, but
 * their neighbours may be. */
static void find_all_seeds(struct near_search *q, size_t count)
{
	struct index_near *n = q->n;
	struct index_query own = *n->query;
	size_t found;

	own.has_after = false;
	found = find_seeds(q, &own, count, true);
	q->is_cut = found == count;
	if (q->is_cut)
		q->last = n->hits[found - 1];
	if (n->x->filter.narrows && !own.is_of_groups) {
		own.filter = index_filter_any();
		find_seeds(q, &own, count, false);
		index_filter_prepare(&n->x->filter, n->ix, &n->query->filter, n->now_ms);
	}
	q->place_count = sort_places(n->places, q->place_count);
}

/* Finds who stands beside the places. Their words are fetched while the others are looked for. */
static void find_beside(struct index_near *n, struct near_place *places, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		bool is_hit = places[i].is_hit;

		places[i] = place_of(n, places[i].where);
		places[i].is_hit = is_hit;
		prefetch(n, places[i].where);
		prefetch(n, places[i].beside[0]);
		prefetch(n, places[i].beside[1]);
	}
}

static bool is_after(const struct near_search *q, double score, uint64_t id)
{
	return !q->has_after || score < q->after_score ||
	       (score == q->after_score && id < q->n->query->after_id);
}

static void offer(struct near_search *q, const struct near_place *p, double score)
{
	struct index_found one = {
		.score = score, .id = p->s->ids[p->doc],
		.part = (uint16_t)(p->where >> 16), .doc = p->doc,
	};

	if (one.score > 0 && is_after(q, one.score, one.id))
		index_top_offer(&q->top, one);
}

static bool has_place(const struct near_place *places, size_t count, uint32_t where)
{
	size_t low = 0;

	while (count > 0) {
		size_t half = count / 2;

		if (places[low + half].where < where) {
			low += half + 1;
			count -= half + 1;
		} else {
			if (places[low + half].where == where)
				return true;
			count = half;
		}
	}
	return false;
}

/* Notes the neighbours of the places that are not among them, in others; returns how many. */
static size_t find_others(const struct near_place *places, size_t count, struct near_place *others)
{
	size_t i, j, n = 0;

	for (i = 0; i < count; i++)
		for (j = 0; j < 2; j++) {
			struct near_place key = {.where = places[i].beside[j]};

			if (key.where == NO_DOC)
				continue;
			if (!has_place(places, count, key.where))
				others[n++] = key;
		}
	return sort_places(others, n);
}

/* Whether a neighbour passes the filter and can reach `bar`. */
static bool is_wanted(const struct near_search *q, const struct near_place *p, double bar)
{
	struct index_near *n = q->n;
	double unread = q->unread * n->x->rank.scale, most = doc_of(n, p->where)->sum;

	most += lending(n, p) * (most_of(n, p->beside[0], unread) + most_of(n, p->beside[1], unread));
	return most * factor_of(n, p->where) >= bar * n->x->rank.scale * (1 - 1e-9) &&
	       index_filter_document(&n->x->filter, p->s, p->doc) &&
	       (n->query->filter.include_expired || segment_is_active(p->s, p->doc, n->now_ms)) &&
	       !(n->query->filter.only_expired && segment_is_active(p->s, p->doc, n->now_ms));
}

/* Offers the hits, and their neighbours that are worth more than what follows the hits. */
static void offer_all(struct near_search *q)
{
	struct index_near *n = q->n;
	double floor = q->is_cut ? q->last.score : 0;
	size_t i, count;

	for (i = 0; i < q->place_count; i++)
		if (n->places[i].is_hit)
			offer(q, &n->places[i], score_of(n, &n->places[i]));
	count = find_others(n->places, q->place_count, n->others);
	find_beside(n, n->others, count);
	for (i = 0; i < count; i++) {
		const struct near_place *p = &n->others[i];
		double bar = index_top_bar(&q->top), score;

		if (!is_wanted(q, p, bar > floor ? bar : floor))
			continue;
		score = score_of(n, p);
		if (score < floor)
			continue;
		n->extra[q->extra_count++] = p->s->ids[p->doc];
		offer(q, p, score);
	}
}

static bool is_extra(const struct near_search *q, uint64_t id)
{
	size_t i;

	for (i = 0; i < q->extra_count; i++)
		if (q->n->extra[i] == id)
			return true;
	return false;
}

/* What the page before ended with has moved since, as every document that comes or goes moves all scores a little: its
 * score of now counts, where it is still there. */
static void set_after(struct near_search *q)
{
	struct index_near *n = q->n;
	struct near_place p;
	struct near_rating r;
	struct index_hit hit;
	uint32_t where;

	q->has_after = n->query->has_after;
	q->after_score = n->query->after_score;
	if (!q->has_after || !order_get(&n->ix->order, n->query->after_id, &where))
		return;
	p = place_of(n, where);
	r = rate(n, &p);
	hit = hit_of(n, &p, &r);
	if (q->is_cut && (hit.score < q->last.score || (hit.score == q->last.score && hit.id < q->last.id)))
		hit.score = hit.own * r.factor;
	if (hit.score > 0)
		q->after_score = hit.score;
}

/* The best of the heap as hits, the best first; returns how many. */
static size_t list_head(struct near_search *q, struct index_hit *ret)
{
	size_t count = q->top.count;

	while (q->top.count > 0) {
		struct index_found worst = index_top_take(&q->top);
		struct near_place p = place_of(q->n, (uint32_t)worst.part << 16 | worst.doc);
		struct near_rating r = rate(q->n, &p);

		ret[q->top.count] = hit_of(q->n, &p, &r);
	}
	return count;
}

/* Goes on behind the best, by own words alone, until there are k; returns how many there are then. */
static size_t list_rest(struct near_search *q, size_t count, struct index_hit *ret)
{
	struct index_near *n = q->n;
	struct index_query own = *n->query;
	bool is_behind = q->has_after && (q->after_score < q->last.score ||
					  (q->after_score == q->last.score && own.after_id < q->last.id));
	size_t i, found, want = q->k - count + q->extra_count, from = count;

	own.has_after = true;
	own.after_score = is_behind ? q->after_score : q->last.score;
	own.after_id = is_behind ? own.after_id : q->last.id;
	found = index_search(n->ix, &own, n->now_ms, want < n->room ? want : n->room, n->x, n->hits);
	for (i = 0; i < found && count < q->k; i++)
		if (!is_extra(q, n->hits[i].id))
			ret[count++] = n->hits[i];
	for (i = from; i < count; i++)
		n->ids[i - from] = ret[i].id;
	index_rate(n->ix, n->query, n->now_ms, n->ids, count - from, n->x, n->hits);
	for (i = from; i < count; i++) {
		ret[i].own = ret[i].text = n->hits[i - from].own;
		ret[i].relevance = n->hits[i - from].relevance;
	}
	return count;
}

size_t index_search_near(const struct index *ix, const struct index_query *query, int64_t now_ms, size_t k,
			 struct index_scratch *x, struct index_hit *ret)
{
	size_t count = 3 * k < INDEX_NEAR_MIN ? INDEX_NEAR_MIN : 3 * k < INDEX_PAGE ? 3 * k : INDEX_PAGE, found;
	struct near_search q = {.n = begin(ix, query, now_ms, count, x), .top = {x->found, 0, k}, .k = k};

	assert(k <= INDEX_PAGE);
	if (k == 0)
		return 0;
	find_all_seeds(&q, count);
	if (q.place_count == 0)
		return 0;
	set_words(q.n);
	find_beside(q.n, q.n->places, q.place_count);
	set_after(&q);
	offer_all(&q);
	found = list_head(&q, ret);
	return found < k && q.is_cut ? list_rest(&q, found, ret) : found;
}
