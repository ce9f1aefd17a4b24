/* Numbers in their order, each with a 32-bit value: which document has an id, and which comes before or after it.
 *
 * A sorted sequence in chunks: numbers that mostly grow fill one chunk after the other (12 bytes each), any other
 * finds its place by two binary searches and moves one chunk's worth of neighbours at most.
 */
#ifndef SPINE_TEXT_ORDER_H
#define SPINE_TEXT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_CHUNK = 128 };

struct order_chunk {
	uint32_t count;
	uint32_t values[ORDER_CHUNK];
	uint64_t keys[ORDER_CHUNK];
};

struct order {
	struct order_chunk **chunks;	/* none is empty */
	uint64_t *firsts;		/* the first key of each chunk */
	size_t chunk_count;
	size_t chunk_cap;
	size_t count;
};

/* A place in the sequence; valid until the sequence changes. */
struct order_place {
	size_t chunk;
	uint32_t at;
};

void order_init(struct order *o);
void order_release(struct order *o);
size_t order_bytes(const struct order *o);

/* Sets the value of key, which may be new. */
void order_set(struct order *o, uint64_t key, uint32_t value);
/* False where key is not there. */
bool order_get(const struct order *o, uint64_t key, uint32_t *ret_value);
bool order_remove(struct order *o, uint64_t key);

/* The first place with a key of at least (order_at_least) or the last with one of at most (order_at_most) `key`;
 * false where there is none. */
bool order_at_least(const struct order *o, uint64_t key, struct order_place *ret);
bool order_at_most(const struct order *o, uint64_t key, struct order_place *ret);
/* Says that `key` will be looked for soon. */
void order_prefetch(const struct order *o, uint64_t key);
/* Moves to the neighbour; false at the end. */
bool order_next(const struct order *o, struct order_place *place);
bool order_previous(const struct order *o, struct order_place *place);

static inline uint64_t order_key(const struct order *o, struct order_place p)
{
	return o->chunks[p.chunk]->keys[p.at];
}

static inline uint32_t order_value(const struct order *o, struct order_place p)
{
	return o->chunks[p.chunk]->values[p.at];
}

#endif
