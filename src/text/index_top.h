/* The k best of what is offered: a heap with the worst on top. */
#ifndef SPINE_TEXT_INDEX_TOP_H
#define SPINE_TEXT_INDEX_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_found {
	double score;
	uint64_t id;
	uint32_t sum;		/* of the terms that find documents */
	uint16_t part;		/* of the index: the age of its segment, or its slot */
	uint16_t doc;
};

struct index_top {
	struct index_found *heap;	/* borrowed; room for k */
	size_t count;
	size_t k;			/* at least 1 */
};

static inline bool index_top_is_worse(const struct index_found *a, const struct index_found *b)
{
	return a->score < b->score || (a->score == b->score && a->id < b->id);
}

static inline void index_top_sift(struct index_top *t)
{
	struct index_found one = t->heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= t->count)
			break;
		if (child + 1 < t->count && index_top_is_worse(&t->heap[child + 1], &t->heap[child]))
			child++;
		if (!index_top_is_worse(&t->heap[child], &one))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = one;
}

static inline void index_top_offer(struct index_top *t, struct index_found one)
{
	size_t at;

	if (t->count == t->k) {
		if (!index_top_is_worse(&t->heap[0], &one))
			return;
		t->heap[0] = one;
		index_top_sift(t);
		return;
	}
	for (at = t->count++; at > 0 && index_top_is_worse(&one, &t->heap[(at - 1) / 2]); at = (at - 1) / 2)
		t->heap[at] = t->heap[(at - 1) / 2];
	t->heap[at] = one;
}

/* Takes the worst out. */
static inline struct index_found index_top_take(struct index_top *t)
{
	struct index_found worst = t->heap[0];

	t->heap[0] = t->heap[--t->count];
	index_top_sift(t);
	return worst;
}

/* What one that is offered must reach; 0 while there is room. */
static inline double index_top_bar(const struct index_top *t)
{
	return t->count == t->k ? t->heap[0].score : 0;
}

#endif
