/* The patterns, in the notation of the reference, the alternatives in the order in which they are tried:
 *
 * o200k_base
 *   1  [^\r\n\p{L}\p{N}]? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]* [\p{Ll}\p{Lm}\p{Lo}\p{M}]+ (?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *   2  [^\r\n\p{L}\p{N}]? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+ [\p{Ll}\p{Lm}\p{Lo}\p{M}]* (?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *   3  \p{N}{1,3}
 *   4  \x20? [^\s\p{L}\p{N}]+ [\r\n/]*
 *   5  \s*[\r\n]+
 *   6  \s+(?!\S)
 *   7  \s+
 * cl100k_base
 *   1  (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   2  [^\r\n\p{L}\p{N}]? \p{L}+
 *   3  \p{N}{1,3}
 *   4  \x20? [^\s\p{L}\p{N}]+ [\r\n]*
 *   5, 6, 7 as above
 *
 * A matcher tries an alternative, takes as much as it can and gives back where what follows does not fit. What that
 * comes to is said at each function; every one of them looks at each character a constant number of times.
 */
#include "token/split.h"

enum {
	ANY_LETTER = CHAR_UPPER | CHAR_LOWER | CHAR_LETTER,
	CASELESS = CHAR_LETTER | CHAR_MARK,	/* in both sets of o200k_base's words */
	WORD_HEAD = CHAR_UPPER | CASELESS,
	WORD_TAIL = CHAR_LOWER | CASELESS,
	BLANK = CHAR_SPACE | CHAR_NEWLINE,
	SYMBOL = CHAR_OTHER | CHAR_MARK,	/* [^\s\p{L}\p{N}] */
	NOT_PREFIX = ANY_LETTER | CHAR_NUMBER | CHAR_NEWLINE,
};

/* The class of the character at p, whose first byte is not below 0x80. */
static unsigned wide_class(const struct tables_classes *chars, const uint8_t *p, size_t *ret_len)
{
	uint32_t c;

	if (p[0] < 0xe0) {
		c = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
		*ret_len = 2;
	} else if (p[0] < 0xf0) {
		c = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		*ret_len = 3;
	} else {
		c = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
		*ret_len = 4;
	}
	return chars->classes[chars->index[c >> 8] * 256u + (c & 0xff)];
}

static inline unsigned class_at(const struct tables_classes *chars, const uint8_t *p, size_t *ret_len)
{
	if (p[0] < 0x80) {
		*ret_len = 1;
		return chars->ascii[p[0]];
	}
	return wide_class(chars, p, ret_len);
}

/* The end of the run of characters of the set that begins at p. */
static inline const uint8_t *run(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end, unsigned set)
{
	size_t len;

	for (;;) {
		while (p < end && (chars->ascii[*p] & set))
			p++;
		if (p == end || *p < 0x80 || !(wide_class(chars, p, &len) & set))
			return p;
		p += len;
	}
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d): its length at p, or 0. U+017F, the long s, is an s when case is ignored. */
static size_t contraction(const uint8_t *p, const uint8_t *end)
{
	uint8_t a, b;

	if (end - p < 2 || p[0] != '\'')
		return 0;
	a = p[1] | 0x20;
	if (p[1] < 0x80 && (a == 's' || a == 't' || a == 'm' || a == 'd'))
		return 2;
	if (end - p < 3)
		return 0;
	if (p[1] == 0xc5)
		return p[2] == 0xbf ? 3 : 0;
	b = p[2] | 0x20;
	if (p[1] >= 0x80 || p[2] >= 0x80)
		return 0;
	return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/* Alternative 3. */
static size_t number(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q = p;
	size_t len;

	for (int i = 0; i < 3 && q < end && (class_at(chars, q, &len) & CHAR_NUMBER); i++)
		q += len;
	return (size_t)(q - p);
}

/* Alternatives 5 to 7, at white space. With a line end in the run of white space: up to the last of them. Without,
 * all of the run where the text ends after it; otherwise all but its last character, which goes with what follows,
 * unless it is the only one. */
static size_t blank(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q = p, *last = p, *after_newline = NULL;

	while (q < end) {
		size_t len;
		unsigned class = class_at(chars, q, &len);

		if (!(class & BLANK))
			break;
		last = q;
		q += len;
		if (class & CHAR_NEWLINE)
			after_newline = q;
	}
	if (after_newline)
		return (size_t)(after_newline - p);
	return (size_t)((q == end || last == p ? q : last) - p);
}

/* Alternative 4, whose first character after the optional space is at q. */
static size_t symbols(const struct tables_classes *chars, const uint8_t *p, const uint8_t *q, const uint8_t *end,
		      bool slash)
{
	q = run(chars, q, end, SYMBOL);
	while (q < end && (*q == '\n' || *q == '\r' || (slash && *q == '/')))
		q++;
	return (size_t)(q - p);
}

/* What stands at p when no alternative for words matched: symbols, a number or white space. */
static size_t not_a_word(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end, unsigned first,
			 bool slash)
{
	size_t len;

	if (first & SYMBOL)
		return symbols(chars, p, p, end, slash);
	if (first & CHAR_NUMBER)
		return number(chars, p, end);
	if (*p == ' ' && p + 1 < end && (class_at(chars, p + 1, &len) & SYMBOL))
		return symbols(chars, p, p + 1, end, slash);
	return blank(chars, p, end);
}

/* The end of a word of o200k_base that begins at p, without its prefix and contraction; p itself where there is none.
 *
 * The head is the run of WORD_HEAD. Lower case letters after it begin the tail, and all is one word. Otherwise the
 * tail must be taken from the head: what is given back must begin with a caseless character, so the word ends after
 * the last of those, and upper case letters behind it are a word of their own. A head of upper case letters alone
 * matches alternative 2, where the tail may be empty; *ret_upper says so. */
static const uint8_t *word(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end, bool *ret_upper)
{
	const uint8_t *q = p, *after_caseless = NULL;
	size_t len;

	*ret_upper = false;
	while (q < end) {
		unsigned class = class_at(chars, q, &len);

		if (class & CHAR_LOWER)
			return run(chars, q + len, end, WORD_TAIL);
		if (!(class & WORD_HEAD))
			break;
		q += len;
		if (class & CASELESS)
			after_caseless = q;
	}
	if (after_caseless)
		return after_caseless;
	*ret_upper = true;
	return q;
}

size_t split_o200k(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end)
{
	size_t len;
	unsigned first = class_at(chars, p, &len);
	const uint8_t *start = first & NOT_PREFIX ? p : p + len;
	const uint8_t *q;
	bool upper;

	if (first & (CHAR_NUMBER | CHAR_NEWLINE))
		return not_a_word(chars, p, end, first, true);
	q = word(chars, start, end, &upper);
	/* A mark may be the prefix or, being caseless, the word itself. The first alternative wants a caseless or
	 * lower case character; where only the mark can be it, it stands alone, before upper case letters too. */
	if ((first & CHAR_MARK) && upper)
		q = start;
	else if (q == start)
		return not_a_word(chars, p, end, first, true);
	return (size_t)(q - p) + contraction(q, end);
}

size_t split_cl100k(const struct tables_classes *chars, const uint8_t *p, const uint8_t *end)
{
	size_t len = contraction(p, end);
	unsigned first;
	const uint8_t *start, *q;

	if (len > 0)
		return len;
	first = class_at(chars, p, &len);
	if (first & (CHAR_NUMBER | CHAR_NEWLINE))
		return not_a_word(chars, p, end, first, false);
	start = first & NOT_PREFIX ? p : p + len;
	q = run(chars, start, end, ANY_LETTER);
	return q > start ? (size_t)(q - p) : not_a_word(chars, p, end, first, false);
}
