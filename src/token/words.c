/* A word, here: a letter, or another character but a number, a line end or an apostrophe, and a letter; then letters
 * of lower case. An upper case letter may also be followed by a second one. All of it is ASCII, and so is what stands
 * behind it, which is neither a letter nor an apostrophe. That is one piece in both patterns of token/split.c, whole.
 *
 * Such a word of less than 16 bytes is looked up as it is, filled up with zeroes (its own last byte is none), in a
 * table of the words that are tokens: a set of four, a cache line, for each value of a hash. Not all of them have found
 * a place there; what is not found may be a token all the same.
 *
 * Where words end is found for 64 bytes at once, not by a loop over the bytes of each: how long a word is and which of
 * the four it is nobody can foresee, and a branch that was foreseen wrongly costs more than all the rest.
 */
#include "token/words.h"

#include <string.h>
#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { BLOCK_BYTES = 64, WORD_BYTES = 16 };

enum {
	BEGINS = CHAR_UPPER | CHAR_LOWER | CHAR_SPACE | CHAR_OTHER,
	ENDS = CHAR_NUMBER | CHAR_SPACE | CHAR_NEWLINE | CHAR_OTHER,
};

/* The first of the four that the word may be. The same as in tools/word-table.mjs. */
static inline size_t word_set(uint64_t head, uint64_t tail)
{
	uint64_t hash = (head ^ tail * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;

	return (size_t)(hash >> (64 - TABLES_WORD_SET_BITS)) * TABLES_WORD_WAYS;
}

/* From KEEP + WORD_BYTES - length: a mask of that many bytes. */
static const uint8_t KEEP[2 * WORD_BYTES] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

/* not_lower(): a bit for each byte of a block that is not a lower case letter; the lowest is the first byte's.
 * is_token(): true where the word at p, of which WORD_BYTES can be read, is known to be a token. */
#if defined(__SSE2__) && defined(__x86_64__)
static inline __m128i load16(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

static inline uint64_t not_lower(const uint8_t *block)
{
	uint64_t lower = 0;

	#pragma GCC unroll 4
	for (int i = 0; i < BLOCK_BYTES; i += 16) {
		__m128i bytes = load16(block + i);
		__m128i from_a = _mm_cmpgt_epi8(bytes, _mm_set1_epi8('a' - 1));
		__m128i to_z = _mm_cmplt_epi8(bytes, _mm_set1_epi8('z' + 1));

		lower |= (uint64_t)_mm_movemask_epi8(_mm_and_si128(from_a, to_z)) << i;
	}
	return ~lower;
}

static inline bool is_token(const struct tables_view *t, const uint8_t *p, size_t length)
{
	__m128i word = _mm_and_si128(load16(p), load16(KEEP + WORD_BYTES - length));
	uint64_t head = (uint64_t)_mm_cvtsi128_si64(word);
	uint64_t tail = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(word, word));
	const __m128i *set = (const __m128i *)&t->words[word_set(head, tail)];
	__m128i first = _mm_packs_epi32(_mm_cmpeq_epi32(word, set[0]), _mm_cmpeq_epi32(word, set[1]));
	__m128i last = _mm_packs_epi32(_mm_cmpeq_epi32(word, set[2]), _mm_cmpeq_epi32(word, set[3]));

	/* Now four bytes for each of the four: all ones where it is the word. */
	return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_packs_epi16(first, last), _mm_set1_epi32(-1))) != 0;
}
#else
static inline uint64_t load8(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t not_lower(const uint8_t *block)
{
	const uint64_t each = 0x0101010101010101u, top = each << 7;
	uint64_t bits = 0;

	for (int i = 0; i < BLOCK_BYTES; i += 8) {
		uint64_t bytes = load8(block + i), low = bytes & ~top;
		uint64_t from_a = low + each * (0x80 - 'a'), behind_z = low + each * (0x80 - 'z' - 1);
		uint64_t outside = (~from_a | behind_z | bytes) & top;

		/* The multiplication gathers the top bits of the bytes in the highest one. */
		bits |= ((outside >> 7) * 0x0102040810204080u >> 56) << i;
	}
	return bits;
}

static inline bool is_token(const struct tables_view *t, const uint8_t *p, size_t length)
{
	uint64_t head = load8(p) & load8(KEEP + WORD_BYTES - length);
	uint64_t tail = load8(p + 8) & load8(KEEP + WORD_BYTES - length + 8);
	const struct tables_word *set = &t->words[word_set(head, tail)];
	bool found = false;

	for (int i = 0; i < TABLES_WORD_WAYS; i++)
		found |= (set[i].head == head) & (set[i].tail == tail);
	return found;
}
#endif

/* Goes through the words of a block from its beginning, to *ret_at, and counts them. True where it came to the end of
 * the block; where not, *ret_length is the length of the piece there, or 0. */
static inline bool take_block(const struct tables_view *t, const uint8_t *block, size_t *count, size_t *ret_at,
			      size_t *ret_length)
{
	const uint8_t *ascii = t->chars.ascii;
	uint64_t ends = not_lower(block);
	size_t at = 0, end;

	for (;; at = end, ++*count) {
		uint64_t behind = ends & (~UINT64_C(1) << at);
		unsigned first = ascii[block[at]];

		*ret_at = at;
		*ret_length = 0;
		if (behind == 0)
			return at > 0;
		end = (size_t)__builtin_ctzll(behind);
		if (end == at + 1 && !(first & CHAR_LOWER) && (ascii[block[end]] & CHAR_UPPER)) {
			behind &= behind - 1;
			if (behind == 0)
				return at > 0;
			end = (size_t)__builtin_ctzll(behind);
		}
		if (!(first & BEGINS) || block[at] == '\'' || !(ascii[block[end]] & ENDS) || block[end] == '\'')
			return false;
		if (end == at + 1 && !(first & (CHAR_UPPER | CHAR_LOWER)))
			return false;
		*ret_length = end - at;
		if (end - at >= WORD_BYTES || !is_token(t, block + at, end - at))
			return false;
	}
}

size_t words_take(const struct tables_view *t, const uint8_t **p, const uint8_t *end, size_t *ret_length)
{
	uint8_t last[BLOCK_BYTES + WORD_BYTES];
	size_t count = 0, at;
	bool more = true;

	*ret_length = 0;
	while (more && *p < end) {
		size_t left = (size_t)(end - *p);
		const uint8_t *block = *p;

		/* A word at the end of the text is one as it is before a character that ends it. */
		if (left < sizeof(last)) {
			memset(last, 0, sizeof(last));
			memcpy(last, *p, left);
			block = last;
		}
		more = take_block(t, block, &count, &at, ret_length);
		*p += at;
	}
	return count;
}
