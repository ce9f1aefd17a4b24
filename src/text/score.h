/* The numbers of BM25: how lengths and counts are kept in few bits, and what an occurrence is worth.
 *
 * The score is that of unrounded lengths and counts. A term's count in a document is kept in four bits: 1 to 14 are
 * themselves, SCORE_COUNT_MANY says that the count stands elsewhere (text/segment.h). A length is a float, which
 * holds whole numbers exactly; only where bounds are kept is it rounded, down, to a byte.
 *
 * An occurrence is worth
 *
 *     weight * count * (k1 + 1) / (count + k1 * (1 - b + b * (length + note) / (average + note))).
 *
 * Plain BM25 has no `note`. It is for short texts: among notes of one line a longer one says more, and is not verbose,
 * so that its length must count for little. It is the length of a short text, times score_shortness(average): among
 * long documents it goes to 0.
 *
 * This is computed as weight * (k1 + 1) / (1 + (base + slope * length) * (1 / count)). Each step of that rises or falls
 * with its operands even when it is rounded, so that a bound for length and count is a bound for the worth, to the
 * last digit.
 */
#ifndef SPINE_TEXT_SCORE_H
#define SPINE_TEXT_SCORE_H

#include <stdint.h>

enum {
	SCORE_COUNTS = 16,		/* codes */
	SCORE_COUNT_MANY = 15,		/* the code of this count and of all above it */
	SCORE_LENGTH_MAX = 1 << 24,	/* a longer document counts as one of this length */
};

/* The count code: 0 stands for "does not occur" and only for that. */
static inline uint8_t score_count_code(uint32_t count)
{
	return count < SCORE_COUNT_MANY ? (uint8_t)count : SCORE_COUNT_MANY;
}

/* The length as it is kept. */
static inline float score_length(uint64_t length)
{
	return (float)(length < SCORE_LENGTH_MAX ? length : SCORE_LENGTH_MAX);
}

/* Lengths up to 63 are exact, larger ones are rounded down to 16 steps an octave; 262,143 and above are one. */
uint8_t score_length_code(float length);
float score_length_of(uint8_t code);

/* 1 / count of each code. Of 0 so much that it is worth nothing; of SCORE_COUNT_MANY 0, as of the highest count. */
extern const float score_inverse[SCORE_COUNTS];

struct score_curve {
	float base, slope;
};

/* What is not longer than a short text is 1; what is longer is less, by the square. */
static inline double score_shortness(double length, double note_length)
{
	double ratio = length > note_length ? note_length / length : 1;

	return ratio * ratio;
}

/* average_length must be above 0, note_length at least 0. */
void score_curve_set(struct score_curve *c, double k1, double b, double average_length, double note_length);

/* weight: includes the factor k1 + 1. inverse: 1 / count. Falls with both length and inverse. */
static inline float score_worth(const struct score_curve *c, float weight, float inverse, float length)
{
	return weight / (1 + (c->base + c->slope * length) * inverse);
}

/* ln(1 + (documents - holders + 0.5) / (holders + 0.5)): always above 0. */
double score_idf(uint64_t documents, uint64_t holders);

#endif
