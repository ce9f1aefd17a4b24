/* Memory. Lists live in one block of memory that grows; a list that outgrows its place moves to one of the next size
 * class and leaves the old place to others. The offsets in the slots survive both. A list's place:
 *
 *     count | size << 17 | dense << 31    4 bytes
 *     bounds                              4 bytes, where there are counts
 *     documents (2 bytes each), then counts (4 bits each), for as many as there is room for; or the dense array
 *
 * The size of a sparse list is its class; class 0 is a list without room to append, which is what postings_put makes.
 * The size of a dense list is its room in units of 64 documents; it stands at a multiple of 8 bytes, for its bitmap.
 */
#include "text/postings.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	UNIT = 4,
	CLASSES = 41,
	FIRST_SLOTS = 8,
	DENSE_MIN = 256,	/* documents: a shorter list stays sparse */
	UPPER_SINGLE = 0x8080,
	BATCH = 64,		/* terms that are appended together */
};

/* Documents that a sparse list of the class has room for. */
static const uint32_t class_docs[CLASSES] = {
	0, 2, 4, 8, 12, 16, 24, 32, 40, 56, 72, 96, 120, 152, 192, 240, 304, 384, 480, 600, 752, 944, 1184,
	1480, 1856, 2320, 2904, 3632, 4544, 5680, 7104, 8880, 11104, 13880, 17352, 21696, 27120, 33904,
	42384, 52984, 65536,
};

struct head {
	uint32_t count;		/* with size and form, see above */
	struct postings_bounds bounds;
};

static const uint32_t DENSE = UINT32_C(1) << 31;

void postings_init(struct postings *p, bool counted)
{
	*p = (struct postings){.counted = counted, .units = 2};
}

void postings_release(struct postings *p)
{
	free(p->slots);
	free(p->memory);
	free(p->free_blocks);
	postings_init(p, p->counted);
}

size_t postings_bytes(const struct postings *p)
{
	return p->slot_count * sizeof(*p->slots) + (size_t)p->cap_units * UNIT +
	       (p->free_blocks ? CLASSES * sizeof(*p->free_blocks) : 0);
}

/* --- Slots ------------------------------------------------------------------------------------------ */

static inline uint32_t home_slot(const struct postings *p, uint32_t term)
{
	uint32_t hash = term * UINT32_C(0x9e3779b1);

	hash ^= hash >> 15;
	return (uint32_t)((uint64_t)(hash * UINT32_C(0x85ebca77)) * p->slot_count >> 32);
}

/* The term's slot, or the free one where it belongs. The table must have a free slot. */
static struct postings_slot *find_slot(const struct postings *p, uint32_t term)
{
	uint32_t at = home_slot(p, term);

	while (p->slots[at].term != term && p->slots[at].term != POSTINGS_FREE)
		at = at + 1 == p->slot_count ? 0 : at + 1;
	return &p->slots[at];
}

static void resize_slots(struct postings *p, uint32_t count)
{
	struct postings_slot *old = p->slots;
	uint32_t i, old_count = p->slot_count;

	p->slot_count = count;
	p->slots = mem_reallocarray(NULL, count, sizeof(*p->slots));
	memset(p->slots, 0xff, count * sizeof(*p->slots));
	for (i = 0; i < old_count; i++)
		if (old[i].term != POSTINGS_FREE)
			*find_slot(p, old[i].term) = old[i];
	free(old);
}

/* Slots that a table needs which is to take no more terms. */
static uint32_t slots_for(uint32_t terms)
{
	return terms + terms / 6 + 2;
}

void postings_reserve(struct postings *p, uint32_t terms)
{
	if (slots_for(terms) > p->slot_count)
		resize_slots(p, slots_for(terms));
}

static inline uint32_t slot_place(const struct postings_slot *slot)
{
	return (uint32_t)slot->upper << 16 | slot->doc;
}

static inline bool slot_is_single(const struct postings_slot *slot)
{
	return slot->upper & 0x8000;
}

static void set_place(struct postings_slot *slot, uint32_t at)
{
	assert(at < UINT32_C(1) << 31);
	slot->doc = (uint16_t)at;
	slot->upper = (uint16_t)(at >> 16);
}

/* --- Memory ----------------------------------------------------------------------------------------- */

static inline uint32_t head_units(const struct postings *p)
{
	return p->counted ? 2 : 1;
}

static uint32_t sparse_units(const struct postings *p, uint32_t docs)
{
	return head_units(p) + (docs * 2 + (p->counted ? (docs + 1) / 2 : 0) + UNIT - 1) / UNIT;
}

/* The dense array begins on 8 bytes: one unit stays free behind a head of 4 bytes. docs is a multiple of 64. */
static uint32_t dense_units(const struct postings *p, uint32_t docs)
{
	return 2 + docs / (p->counted ? 8 : 32);
}

static inline unsigned char *at_unit(const struct postings *p, uint32_t at)
{
	return p->memory + (size_t)at * UNIT;
}

static uint32_t take_end(struct postings *p, uint32_t units, uint32_t align)
{
	uint32_t at = (p->units + align - 1) / align * align;

	if (at + units > p->cap_units) {
		p->cap_units += p->cap_units / 8 + 64 + units + align;
		p->memory = mem_reallocarray(p->memory, p->cap_units, UNIT);
	}
	p->units = at + units;
	return at;
}

static uint32_t take_class(struct postings *p, uint32_t class)
{
	uint32_t at = p->free_blocks ? p->free_blocks[class] : 0;

	if (at == 0)
		return take_end(p, sparse_units(p, class_docs[class]), 1);
	memcpy(&p->free_blocks[class], at_unit(p, at), sizeof(uint32_t));
	return at;
}

/* Leaves `units` at `at` to lists of the largest class that fits. */
static void give_back(struct postings *p, uint32_t at, uint32_t units)
{
	uint32_t class = 0;

	while (class + 1 < CLASSES && sparse_units(p, class_docs[class + 1]) <= units)
		class++;
	if (class == 0)
		return;
	if (p->free_blocks == NULL)
		p->free_blocks = mem_calloc(CLASSES, sizeof(*p->free_blocks));
	memcpy(at_unit(p, at), &p->free_blocks[class], sizeof(uint32_t));
	p->free_blocks[class] = at;
}

/* --- Lists ------------------------------------------------------------------------------------------ */

static struct head read_head(const struct postings *p, uint32_t at)
{
	struct head h = {0, {{0, 0, 0}, 0}};

	memcpy(&h, at_unit(p, at), p->counted ? sizeof(h) : sizeof(h.count));
	return h;
}

static void write_head(struct postings *p, uint32_t at, const struct head *h)
{
	memcpy(at_unit(p, at), h, p->counted ? sizeof(*h) : sizeof(h->count));
}

static inline uint32_t head_count(uint32_t count)
{
	return count & 0x1ffff;
}

static inline uint32_t head_size(uint32_t count)
{
	return count >> 17 & 0x7ff;
}

static inline uint16_t *sparse_docs(const struct postings *p, uint32_t at)
{
	return (uint16_t *)(void *)at_unit(p, at + head_units(p));
}

/* Room of a sparse list, in documents. */
static uint32_t sparse_room(uint32_t count)
{
	return head_size(count) ? class_docs[head_size(count)] : head_count(count);
}

static uint32_t dense_room(uint32_t count)
{
	return head_size(count) * 64;
}

static inline void put_count(uint8_t *counts, uint32_t i, uint8_t count)
{
	uint8_t shift = (uint8_t)((i & 1) << 2);

	counts[i >> 1] = (uint8_t)((counts[i >> 1] & (0xf0 >> shift)) | count << shift);
}

/* The same for a count behind all others: what is in the upper half of its byte does not matter yet, and need not
 * be read. */
static inline void append_count(uint8_t *counts, uint32_t i, uint8_t count)
{
	if (i & 1)
		counts[i >> 1] |= (uint8_t)(count << 4);
	else
		counts[i >> 1] = count;
}

/* length: its code. */
static inline void widen_bounds(struct postings_bounds *b, uint8_t count, uint8_t length)
{
	int class = count < 3 ? count - 1 : 2;

	if (length < b->lengths[class])
		b->lengths[class] = length;
	if (count > b->max_count)
		b->max_count = count;
}

static const struct postings_bounds no_bounds = {{255, 255, 255}, 0};

/* Documents that a dense list gets room for, to hold doc and to grow for a while. */
static uint32_t dense_room_for(uint32_t doc)
{
	uint32_t room = (doc + doc / 2 + 64) / 64 * 64;

	return room < POSTINGS_DOCUMENTS ? room : POSTINGS_DOCUMENTS;
}

static void set_dense(const struct postings *p, unsigned char *array, uint16_t doc, uint8_t count)
{
	if (p->counted)
		put_count(array, doc, count);
	else
		((uint64_t *)(void *)array)[doc >> 6] |= UINT64_C(1) << (doc & 63);
}

/* A dense place with room for that many documents, all absent. */
static uint32_t take_dense(struct postings *p, uint32_t room)
{
	uint32_t at = take_end(p, dense_units(p, room), 2);

	memset(at_unit(p, at + 2), 0, (size_t)dense_units(p, room) * UNIT - 8);
	return at;
}

static uint32_t sparse_to_dense(struct postings *p, uint32_t at, struct head *h, uint32_t room)
{
	uint32_t to = take_dense(p, room), i, count = head_count(h->count);
	const uint16_t *docs = sparse_docs(p, at);
	const uint8_t *counts = (const uint8_t *)(docs + sparse_room(h->count));

	for (i = 0; i < count; i++)
		set_dense(p, at_unit(p, to + 2), docs[i], p->counted ? postings_count_at(counts, i) : 1);
	give_back(p, at, sparse_units(p, sparse_room(h->count)));
	h->count = count | room / 64 << 17 | DENSE;
	return to;
}

static uint32_t grow_sparse(struct postings *p, uint32_t at, struct head *h)
{
	uint32_t count = head_count(h->count), room = sparse_room(h->count), class = 1, to;
	const uint16_t *old_docs;
	uint16_t *docs;

	while (class_docs[class] <= count)
		class++;
	to = take_class(p, class);
	old_docs = sparse_docs(p, at);
	docs = sparse_docs(p, to);
	memcpy(docs, old_docs, count * sizeof(*docs));
	if (p->counted)
		memcpy(docs + class_docs[class], old_docs + room, (count + 1) / 2);
	give_back(p, at, sparse_units(p, room));
	h->count = count | class << 17;
	return to;
}

static uint32_t grow_dense(struct postings *p, uint32_t at, struct head *h, uint32_t room)
{
	uint32_t to = take_dense(p, room), old_units = dense_units(p, dense_room(h->count));

	memcpy(at_unit(p, to + 2), at_unit(p, at + 2), (size_t)old_units * UNIT - 8);
	give_back(p, at, old_units);
	h->count = head_count(h->count) | room / 64 << 17 | DENSE;
	return to;
}

/* True where a dense list of doc_count documents is no larger than a sparse one. */
static bool dense_is_smaller(const struct postings *p, uint32_t count, uint32_t doc_count)
{
	return count >= DENSE_MIN && (p->counted ? count * 5 >= doc_count : count * 16 >= doc_count);
}

/* Turns the single document of a slot into a list. */
static void single_to_list(struct postings *p, struct postings_slot *slot, const float *lengths)
{
	uint32_t at = take_class(p, 1);
	struct head h = {1 | 1 << 17, no_bounds};
	uint16_t *docs = sparse_docs(p, at);

	docs[0] = slot->doc;
	if (p->counted) {
		*(uint8_t *)(docs + class_docs[1]) = slot->upper & 15;
		widen_bounds(&h.bounds, slot->upper & 15, score_length_code(lengths[slot->doc]));
	}
	write_head(p, at, &h);
	set_place(slot, at);
}

/* The document that is being added to its lists. */
struct addition {
	uint16_t doc;
	uint8_t length;		/* code */
	const float *lengths;	/* of all documents, of which there are doc_count */
	uint32_t doc_count;
};

/* count: its code. */
static void append_to_list(struct postings *p, struct postings_slot *slot, const struct addition *a, uint8_t count)
{
	uint32_t at = slot_place(slot), n;
	struct head h = read_head(p, at);

	n = head_count(h.count);
	if (!(h.count & DENSE) && n == sparse_room(h.count))
		at = dense_is_smaller(p, n, a->doc_count) ? sparse_to_dense(p, at, &h, dense_room_for(a->doc))
							  : grow_sparse(p, at, &h);
	if (h.count & DENSE) {
		if (a->doc >= dense_room(h.count))
			at = grow_dense(p, at, &h, dense_room_for(a->doc));
		set_dense(p, at_unit(p, at + 2), a->doc, count);
	} else {
		uint16_t *docs = sparse_docs(p, at);

		docs[n] = a->doc;
		if (p->counted)
			append_count((uint8_t *)(docs + sparse_room(h.count)), n, count);
	}
	h.count++;
	if (p->counted)
		widen_bounds(&h.bounds, count, a->length);
	write_head(p, at, &h);
	set_place(slot, at);
}

static void append_one(struct postings *p, struct postings_slot *slot, const struct addition *a,
		       const struct postings_new *t)
{
	uint8_t code = score_count_code(t->count);

	assert(t->count >= 1 && t->term != POSTINGS_FREE);
	if (slot->term == POSTINGS_FREE) {
		*slot = (struct postings_slot){t->term, a->doc, (uint16_t)(UPPER_SINGLE | code | code << 8)};
		p->used++;
		return;
	}
	if (slot_is_single(slot))
		single_to_list(p, slot, a->lengths);
	append_to_list(p, slot, a, code);
}

/* Fetches where the next document of a list, and its count, will be written. */
static void prefetch_end(const struct postings *p, uint32_t at)
{
	const unsigned char *array = at_unit(p, at + head_units(p));
	uint32_t head, count;

	memcpy(&head, at_unit(p, at), sizeof(head));
	count = head_count(head);
	if (head & DENSE)
		return;
	mem_prefetch(array + 2 * (size_t)count);
	if (p->counted)
		mem_prefetch(array + 2 * (size_t)sparse_room(head) + count / 2);
}

/* Each list is somewhere else in memory, which is slow to reach; so all slots are fetched first, then all heads,
 * then all ends. */
static void append_batch(struct postings *p, const struct addition *a, const struct postings_new *terms, size_t count)
{
	struct postings_slot *slots[BATCH];
	size_t i;

	for (i = 0; i < count; i++)
		mem_prefetch(&p->slots[home_slot(p, terms[i].term)]);
	for (i = 0; i < count; i++) {
		slots[i] = find_slot(p, terms[i].term);
		if (slots[i]->term != POSTINGS_FREE && !slot_is_single(slots[i]))
			mem_prefetch(at_unit(p, slot_place(slots[i])));
	}
	for (i = 0; i < count; i++)
		if (slots[i]->term != POSTINGS_FREE && !slot_is_single(slots[i]))
			prefetch_end(p, slot_place(slots[i]));
	for (i = 0; i < count; i++) {
		/* Two new terms may have found the same free slot. */
		if (slots[i]->term != terms[i].term)
			slots[i] = find_slot(p, terms[i].term);
		append_one(p, slots[i], a, &terms[i]);
	}
}

void postings_append(struct postings *p, uint16_t doc, const struct postings_new *terms, size_t term_count,
		     const float *lengths, uint32_t doc_count)
{
	struct addition a = {doc, score_length_code(lengths[doc]), lengths, doc_count};
	size_t i, n;

	assert(doc < doc_count);
	for (i = 0; i < term_count; i += n) {
		n = term_count - i < BATCH ? term_count - i : BATCH;
		if ((uint64_t)(p->used + n) * 5 >= (uint64_t)p->slot_count * 4)
			resize_slots(p, p->slot_count + p->slot_count / 8 * 3 + FIRST_SLOTS + 2 * (uint32_t)n);
		append_batch(p, &a, terms + i, n);
	}
}

static void put_dense(struct postings *p, struct postings_slot *slot, const uint16_t *docs, const uint8_t *counts,
		      uint32_t count, uint32_t doc_count, struct head *h)
{
	uint32_t room = (doc_count + 63) / 64 * 64, at = take_dense(p, room), i;

	for (i = 0; i < count; i++)
		set_dense(p, at_unit(p, at + 2), docs[i], counts ? counts[i] : 1);
	h->count = count | room / 64 << 17 | DENSE;
	write_head(p, at, h);
	set_place(slot, at);
}

static void put_sparse(struct postings *p, struct postings_slot *slot, const uint16_t *docs, const uint8_t *counts,
		       uint32_t count, struct head *h)
{
	uint32_t at = take_end(p, sparse_units(p, count), 1), i;
	uint16_t *to = sparse_docs(p, at);
	uint8_t *to_counts = (uint8_t *)(to + count);

	memcpy(to, docs, count * sizeof(*to));
	for (i = 0; p->counted && i + 1 < count; i += 2)
		to_counts[i / 2] = (uint8_t)(counts[i] | counts[i + 1] << 4);
	if (p->counted && i < count)
		to_counts[i / 2] = counts[i];
	h->count = count;
	write_head(p, at, h);
	set_place(slot, at);
}

struct postings_bounds postings_bounds_of(const uint16_t *docs, const uint8_t *counts, uint32_t count,
					  const float *lengths)
{
	struct postings_bounds bounds = no_bounds;
	uint32_t i;

	for (i = 0; i < count; i++)
		widen_bounds(&bounds, counts[i], score_length_code(lengths[docs[i]]));
	return bounds;
}

void postings_put(struct postings *p, uint32_t term, const uint16_t *docs, const uint8_t *counts, uint32_t count,
		  struct postings_bounds bounds, uint32_t doc_count)
{
	struct postings_slot *slot = find_slot(p, term);
	struct head h = {0, bounds};

	assert(slot->term == POSTINGS_FREE && count > 0 && p->used + 1 < p->slot_count);
	p->used++;
	slot->term = term;
	if (count == 1) {
		uint32_t code = p->counted ? counts[0] : 1;

		slot->doc = docs[0];
		slot->upper = (uint16_t)(UPPER_SINGLE | code | code << 8);
		return;
	}
	if (dense_is_smaller(p, count, doc_count))
		put_dense(p, slot, docs, counts, count, doc_count, &h);
	else
		put_sparse(p, slot, docs, counts, count, &h);
}

void postings_trim(struct postings *p)
{
	if (slots_for(p->used) < p->slot_count)
		resize_slots(p, slots_for(p->used));
	p->cap_units = p->units;
	p->memory = mem_reallocarray(p->memory, p->cap_units, UNIT);
}

void postings_list_of(const struct postings *p, const struct postings_slot *slot, struct postings_list *ret)
{
	uint32_t at;
	struct head h;

	if (slot_is_single(slot)) {
		*ret = (struct postings_list){.count = 1, .docs = &slot->doc, .counts = (const uint8_t *)&slot->upper,
					      .bounds = {{0, 0, 0}, slot->upper & 15}};
		return;
	}
	at = slot_place(slot);
	h = read_head(p, at);
	*ret = (struct postings_list){.count = head_count(h.count), .bounds = h.bounds};
	if (!(h.count & DENSE)) {
		ret->docs = sparse_docs(p, at);
		ret->counts = p->counted ? (const uint8_t *)(ret->docs + sparse_room(h.count)) : NULL;
		return;
	}
	ret->dense_docs = dense_room(h.count);
	if (p->counted)
		ret->counts = at_unit(p, at + 2);
	else
		ret->bits = (const uint64_t *)(void *)at_unit(p, at + 2);
}

uint8_t postings_code_of(const struct postings_list *list, uint16_t doc)
{
	uint32_t low = 0, high;

	if (list->dense_docs)
		return doc < list->dense_docs ? postings_count_at(list->counts, doc) : 0;
	for (high = list->count; low < high;) {
		uint32_t middle = (low + high) / 2;

		if (list->docs[middle] < doc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->docs[low] == doc ? postings_count_at(list->counts, low) : 0;
}

void postings_prefetch_term(const struct postings *p, uint32_t term)
{
	if (p->slots)
		mem_prefetch(&p->slots[home_slot(p, term)]);
}

void postings_prefetch(const struct postings *p, const struct postings_slot *slot)
{
	if (!slot_is_single(slot))
		mem_prefetch(at_unit(p, slot_place(slot)));
}

const struct postings_slot *postings_slot_find(const struct postings *p, uint32_t term)
{
	const struct postings_slot *slot = p->used ? find_slot(p, term) : NULL;

	return slot && slot->term != POSTINGS_FREE ? slot : NULL;
}

bool postings_find(const struct postings *p, uint32_t term, struct postings_list *ret)
{
	const struct postings_slot *slot = postings_slot_find(p, term);

	if (slot)
		postings_list_of(p, slot, ret);
	return slot != NULL;
}
