/* What index_search_near and index_rate promise, in the plainest way: every document is rated with its neighbours, and
 * the list is put together from that.
 */
#ifndef SPINE_TESTS_INDEX_NEAR_MODEL_H
#define SPINE_TESTS_INDEX_NEAR_MODEL_H

#include "index_model.h"

enum { MODEL_STEPS = 16 };	/* documents among which a neighbour is looked for */

static const double MODEL_NOTE = 24;

/* A query over all documents of the model, each of which has the position that it has there. */
struct near_model {
	struct model *m;
	const struct index_query *q;
	struct model_scorer s;
	uint32_t *worths;		/* of each document, of each term */
	double *lengths;
	struct index_hit *rated;	/* of each document */
	double *factors;
};

static inline bool near_model_is_active(const struct model *m, const struct model_doc *d)
{
	return !d->hidden && d->expires_ms > m->now_ms;
}

/* The position of the next document of the group with a higher (or lower) id; -1: none. */
static inline int near_model_next(const struct model *m, int group, uint64_t id, bool higher)
{
	int best = -1;
	size_t i;

	for (i = 0; i < m->count; i++) {
		const struct model_doc *d = &m->docs[i];

		if (d->group != group || (higher ? d->id <= id : d->id >= id))
			continue;
		if (best < 0 || (higher ? d->id < m->docs[best].id : d->id > m->docs[best].id))
			best = (int)i;
	}
	return best;
}

/* The active neighbour on one side; -1: none. */
static inline int near_model_beside(const struct model *m, size_t at, bool higher)
{
	uint64_t id = m->docs[at].id;
	int steps, next;

	for (steps = 0; steps < MODEL_STEPS; steps++) {
		next = near_model_next(m, m->docs[at].group, id, higher);
		if (next < 0 || near_model_is_active(m, &m->docs[next]))
			return next;
		id = m->docs[next].id;
	}
	return -1;
}

static inline void near_model_read(struct near_model *x, size_t at)
{
	double note = MODEL_NOTE * pow(fmin(1, MODEL_NOTE / x->s.average_length), 2);
	double steep = 1.2 * 0.75 / (x->s.average_length + note);
	float base = (float)(1.2 * 0.25 + steep * note), slope = (float)steep, length;
	const struct termbag *terms = x->q->terms;
	size_t t;

	model_analyze(x->m, &x->m->docs[at]);
	length = (float)x->m->other.length;
	x->lengths[at] = length;
	for (t = 0; t < terms->term_count; t++) {
		uint32_t count = model_count_of(&x->m->other, terms, t);
		float weight = (float)(model_weight(x->m, &x->s, terms, t) * 2.2 * x->s.scale);

		if (count > 0)
			x->worths[at * terms->term_count + t] =
				1 + (uint32_t)(int32_t)(weight / (1 + (base + slope * length) * (1.0f / (float)count)));
	}
}

static inline uint32_t near_model_worth(const struct near_model *x, int at, size_t t)
{
	return at < 0 ? 0 : x->worths[(size_t)at * x->q->terms->term_count + t];
}

/* Weight of a term in the relevance: its idf over that of a word that no document has. */
static inline double near_model_rarity(const struct near_model *x, size_t t)
{
	double documents = (double)x->m->count + INDEX_BACKGROUND, holders = x->s.holders[t];

	return x->q->terms->terms[t].share * log1p((documents - holders + 0.5) / (holders + 0.5)) /
	       log1p((documents + 0.5) / 0.5);
}

/* Half for each hour between the two. */
static inline double near_model_closeness(const struct near_model *x, size_t at, int other)
{
	if (other < 0)
		return 0;
	return exp2(-fabs((double)x->m->docs[at].created_ms - (double)x->m->docs[other].created_ms) / 3600000);
}

/* What the document's words, with what its neighbours lend, are worth: of one part of the query. */
static inline double near_model_part(struct near_model *x, size_t at, uint8_t part, double *ret_own, double *ret_text)
{
	int before = near_model_beside(x->m, at, false), after = near_model_beside(x->m, at, true);
	double lend = 0.5 * pow(fmin(1, MODEL_NOTE / x->lengths[at]), 2), mass = 0, found = 0, weights = 0;
	size_t t;

	*ret_own = *ret_text = 0;
	for (t = 0; t < x->q->terms->term_count; t++) {
		double mine = near_model_worth(x, (int)at, t), share = x->q->terms->terms[t].share;
		double left = floor(lend * near_model_closeness(x, at, before) * near_model_worth(x, before, t));
		double right = floor(lend * near_model_closeness(x, at, after) * near_model_worth(x, after, t));
		double best = fmax(mine, fmax(left, right)), worth = best + (mine + left + right - best) / 2;
		double full = (float)(model_weight(x->m, &x->s, x->q->terms, t) * 2.2 * x->s.scale) / 2.2;

		*ret_own += mine;
		*ret_text += worth;
		if (!(x->q->terms->terms[t].parts & part))
			continue;
		weights += near_model_rarity(x, t);
		if (worth == 0)
			continue;
		mass += near_model_rarity(x, t) * fmin(1, worth / full);
		found += share * fmin(1, 1.5 * best / full);
	}
	return mass / (1 + weights) * found * found / 2 * log(500) / log(1 + (double)x->m->count);
}

static inline void near_model_rate(struct near_model *x, size_t at)
{
	const struct model_doc *d = &x->m->docs[at];
	double own, text, y = near_model_part(x, at, TERMBAG_MAIN, &own, &text);

	y = fmax(y, near_model_part(x, at, TERMBAG_ASIDE, &own, &text));
	x->factors[at] = model_factor(x->m, x->q, d);
	x->rated[at] = (struct index_hit){
		.id = d->id, .own = own / x->s.scale, .text = text / x->s.scale, .relevance = y / (1 + y),
		.score = text * x->factors[at] / x->s.scale,
	};
}

static inline void near_model_init(struct near_model *x, struct model *m, const struct index_query *q)
{
	size_t i;

	*x = (struct near_model){.m = m, .q = q};
	x->worths = mem_calloc(m->count * q->terms->term_count + 1, sizeof(*x->worths));
	x->lengths = mem_calloc(m->count + 1, sizeof(*x->lengths));
	x->rated = mem_calloc(m->count + 1, sizeof(*x->rated));
	x->factors = mem_calloc(m->count + 1, sizeof(*x->factors));
	model_scorer_init(m, q->terms, &x->s);
	for (i = 0; i < m->count; i++)
		near_model_read(x, i);
	for (i = 0; i < m->count; i++)
		near_model_rate(x, i);
}

static inline void near_model_release(struct near_model *x)
{
	model_scorer_release(&x->s);
	free(x->worths);
	free(x->lengths);
	free(x->rated);
	free(x->factors);
}

static inline size_t near_model_at(const struct near_model *x, uint64_t id)
{
	return (size_t)(model_find(x->m, id) - x->m->docs);
}

/* Whether the filter says more than whether hidden and expired documents pass. */
static inline bool near_model_narrows(const struct model_filter *f)
{
	return f->group_count > 0 || f->exclude_count > 0 || f->filter.only_hidden || f->filter.only_expired ||
	       f->filter.created_from_ms != INT64_MIN || f->filter.created_to_ms != INT64_MAX ||
	       f->filter.id_from > 0 || f->filter.id_to < UINT64_MAX;
}

/* Marks with 2 the first `count` hits by own words, with 1 who stands beside them, unless marked before. */
static inline void near_model_mark(const struct near_model *x, const struct index_hit *hits, size_t count, int *marks)
{
	size_t i;
	int side;

	for (i = 0; i < count; i++)
		marks[near_model_at(x, hits[i].id)] = 2;
	for (i = 0; i < count; i++)
		for (side = 0; side < 2; side++) {
			int at = near_model_beside(x->m, near_model_at(x, hits[i].id), side);

			if (at >= 0 && marks[at] == 0)
				marks[at] = 1;
		}
}

/* Everything that pages of k show, in order. Returns owned. */
static inline struct index_hit *near_model_search(const struct near_model *x, const struct model_filter *f, size_t k,
						  size_t *ret_count)
{
	static const struct model_filter any = {.filter = {.created_from_ms = INT64_MIN, .created_to_ms = INT64_MAX,
							   .id_to = UINT64_MAX}};
	size_t seeds = 3 * k < INDEX_NEAR_MIN ? INDEX_NEAR_MIN : 3 * k < INDEX_PAGE ? 3 * k : INDEX_PAGE;
	struct index_hit *list = mem_calloc(2 * x->m->count + 1, sizeof(*list)), *own, *others, last = {0};
	int *marks = mem_calloc(x->m->count + 1, sizeof(*marks));
	size_t own_count, other_count, i, n = 0;
	bool is_cut;

	own = model_search(x->m, x->q, f, &own_count);
	is_cut = own_count >= seeds;
	if (is_cut)
		last = own[seeds - 1];
	for (i = 0; i < own_count && i < seeds; i++)
		list[n++] = x->rated[near_model_at(x, own[i].id)];
	if (near_model_narrows(f)) {
		others = model_search(x->m, x->q, &any, &other_count);
		near_model_mark(x, others, other_count < seeds ? other_count : seeds, marks);
		free(others);
	}
	near_model_mark(x, own, own_count < seeds ? own_count : seeds, marks);
	for (i = 0; i < x->m->count; i++) {
		const struct index_hit *one = &x->rated[i];

		if (marks[i] != 1 || !model_passes(x->m, f, &x->m->docs[i]) || one->text == 0)
			continue;
		if (is_cut && model_compare_hits(one, &last) > 0)
			continue;
		list[n++] = *one;
		marks[i] = 3;
	}
	qsort(list, n, sizeof(*list), model_compare_hits);
	for (i = seeds; i < own_count; i++) {
		size_t at = near_model_at(x, own[i].id);

		if (marks[at] == 3)
			continue;
		list[n] = x->rated[at];
		list[n].text = list[n].own;
		list[n++].score = own[i].score;
	}
	free(own);
	free(marks);
	*ret_count = n;
	return list;
}

#endif
