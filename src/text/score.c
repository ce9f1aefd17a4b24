#include "text/score.h"

#include <assert.h>
#include <math.h>

enum {
	LENGTH_EXACT_BITS = 6,	/* lengths below 2^6 are their own code */
	LENGTH_STEP_BITS = 4,	/* 2^4 codes for each doubling above */
	LENGTH_CODED_MAX = (1 << 18) - 1,
};

const float score_inverse[SCORE_COUNTS] = {
	1e38f, 1.0f / 1, 1.0f / 2, 1.0f / 3, 1.0f / 4, 1.0f / 5, 1.0f / 6, 1.0f / 7, 1.0f / 8, 1.0f / 9, 1.0f / 10,
	1.0f / 11, 1.0f / 12, 1.0f / 13, 1.0f / 14, 0,
};

uint8_t score_length_code(float length)
{
	uint32_t whole = (uint32_t)length, octave, step;

	if (whole < 1u << LENGTH_EXACT_BITS)
		return (uint8_t)whole;
	if (whole > LENGTH_CODED_MAX)
		whole = LENGTH_CODED_MAX;
	octave = 31 - (uint32_t)__builtin_clz(whole);
	step = whole >> (octave - LENGTH_STEP_BITS) & ((1u << LENGTH_STEP_BITS) - 1);
	return (uint8_t)((1u << LENGTH_EXACT_BITS) + ((octave - LENGTH_EXACT_BITS) << LENGTH_STEP_BITS) + step);
}

float score_length_of(uint8_t code)
{
	uint32_t above, octave, step;

	if (code < 1u << LENGTH_EXACT_BITS)
		return code;
	above = code - (1u << LENGTH_EXACT_BITS);
	octave = LENGTH_EXACT_BITS + (above >> LENGTH_STEP_BITS);
	step = above & ((1u << LENGTH_STEP_BITS) - 1);
	return (float)(((1u << LENGTH_STEP_BITS) + step) << (octave - LENGTH_STEP_BITS));
}

void score_curve_set(struct score_curve *c, double k1, double b, double average_length, double note_length)
{
	double note = note_length * score_shortness(average_length, note_length);
	double slope = k1 * b / (average_length + note);

	assert(average_length > 0 && note_length >= 0);
	/* Never quite 0, so that a count of 0 is worth nothing whatever the parameters. */
	c->base = (float)fmax(k1 * (1 - b) + slope * note, 1e-20);
	c->slope = (float)slope;
}

double score_idf(uint64_t documents, uint64_t holders)
{
	assert(holders <= documents);
	return log1p(((double)(documents - holders) + 0.5) / ((double)holders + 0.5));
}
