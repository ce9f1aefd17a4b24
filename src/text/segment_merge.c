/* Rewriting segments: the live documents of one or two of them, renumbered, in memory that fits exactly.
 *
 * Documents are put into tiers by their boost, the highest first, and keep their order within a tier. Each list of
 * postings is read, the removed documents left out and the others renumbered, brought into order again (which within
 * a tier they are), and written at its final size. A term of both segments is written when the first one's table is
 * walked; the walk over the second skips it.
 */
#include "text/segment.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	PARTS = 2,
	BOOST_KEYS = 4096,	/* classes of boosts: sixteen for each doubling */
	TIERS = 16,
	SHORT_LIST = 24,
	AHEAD = 12,		/* slots that a list is fetched ahead of its use */
};

struct merge {
	struct segment *const *parts;
	size_t part_count;
	struct segment *const *all;
	size_t all_count;
	struct segment *out;
	uint8_t tiers[BOOST_KEYS];	/* the tier of each class of boosts */
	uint32_t tier_starts[TIERS + 1];	/* the number of its first document; while numbering, of the next one */
	uint32_t tier_count;
	uint16_t *numbers[PARTS];	/* the new number of each live document */
	uint8_t *tier_of;		/* of each new number */
	/* The list at hand, and room to sort it. */
	uint16_t *docs, *sorted_docs;
	uint8_t *counts, *sorted_counts;
	uint32_t count;
};

static void allocate_columns(struct segment *out, uint32_t docs)
{
	size_t words = (docs + 63) / 64;

	out->doc_cap = docs;
	out->ids = mem_calloc(docs, sizeof(*out->ids));
	out->created_ms = mem_calloc(docs, sizeof(*out->created_ms));
	out->boosts = mem_calloc(docs, sizeof(*out->boosts));
	out->lengths = mem_calloc(docs, sizeof(*out->lengths));
	out->forward_at = mem_calloc(docs, sizeof(*out->forward_at));
	out->groups = mem_calloc(docs, sizeof(*out->groups));
	out->live = mem_calloc(words, sizeof(*out->live));
	out->visible = mem_calloc(words, sizeof(*out->visible));
	out->many = mem_calloc(words, sizeof(*out->many));
}

static size_t forward_length(const struct segment *s, uint32_t doc)
{
	size_t end = doc + 1 < s->doc_count ? s->forward_at[doc + 1] : s->forward_bytes;

	return end - s->forward_at[doc];
}

/* The sign is 0: so the upper bits of a float rise with it. Four bits of the fraction are left. */
static uint32_t boost_key(float boost)
{
	uint32_t bits;

	memcpy(&bits, &boost, sizeof(bits));
	return bits >> 19;
}

/* Finds the tiers and how many documents each has. */
static void find_tiers(struct merge *m)
{
	uint32_t key_docs[BOOST_KEYS] = {0}, key, doc, used = 0, seen = 0, first = 0;
	size_t i;

	for (i = 0; i < m->part_count; i++)
		for (doc = 0; doc < m->parts[i]->doc_count; doc++)
			key_docs[boost_key(m->parts[i]->boosts[doc])] += segment_bit(m->parts[i]->live, doc);
	for (key = 0; key < BOOST_KEYS; key++)
		used += key_docs[key] > 0;
	for (key = BOOST_KEYS; key-- > 0;) {
		uint32_t tier = used > TIERS ? seen * TIERS / used : seen;

		if (key_docs[key] == 0)
			continue;
		m->tiers[key] = (uint8_t)tier;
		if (tier + 1 > m->tier_count)
			m->tier_starts[tier] = first;
		m->tier_count = tier + 1;
		first += key_docs[key];
		seen++;
	}
	m->tier_starts[m->tier_count] = first;
	assert(first <= SEGMENT_DOCUMENTS);
}

/* Gives each live document its new number. */
static void number_documents(struct merge *m)
{
	uint32_t next[TIERS], doc;
	size_t i;

	memcpy(next, m->tier_starts, sizeof(next));
	m->tier_of = mem_calloc(m->tier_starts[m->tier_count], sizeof(*m->tier_of));
	for (i = 0; i < m->part_count; i++) {
		const struct segment *s = m->parts[i];

		m->numbers[i] = mem_calloc(s->doc_count, sizeof(*m->numbers[i]));
		for (doc = 0; doc < s->doc_count; doc++) {
			uint8_t tier = m->tiers[boost_key(s->boosts[doc])];

			if (!segment_bit(s->live, doc))
				continue;
			m->tier_of[next[tier]] = tier;
			m->numbers[i][doc] = (uint16_t)next[tier]++;
		}
	}
}

/* Copies what belongs to one document but for its terms. */
static void copy_document(struct segment *out, uint16_t to, const struct segment *s, uint32_t doc)
{
	out->ids[to] = s->ids[doc];
	out->lengths[to] = s->lengths[doc];
	out->groups[to] = s->groups[doc];
	segment_set_created(out, to, s->created_ms[doc]);
	segment_set_boost(out, to, s->boosts[doc]);
	out->live[to >> 6] |= UINT64_C(1) << (to & 63);
	out->visible[to >> 6] |= (uint64_t)segment_bit(s->visible, doc) << (to & 63);
	out->many[to >> 6] |= (uint64_t)segment_bit(s->many, doc) << (to & 63);
	out->min_id = s->ids[doc] < out->min_id ? s->ids[doc] : out->min_id;
	out->max_id = s->ids[doc] > out->max_id ? s->ids[doc] : out->max_id;
}

/* The terms of the documents stand in the order of their numbers. */
static void copy_forward(struct merge *m)
{
	struct segment *out = m->out;
	uint32_t doc, at = 0;
	size_t i, bytes;

	/* First the lengths, each at its document's place; then their sums. */
	for (i = 0; i < m->part_count; i++)
		for (doc = 0; doc < m->parts[i]->doc_count; doc++)
			if (segment_bit(m->parts[i]->live, doc))
				out->forward_at[m->numbers[i][doc]] = (uint32_t)forward_length(m->parts[i], doc);
	for (doc = 0; doc < out->doc_count; doc++) {
		bytes = out->forward_at[doc];
		out->forward_at[doc] = at;
		at += (uint32_t)bytes;
	}
	out->forward_bytes = out->forward_cap = at;
	out->forward = mem_alloc(at + SEGMENT_SLACK);
	for (i = 0; i < m->part_count; i++) {
		const struct segment *s = m->parts[i];

		for (doc = 0; doc < s->doc_count; doc++)
			if (segment_bit(s->live, doc))
				memcpy(out->forward + out->forward_at[m->numbers[i][doc]],
				       s->forward + s->forward_at[doc], forward_length(s, doc));
	}
}

static void copy_documents(struct merge *m)
{
	uint32_t doc;
	size_t i;

	m->out->doc_count = m->out->live_count = m->tier_starts[m->tier_count];
	allocate_columns(m->out, m->out->doc_count);
	for (i = 0; i < m->part_count; i++)
		for (doc = 0; doc < m->parts[i]->doc_count; doc++)
			if (segment_bit(m->parts[i]->live, doc))
				copy_document(m->out, m->numbers[i][doc], m->parts[i], doc);
	copy_forward(m);
}

static void copy_expiries(struct merge *m)
{
	size_t i, j;

	for (i = 0; i < m->part_count; i++)
		for (j = 0; j < m->parts[i]->expiry_count; j++) {
			struct segment_expiry e = m->parts[i]->expiries[j];

			if (segment_bit(m->parts[i]->live, e.doc))
				segment_add_expiry(m->out, m->numbers[i][e.doc], e.at_ms);
		}
}

/* Where the documents of one part go while its list is read. */
struct gathering {
	const uint16_t *numbers;
	const uint64_t *live;
	uint16_t *docs;
	uint8_t *counts;
	uint32_t count;
};

static inline struct gathering gather_one(struct gathering g, uint32_t doc, uint8_t count)
{
	g.docs[g.count] = g.numbers[doc];
	g.counts[g.count] = count;
	g.count += segment_bit(g.live, doc);
	return g;
}

/* Adds the live documents of a list to the list at hand. */
static void gather(struct merge *m, size_t part, const struct postings_list *list)
{
	struct gathering g = {m->numbers[part], m->parts[part]->live, m->docs, m->counts, m->count};
	uint32_t i, end = list->dense_docs < m->parts[part]->doc_count ? list->dense_docs : m->parts[part]->doc_count;

	if (list->dense_docs == 0) {
		for (i = 0; i < list->count; i++)
			g = gather_one(g, list->docs[i], list->counts ? postings_count_at(list->counts, i) : 1);
	} else if (list->bits) {
		for (i = 0; i < end; i++)
			if (segment_bit(list->bits, i))
				g = gather_one(g, i, 1);
	} else {
		for (i = 0; i < end; i++)
			if (postings_count_at(list->counts, i))
				g = gather_one(g, i, postings_count_at(list->counts, i));
	}
	m->count = g.count;
}

static void sort_short(uint16_t *docs, uint8_t *counts, uint32_t count)
{
	uint32_t i, j;

	for (i = 1; i < count; i++) {
		uint16_t doc = docs[i];
		uint8_t n = counts[i];

		for (j = i; j > 0 && docs[j - 1] > doc; j--) {
			docs[j] = docs[j - 1];
			counts[j] = counts[j - 1];
		}
		docs[j] = doc;
		counts[j] = n;
	}
}

/* Brings the list at hand into the order of the new numbers. */
static void sort_list(struct merge *m)
{
	uint32_t next[TIERS + 1] = {0}, count = m->count, i, j;
	uint16_t *docs = m->docs, *sorted_docs = m->sorted_docs;
	uint8_t *counts = m->counts, *sorted_counts = m->sorted_counts;
	const uint8_t *tier_of = m->tier_of;

	if (m->tier_count < 2)
		return;
	if (count <= SHORT_LIST) {
		sort_short(docs, counts, count);
		return;
	}
	for (i = 0; i < count; i++)
		next[tier_of[docs[i]] + 1]++;
	for (i = 1; i < m->tier_count; i++)
		next[i] += next[i - 1];
	for (i = 0; i < count; i++) {
		j = next[tier_of[docs[i]]]++;
		sorted_docs[j] = docs[i];
		sorted_counts[j] = counts[i];
	}
	m->docs = sorted_docs;
	m->counts = sorted_counts;
	m->sorted_docs = docs;
	m->sorted_counts = counts;
}

static const struct postings *store_of(const struct segment *s, bool counted)
{
	return counted ? &s->terms : &s->labels;
}

/* True where a segment beside those being merged has the term. */
static bool is_elsewhere(const struct merge *m, uint32_t term, bool counted)
{
	struct postings_list list;
	size_t i;

	for (i = 0; i < m->all_count; i++)
		if (m->all[i] && m->all[i] != m->parts[0] && m->all[i] != m->parts[m->part_count - 1] &&
		    postings_find(store_of(m->all[i], counted), term, &list))
			return true;
	return false;
}

/* Writes the list at hand. old: the list of the part `first`, whose bounds still hold where nothing was removed or
 * added. */
static void put_list(struct merge *m, uint32_t term, bool counted, const struct postings_list *old)
{
	struct postings *out = counted ? &m->out->terms : &m->out->labels;
	struct postings_bounds bounds = old->bounds;

	if (counted && m->count > 1 && (m->part_count > 1 || m->count != old->count))
		bounds = postings_bounds_of(m->docs, m->counts, m->count, m->out->lengths);
	postings_put(out, term, m->docs, counted ? m->counts : NULL, m->count, bounds, m->out->doc_count);
}

/* Merges the terms of part `first` with those of the parts behind it; terms of parts before it are done already. */
static void merge_terms_of(struct merge *m, size_t first, bool counted, struct dictionary *dictionary)
{
	const struct postings *p = store_of(m->parts[first], counted);
	struct postings_list list, other;
	uint32_t i;

	for (i = 0; i < p->slot_count; i++) {
		uint32_t term = p->slots[i].term, ahead = i + AHEAD;

		if (ahead < p->slot_count && p->slots[ahead].term != POSTINGS_FREE)
			postings_prefetch(p, &p->slots[ahead]);
		if (term == POSTINGS_FREE)
			continue;
		if (first == 1 && postings_find(store_of(m->parts[0], counted), term, &other))
			continue;
		m->count = 0;
		postings_list_of(p, &p->slots[i], &list);
		gather(m, first, &list);
		if (first == 0 && m->part_count == 2 && postings_find(store_of(m->parts[1], counted), term, &other))
			gather(m, 1, &other);
		sort_list(m);
		if (m->count > 0)
			put_list(m, term, counted, &list);
		else if (dictionary->entries[term].holders == 0 && !is_elsewhere(m, term, counted))
			dictionary_drop(dictionary, term);
	}
}

static void merge_store(struct merge *m, bool counted, struct dictionary *dictionary)
{
	struct postings *out = counted ? &m->out->terms : &m->out->labels;
	uint32_t terms = 0;
	size_t i;

	for (i = 0; i < m->part_count; i++)
		terms += store_of(m->parts[i], counted)->used;
	postings_reserve(out, terms);
	for (i = 0; i < m->part_count; i++)
		merge_terms_of(m, i, counted, dictionary);
	postings_trim(out);
}

struct segment *segment_merge(struct segment *const *parts, size_t part_count, struct segment *const *all,
			      size_t all_count, struct dictionary *terms, struct dictionary *labels)
{
	struct merge m = {.parts = parts, .part_count = part_count, .all = all, .all_count = all_count};
	size_t i;

	assert(part_count >= 1 && part_count <= PARTS);
	m.out = segment_new();
	find_tiers(&m);
	number_documents(&m);
	copy_documents(&m);
	copy_expiries(&m);
	/* One more than can be in a list: a removed document is written behind the last and not counted. */
	m.docs = mem_calloc(m.out->doc_count + 1, sizeof(*m.docs));
	m.counts = mem_calloc(m.out->doc_count + 1, sizeof(*m.counts));
	m.sorted_docs = mem_calloc(m.out->doc_count + 1, sizeof(*m.docs));
	m.sorted_counts = mem_calloc(m.out->doc_count + 1, sizeof(*m.counts));
	merge_store(&m, true, terms);
	merge_store(&m, false, labels);
	for (i = 0; i < part_count; i++)
		free(m.numbers[i]);
	free(m.tier_of);
	free(m.docs);
	free(m.counts);
	free(m.sorted_docs);
	free(m.sorted_counts);
	return m.out;
}
