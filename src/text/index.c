#include "text/index.h"

#include "base/hash.h"
#include "base/mem.h"
#include "text/index_state.h"
#include "text/score.h"
#include "text/termbag.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
	SLOTS_MAX = 1 << 16,
	REWRITE_MIN = 64,	/* removed documents, before a segment is rewritten for them */
};

const struct index_config index_config_default = {
	.k1 = 1.2, .b = 0.75, .note_length = 24, .segment_documents = SEGMENT_DOCUMENTS / 2,
};

struct index *index_new(const struct index_config *config)
{
	struct index *ix = mem_zalloc(sizeof(*ix));

	assert(config->k1 >= 0 && config->b >= 0 && config->b <= 1);
	assert(config->segment_documents >= 1 && config->segment_documents <= SEGMENT_DOCUMENTS);
	ix->config = *config;
	dictionary_init(&ix->terms);
	dictionary_init(&ix->labels);
	ix->min_boost = INFINITY;
	order_init(&ix->order);
	order_init(&ix->groups);
	return ix;
}

void index_free(struct index *ix)
{
	uint32_t i;

	if (ix == NULL)
		return;
	for (i = 0; i < ix->slot_count; i++)
		segment_free(ix->slots[i]);
	free(ix->slots);
	free(ix->ages);
	dictionary_release(&ix->terms);
	dictionary_release(&ix->labels);
	order_release(&ix->order);
	order_release(&ix->groups);
	free(ix->new_terms);
	free(ix->new_labels);
	free(ix);
}

uint64_t index_documents(const struct index *ix)
{
	return ix->live_docs;
}

uint64_t index_highest(const struct index *ix)
{
	struct order_place last;

	return order_at_most(&ix->order, UINT64_MAX, &last) ? order_key(&ix->order, last) : 0;
}

size_t index_bytes(const struct index *ix)
{
	size_t bytes = sizeof(*ix) + order_bytes(&ix->order) + order_bytes(&ix->groups);
	uint32_t i;

	bytes += dictionary_bytes(&ix->terms) + dictionary_bytes(&ix->labels);
	bytes += ix->slot_count * (sizeof(*ix->slots) + sizeof(*ix->ages));
	bytes += ix->new_terms_cap * 2 * sizeof(*ix->new_terms) + ix->new_labels_cap * sizeof(*ix->new_labels);
	for (i = 0; i < ix->segment_count; i++)
		bytes += segment_bytes(index_segment(ix, i));
	return bytes;
}

bool index_find(const struct index *ix, uint64_t id, struct segment **ret_segment, uint16_t *ret_doc)
{
	uint32_t where;

	if (!order_get(&ix->order, id, &where))
		return false;
	*ret_segment = ix->slots[where >> 16];
	*ret_doc = (uint16_t)where;
	return true;
}

bool index_has(const struct index *ix, uint64_t id)
{
	uint32_t where;

	return order_get(&ix->order, id, &where);
}

/* --- Segments --------------------------------------------------------------------------------------- */

static uint32_t free_slot(struct index *ix)
{
	uint32_t slot;

	for (slot = 0; slot < ix->slot_count; slot++)
		if (ix->slots[slot] == NULL)
			return slot;
	assert(ix->slot_count < SLOTS_MAX);
	ix->slot_count += ix->slot_count / 2 + 4;
	if (ix->slot_count > SLOTS_MAX)
		ix->slot_count = SLOTS_MAX;
	ix->slots = mem_reallocarray(ix->slots, ix->slot_count, sizeof(*ix->slots));
	ix->ages = mem_reallocarray(ix->ages, ix->slot_count, sizeof(*ix->ages));
	memset(ix->slots + slot, 0, (ix->slot_count - slot) * sizeof(*ix->slots));
	return slot;
}

/* The documents of a rewritten segment have new numbers. */
static void place_documents(struct index *ix, uint32_t slot)
{
	const struct segment *s = ix->slots[slot];
	uint32_t doc;

	for (doc = 0; doc < s->doc_count; doc++) {
		order_set(&ix->order, s->ids[doc], slot << 16 | doc);
		order_set(&ix->groups, index_group_key(s->groups[doc], s->ids[doc]), slot << 16 | doc);
	}
}

static void drop_segment(struct index *ix, uint32_t age)
{
	segment_free(index_segment(ix, age));
	ix->slots[ix->ages[age]] = NULL;
	ix->segment_count--;
	memmove(ix->ages + age, ix->ages + age + 1, (ix->segment_count - age) * sizeof(*ix->ages));
}

/* Rewrites `count` segments (1 or 2) from `age` on as one, or drops them where no document is left. */
static void rewrite_segments(struct index *ix, uint32_t age, uint32_t count)
{
	struct segment *parts[2] = {index_segment(ix, age), index_segment(ix, age + count - 1)}, *merged;

	merged = segment_merge(parts, count, ix->slots, ix->slot_count, &ix->terms, &ix->labels);
	if (count == 2)
		drop_segment(ix, age + 1);
	segment_free(parts[0]);
	ix->slots[ix->ages[age]] = merged;
	if (merged->doc_count == 0)
		drop_segment(ix, age);
	else
		place_documents(ix, ix->ages[age]);
}

static uint32_t age_of_slot(const struct index *ix, uint32_t slot)
{
	uint32_t age = 0;

	while (ix->ages[age] != slot)
		age++;
	return age;
}

static bool fit_together(const struct index *ix, uint32_t age)
{
	return age + 1 < ix->segment_count &&
	       index_segment(ix, age)->live_count + index_segment(ix, age + 1)->live_count <=
		       ix->config.segment_documents / 2;
}

/* After a removal: a segment of which a third is gone is rewritten, with a neighbour where both have become small.
 * A document is thus rewritten about three times for each that is removed, on average. */
static void rewrite_where_due(struct index *ix, uint32_t slot)
{
	const struct segment *s = ix->slots[slot];
	uint32_t gone = s->doc_count - s->live_count, age;

	if (s->live_count > 0 && gone * 3 < s->doc_count)
		return;
	if (s->live_count > 0 && gone < REWRITE_MIN && gone * 4 < ix->config.segment_documents)
		return;
	age = age_of_slot(ix, slot);
	if (age > 0 && fit_together(ix, age - 1))
		rewrite_segments(ix, age - 1, 2);
	else
		rewrite_segments(ix, age, fit_together(ix, age) ? 2 : 1);
}

/* Slot of the segment that takes the next document. */
static uint32_t open_slot(struct index *ix)
{
	uint32_t slot;

	if (ix->segment_count > 0) {
		slot = ix->ages[ix->segment_count - 1];
		if (ix->slots[slot]->doc_count < ix->config.segment_documents)
			return slot;
		/* Full: from now on it only needs the memory that it fills. */
		rewrite_segments(ix, ix->segment_count - 1, 1);
	}
	slot = free_slot(ix);
	ix->slots[slot] = segment_new();
	ix->ages[ix->segment_count++] = (uint16_t)slot;
	return slot;
}

/* --- Documents -------------------------------------------------------------------------------------- */

/* Sorts by the number of the term, a byte at a time, from the lowest: no comparison, so none that is predicted
 * wrongly. spare has as much room. Returns the sorted terms, which are in one of the two. */
static struct postings_new *sort_terms(struct postings_new *terms, struct postings_new *spare, size_t count)
{
	uint32_t most = 0, shift;
	size_t i;

	for (i = 0; i < count; i++)
		most |= terms[i].term;
	for (shift = 0; shift < 32 && most >> shift > 0; shift += 8) {
		uint32_t starts[257] = {0};
		struct postings_new *from = terms;

		for (i = 0; i < count; i++)
			starts[(from[i].term >> shift & 255) + 1]++;
		for (i = 1; i < 256; i++)
			starts[i] += starts[i - 1];
		for (i = 0; i < count; i++)
			spare[starts[from[i].term >> shift & 255]++] = from[i];
		terms = spare;
		spare = from;
	}
	return terms;
}

/* The terms of the bag with their numbers, ascending. Borrowed until the next call; NULL where it has none. */
static const struct postings_new *number_terms(struct index *ix, const struct termbag *bag)
{
	struct postings_new *terms;
	size_t i;

	if (bag->term_count == 0)
		return NULL;
	if (bag->term_count > ix->new_terms_cap) {
		ix->new_terms_cap = bag->term_count + bag->term_count / 2;
		ix->new_terms = mem_reallocarray(ix->new_terms, ix->new_terms_cap, 2 * sizeof(*ix->new_terms));
	}
	terms = ix->new_terms;
	/* Slots first, then entries: both are slow to reach. */
	for (i = 0; i < bag->term_count; i++)
		dictionary_prefetch(&ix->terms, bag->terms[i].hash);
	for (i = 0; i < bag->term_count; i++)
		terms[i].term = dictionary_guess(&ix->terms, bag->terms[i].hash);
	for (i = 0; i < bag->term_count; i++) {
		if (!dictionary_is(&ix->terms, terms[i].term, bag->terms[i].hash))
			terms[i].term = dictionary_intern(&ix->terms, bag->terms[i].hash);
		terms[i].count = bag->terms[i].count;
	}
	return sort_terms(terms, terms + ix->new_terms_cap, bag->term_count);
}

/* Numbers of the labels, each once; returns how many. */
static size_t number_labels(struct index *ix, const struct str *labels, size_t count)
{
	size_t i, j, kept = 0;

	if (count > ix->new_labels_cap) {
		ix->new_labels_cap = count;
		ix->new_labels = mem_reallocarray(ix->new_labels, count, sizeof(*ix->new_labels));
	}
	for (i = 0; i < count; i++) {
		uint64_t hash = hash_bytes(labels[i].p, labels[i].n, ix->config.seed);
		uint32_t number = dictionary_intern(&ix->labels, hash);

		for (j = 0; j < kept && ix->new_labels[j].term != number; j++)
			;
		if (j == kept)
			ix->new_labels[kept++] = (struct postings_new){number, 1};
	}
	return kept;
}

/* 0: none. The label is one of the document's, so that its number is kept as long as the document. */
static uint32_t group_of(struct index *ix, struct str group)
{
	return group.p ? 1 + dictionary_intern(&ix->labels, hash_bytes(group.p, group.n, ix->config.seed)) : 0;
}

void index_add(struct index *ix, const struct index_document *doc)
{
	struct segment_document d = {
		.id = doc->id,
		.created_ms = doc->created_ms,
		.expires_ms = doc->expires_ms,
		.boost = doc->boost,
		.hidden = doc->hidden,
	};
	uint32_t slot, number;

	assert(doc->terms->seed == ix->config.seed);
	assert(isfinite(doc->boost) && doc->boost >= 0 && doc->id >> INDEX_ID_BITS == 0);
	ix->min_boost = fminf(ix->min_boost, doc->boost);
	index_remove(ix, doc->id);
	/* The segment first: rewriting one may drop strings that this document is about to use. */
	slot = open_slot(ix);
	d.terms = number_terms(ix, doc->terms);
	d.term_count = doc->terms->term_count;
	d.label_count = number_labels(ix, doc->labels, doc->label_count);
	d.labels = ix->new_labels;
	d.group = group_of(ix, doc->group);
	d.length = score_length(doc->terms->length);
	number = segment_add(ix->slots[slot], &d, &ix->terms);
	order_set(&ix->order, doc->id, slot << 16 | number);
	order_set(&ix->groups, index_group_key(d.group, doc->id), slot << 16 | number);
	ix->live_docs++;
	ix->total_length += (uint64_t)d.length;
}

bool index_remove(struct index *ix, uint64_t id)
{
	struct segment *s;
	uint32_t where;
	uint16_t doc;

	if (!order_get(&ix->order, id, &where))
		return false;
	s = ix->slots[where >> 16];
	doc = (uint16_t)where;
	order_remove(&ix->order, id);
	order_remove(&ix->groups, index_group_key(s->groups[doc], id));
	segment_forget_terms(s, doc, &ix->terms);
	segment_remove(s, doc);
	ix->live_docs--;
	ix->total_length -= (uint64_t)s->lengths[doc];
	rewrite_where_due(ix, where >> 16);
	return true;
}

bool index_set_boost(struct index *ix, uint64_t id, float boost)
{
	struct segment *s;
	uint16_t doc;

	assert(isfinite(boost) && boost >= 0);
	if (!index_find(ix, id, &s, &doc))
		return false;
	segment_set_boost(s, doc, boost);
	ix->min_boost = fminf(ix->min_boost, boost);
	return true;
}

bool index_set_hidden(struct index *ix, uint64_t id, bool hidden)
{
	struct segment *s;
	uint16_t doc;

	if (!index_find(ix, id, &s, &doc))
		return false;
	segment_set_hidden(s, doc, hidden);
	return true;
}
