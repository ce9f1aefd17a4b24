/* One step of a window: counting in it, and how it is kept when it is over.
 *
 * A cell that is being counted in is a struct with sketches that can grow. There are four of them for a series. The
 * other 272, whose steps are over, are only read, and most of each is the buckets of two sketches: up to a few hundred,
 * next to each other, with small counts. So they are kept as bytes (struct stats_packed), a sixth of the size:
 *
 *     counts            in groups of seven bits, the lowest first; the top bit says that another follows
 *     sums              most are whole: as counts, times two; otherwise a 1, and then as they are in memory
 *     a sketch          how many buckets, then each as its distance d to the key before and its count n, by size:
 *                           0ddnnnnn               d up to 4, n up to 32
 *                           10dddddd nnnnnnnn      d up to 64, n up to 256
 *                           11000000 d n           as whole numbers
 */
#include "core/watch/stats_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PINNED_FROM 0.995
#define LOW_BELOW 0.30
#define WHOLE_BELOW 1e15

enum { SHORT_D = 4, SHORT_N = 32, LONG_D = 64, LONG_N = 256, IS_LONG = 0x80, IS_WHOLE = 0xc0 };

/* --- Counting --- */

void stats_cell_release(struct stats_cell *cell)
{
	sketch_release(&cell->latency);
	sketch_release(&cell->utilization);
	sketch_release(&cell->hops);
}

void stats_cell_clear(struct stats_cell *cell, int64_t number)
{
	struct sketch latency = cell->latency, utilization = cell->utilization, hops = cell->hops;

	sketch_clear(&latency);
	sketch_clear(&utilization);
	sketch_clear(&hops);
	*cell = (struct stats_cell){
		.number = number, .queued = -1, .latency = latency, .utilization = utilization, .hops = hops,
	};
}

void stats_cell_add(struct stats_cell *cell, const struct stats_sample *sample)
{
	const struct stats_counts *counts = &sample->counts;

	cell->handoffs += (uint32_t)counts->handoffs;
	cell->acked += (uint32_t)counts->acked;
	cell->completed += (uint32_t)counts->completed;
	cell->failed += (uint32_t)counts->failed;
	cell->retries += (uint32_t)counts->retries;
	cell->leases_lost += (uint32_t)counts->leases_lost;
	cell->waivers += (uint32_t)counts->waivers;
	cell->refused += (uint32_t)counts->refused;
	if (counts->acked) {
		cell->latency_max_ms = fmax(cell->latency_max_ms, sample->latency_ms);
		sketch_add(&cell->latency, sample->latency_key, 1);
	}
	if (counts->packed == 0)
		return;
	if (cell->packed == 0 || sample->completeness < cell->completeness_min)
		cell->completeness_min = sample->completeness;
	cell->packed++;
	cell->completeness_sum += sample->completeness;
	cell->utilization_sum += sample->utilization;
	cell->pinned += sample->utilization >= PINNED_FROM;
	cell->low += sample->utilization < LOW_BELOW;
	cell->chosen += sample->is_chosen;
	cell->chosen_low += sample->is_chosen && sample->utilization < LOW_BELOW;
	cell->hop_sum += (double)sample->hop;
	if (sample->hop > cell->hop_max)
		cell->hop_max = (uint32_t)sample->hop;
	sketch_add(&cell->utilization, sample->utilization_key, 1);
	sketch_add(&cell->hops, (uint16_t)sample->hop, 1);
}

void stats_cell_merge(struct stats_cell *to, const struct stats_cell *from)
{
	to->handoffs += from->handoffs;
	to->acked += from->acked;
	to->completed += from->completed;
	to->failed += from->failed;
	to->retries += from->retries;
	to->leases_lost += from->leases_lost;
	to->waivers += from->waivers;
	to->refused += from->refused;
	to->latency_max_ms = fmax(to->latency_max_ms, from->latency_max_ms);
	sketch_merge(&to->latency, &from->latency);
	if (from->packed == 0)
		return;
	if (to->packed == 0 || from->completeness_min < to->completeness_min)
		to->completeness_min = from->completeness_min;
	to->packed += from->packed;
	to->completeness_sum += from->completeness_sum;
	to->utilization_sum += from->utilization_sum;
	to->pinned += from->pinned;
	to->low += from->low;
	to->chosen += from->chosen;
	to->chosen_low += from->chosen_low;
	to->hop_sum += from->hop_sum;
	if (from->hop_max > to->hop_max)
		to->hop_max = from->hop_max;
	sketch_merge(&to->utilization, &from->utilization);
	sketch_merge(&to->hops, &from->hops);
}

/* --- Bytes --- */

/* Where it is written to; p == NULL: it is only measured. */
struct out {
	uint8_t *p;
	size_t len;
};

static void put_byte(struct out *o, unsigned byte)
{
	if (o->p)
		o->p[o->len] = (uint8_t)byte;
	o->len++;
}

static void put_whole(struct out *o, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_byte(o, (unsigned)(value & 0x7f) | 0x80);
	put_byte(o, (unsigned)value);
}

static uint64_t take_whole(const uint8_t **p)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*p)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

static void put_sum(struct out *o, double value)
{
	if (value >= 0 && value < WHOLE_BELOW && value == floor(value)) {
		put_whole(o, (uint64_t)value * 2);
		return;
	}
	put_byte(o, 1);
	if (o->p)
		memcpy(o->p + o->len, &value, sizeof(value));
	o->len += sizeof(value);
}

static double take_sum(const uint8_t **p)
{
	double value;

	/* A whole number was doubled: it is even, and 1 says that what follows is not one. */
	if (**p != 1) {
		uint64_t whole = take_whole(p) / 2;

		return (double)whole;
	}
	(*p)++;
	memcpy(&value, *p, sizeof(value));
	*p += sizeof(value);
	return value;
}

static void put_sketch(struct out *o, const struct sketch *s)
{
	int before = -1;

	put_whole(o, s->count);
	for (size_t i = 0; i < s->count; i++) {
		unsigned d = (unsigned)(s->buckets[i].key - before);
		uint32_t n = s->buckets[i].count;

		before = s->buckets[i].key;
		assert(d > 0 && n > 0);
		if (d <= SHORT_D && n <= SHORT_N) {
			put_byte(o, (d - 1) << 5 | (n - 1));
		} else if (d <= LONG_D && n <= LONG_N) {
			put_byte(o, IS_LONG | (d - 1));
			put_byte(o, n - 1);
		} else {
			put_byte(o, IS_WHOLE);
			put_whole(o, d);
			put_whole(o, n);
		}
	}
}

/* Into the sum where there is one, into the sketch otherwise. */
static void take_sketch(const uint8_t **p, struct sketch *s, struct sketch_sum *sum)
{
	uint64_t count = take_whole(p);
	unsigned key = 0;

	/* The first one's distance is to the key before 0. */
	for (uint64_t i = 0; i < count; i++) {
		unsigned byte = *(*p)++, d;
		uint32_t n;

		if (byte < IS_LONG) {
			d = (byte >> 5) + 1;
			n = (byte & 0x1f) + 1;
		} else if (byte < IS_WHOLE) {
			d = (byte & 0x3f) + 1;
			n = (uint32_t)*(*p)++ + 1;
		} else {
			d = (unsigned)take_whole(p);
			n = (uint32_t)take_whole(p);
		}
		key += d;
		if (sum) {
			sum->counts[key - 1] += n;
			sum->total += n;
		} else {
			sketch_add(s, (uint16_t)(key - 1), n);
		}
	}
}

/* --- Cells as bytes --- */

static void put_cell(struct out *o, const struct stats_cell *cell)
{
	put_whole(o, cell->handoffs);
	put_whole(o, cell->acked);
	put_whole(o, cell->completed);
	put_whole(o, cell->failed);
	put_whole(o, cell->retries);
	put_whole(o, cell->leases_lost);
	put_whole(o, cell->waivers);
	put_whole(o, cell->refused);
	put_whole(o, cell->packed);
	if (cell->acked) {
		put_sum(o, cell->latency_max_ms);
		put_sketch(o, &cell->latency);
	}
	if (cell->packed == 0)
		return;
	put_whole(o, cell->pinned);
	put_whole(o, cell->low);
	put_whole(o, cell->chosen);
	put_whole(o, cell->chosen_low);
	put_whole(o, cell->hop_max);
	put_sum(o, cell->completeness_sum);
	put_sum(o, cell->completeness_min);
	put_sum(o, cell->utilization_sum);
	put_sum(o, cell->hop_sum);
	put_sketch(o, &cell->utilization);
	put_sketch(o, &cell->hops);
}

struct stats_packed *stats_cell_pack(const struct stats_cell *cell)
{
	struct stats_packed *packed;
	struct out size = {0}, out = {0};

	put_cell(&size, cell);
	packed = mem_alloc(sizeof(*packed) + size.len);
	packed->number = cell->number;
	packed->queued = cell->queued;
	out.p = packed->bytes;
	put_cell(&out, cell);
	assert(out.len == size.len);
	return packed;
}

void stats_cell_unpack(const struct stats_packed *packed, struct stats_cell *cell, struct stats_sums *sums)
{
	const uint8_t *p = packed->bytes;

	stats_cell_clear(cell, packed->number);
	cell->queued = packed->queued;
	cell->handoffs = (uint32_t)take_whole(&p);
	cell->acked = (uint32_t)take_whole(&p);
	cell->completed = (uint32_t)take_whole(&p);
	cell->failed = (uint32_t)take_whole(&p);
	cell->retries = (uint32_t)take_whole(&p);
	cell->leases_lost = (uint32_t)take_whole(&p);
	cell->waivers = (uint32_t)take_whole(&p);
	cell->refused = (uint32_t)take_whole(&p);
	cell->packed = (uint32_t)take_whole(&p);
	if (cell->acked) {
		cell->latency_max_ms = take_sum(&p);
		take_sketch(&p, &cell->latency, sums ? &sums->latency : NULL);
	}
	if (cell->packed == 0)
		return;
	cell->pinned = (uint32_t)take_whole(&p);
	cell->low = (uint32_t)take_whole(&p);
	cell->chosen = (uint32_t)take_whole(&p);
	cell->chosen_low = (uint32_t)take_whole(&p);
	cell->hop_max = (uint32_t)take_whole(&p);
	cell->completeness_sum = take_sum(&p);
	cell->completeness_min = take_sum(&p);
	cell->utilization_sum = take_sum(&p);
	cell->hop_sum = take_sum(&p);
	take_sketch(&p, &cell->utilization, sums ? &sums->utilization : NULL);
	take_sketch(&p, &cell->hops, NULL);
}
