#include "text/score.h"

#include <assert.h>
#include <math.h>

enum {
	LENGTH_EXACT_BITS = 6,	/* lengths below 2^6 are their own code */
	LENGTH_STEP_BITS = 4,	/* 2^4 codes for each doubling above */
	LENGTH_MAX = (1 << 18) - 1,
};

static const uint16_t count_values[SCORE_COUNTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 18, 28, 50, 120, 400};

uint8_t score_length_code(uint32_t length)
{
	uint32_t octave, step;

	if (length < 1u << LENGTH_EXACT_BITS)
		return (uint8_t)length;
	if (length > LENGTH_MAX)
		length = LENGTH_MAX;
	octave = 31 - (uint32_t)__builtin_clz(length);
	step = length >> (octave - LENGTH_STEP_BITS) & ((1u << LENGTH_STEP_BITS) - 1);
	return (uint8_t)((1u << LENGTH_EXACT_BITS) + ((octave - LENGTH_EXACT_BITS) << LENGTH_STEP_BITS) + step);
}

uint32_t score_length_of(uint8_t code)
{
	uint32_t above, octave, step;

	if (code < 1u << LENGTH_EXACT_BITS)
		return code;
	above = code - (1u << LENGTH_EXACT_BITS);
	octave = LENGTH_EXACT_BITS + (above >> LENGTH_STEP_BITS);
	step = above & ((1u << LENGTH_STEP_BITS) - 1);
	return ((1u << LENGTH_STEP_BITS) + step) << (octave - LENGTH_STEP_BITS);
}

uint8_t score_count_code(uint32_t count)
{
	uint8_t code;

	if (count <= 8)
		return (uint8_t)count;
	for (code = 8; code + 1 < SCORE_COUNTS && count_values[code + 1] <= count; code++)
		;
	return code;
}

uint32_t score_count_of(uint8_t code)
{
	assert(code < SCORE_COUNTS);
	return count_values[code];
}

void score_table_fill(struct score_table *t, double k1, double b, double average_length)
{
	int code, length;

	assert(average_length > 0);
	if (t->k1 == k1 && t->b == b && t->average_length == average_length)
		return;
	t->k1 = k1;
	t->b = b;
	t->average_length = average_length;
	for (length = 0; length < SCORE_LENGTHS; length++) {
		double k = k1 * (1 - b + b * score_length_of((uint8_t)length) / average_length);

		for (code = 0; code < SCORE_COUNTS; code++)
			t->part[code * SCORE_LENGTHS + length] =
				(float)(count_values[code] * (k1 + 1) / (count_values[code] + k));
	}
}

double score_idf(uint64_t documents, uint64_t holders)
{
	assert(holders <= documents);
	return log1p(((double)(documents - holders) + 0.5) / ((double)holders + 0.5));
}
