/* Lists and counts: documents by their filters alone.
 *
 * Where the filter has no labels and times, a list walks the order of ids, which is as long as the page. Otherwise
 * the bitmaps of all segments are made (some microseconds each) and counted. If few documents pass, they are gathered
 * and the first k of them kept; if many do, the order of ids is walked with a look at the bitmaps, and soon meets k
 * of them.
 */
#include "text/index_scratch.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* Of the documents of the index, one in this many: those are few. */
enum { FEW = 64 };

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

/* All ids of the bitmaps, sorted, and the first k of them kept. */
static size_t gather(const struct index *ix, struct index_scratch *x, uint64_t count, bool ascending, size_t k,
		     uint64_t *ret_ids)
{
	const struct index_filter *f = x->filter.filter;
	uint64_t *ids = mem_calloc(count, sizeof(*ids));
	size_t n = 0, w;
	uint32_t i;

	for (i = 0; i < ix->segment_count; i++) {
		const struct segment *s = index_segment(ix, i);
		const uint64_t *bits = x->bitmaps + (size_t)ix->ages[i] * INDEX_FILTER_WORDS;

		for (w = 0; w < segment_words(s); w++) {
			uint64_t left;

			for (left = bits[w]; left; left &= left - 1) {
				uint64_t id = s->ids[w * 64 + (size_t)__builtin_ctzll(left)];

				if (id >= f->id_from && id <= f->id_to)
					ids[n++] = id;
			}
		}
	}
	qsort(ids, n, sizeof(*ids), compare_ids);
	if (!ascending)
		reverse(ids, n);
	n = n < k ? n : k;
	memcpy(ret_ids, ids, n * sizeof(*ids));
	free(ids);
	return n;
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
	uint64_t count;

	assert(k <= INDEX_PAGE);
	index_filter_prepare(&x->filter, ix, filter, now_ms);
	if (x->filter.nothing || k == 0)
		return 0;
	if (!x->filter.narrows && (filter->include_expired || !any_expired(ix, now_ms)))
		return walk(ix, x, false, ascending, k, ret_ids);
	count = make_bitmaps(ix, x);
	if (count == 0)
		return 0;
	if (count > k && count > ix->live_docs / FEW)
		return walk(ix, x, true, ascending, k, ret_ids);
	return gather(ix, x, count, ascending, k, ret_ids);
}
