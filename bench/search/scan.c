#include "scan.h"

#include "base/mem.h"
#include "text/analyze.h"
#include "text/dictionary.h"
#include "text/termbag.h"

#include <math.h>
#include <stdlib.h>

struct occurrence {
	uint32_t term;
	uint32_t count;
};

struct scan {
	uint64_t texts;
	struct dictionary terms;
	struct occurrence *occurrences;	/* of all texts */
	size_t count;
	size_t cap;
	size_t *ends;			/* of each text's occurrences */
	uint32_t *lengths;
	double average_length;
};

static void scan_add(struct scan *s, uint64_t i, const struct termbag *bag)
{
	size_t t;

	if (s->count + bag->term_count > s->cap) {
		s->cap = s->cap * 2 + bag->term_count + 4096;
		s->occurrences = mem_reallocarray(s->occurrences, s->cap, sizeof(*s->occurrences));
	}
	for (t = 0; t < bag->term_count; t++) {
		uint32_t term = dictionary_intern(&s->terms, bag->terms[t].hash);

		s->terms.entries[term].holders++;
		s->occurrences[s->count++] = (struct occurrence){term, bag->terms[t].count};
	}
	s->ends[i] = s->count;
	s->lengths[i] = (uint32_t)bag->length;
	s->average_length += (double)bag->length;
}

struct scan *scan_new(const struct corpus *c, uint64_t texts)
{
	struct scan *s = mem_zalloc(sizeof(*s));
	struct analyzer *a = analyzer_new();
	struct termbag bag;
	struct buf text;
	uint64_t i;

	s->texts = texts;
	s->ends = mem_calloc(texts, sizeof(*s->ends));
	s->lengths = mem_calloc(texts, sizeof(*s->lengths));
	dictionary_init(&s->terms);
	termbag_init(&bag, 0);
	buf_init(&text, 1 << 16);
	for (i = 0; i < texts; i++) {
		corpus_text(c, i, &text);
		termbag_clear(&bag);
		termbag_add_text(&bag, a, buf_str(&text), 1);
		scan_add(s, i, &bag);
	}
	s->average_length /= (double)texts;
	buf_release(&text);
	termbag_release(&bag);
	analyzer_free(a);
	return s;
}

void scan_free(struct scan *s)
{
	dictionary_release(&s->terms);
	free(s->occurrences);
	free(s->ends);
	free(s->lengths);
	free(s);
}

/* idf of each term of the query, times its weight there; 0 for all others. Returns owned. */
static double *term_weights(const struct scan *s, const struct termbag *bag)
{
	double *weights = mem_calloc(s->terms.entry_count, sizeof(*weights));
	size_t t;

	for (t = 0; t < bag->term_count; t++) {
		uint32_t term = dictionary_find(&s->terms, bag->terms[t].hash), n = bag->terms[t].count;
		double holders;

		if (term == DICTIONARY_NONE)
			continue;
		holders = s->terms.entries[term].holders;
		weights[term] = log(1 + ((double)s->texts - holders + 0.5) / (holders + 0.5)) *
				(n < INDEX_QUERY_COUNT ? n : INDEX_QUERY_COUNT);
	}
	return weights;
}

static double text_score(const struct scan *s, uint64_t i, const double *weights)
{
	size_t at = i ? s->ends[i - 1] : 0;
	double ratio = s->average_length > 24 ? 24 / s->average_length : 1, note = 24 * ratio * ratio;
	double k1 = 1.2, b = 0.75, sum = 0, length = s->lengths[i];

	for (; at < s->ends[i]; at++) {
		double w = weights[s->occurrences[at].term], count = s->occurrences[at].count;

		if (w == 0)
			continue;
		sum += w * count * (k1 + 1) / (count + k1 * (1 - b + b * (length + note) / (s->average_length + note)));
	}
	return sum;
}

size_t scan_top(const struct scan *s, const struct index_query *q, int64_t now_ms, float (*boost)(uint64_t i),
		int64_t (*created_ms)(uint64_t i, uint64_t n), size_t k, struct index_hit *ret)
{
	double *weights = term_weights(s, q->terms);
	size_t n = 0, at;
	uint64_t i;

	for (i = 0; i < s->texts; i++) {
		double age = (double)(now_ms - created_ms(i, s->texts)), score = text_score(s, i, weights);

		if (score == 0)
			continue;
		score *= (boost ? boost(i) : 1) + q->recency_weight * exp2(-age / (double)q->half_life_ms);
		if (n == k && ret[n - 1].score > score)
			continue;
		/* Ids grow, so that the later of two equals is the better. */
		for (at = n < k ? n++ : k - 1; at > 0 && ret[at - 1].score <= score; at--)
			ret[at] = ret[at - 1];
		ret[at] = (struct index_hit){i + 1, score};
	}
	free(weights);
	return n;
}
