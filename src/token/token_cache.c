#include "token/token_cache.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	WAYS = 4,		/* entries, next to each other, that a text may be in: a cache line */
	MEASURE_BITS = 24,	/* larger ones are not remembered */
};

/* An entry that was never set is zero, and so is its measure: the measure of no text that is kept. */
struct entry {
	_Atomic uint64_t mixed;		/* the text's first hash ^ data */
	_Atomic uint64_t data;		/* the upper bits of its second hash, and the measure */
};

struct token_cache {
	struct entry *entries;
	size_t mask;
	uint64_t seed;
};

struct token_cache *token_cache_new(size_t entries, uint64_t seed)
{
	struct token_cache *c = mem_zalloc(sizeof(*c));

	assert(entries >= WAYS && (entries & (entries - 1)) == 0);
	c->entries = mem_calloc(entries, sizeof(*c->entries));
	c->mask = entries - 1;
	c->seed = seed;
	return c;
}

void token_cache_free(struct token_cache *c)
{
	if (c == NULL)
		return;
	free(c->entries);
	free(c);
}

/* A text's first hash says where it is; the second, in which the bits of the measure are zero, makes the rest of the
 * key. made_into is 0 for a text that is measured as it is. */
static struct token_key key_of(const struct token_cache *c, const struct tokenizer *t, struct str text,
			       uint32_t made_into)
{
	uint64_t first = hash_bytes(text.p, text.n, c->seed ^ (uintptr_t)t ^ (uint64_t)made_into << 56);
	uint64_t second = hash_bytes(text.p, text.n, ~c->seed);

	return (struct token_key){first, second >> MEASURE_BITS << MEASURE_BITS};
}

static struct entry *set_of(const struct token_cache *c, struct token_key key)
{
	return &c->entries[key.first & c->mask & ~(size_t)(WAYS - 1)];
}

static bool find(const struct entry *set, struct token_key key, size_t *ret_measure)
{
	for (int i = 0; i < WAYS; i++) {
		uint64_t data = atomic_load_explicit(&set[i].data, memory_order_relaxed);
		uint64_t mixed = atomic_load_explicit(&set[i].mixed, memory_order_relaxed);

		if ((mixed ^ data) != key.first || data >> MEASURE_BITS != key.second >> MEASURE_BITS || data == 0)
			continue;
		*ret_measure = data & ((1 << MEASURE_BITS) - 1);
		return true;
	}
	return false;
}

/* Takes a free entry, or else one that the hash picks. */
static void put(struct entry *set, struct token_key key, size_t measure)
{
	struct entry *e = &set[key.first >> 62];
	uint64_t data = key.second | measure;

	for (int i = 0; i < WAYS; i++)
		if (atomic_load_explicit(&set[i].data, memory_order_relaxed) == 0) {
			e = &set[i];
			break;
		}
	atomic_store_explicit(&e->data, data, memory_order_relaxed);
	atomic_store_explicit(&e->mixed, key.first ^ data, memory_order_relaxed);
}

struct token_key token_cache_key(const struct token_cache *c, const struct tokenizer *t, struct str text,
				 uint32_t made_into)
{
	struct token_key key;

	assert(made_into > 0 && made_into < 256);
	if (c == NULL)
		return (struct token_key){0};
	key = key_of(c, t, text, made_into);
	mem_prefetch(set_of(c, key));
	return key;
}

bool token_cache_get(const struct token_cache *c, struct token_key key, size_t *ret_measure)
{
	return c && find(set_of(c, key), key, ret_measure);
}

void token_cache_put(struct token_cache *c, struct token_key key, size_t measure)
{
	if (c && measure < 1 << MEASURE_BITS)
		put(set_of(c, key), key, measure);
}

size_t token_cache_measure(struct token_cache *c, const struct tokenizer *t, struct str text)
{
	struct token_key key;
	size_t measure;

	if (c == NULL || text.n == 0)
		return tokenizer_measure(t, text);
	key = key_of(c, t, text, 0);
	if (token_cache_get(c, key, &measure))
		return measure;
	measure = tokenizer_measure(t, text);
	token_cache_put(c, key, measure);
	return measure;
}
