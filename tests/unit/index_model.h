/* A second, plain implementation of what text/index.h promises: a list of documents, each of which is looked at for
 * every question. Random documents and questions for both.
 */
#ifndef SPINE_TESTS_INDEX_MODEL_H
#define SPINE_TESTS_INDEX_MODEL_H

#include "base/mem.h"
#include "text/analyze.h"
#include "text/index.h"
#include "text/termbag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MODEL_WORDS = 300,	/* the vocabulary */
	MODEL_TEXT = 40,	/* words of a text, at most */
	MODEL_LONG_TEXT = 400,	/* words of one that is longer and says the same few words again and again */
	MODEL_LONG_WORDS = 12,
	MODEL_LABELS = 6,	/* of a document, at most */
	MODEL_LABEL_KINDS = 24,
};

struct model_doc {
	uint64_t id;
	char *text;		/* owned */
	int labels[MODEL_LABELS];
	int label_count;
	int group;		/* a label, or less than 0: none */
	int64_t created_ms;
	int64_t expires_ms;
	float boost;
	bool hidden;
};

struct model {
	struct model_doc *docs;
	size_t count;
	size_t cap;
	uint64_t next_id;
	uint64_t random;	/* state of the generator */
	int64_t now_ms;
	struct analyzer *analyzer;
	struct termbag bag;
	struct termbag other;
};

static inline uint32_t model_random(struct model *m, uint32_t below)
{
	m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((m->random >> 33) % below);
}

static inline void model_init(struct model *m, uint64_t seed)
{
	*m = (struct model){.next_id = 1, .random = seed * 7919 + 1, .now_ms = 1000000, .analyzer = analyzer_new()};
	termbag_init(&m->bag, 0);
	termbag_init(&m->other, 0);
}

static inline void model_release(struct model *m)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		free(m->docs[i].text);
	free(m->docs);
	analyzer_free(m->analyzer);
	termbag_release(&m->bag);
	termbag_release(&m->other);
}

/* A word of the first ones of the vocabulary; low numbers are frequent. Returns its text in out. */
static inline void model_word(struct model *m, uint32_t vocabulary, char *out, size_t size)
{
	uint32_t r = 1 + model_random(m, vocabulary), n = model_random(m, r);

	snprintf(out, size, "w%c%cx", 'a' + n / 18, 'a' + n % 18);
}

/* Returns owned. */
static inline char *model_text(struct model *m, uint32_t vocabulary, uint32_t words)
{
	char *text = mem_zalloc(words * 8 + 1), word[8];
	uint32_t i;

	for (i = 0; i < words; i++) {
		model_word(m, vocabulary, word, sizeof(word));
		strcat(text, word);
		strcat(text, " ");
	}
	return text;
}

static inline const char *model_label(int label, char out[16])
{
	snprintf(out, 16, "label.%d", label);
	return out;
}

static inline struct model_doc model_document(struct model *m, uint64_t id)
{
	static const float boosts[] = {1, 1, 1, 1, 1.5f, 0.5f, 2, 0, 3.25f};
	struct model_doc d = {.id = id, .group = -1, .expires_ms = INDEX_NEVER};
	int i;

	if (model_random(m, 16) == 0)
		d.text = model_text(m, MODEL_LONG_WORDS, model_random(m, MODEL_LONG_TEXT));
	else
		d.text = model_text(m, MODEL_WORDS, model_random(m, MODEL_TEXT));
	d.label_count = (int)model_random(m, MODEL_LABELS + 1);
	for (i = 0; i < d.label_count; i++)
		d.labels[i] = (int)model_random(m, 1 + model_random(m, MODEL_LABEL_KINDS));
	if (d.label_count > 0 && model_random(m, 3))
		d.group = d.labels[0];
	d.created_ms = m->now_ms - (int64_t)model_random(m, 500000) + 1000;
	if (model_random(m, 8) == 0)
		d.expires_ms = m->now_ms + (int64_t)model_random(m, 2000) - 1000;
	d.boost = boosts[model_random(m, sizeof(boosts) / sizeof(boosts[0]))];
	d.hidden = model_random(m, 10) == 0;
	return d;
}

static inline void model_index(struct model *m, struct index *ix, const struct model_doc *d)
{
	char names[MODEL_LABELS][16];
	struct str labels[MODEL_LABELS];
	int i;

	for (i = 0; i < d->label_count; i++)
		labels[i] = str_of(model_label(d->labels[i], names[i]));
	termbag_clear(&m->bag);
	termbag_add_text(&m->bag, m->analyzer, str_of(d->text), 1);
	index_add(ix, &(struct index_document){
		.id = d->id, .terms = &m->bag, .labels = labels, .label_count = (size_t)d->label_count,
		.group = d->group < 0 ? STR_NULL : labels[0],
		.created_ms = d->created_ms, .expires_ms = d->expires_ms, .boost = d->boost, .hidden = d->hidden,
	});
}

static inline struct model_doc *model_find(struct model *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->docs[i].id == id)
			return &m->docs[i];
	return NULL;
}

/* Adds to both a document with the id, or replaces it. */
static inline void model_put(struct model *m, struct index *ix, uint64_t id)
{
	struct model_doc *old = model_find(m, id);

	if (old == NULL) {
		if (m->count == m->cap) {
			m->cap = m->cap * 2 + 16;
			m->docs = mem_reallocarray(m->docs, m->cap, sizeof(*m->docs));
		}
		old = &m->docs[m->count++];
		old->text = NULL;
	}
	free(old->text);
	*old = model_document(m, id);
	model_index(m, ix, old);
	if (id >= m->next_id)
		m->next_id = id + 1;
}

static inline void model_remove(struct model *m, struct index *ix, size_t at)
{
	index_remove(ix, m->docs[at].id);
	free(m->docs[at].text);
	m->docs[at] = m->docs[--m->count];
}

/* One random change of both. removals: how many in a hundred are removals. */
static inline void model_change(struct model *m, struct index *ix, uint32_t removals)
{
	uint32_t r = model_random(m, 100);
	struct model_doc *d = m->count ? &m->docs[model_random(m, (uint32_t)m->count)] : NULL;

	if (d && r < removals) {
		model_remove(m, ix, (size_t)(d - m->docs));
	} else if (d && r < removals + 10) {
		model_put(m, ix, d->id);
	} else if (d && r < removals + 15) {
		d->boost = (float)model_random(m, 40) / 8;
		index_set_boost(ix, d->id, d->boost);
	} else if (d && r < removals + 20) {
		d->hidden = !d->hidden;
		index_set_hidden(ix, d->id, d->hidden);
	} else if (r < removals + 25) {
		model_put(m, ix, 1 + model_random(m, (uint32_t)m->next_id + 5));	/* out of order */
	} else {
		model_put(m, ix, m->next_id + model_random(m, 3));
	}
	m->now_ms += model_random(m, 3);
}

/* --- Filters ---------------------------------------------------------------------------------------- */

enum { MODEL_GROUPS = 3, MODEL_GROUP = 3 };

struct model_filter {
	int groups[MODEL_GROUPS][MODEL_GROUP];
	int group_sizes[MODEL_GROUPS];
	int group_count;
	int exclude[MODEL_GROUP];
	int exclude_count;
	char names[(MODEL_GROUPS + 1) * MODEL_GROUP][16];
	struct str labels[(MODEL_GROUPS + 1) * MODEL_GROUP];
	struct index_labels lists[MODEL_GROUPS];
	struct index_filter filter;	/* of the index; points into this struct */
};

/* One label in thirty is one that no document has. */
static inline int model_random_label(struct model *m)
{
	return (int)model_random(m, 30) ? (int)model_random(m, MODEL_LABEL_KINDS) : 99;
}

static inline void model_random_filter(struct model *m, struct model_filter *f)
{
	size_t n = 0;
	int g, i;

	*f = (struct model_filter){.filter = index_filter_any()};
	f->group_count = (int)model_random(m, model_random(m, 3) == 0 ? MODEL_GROUPS + 1 : 2);
	for (g = 0; g < f->group_count; g++) {
		f->group_sizes[g] = 1 + (int)model_random(m, MODEL_GROUP);
		f->lists[g] = (struct index_labels){&f->labels[n], (size_t)f->group_sizes[g]};
		for (i = 0; i < f->group_sizes[g]; i++, n++) {
			f->groups[g][i] = model_random_label(m);
			f->labels[n] = str_of(model_label(f->groups[g][i], f->names[n]));
		}
	}
	f->exclude_count = model_random(m, 4) == 0 ? (int)model_random(m, MODEL_GROUP) : 0;
	f->filter.exclude = (struct index_labels){&f->labels[n], (size_t)f->exclude_count};
	for (i = 0; i < f->exclude_count; i++, n++) {
		f->exclude[i] = model_random_label(m);
		f->labels[n] = str_of(model_label(f->exclude[i], f->names[n]));
	}
	f->filter.require = f->lists;
	f->filter.require_count = (size_t)f->group_count;
	f->filter.include_hidden = model_random(m, 4) == 0;
	f->filter.include_expired = model_random(m, 4) == 0;
	f->filter.only_hidden = f->filter.include_hidden && model_random(m, 3) == 0;
	f->filter.only_expired = f->filter.include_expired && model_random(m, 3) == 0;
	if (model_random(m, 4) == 0)
		f->filter.created_from_ms = m->now_ms - (int64_t)model_random(m, 500000);
	if (model_random(m, 4) == 0)
		f->filter.created_to_ms = m->now_ms - (int64_t)model_random(m, 500000);
	if (model_random(m, 4) == 0)
		f->filter.id_from = model_random(m, (uint32_t)m->next_id);
	if (model_random(m, 4) == 0)
		f->filter.id_to = model_random(m, (uint32_t)m->next_id);
}

static inline bool model_has_any(const struct model_doc *d, const int *labels, int count)
{
	int i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < d->label_count; j++)
			if (labels[i] == d->labels[j])
				return true;
	return false;
}

static inline bool model_passes(const struct model *m, const struct model_filter *f, const struct model_doc *d)
{
	bool expired = d->expires_ms <= m->now_ms;
	int g;

	if ((f->filter.only_hidden && !d->hidden) || (f->filter.only_expired && !expired))
		return false;
	for (g = 0; g < f->group_count; g++)
		if (!model_has_any(d, f->groups[g], f->group_sizes[g]))
			return false;
	return !model_has_any(d, f->exclude, f->exclude_count) && (!d->hidden || f->filter.include_hidden) &&
	       (!expired || f->filter.include_expired) && d->created_ms >= f->filter.created_from_ms &&
	       d->created_ms <= f->filter.created_to_ms && d->id >= f->filter.id_from && d->id <= f->filter.id_to;
}

/* --- Scores ----------------------------------------------------------------------------------------- */

/* What the score is made of, for one query over the documents of the model. */
struct model_scorer {
	double average_length;
	double scale;
	uint32_t *holders;	/* of each term of the query; owned */
	bool *finds;		/* whether it finds documents; owned */
};

static inline uint32_t model_count_of(const struct termbag *bag, const struct termbag *query, size_t t)
{
	size_t i;

	for (i = 0; i < bag->term_count; i++)
		if (str_eq(termbag_str(bag, i), termbag_str(query, t)))
			return bag->terms[i].count;
	return 0;
}

static inline void model_analyze(struct model *m, const struct model_doc *d)
{
	termbag_clear(&m->other);
	termbag_add_text(&m->other, m->analyzer, str_of(d->text), 1);
}

static inline double model_weight(const struct model *m, const struct model_scorer *s, const struct termbag *query,
				  size_t t)
{
	uint32_t count = query->terms[t].count;

	return log1p(((double)m->count - s->holders[t] + 0.5) / (s->holders[t] + 0.5)) *
	       (count < INDEX_QUERY_COUNT ? count : INDEX_QUERY_COUNT);
}

static inline void model_scorer_init(struct model *m, const struct termbag *query, struct model_scorer *s)
{
	double most = 1;
	uint64_t length = 0;
	size_t i, t;

	*s = (struct model_scorer){.holders = mem_calloc(query->term_count + 1, sizeof(*s->holders)),
				   .finds = mem_calloc(query->term_count + 1, sizeof(*s->finds)), .scale = 1 << 20};
	for (i = 0; i < m->count; i++) {
		model_analyze(m, &m->docs[i]);
		length += m->other.length;
		for (t = 0; t < query->term_count; t++)
			s->holders[t] += model_count_of(&m->other, query, t) > 0;
	}
	s->average_length = length ? (double)length / (double)m->count : 1;
	for (t = 0; t < query->term_count; t++)
		most += s->holders[t] ? model_weight(m, s, query, t) * 2.2 : 0;
	while (most * s->scale + INDEX_QUERY_TERMS >= 1 << 30)
		s->scale /= 2;
}

static inline void model_scorer_release(struct model_scorer *s)
{
	free(s->holders);
	free(s->finds);
}

/* The weightiest first, as many as stand in max_postings documents, or three; all where max_postings is 0. */
static inline void model_choose_finders(const struct model *m, struct model_scorer *s, const struct termbag *query,
					uint64_t max_postings)
{
	uint64_t postings = 0;
	size_t i, t, top;

	for (i = 0; i < query->term_count; i++) {
		for (top = query->term_count, t = 0; t < query->term_count; t++) {
			double more = s->finds[t] || s->holders[t] == 0 ? -1 : model_weight(m, s, query, t);

			if (more > 0 && top < query->term_count)
				more -= model_weight(m, s, query, top);
			if (more > 0 || (more == 0 && str_cmp(termbag_str(query, t), termbag_str(query, top)) < 0))
				top = t;
		}
		if (top == query->term_count)
			return;
		postings += s->holders[top];
		if (max_postings && postings > max_postings && i >= 3)
			return;
		s->finds[top] = true;
	}
}

/* BM25 of the document: to the last digit as the index computes it, or (exact) as it is in books. 0: no term of the
 * query. */
static inline double model_text_score(struct model *m, const struct model_scorer *s, const struct termbag *query,
				      const struct model_doc *d, bool exact, bool only_finds)
{
	double note = s->average_length > 24 ? 24 * (24 / s->average_length) * (24 / s->average_length) : 24;
	double steep = 1.2 * 0.75 / (s->average_length + note);
	float base = (float)(1.2 * 0.25 + steep * note), slope = (float)steep, length;
	double sum = 0;
	size_t t;

	model_analyze(m, d);
	length = (float)m->other.length;
	for (t = 0; t < query->term_count; t++) {
		uint32_t count = model_count_of(&m->other, query, t);
		double weight, k;

		if (count == 0 || (only_finds && !s->finds[t]))
			continue;
		weight = model_weight(m, s, query, t);
		k = 1.2 * (0.25 + 0.75 * ((double)m->other.length + note) / (s->average_length + note));
		if (exact)
			sum += weight * count * 2.2 / (count + k);
		else
			sum += 1 + (int32_t)((float)(weight * 2.2 * s->scale) /
					     (1 + (base + slope * length) * (1.0f / (float)count)));
	}
	return exact ? sum : sum / s->scale;
}

static inline double model_bm25(struct model *m, const struct model_scorer *s, const struct termbag *query,
				const struct model_doc *d, bool exact)
{
	return model_text_score(m, s, query, d, exact, false);
}

/* The part of it that the terms make which find documents. */
static inline double model_part(struct model *m, const struct model_scorer *s, const struct termbag *query,
				const struct model_doc *d)
{
	return model_text_score(m, s, query, d, false, true);
}

static inline double model_factor(const struct model *m, const struct index_query *q, const struct model_doc *d)
{
	double age = (double)(m->now_ms - d->created_ms);

	if (q->recency_weight == 0)
		return d->boost;
	return d->boost + q->recency_weight * exp2(age > 0 ? -age * (1.0 / (double)q->half_life_ms) : 0);
}

static inline int model_compare_hits(const void *a, const void *b)
{
	const struct index_hit *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->id > y->id ? -1 : x->id < y->id;
}

/* Of those that the weightiest terms find: the shortlist, with the scores of those terms alone. Returns how many. */
static inline size_t model_shortlist(struct model *m, struct model_scorer *s, const struct index_query *q,
				     const struct model_filter *f, struct index_hit *ret)
{
	bool all_find = true;
	size_t i, n = 0;

	for (i = 0; i < q->terms->term_count; i++)
		all_find &= s->finds[i] || s->holders[i] == 0;
	for (i = 0; i < m->count; i++) {
		double text = model_passes(m, f, &m->docs[i]) ? model_part(m, s, q->terms, &m->docs[i]) : 0;

		if (text > 0)
			ret[n++] = (struct index_hit){.id = m->docs[i].id,
						      .score = text * model_factor(m, q, &m->docs[i])};
	}
	qsort(ret, n, sizeof(*ret), model_compare_hits);
	return !all_find && n > q->shortlist ? q->shortlist : n;
}

/* All hits, the best first. Returns owned. */
static inline struct index_hit *model_search(struct model *m, const struct index_query *q, const struct model_filter *f,
					     size_t *ret_count)
{
	struct index_hit *hits = mem_calloc(m->count + 1, sizeof(*hits));
	struct model_scorer s;
	size_t i, n;

	model_scorer_init(m, q->terms, &s);
	model_choose_finders(m, &s, q->terms, q->max_postings);
	n = model_shortlist(m, &s, q, f, hits);
	for (i = 0; i < n; i++) {
		struct model_doc *d = model_find(m, hits[i].id);

		hits[i].score = model_bm25(m, &s, q->terms, d, false) * model_factor(m, q, d);
	}
	qsort(hits, n, sizeof(*hits), model_compare_hits);
	model_scorer_release(&s);
	*ret_count = n;
	return hits;
}

#endif
