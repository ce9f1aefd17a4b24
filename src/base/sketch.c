#include "base/sketch.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ln((1 + e) / (1 - e)) for e = SKETCH_ERROR: the logarithm of the factor between two bounds. */
#define LN_FACTOR 0.018000486023622

uint16_t sketch_key(double value)
{
	double key;

	if (!(value > 1))
		return 0;
	key = ceil(log(value) / LN_FACTOR);
	return key < SKETCH_KEYS - 1 ? (uint16_t)key : SKETCH_KEYS - 1;
}

/* The value whose distance to both bounds of the bucket is the same share of them. */
static double value_of(int key)
{
	return key == 0 ? 1 : exp(key * LN_FACTOR) * 2 / (exp(LN_FACTOR) + 1);
}

/* Where the key is, or would be. */
static size_t place_of(const struct sketch *s, uint16_t key)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->buckets[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sketch_add(struct sketch *s, uint16_t key, uint32_t count)
{
	size_t at = s->count && s->buckets[s->count - 1].key >= key ? place_of(s, key) : s->count;

	if (at < s->count && s->buckets[at].key == key) {
		uint32_t *to = &s->buckets[at].count;

		*to = count <= UINT32_MAX - *to ? *to + count : UINT32_MAX;
		return;
	}
	if (s->count == s->cap) {
		s->cap = s->cap ? (uint16_t)(s->cap * 2) : 4;
		s->buckets = mem_reallocarray(s->buckets, s->cap, sizeof(*s->buckets));
	}
	memmove(&s->buckets[at + 1], &s->buckets[at], (s->count - at) * sizeof(*s->buckets));
	s->buckets[at] = (struct sketch_bucket){count, key};
	s->count++;
}

void sketch_merge(struct sketch *s, const struct sketch *other)
{
	for (size_t i = 0; i < other->count; i++)
		sketch_add(s, other->buckets[i].key, other->buckets[i].count);
}

void sketch_clear(struct sketch *s)
{
	s->count = 0;
}

void sketch_release(struct sketch *s)
{
	free(s->buckets);
	*s = (struct sketch){0};
}

void sketch_sum_add(struct sketch_sum *sum, const struct sketch *s)
{
	for (size_t i = 0; i < s->count; i++) {
		sum->counts[s->buckets[i].key] += s->buckets[i].count;
		sum->total += s->buckets[i].count;
	}
}

double sketch_sum_quantile(const struct sketch_sum *sum, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)sum->total), seen = 0;

	if (sum->total == 0)
		return 0;
	if (rank < 1)
		rank = 1;
	for (int key = 0; key < SKETCH_KEYS; key++) {
		seen += sum->counts[key];
		if (seen >= rank)
			return value_of(key);
	}
	return value_of(SKETCH_KEYS - 1);
}
