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
#include "text/index_near_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define GRAIN 0x1p48

/* How much of what its neighbours have for a term a document gets at most. */
double near_lending(const struct index_near *n, const struct near_doc *d)
{
	return 0.5 * score_shortness(d->s->lengths[d->doc], n->ix->config.note_length);
}

/* The same of one of them: what was stored in another hour belongs less to it. */
static double lends(const struct index_near *n, const struct near_doc *d, uint32_t beside)
{
	const struct near_doc *lender = &n->docs[beside];
	double apart_ms = fabs((double)d->s->created_ms[d->doc] - (double)lender->s->created_ms[lender->doc]);

	return near_lending(n, d) * (apart_ms > 0 ? exp2(-apart_ms / INDEX_NEAR_MS) : 1);
}

static void read_with_neighbours(struct index_near *n, uint32_t at)
{
	int i;

	near_place_doc(n, at);
	near_read_doc(n, at);
	for (i = 0; i < 2; i++)
		if (n->docs[at].beside[i] != NEAR_NOBODY)
			near_read_doc(n, n->docs[at].beside[i]);
}

/* Twice the text score, in units: of each word all that there is, and once more the best of it. */
uint64_t near_text_of(struct index_near *n, uint32_t at)
{
	const struct near_doc *d;
	const struct near_match *m, *end;
	uint64_t twice;
	int i;

	read_with_neighbours(n, at);
	d = &n->docs[at];
	twice = 2 * (uint64_t)d->sum;
	for (m = n->matches + d->from, end = m + d->count; m < end; m++)
		n->best[m->word] = m->worth;
	for (i = 0; i < 2; i++) {
		double lend;

		if (d->beside[i] == NEAR_NOBODY)
			continue;
		lend = lends(n, d, d->beside[i]);
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
		if (d->beside[i] == NEAR_NOBODY)
			continue;
		m = n->matches + n->docs[d->beside[i]].from;
		for (end = m + n->docs[d->beside[i]].count; m < end; m++)
			n->best[m->word] = 0;
	}
	return twice;
}

/* In units. */
double near_score_of(struct index_near *n, uint32_t at)
{
	return 0.5 * (double)near_text_of(n, at) * near_factor_of(n, at);
}

/* Adds what the document has, times `lend`, to best and all. */
static void gather(struct index_near *n, const struct near_doc *d, double lend)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct near_match *m = &n->matches[d->from + i];
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
struct index_hit near_hit_of(struct index_near *n, uint32_t at)
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
		if (d.beside[i] != NEAR_NOBODY)
			gather(n, &n->docs[d.beside[i]], lends(n, &d, d.beside[i]));
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
		.score = 0.5 * (double)twice * near_factor_of(n, at) / scale,
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
	n = near_begin(ix, query, now_ms, x);
	near_set_words(n);
	for (i = 0; i < count; i++) {
		uint32_t where;

		ret[i] = (struct index_hit){.id = ids[i]};
		if (order_get(&ix->order, ids[i], &where))
			ret[i] = near_hit_of(n, near_doc_of(n, where));
	}
}
