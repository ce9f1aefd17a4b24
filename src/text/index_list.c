/* Lists and counts: documents by their filters alone.
 *
 * Where the filter has no labels and times, a list walks the order of ids, which is as long as the page. Where few
 * documents carry a label that is required, each of them is looked at. Otherwise the bitmaps of all segments are made
 * (some microseconds each) and counted. If few documents pass, they are gathered and the first k of them kept; if many
 * do, the order of ids is walked with a look at the bitmaps, and soon meets k of them.
 */
#include "text/index_scratch.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum {
	FEW = 64,	/* of the documents of the index, one in this many: those are few */
	LOOKS = 64,	/* at a label of a document, in the time that a bitmap of a segment takes */
};

uint64_t index_count(const struct index *ix, const struct index_filter *filter, int64_t now_ms, struct index_scratch *x)
{
	uint64_t count = 0;
	uint32_t i;

	index_filter_prepare(&x->filter, ix, filter, now_ms);
	for (i = 0; i < ix->segment_count; i++) {
		const struct segment *s = index_segment(ix, i);
		const uint64_t *bits = index_filter_segment(&x->filter, s, true, x->allowed, x->spare);

		if (bits)
			count += index_filter_count(bits, segment_words(s));
	}
	return count;
}

/* Fills x->bitmaps, a bitmap for each slot; returns how many documents they hold. */
static uint64_t make_bitmaps(const struct index *ix, struct index_scratch *x)
{
	uint64_t count = 0;
	uint32_t i;

	if (x->bitmap_cap < ix->slot_count) {
		x->bitmap_cap = ix->slot_count;
		x->bitmaps = mem_reallocarray(x->bitmaps, x->bitmap_cap, INDEX_FILTER_WORDS * sizeof(*x->bitmaps));
	}
	for (i = 0; i < ix->segment_count; i++) {
		const struct segment *s = index_segment(ix, i);
		uint64_t *to = x->bitmaps + (size_t)ix->ages[i] * INDEX_FILTER_WORDS;
		const uint64_t *bits = index_filter_segment(&x->filter, s, false, to, x->spare);
		size_t bytes = segment_words(s) * sizeof(*to);

		if (bits == NULL) {
			memset(to, 0, bytes);
			continue;
		}
		if (bits != to)
			memcpy(to, bits, bytes);
		count += index_filter_count(to, segment_words(s));
	}
	return count;
}

static bool passes_alone(const struct index_filter_plan *plan, const struct segment *s, uint16_t doc)
{
	return segment_bit(plan->filter->include_hidden ? s->live : s->visible, doc);
}

/* Walks the order of ids from one end of the filter's range to the other. with_bitmaps: a document passes where
 * its bit is set; otherwise where it is visible. */
static size_t walk(const struct index *ix, struct index_scratch *x, bool with_bitmaps, bool ascending, size_t k,
		   uint64_t *ret_ids)
{
	const struct index_filter *f = x->filter.filter;
	struct order_place place;
	size_t n = 0;
	bool more;

	more = ascending ? order_at_least(&ix->order, f->id_from, &place) : order_at_most(&ix->order, f->id_to, &place);
	while (more && n < k) {
		uint64_t id = order_key(&ix->order, place);
		uint32_t where = order_value(&ix->order, place);
		uint16_t doc = (uint16_t)where;

		if (ascending ? id > f->id_to : id < f->id_from)
			break;
		if (with_bitmaps ? segment_bit(x->bitmaps + (size_t)(where >> 16) * INDEX_FILTER_WORDS, doc)
				 : passes_alone(&x->filter, ix->slots[where >> 16], doc))
			ret_ids[n++] = id;
		more = ascending ? order_next(&ix->order, &place) : order_previous(&ix->order, &place);
	}
	return n;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void reverse(uint64_t *ids, size_t n)
{
	size_t i;

	for (i = 0; i < n / 2; i++) {
		uint64_t id = ids[i];

		ids[i] = ids[n - 1 - i];
		ids[n - 1 - i] = id;
	}
}

/* Keeps the first k of the ids, which are owned, without repetitions; releases them. */
static size_t keep_first(uint64_t *ids, size_t count, bool ascending, size_t k, uint64_t *ret_ids)
{
	size_t i, n = 0;

	qsort(ids, count, sizeof(*ids), compare_ids);
	for (i = 0; i < count; i++)
		if (n == 0 || ids[n - 1] != ids[i])
			ids[n++] = ids[i];
	if (!ascending)
		reverse(ids, n);
	n = n < k ? n : k;
	memcpy(ret_ids, ids, n * sizeof(*ids));
	free(ids);
	return n;
}

/* Adds the ids of a bitmap's documents that are in the filter's range; returns how many there are now. */
static size_t add_ids(const struct index_filter *f, const struct segment *s, const uint64_t *bits, uint64_t *ids,
		      size_t n)
{
	size_t w;

	for (w = 0; w < segment_words(s); w++) {
		uint64_t left;

		for (left = bits[w]; left; left &= left - 1) {
			uint64_t id = s->ids[w * 64 + (size_t)__builtin_ctzll(left)];

			if (id >= f->id_from && id <= f->id_to)
				ids[n++] = id;
		}
	}
	return n;
}

/* All ids of the bitmaps, sorted, and the first k of them kept. */
static size_t gather(const struct index *ix, struct index_scratch *x, uint64_t count, bool ascending, size_t k,
		     uint64_t *ret_ids)
{
	uint64_t *ids = mem_calloc(count, sizeof(*ids));
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < ix->segment_count; i++)
		n = add_ids(x->filter.filter, index_segment(ix, i),
			    x->bitmaps + (size_t)ix->ages[i] * INDEX_FILTER_WORDS, ids, n);
	return keep_first(ids, n, ascending, k, ret_ids);
}

/* The labels of a group that is required: positions in plan->labels. */
struct group {
	size_t from, end;
};

static struct group group_of(const struct index_filter_plan *plan, size_t number)
{
	return (struct group){number ? plan->group_ends[number - 1] : plan->exclude_count, plan->group_ends[number]};
}

/* How often the labels of a group stand in the index, if not more often than `most`; otherwise a number above that. */
static uint64_t count_group(const struct index *ix, const struct index_filter_plan *plan, struct group g, uint64_t most)
{
	uint64_t count = 0;
	uint32_t i;
	size_t l;

	for (i = 0; i < ix->segment_count && count <= most; i++)
		for (l = g.from; l < g.end; l++) {
			struct postings_list list;

			if (postings_find(&index_segment(ix, i)->labels, plan->labels[l], &list))
				count += list.bits ? most + 1 : list.count;
		}
	return count;
}

/* A group whose labels stand in so few documents that looking at each takes less time than bitmaps; and in how many
 * they stand. */
static bool find_rare_group(const struct index *ix, const struct index_filter_plan *plan, struct group *ret,
			    uint64_t *ret_count)
{
	uint64_t most;
	size_t number;

	if (plan->group_count == 0)
		return false;
	most = (uint64_t)ix->segment_count * LOOKS / plan->group_ends[plan->group_count - 1];
	for (number = 0; number < plan->group_count; number++) {
		*ret = group_of(plan, number);
		*ret_count = count_group(ix, plan, *ret, most);
		if (*ret_count <= most)
			return true;
	}
	return false;
}

/* The ids of the documents that carry a label of the group and pass. */
static size_t gather_group(const struct index *ix, struct index_scratch *x, struct group g, uint64_t count,
			   bool ascending, size_t k, uint64_t *ret_ids)
{
	const struct index_filter_plan *plan = &x->filter;
	uint64_t *ids = mem_calloc(count + 1, sizeof(*ids));
	struct postings_list list;
	size_t n = 0, l, j;
	uint32_t i;

	for (i = 0; i < ix->segment_count; i++) {
		const struct segment *s = index_segment(ix, i);
		bool expired = plan->filter->only_expired ||
			       (!plan->filter->include_expired && segment_has_expired(s, plan->now_ms));

		for (l = g.from; l < g.end; l++) {
			if (!postings_find(&s->labels, plan->labels[l], &list))
				continue;
			/* Expiries are not known by document. */
			if (expired) {
				const uint64_t *bits = index_filter_segment(plan, s, true, x->allowed, x->spare);

				n = bits ? add_ids(plan->filter, s, bits, ids, n) : n;
				break;
			}
			for (j = 0; j < list.count; j++)
				if (index_filter_document(plan, s, list.docs[j]))
					ids[n++] = s->ids[list.docs[j]];
		}
	}
	return keep_first(ids, n, ascending, k, ret_ids);
}

static bool any_expired(const struct index *ix, int64_t now_ms)
{
	uint32_t i;

	for (i = 0; i < ix->segment_count; i++)
		if (segment_has_expired(index_segment(ix, i), now_ms))
			return true;
	return false;
}

size_t index_list(const struct index *ix, const struct index_filter *filter, int64_t now_ms, bool ascending, size_t k,
		  struct index_scratch *x, uint64_t *ret_ids)
{
	struct group rare;
	uint64_t count;

	assert(k <= INDEX_PAGE);
	index_filter_prepare(&x->filter, ix, filter, now_ms);
	if (x->filter.nothing || k == 0)
		return 0;
	if (!x->filter.narrows && (filter->include_expired || !any_expired(ix, now_ms)))
		return walk(ix, x, false, ascending, k, ret_ids);
	if (find_rare_group(ix, &x->filter, &rare, &count))
		return gather_group(ix, x, rare, count, ascending, k, ret_ids);
	count = make_bitmaps(ix, x);
	if (count == 0)
		return 0;
	if (count > k && count > ix->live_docs / FEW)
		return walk(ix, x, true, ascending, k, ret_ids);
	return gather(ix, x, count, ascending, k, ret_ids);
}
