#include "text/fold.h"

#include <assert.h>
#include <utf8proc.h>

#define B FOLD_BREAK
#define D FOLD_DIGIT
#define J FOLD_JOIN
#define L FOLD_LOWER
#define Q FOLD_APOSTROPHE
#define U FOLD_UPPER
const uint8_t fold_ascii[128] = {
	B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
	/*  !  "  #  $  %  &  '  (  )  *  +  ,  -  .  /  0  1  2  3  4  5  6  7  8  9  :  ;  <  =  >  ? */
	B, B, B, J, B, B, B, Q, B, B, B, B, B, J, J, J, D, D, D, D, D, D, D, D, D, D, J, B, B, B, B, B,
	J, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, B, J, B, B, J,
	B, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, B, B, B, B, B,
};
#undef B
#undef D
#undef J
#undef L
#undef Q
#undef U

struct range {
	int32_t first, last;
};

/* Thai, Lao, Tibetan, Myanmar; Hangul; Khmer; Han, kana, Bopomofo, Hangul; Yi; Hangul; Han, half-width kana; Han.
 * Hangul has spaces, but its words carry their particles with them, so that pairs find more. */
static const struct range unspaced[] = {
	{0x0e00, 0x0eff}, {0x0f00, 0x0fff}, {0x1000, 0x109f}, {0x1100, 0x11ff}, {0x1780, 0x17ff}, {0x2e80, 0x2fdf},
	{0x3005, 0x3007}, {0x3021, 0x3029}, {0x3031, 0x3035}, {0x3040, 0x31ff}, {0x3400, 0x4dbf}, {0x4e00, 0xa4cf},
	{0xa960, 0xa97f}, {0xac00, 0xd7ff}, {0xf900, 0xfaff}, {0xff66, 0xffdc}, {0x1b000, 0x1b16f}, {0x20000, 0x3fffd},
};

/* Marks that the same word is written with and without. */
static const struct range optional_marks[] = {
	{0x0300, 0x036f}, {0x0483, 0x0487}, {0x0591, 0x05bd}, {0x05bf, 0x05c7}, {0x0610, 0x061a}, {0x064b, 0x065f},
	{0x0670, 0x0670}, {0x06d6, 0x06ed}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f},
};

static bool in_ranges(const struct range *ranges, size_t count, int32_t c)
{
	size_t i;

	for (i = 0; i < count && c >= ranges[i].first; i++)
		if (c <= ranges[i].last)
			return true;
	return false;
}

static enum fold_class class_of(int32_t c)
{
	const utf8proc_property_t *property;

	if (c == 0x2019)
		return FOLD_APOSTROPHE;
	if (c == 0x2010 || c == 0x2011)
		return FOLD_JOIN;
	property = utf8proc_get_property(c);
	switch (property->category) {
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ME:
		return FOLD_MARK;
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LT:
		return FOLD_UPPER;
	case UTF8PROC_CATEGORY_LL:
		return FOLD_LOWER;
	case UTF8PROC_CATEGORY_ND:
		return FOLD_DIGIT;
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
	case UTF8PROC_CATEGORY_NL:
	case UTF8PROC_CATEGORY_NO:
		return in_ranges(unspaced, sizeof(unspaced) / sizeof(unspaced[0]), c) ? FOLD_UNSPACED : FOLD_LETTER;
	default:
		/* The soft hyphen and zero-width characters vanish when the word is folded. */
		return property->ignorable ? FOLD_MARK : FOLD_BREAK;
	}
}

size_t fold_first_wide(struct str s, enum fold_class *ret_class)
{
	utf8proc_int32_t c;
	utf8proc_ssize_t len;

	len = utf8proc_iterate((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)(s.n < 4 ? s.n : 4), &c);
	if (len < 1) {
		*ret_class = FOLD_BREAK;
		return 1;
	}
	*ret_class = class_of(c);
	return (size_t)len;
}

static bool is_word_character(int32_t c)
{
	enum fold_class class = c < 128 ? fold_ascii[c] : class_of(c);

	return class != FOLD_BREAK && class != FOLD_JOIN;
}

size_t fold_text(struct str s, char *out)
{
	const int options = UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE |
			    UTF8PROC_STABLE;
	utf8proc_int32_t chars[FOLD_INPUT_CHARACTERS * 18];
	utf8proc_ssize_t len, kept = 0, i;
	size_t at = 0;

	assert(s.n <= FOLD_INPUT_BYTES);
	len = utf8proc_decompose((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)s.n, chars,
				 sizeof(chars) / sizeof(chars[0]), (utf8proc_option_t)options);
	if (len < 0 || len > (utf8proc_ssize_t)(sizeof(chars) / sizeof(chars[0])))
		return 0;
	for (i = 0; i < len; i++) {
		/* U+2019 is the apostrophe of typesetters; decomposition can leave spaces and punctuation behind. */
		utf8proc_int32_t c = chars[i] == 0x2019 ? '\'' : chars[i];

		if (is_word_character(c) &&
		    !in_ranges(optional_marks, sizeof(optional_marks) / sizeof(optional_marks[0]), c))
			chars[kept++] = c;
	}
	kept = utf8proc_normalize_utf32(chars, kept, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
	for (i = 0; i < kept; i++)
		at += (size_t)utf8proc_encode_char(chars[i], (utf8proc_uint8_t *)out + at);
	return at;
}
