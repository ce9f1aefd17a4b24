/* How often values occurred, in little memory: percentiles that are off by at most SKETCH_ERROR of their value, however
 * many there are.
 *
 * Values fall into buckets whose bounds grow by a constant factor (as in DDSketch, VLDB 2019), so that the middle of a
 * bucket is that close to everything in it. Only buckets that something fell into are kept, in the order of their keys.
 * Whole numbers up to 50 come out exact when they are rounded. Two sketches are added by adding their buckets: nothing
 * is lost by it.
 */
#ifndef SPINE_BASE_SKETCH_H
#define SPINE_BASE_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_ERROR 0.009
/* Key 0 is for values of 1 and less, the last one for values beyond 2^40. */
enum { SKETCH_KEYS = 1600 };

struct sketch_bucket {
	uint32_t count;
	uint16_t key;
};

/* All zeros is an empty one. */
struct sketch {
	struct sketch_bucket *buckets;
	uint16_t count;
	uint16_t cap;
};

/* Sums of sketches, for asking. */
struct sketch_sum {
	uint64_t counts[SKETCH_KEYS];
	uint64_t total;
};

uint16_t sketch_key(double value);
/* Counts so many more values with that key; a key may stand for anything that is below SKETCH_KEYS. Quick where it is
 * above all keys there are. */
void sketch_add(struct sketch *s, uint16_t key, uint32_t count);
/* Adds all that the other one has counted. */
void sketch_merge(struct sketch *s, const struct sketch *other);
/* Forgets the values, keeps the memory. */
void sketch_clear(struct sketch *s);
/* Frees it; the sketch is then empty. */
void sketch_release(struct sketch *s);
void sketch_sum_add(struct sketch_sum *sum, const struct sketch *s);
/* The smallest value that at least this share (above 0, up to 1) of all values does not exceed; 0 where there are none.
 */
double sketch_sum_quantile(const struct sketch_sum *sum, double share);

#endif
