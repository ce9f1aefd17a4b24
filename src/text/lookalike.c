#include "text/lookalike.h"

#include "base/mem.h"

#include <stdlib.h>
#include <utf8proc.h>

/* Letters of Cyrillic and Greek that Unicode's confusables (UTS #39, confusables.txt) gives a Latin letter as their
 * prototype, each in the case in which it looks like one; and the hyphens and dashes, which it gives the hyphen. The
 * list there is far longer: these are the letters that keyboards have. */
static const struct {
	uint16_t from;
	char to;
} confusables[] = {
	/* Greek capitals. */
	{0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'}, {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'}, {0x039a, 'K'},
	{0x039c, 'M'}, {0x039d, 'N'}, {0x039f, 'O'}, {0x03a1, 'P'}, {0x03a4, 'T'}, {0x03a5, 'Y'}, {0x03a7, 'X'},
	/* Greek small letters. */
	{0x03b1, 'a'}, {0x03b3, 'y'}, {0x03b9, 'i'}, {0x03bd, 'v'}, {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c3, 'o'},
	{0x03c5, 'u'}, {0x03f2, 'c'}, {0x03f3, 'j'}, {0x03f9, 'C'},
	/* Cyrillic capitals. */
	{0x0405, 'S'}, {0x0406, 'I'}, {0x0408, 'J'}, {0x0410, 'A'}, {0x0412, 'B'}, {0x0415, 'E'}, {0x041a, 'K'},
	{0x041c, 'M'}, {0x041d, 'H'}, {0x041e, 'O'}, {0x0420, 'P'}, {0x0421, 'C'}, {0x0422, 'T'}, {0x0423, 'Y'},
	{0x0425, 'X'},
	/* Cyrillic small letters. */
	{0x0430, 'a'}, {0x0433, 'r'}, {0x0435, 'e'}, {0x043e, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0443, 'y'},
	{0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x0474, 'V'}, {0x0475, 'v'}, {0x04ae, 'Y'},
	{0x04af, 'y'}, {0x04bb, 'h'}, {0x04c0, 'l'}, {0x04cf, 'l'}, {0x0501, 'd'}, {0x050c, 'G'}, {0x051a, 'Q'},
	{0x051b, 'q'}, {0x051c, 'W'}, {0x051d, 'w'},
	/* Latin letters that decomposition leaves: dotless i, long forms. */
	{0x0131, 'i'}, {0x0251, 'a'}, {0x0261, 'g'}, {0x026a, 'i'},
	/* The small ka, kappa and kra: Unicode gives them one another, and a reader takes each of them for a k. */
	{0x0138, 'k'}, {0x03ba, 'k'}, {0x043a, 'k'},
	/* Hyphens, dashes, the minus. */
	{0x02d7, '-'}, {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'}, {0x2014, '-'}, {0x2015, '-'},
	{0x2043, '-'}, {0x2212, '-'},
};

enum { BRAILLE_BLANK = 0x2800, DOT_ABOVE = 0x0307 };

static utf8proc_int32_t prototype(utf8proc_int32_t c)
{
	for (size_t i = 0; c >= 128 && i < sizeof(confusables) / sizeof(confusables[0]); i++)
		if (confusables[i].from == c)
			return confusables[i].to;
	return c;
}

static bool is_space(utf8proc_int32_t c)
{
	utf8proc_category_t category = utf8proc_category(c);

	return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
	       category == UTF8PROC_CATEGORY_ZP || c == BRAILLE_BLANK;
}

/* Default-ignorable ones are gone before that. */
static bool is_invisible(utf8proc_int32_t c)
{
	utf8proc_category_t category = utf8proc_category(c);

	return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF;
}

/* Decomposes, and maps what it gets: returns how many characters *ret has (for free()), none where it cannot. */
static size_t decompose(struct str s, int more, utf8proc_int32_t **ret)
{
	utf8proc_option_t options =
		(utf8proc_option_t)(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_IGNORE | UTF8PROC_STABLE | more);
	const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)s.p;
	utf8proc_ssize_t need = s.n ? utf8proc_decompose(bytes, (utf8proc_ssize_t)s.n, NULL, 0, options) : 0;
	size_t kept = 0;

	*ret = NULL;
	if (need <= 0)
		return 0;
	*ret = mem_reallocarray(NULL, (size_t)need, sizeof(**ret));
	utf8proc_decompose(bytes, (utf8proc_ssize_t)s.n, *ret, need, options);
	for (utf8proc_ssize_t i = 0; i < need; i++) {
		utf8proc_int32_t c = (*ret)[i], before = kept ? (*ret)[kept - 1] : 0;

		/* A dot above a letter that has one is not seen. */
		if (is_invisible(c) || (c == DOT_ABOVE && (before == 'i' || before == 'j')))
			continue;
		(*ret)[kept++] = is_space(c) ? ' ' : prototype(c);
	}
	return kept;
}

static struct str encode(const utf8proc_int32_t *chars, size_t count, struct arena *arena)
{
	char *out = arena_alloc(arena, count * 4 + 1);
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += (size_t)utf8proc_encode_char(chars[i], (utf8proc_uint8_t *)out + n);
	return (struct str){out, n};
}

/* Nearly all names are ASCII, where there is nothing but case. False where this one is not. */
static bool fold_ascii_name(struct str s, struct arena *arena, struct str *ret)
{
	char *out = arena_alloc(arena, s.n + 1);

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c < ' ' || c > '~')
			return false;
		out[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	*ret = str_trim((struct str){out, s.n});
	return true;
}

struct str lookalike_fold(struct str s, struct arena *arena)
{
	utf8proc_int32_t *chars;
	struct str folded;
	size_t count;

	if (fold_ascii_name(s, arena, &folded))
		return folded;
	count = decompose(s, 0, &chars);
	/* Capitals first: a capital that looks like a Latin one may have a small letter that does not. */
	folded = encode(chars, count, arena);
	free(chars);
	count = decompose(folded, UTF8PROC_CASEFOLD, &chars);
	folded = encode(chars, count, arena);
	free(chars);
	return str_trim(folded);
}

bool lookalike_is_blank(struct str s)
{
	utf8proc_int32_t *chars;
	size_t count;
	bool blank = true;

	if (s.n && s.p[0] > ' ' && s.p[0] <= '~')
		return false;
	count = decompose(s, 0, &chars);
	for (size_t i = 0; blank && i < count; i++)
		blank = chars[i] == ' ';
	free(chars);
	return blank;
}

bool lookalike_has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i], next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0;

		if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
			return true;
	}
	return false;
}
