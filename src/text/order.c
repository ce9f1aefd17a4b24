#include "text/order.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void order_init(struct order *o)
{
	*o = (struct order){0};
}

void order_release(struct order *o)
{
	size_t i;

	for (i = 0; i < o->chunk_count; i++)
		free(o->chunks[i]);
	free(o->chunks);
	free(o->firsts);
	order_init(o);
}

size_t order_bytes(const struct order *o)
{
	return o->chunk_count * sizeof(struct order_chunk) + o->chunk_cap * (sizeof(*o->chunks) + sizeof(*o->firsts));
}

/* How many of the sorted keys are below or equal to key. The guess is looked at first. */
static size_t count_up_to(const uint64_t *keys, size_t count, uint64_t key, size_t guess)
{
	size_t low = 0;

	if (guess < count && keys[guess] <= key) {
		if (guess + 1 == count || keys[guess + 1] > key)
			return guess + 1;
		low = guess + 1;
		count -= low;
	} else if (guess < count) {
		count = guess;
	}
	while (count > 0) {
		size_t half = count / 2;

		if (keys[low + half] <= key) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

/* Where a key may be: most numbers follow one another without a gap. */
static size_t guess_chunk(const struct order *o, uint64_t key)
{
	return o->count ? (size_t)((key - o->firsts[0]) / ORDER_CHUNK) : 0;
}

void order_prefetch(const struct order *o, uint64_t key)
{
	size_t chunk = guess_chunk(o, key), at;

	if (chunk >= o->chunk_count)
		return;
	at = (size_t)(key - o->firsts[chunk]) % ORDER_CHUNK;
	mem_prefetch(&o->chunks[chunk]->keys[0]);
	mem_prefetch(&o->chunks[chunk]->keys[at]);
	mem_prefetch(&o->chunks[chunk]->values[at]);
}

/* The place of the last key up to `key`; false where all are above it. */
bool order_at_most(const struct order *o, uint64_t key, struct order_place *ret)
{
	size_t chunk = count_up_to(o->firsts, o->chunk_count, key, guess_chunk(o, key)), guess;
	const struct order_chunk *c;

	if (chunk == 0)
		return false;
	c = o->chunks[chunk - 1];
	guess = (size_t)(key - c->keys[0]);
	*ret = (struct order_place){chunk - 1, (uint32_t)count_up_to(c->keys, c->count, key, guess) - 1};
	return true;
}

bool order_at_least(const struct order *o, uint64_t key, struct order_place *ret)
{
	if (o->count == 0)
		return false;
	if (!order_at_most(o, key, ret)) {
		*ret = (struct order_place){0, 0};
		return true;
	}
	return order_key(o, *ret) == key || order_next(o, ret);
}

bool order_next(const struct order *o, struct order_place *place)
{
	if (place->at + 1 < o->chunks[place->chunk]->count) {
		place->at++;
		return true;
	}
	if (place->chunk + 1 == o->chunk_count)
		return false;
	*place = (struct order_place){place->chunk + 1, 0};
	return true;
}

bool order_previous(const struct order *o, struct order_place *place)
{
	if (place->at > 0) {
		place->at--;
		return true;
	}
	if (place->chunk == 0)
		return false;
	*place = (struct order_place){place->chunk - 1, o->chunks[place->chunk - 1]->count - 1};
	return true;
}

bool order_get(const struct order *o, uint64_t key, uint32_t *ret_value)
{
	struct order_place place;

	if (!order_at_most(o, key, &place) || order_key(o, place) != key)
		return false;
	*ret_value = order_value(o, place);
	return true;
}

static struct order_chunk *insert_chunk(struct order *o, size_t at)
{
	struct order_chunk *c = mem_alloc(sizeof(*c));

	if (o->chunk_count == o->chunk_cap) {
		o->chunk_cap += o->chunk_cap / 4 + 4;
		o->chunks = mem_reallocarray(o->chunks, o->chunk_cap, sizeof(*o->chunks));
		o->firsts = mem_reallocarray(o->firsts, o->chunk_cap, sizeof(*o->firsts));
	}
	memmove(o->chunks + at + 1, o->chunks + at, (o->chunk_count - at) * sizeof(*o->chunks));
	memmove(o->firsts + at + 1, o->firsts + at, (o->chunk_count - at) * sizeof(*o->firsts));
	o->chunk_count++;
	c->count = 0;
	o->chunks[at] = c;
	return c;
}

static void remove_chunk(struct order *o, size_t at)
{
	free(o->chunks[at]);
	o->chunk_count--;
	memmove(o->chunks + at, o->chunks + at + 1, (o->chunk_count - at) * sizeof(*o->chunks));
	memmove(o->firsts + at, o->firsts + at + 1, (o->chunk_count - at) * sizeof(*o->firsts));
}

/* Appends entries [from, to) of one chunk to another. */
static void copy_entries(struct order_chunk *to, const struct order_chunk *from, uint32_t first, uint32_t end)
{
	memcpy(to->keys + to->count, from->keys + first, (end - first) * sizeof(to->keys[0]));
	memcpy(to->values + to->count, from->values + first, (end - first) * sizeof(to->values[0]));
	to->count += end - first;
}

/* Makes room in a full chunk for an entry at `place`, and corrects the place. At the very end a fresh chunk is
 * begun instead of two half full ones, since most keys are the largest so far. */
static void split_chunk(struct order *o, struct order_place *place)
{
	struct order_chunk *c = o->chunks[place->chunk], *fresh;
	uint32_t half = place->at == c->count && place->chunk + 1 == o->chunk_count ? c->count : c->count / 2;

	fresh = insert_chunk(o, place->chunk + 1);
	copy_entries(fresh, c, half, c->count);
	c->count = half;
	if (fresh->count > 0)
		o->firsts[place->chunk + 1] = fresh->keys[0];
	if (place->at > half || half == ORDER_CHUNK)
		*place = (struct order_place){place->chunk + 1, place->at - half};
}

void order_set(struct order *o, uint64_t key, uint32_t value)
{
	struct order_place place = {0, 0};
	struct order_chunk *c = o->chunk_count ? o->chunks[o->chunk_count - 1] : NULL;

	if (c && key > c->keys[c->count - 1]) {
		place = (struct order_place){o->chunk_count - 1, c->count};
	} else if (order_at_most(o, key, &place)) {
		if (order_key(o, place) == key) {
			o->chunks[place.chunk]->values[place.at] = value;
			return;
		}
		place.at++;
	} else if (o->chunk_count == 0) {
		insert_chunk(o, 0);
	}
	if (o->chunks[place.chunk]->count == ORDER_CHUNK)
		split_chunk(o, &place);
	c = o->chunks[place.chunk];
	memmove(c->keys + place.at + 1, c->keys + place.at, (c->count - place.at) * sizeof(c->keys[0]));
	memmove(c->values + place.at + 1, c->values + place.at, (c->count - place.at) * sizeof(c->values[0]));
	c->keys[place.at] = key;
	c->values[place.at] = value;
	c->count++;
	o->firsts[place.chunk] = c->keys[0];
	o->count++;
}

/* Joins chunk at + 1 to chunk `at` where both together are half a chunk at most. */
static void join_chunks(struct order *o, size_t at)
{
	if (at + 1 >= o->chunk_count || o->chunks[at]->count + o->chunks[at + 1]->count > ORDER_CHUNK / 2)
		return;
	copy_entries(o->chunks[at], o->chunks[at + 1], 0, o->chunks[at + 1]->count);
	remove_chunk(o, at + 1);
}

bool order_remove(struct order *o, uint64_t key)
{
	struct order_place place;
	struct order_chunk *c;

	if (!order_at_most(o, key, &place) || order_key(o, place) != key)
		return false;
	c = o->chunks[place.chunk];
	c->count--;
	memmove(c->keys + place.at, c->keys + place.at + 1, (c->count - place.at) * sizeof(c->keys[0]));
	memmove(c->values + place.at, c->values + place.at + 1, (c->count - place.at) * sizeof(c->values[0]));
	o->count--;
	if (c->count == 0) {
		remove_chunk(o, place.chunk);
		return true;
	}
	o->firsts[place.chunk] = c->keys[0];
	join_chunks(o, place.chunk);
	if (place.chunk > 0)
		join_chunks(o, place.chunk - 1);
	return true;
}
