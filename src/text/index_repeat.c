/* Documents that only repeat others. Most pairs are ruled out by 64 bits of each: a term that one has and the other has
 * not mostly shows there. */
#include "base/mem.h"
#include "text/index_state.h"

#include <assert.h>
#include <stdlib.h>

struct repeat_doc {
	const struct segment *s;	/* NULL: not in the index */
	uint16_t doc;
	size_t from, count;		/* its terms */
	uint64_t bits;
};

struct repeat {
	struct repeat_doc *docs;
	uint32_t *terms;		/* of all, ascending for each */
	size_t term_count;
	size_t term_cap;
};

static void read_document(struct repeat *r, const struct index *ix, uint64_t id, struct repeat_doc *d)
{
	struct segment *s;
	size_t i;

	*d = (struct repeat_doc){0};
	if (!index_find(ix, id, &s, &d->doc))
		return;
	d->s = s;
	d->from = r->term_count;
	d->count = segment_term_count(s, d->doc);
	if (d->count == 0)
		return;
	if (r->term_count + d->count > r->term_cap) {
		r->term_cap = r->term_cap * 2 + d->count + 1024;
		r->terms = mem_reallocarray(r->terms, r->term_cap, sizeof(*r->terms));
	}
	segment_terms(s, d->doc, r->terms + d->from);
	r->term_count += d->count;
	for (i = d->from; i < r->term_count; i++)
		d->bits |= UINT64_C(1) << (r->terms[i] * UINT32_C(2654435761) >> 26);
}

/* All terms of a are terms of b, and b does not say much more. */
static bool repeats(const struct repeat *r, const struct repeat_doc *a, const struct repeat_doc *b)
{
	size_t i, j = b->from;

	if (a->count == 0 || a->count > b->count || a->count * 2 < b->count || (a->bits & ~b->bits) != 0)
		return false;
	assert(r->terms);
	for (i = a->from; i < a->from + a->count; i++, j++) {
		while (j < b->from + b->count && r->terms[j] < r->terms[i])
			j++;
		if (j == b->from + b->count || r->terms[j] != r->terms[i])
			return false;
	}
	return true;
}

void index_repeats(const struct index *ix, const uint64_t *ids, size_t count, size_t from, uint64_t *ret)
{
	struct repeat r = {.docs = mem_calloc(count + 1, sizeof(*r.docs))};
	size_t i, j;

	for (i = 0; i < count; i++) {
		read_document(&r, ix, ids[i], &r.docs[i]);
		ret[i] = 0;
		for (j = 0; i >= from && j < i && ret[i] == 0; j++)
			if (ids[j] != ids[i] && repeats(&r, &r.docs[i], &r.docs[j]))
				ret[i] = ids[j];
	}
	free(r.docs);
	free(r.terms);
}
