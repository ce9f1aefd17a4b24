/* A word, here: a letter, or another character but a number, a line end or an apostrophe, and a letter; then letters
 * of lower case. An upper case letter may also be followed by a second one. All of it is ASCII, and so is what stands
 * behind it, which is neither a letter nor an apostrophe. That is one piece in both patterns of token/split.c, whole.
 *
 * Such a word of less than 16 bytes is looked up as it is, filled up with zeroes (its own last byte is none), in a
 * table of the words that are tokens: a set of four, a cache line, for each value of a hash. Not all of them have found
 * a place there; what is not found may be a token all the same. The length of a word is found without a loop over its
 * bytes: it is hard to foresee, and having been wrong about the end of a loop costs more than all the rest.
 */
#include "token/words.h"

#include <string.h>

static const uint64_t EACH = 0x0101010101010101u, TOP = 0x8080808080808080u;

enum {
	BEGINS = CHAR_UPPER | CHAR_LOWER | CHAR_SPACE | CHAR_OTHER,
	ENDS = CHAR_NUMBER | CHAR_SPACE | CHAR_NEWLINE | CHAR_OTHER,
};

static inline uint64_t load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The top bit of each byte that is not a lower case letter. */
static inline uint64_t not_lower(uint64_t bytes)
{
	uint64_t low = bytes & ~TOP;
	uint64_t from_a = low + EACH * (0x80 - 'a'), behind_z = low + EACH * (0x80 - 'z' - 1);

	return (~from_a | behind_z | bytes) & TOP;
}

/* The length of the word at p, whose bytes are head and tail; 0 where there is none, or one that does not end there. */
static inline size_t word_length(const uint8_t *ascii, const uint8_t *p, uint64_t head, uint64_t tail)
{
	/* The second letter may be of upper case where the first is not of lower case. */
	uint64_t fold = (uint8_t)(head - 'a') < 26 ? 0 : 0x2000;
	uint64_t head_end = not_lower(head | fold) & ~UINT64_C(0xff);
	uint64_t tail_end = not_lower(tail) | UINT64_C(1) << 63, beyond = head_end == 0;
	size_t length = (size_t)__builtin_ctzll(head_end | (tail_end & -beyond)) / 8 + beyond * 8;

	if (!(ascii[p[0]] & BEGINS) || p[0] == '\'' || !(ascii[p[length]] & ENDS) || p[length] == '\'')
		return 0;
	return length;
}

/* The first of the four that the word may be. The same as in tools/word-table.mjs. */
static inline size_t word_set(uint64_t head, uint64_t tail)
{
	uint64_t hash = (head ^ tail * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;

	return (size_t)(hash >> (64 - TABLES_WORD_SET_BITS)) * TABLES_WORD_WAYS;
}

size_t words_take(const struct tables_view *t, const uint8_t **p, const uint8_t *end, size_t *ret_length)
{
	static const uint8_t keep[2 * WORDS_BYTES] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};
	const uint8_t *q = *p, *ascii = t->chars.ascii;
	size_t count = 0, length = 0;

	while (words_may_begin(t, q, end)) {
		uint64_t head = load(q), tail = load(q + 8);
		const struct tables_word *words;
		bool found = false;

		length = word_length(ascii, q, head, tail);
		if (length == 0)
			break;
		head &= load(keep + WORDS_BYTES - length);
		tail &= load(keep + WORDS_BYTES - length + 8);
		words = &t->words[word_set(head, tail)];
		#pragma GCC unroll 4
		for (int i = 0; i < TABLES_WORD_WAYS; i++)
			found |= (words[i].head == head) & (words[i].tail == tail);
		if (!found)
			break;
		q += length;
		length = 0;
		count++;
	}
	*p = q;
	*ret_length = length;
	return count;
}
