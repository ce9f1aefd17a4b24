#include "text/termbag.h"

#include "base/hash.h"
#include "base/mem.h"
#include "text/analyze.h"

#include <assert.h>
#include <stdlib.h>

enum {
	FIRST_SLOTS = 256,
	KEPT_SLOTS = 4096,	/* a table beyond this is given back when the bag is cleared */
};

void termbag_init(struct termbag *bag, uint64_t seed)
{
	*bag = (struct termbag){.seed = seed};
}

void termbag_release(struct termbag *bag)
{
	free(bag->terms);
	free(bag->bytes);
	free(bag->slots);
	termbag_init(bag, bag->seed);
}

void termbag_clear(struct termbag *bag)
{
	if (bag->slot_count > KEPT_SLOTS) {
		termbag_release(bag);
		return;
	}
	if (bag->term_count > 0)
		memset(bag->slots, 0, bag->slot_count * sizeof(*bag->slots));
	bag->term_count = 0;
	bag->byte_count = 0;
	bag->length = 0;
}

static void grow_slots(struct termbag *bag)
{
	size_t i, count = bag->slot_count ? bag->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots = mem_calloc(count, sizeof(*slots));

	for (i = 0; i < bag->term_count; i++) {
		size_t at = bag->terms[i].hash & (count - 1);

		while (slots[at] != 0)
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(bag->slots);
	bag->slots = slots;
	bag->slot_count = count;
}

static uint32_t new_term(struct termbag *bag, struct str term, uint64_t hash, float share)
{
	if (bag->term_count == bag->term_cap) {
		bag->term_cap = bag->term_cap ? bag->term_cap * 2 : 64;
		bag->terms = mem_reallocarray(bag->terms, bag->term_cap, sizeof(*bag->terms));
	}
	if (bag->byte_cap - bag->byte_count < term.n) {
		bag->byte_cap = bag->byte_cap ? bag->byte_cap * 2 : 1024;
		bag->bytes = mem_realloc(bag->bytes, bag->byte_cap);
	}
	assert(term.n <= ANALYZE_TERM_BYTES && bag->byte_count < UINT32_MAX - ANALYZE_TERM_BYTES);
	memcpy(bag->bytes + bag->byte_count, term.p, term.n);
	bag->terms[bag->term_count] = (struct termbag_term){
		.hash = hash,
		.at = (uint32_t)bag->byte_count,
		.len = (uint32_t)term.n,
		.count = bag->weight,
		.share = share,
		.parts = bag->part,
	};
	bag->byte_count += term.n;
	return (uint32_t)++bag->term_count;
}

static void add_term(void *ctx, struct str term, float share)
{
	struct termbag *bag = ctx;
	uint64_t hash = hash_bytes(term.p, term.n, bag->seed);
	size_t at;

	if (bag->term_count * 2 >= bag->slot_count)
		grow_slots(bag);
	bag->length += bag->weight;
	for (at = hash & (bag->slot_count - 1); bag->slots[at] != 0; at = (at + 1) & (bag->slot_count - 1)) {
		struct termbag_term *t = &bag->terms[bag->slots[at] - 1];

		if (t->hash == hash && t->len == term.n && memcmp(bag->bytes + t->at, term.p, term.n) == 0) {
			if (t->count <= UINT32_MAX - bag->weight)
				t->count += bag->weight;
			t->share = share > t->share ? share : t->share;
			t->parts |= bag->part;
			return;
		}
	}
	bag->slots[at] = new_term(bag, term, hash, share);
}

static void add_text(struct termbag *bag, struct analyzer *a, struct str text, uint32_t weight, uint8_t part)
{
	assert(weight >= 1);
	bag->weight = weight;
	bag->part = part;
	analyzer_run(a, text, add_term, bag);
}

void termbag_add_text(struct termbag *bag, struct analyzer *a, struct str text, uint32_t weight)
{
	add_text(bag, a, text, weight, TERMBAG_MAIN);
}

void termbag_add_aside(struct termbag *bag, struct analyzer *a, struct str text, uint32_t weight)
{
	add_text(bag, a, text, weight, TERMBAG_ASIDE);
}
