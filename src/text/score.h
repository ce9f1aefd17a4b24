/* The numbers of BM25: how counts are kept in few bits, and what they are worth.
 *
 * A document's length is kept as one byte and a term's count in it as four bits, so that one table of 16 x 256
 * factors says what any occurrence is worth. Small numbers are exact; larger ones are rounded down to a step
 * (lengths: about 5 %). That rounding is part of the definition of the score, the same for every way of computing it.
 */
#ifndef SPINE_TEXT_SCORE_H
#define SPINE_TEXT_SCORE_H

#include <stdint.h>

enum {
	SCORE_LENGTHS = 256,
	SCORE_COUNTS = 16,
};

/* Lengths up to 63 are exact, larger ones are rounded down to 16 steps an octave; 262,143 and above are one. */
uint8_t score_length_code(uint32_t length);
uint32_t score_length_of(uint8_t code);

/* Counts up to 8 are exact. 0 stands for "does not occur" and only for that. */
uint8_t score_count_code(uint32_t count);
uint32_t score_count_of(uint8_t code);

/* part[count code * SCORE_LENGTHS + length code]: count * (k1 + 1) / (count + k1 * (1 - b + b * length / average)).
 * Grows with the count, falls with the length; 0 for count 0. */
struct score_table {
	float part[SCORE_COUNTS * SCORE_LENGTHS];
	double k1, b, average_length;
};

/* Does nothing where the table already has these parameters. average_length must be above 0. */
void score_table_fill(struct score_table *t, double k1, double b, double average_length);

/* ln(1 + (documents - holders + 0.5) / (holders + 0.5)): always above 0. */
double score_idf(uint64_t documents, uint64_t holders);

#endif
