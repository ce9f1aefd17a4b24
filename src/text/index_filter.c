#include "text/index_filter.h"

#include "base/hash.h"

#include <assert.h>

/* Adds the numbers of the labels that the index knows at the end of plan->labels; returns the new end. */
static size_t add_labels(struct index_filter_plan *plan, const struct index *ix, const struct index_labels *labels,
			 size_t end)
{
	size_t i;

	for (i = 0; i < labels->count; i++) {
		struct str label = labels->labels[i];
		uint32_t number = dictionary_find(&ix->labels, hash_bytes(label.p, label.n, ix->config.seed));

		if (number == DICTIONARY_NONE)
			continue;
		assert(end < INDEX_FILTER_LABELS);
		plan->labels[end++] = number;
	}
	return end;
}

void index_filter_prepare(struct index_filter_plan *plan, const struct index *ix, const struct index_filter *filter,
			  int64_t now_ms)
{
	size_t i, end;

	assert(filter->require_count <= INDEX_FILTER_LABELS);
	plan->filter = filter;
	plan->now_ms = now_ms;
	plan->nothing = filter->id_from > filter->id_to || filter->created_from_ms > filter->created_to_ms;
	plan->narrows = filter->require_count > 0 || filter->exclude.count > 0 ||
			filter->created_from_ms != INT64_MIN || filter->created_to_ms != INT64_MAX ||
			filter->only_hidden || filter->only_expired;
	end = plan->exclude_count = add_labels(plan, ix, &filter->exclude, 0);
	plan->group_count = filter->require_count;
	for (i = 0; i < filter->require_count; i++) {
		size_t from = end;

		end = plan->group_ends[i] = add_labels(plan, ix, &filter->require[i], end);
		if (end == from)
			plan->nothing = true;
	}
}

/* Sets (or clears) the bits of the documents with the label. Bitmaps of the segment may be longer than it; the
 * rest is empty. */
static void put_label(const struct segment *s, uint32_t label, bool on, uint64_t *bits)
{
	struct postings_list list;
	uint32_t i, words;

	if (!postings_find(&s->labels, label, &list))
		return;
	if (list.bits) {
		words = list.dense_docs / 64 < segment_words(s) ? list.dense_docs / 64 : (uint32_t)segment_words(s);
		for (i = 0; i < words; i++)
			bits[i] = on ? bits[i] | list.bits[i] : bits[i] & ~list.bits[i];
		return;
	}
	for (i = 0; i < list.count; i++) {
		uint64_t bit = UINT64_C(1) << (list.docs[i] & 63);

		bits[list.docs[i] >> 6] = on ? bits[list.docs[i] >> 6] | bit : bits[list.docs[i] >> 6] & ~bit;
	}
}

/* Keeps the documents with at least one label of each group. Returns false where none is left for sure. */
static bool keep_groups(const struct index_filter_plan *plan, const struct segment *s, uint64_t *bits, uint64_t *spare)
{
	size_t group, i = plan->exclude_count, w, words = segment_words(s);

	for (group = 0; group < plan->group_count; group++) {
		uint64_t any = 0;

		memset(spare, 0, words * sizeof(*spare));
		for (; i < plan->group_ends[group]; i++)
			put_label(s, plan->labels[i], true, spare);
		for (w = 0; w < words; w++)
			any |= bits[w] &= spare[w];
		if (any == 0)
			return false;
	}
	return true;
}

static void keep_created(const struct index_filter *f, const struct segment *s, uint64_t *bits)
{
	uint32_t doc;

	if (s->min_created_ms >= f->created_from_ms && s->max_created_ms <= f->created_to_ms)
		return;
	for (doc = 0; doc < s->doc_count; doc++)
		if (s->created_ms[doc] < f->created_from_ms || s->created_ms[doc] > f->created_to_ms)
			bits[doc >> 6] &= ~(UINT64_C(1) << (doc & 63));
}

static void keep_ids(const struct index_filter *f, const struct segment *s, uint64_t *bits)
{
	uint32_t doc;

	for (doc = 0; doc < s->doc_count; doc++)
		if (s->ids[doc] < f->id_from || s->ids[doc] > f->id_to)
			bits[doc >> 6] &= ~(UINT64_C(1) << (doc & 63));
}

/* Leaves of the documents in bits those that are hidden, or expired, where only they are asked for. */
static void keep_only(const struct index_filter_plan *plan, const struct segment *s, uint64_t *bits, uint64_t *spare)
{
	size_t w, words = segment_words(s);

	if (plan->filter->only_hidden)
		for (w = 0; w < words; w++)
			bits[w] &= ~s->visible[w];
	if (plan->filter->only_expired) {
		memcpy(spare, bits, words * sizeof(*spare));
		segment_clear_expired(s, plan->now_ms, spare);
		for (w = 0; w < words; w++)
			bits[w] &= ~spare[w];
	}
}

const uint64_t *index_filter_segment(const struct index_filter_plan *plan, const struct segment *s, bool with_ids,
				     uint64_t *bits, uint64_t *spare)
{
	const struct index_filter *f = plan->filter;
	const uint64_t *start = f->include_hidden ? s->live : s->visible;
	bool expired = !f->include_expired && segment_has_expired(s, plan->now_ms);
	bool cut_ids = with_ids && (f->id_from > s->min_id || f->id_to < s->max_id);
	size_t i;

	if (plan->nothing || s->max_created_ms < f->created_from_ms || s->min_created_ms > f->created_to_ms)
		return NULL;
	if (cut_ids && (s->max_id < f->id_from || s->min_id > f->id_to))
		return NULL;
	if (!plan->narrows && !expired && !cut_ids)
		return start;
	memcpy(bits, start, segment_words(s) * sizeof(*bits));
	if (!keep_groups(plan, s, bits, spare))
		return NULL;
	for (i = 0; i < plan->exclude_count; i++)
		put_label(s, plan->labels[i], false, bits);
	keep_created(f, s, bits);
	if (cut_ids)
		keep_ids(f, s, bits);
	if (expired)
		segment_clear_expired(s, plan->now_ms, bits);
	keep_only(plan, s, bits, spare);
	return bits;
}

static bool has_label(const struct segment *s, uint32_t label, uint16_t doc)
{
	struct postings_list list;
	uint32_t low = 0, high;

	if (!postings_find(&s->labels, label, &list))
		return false;
	if (list.bits)
		return doc < list.dense_docs && segment_bit(list.bits, doc);
	for (high = list.count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (list.docs[middle] < doc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list.count && list.docs[low] == doc;
}

bool index_filter_document(const struct index_filter_plan *plan, const struct segment *s, uint16_t doc)
{
	const struct index_filter *f = plan->filter;
	size_t group, i;

	if (!segment_bit(f->include_hidden ? s->live : s->visible, doc) ||
	    (f->only_hidden && segment_bit(s->visible, doc)) ||
	    s->created_ms[doc] < f->created_from_ms || s->created_ms[doc] > f->created_to_ms ||
	    s->ids[doc] < f->id_from || s->ids[doc] > f->id_to)
		return false;
	for (i = 0; i < plan->exclude_count; i++)
		if (has_label(s, plan->labels[i], doc))
			return false;
	for (group = 0; group < plan->group_count; group++) {
		while (i < plan->group_ends[group] && !has_label(s, plan->labels[i], doc))
			i++;
		if (i == plan->group_ends[group])
			return false;
		i = plan->group_ends[group];
	}
	return true;
}
