/* Is a value with signs in it drawn at random, or an expression of a program?
 *
 * Both have brackets, quotes and operators. As with letters (credentials_value.c) it is a matter of how surprised a
 * reader of code is by each next byte: a bracket behind a name and a quote behind a bracket are what he expects, "]:X"
 * is not. Of the runs of 16 bytes and more with signs in the sources of Python and Node nine in ten stay below the bar;
 * of what is drawn from all of ASCII one in a hundred does.
 */
#include "core/guard/credentials_internal.h"

enum { JUDGED_BYTES = 64 };

/* The rest of the prices, in half bits; chosen by hand. */
enum {
	PRICE_EXPECTED = 4,	/* a sign that often stands behind this one */
	PRICE_JOINT = 5,	/* . _ - / in a name */
	PRICE_BRACKET = 7,	/* behind a name: ( ) [ ] , ; : */
	PRICE_OPERATOR = 9,
	PRICE_SIGN = 12,	/* others behind a name: # $ % ^ ~ @ */
	PRICE_SIGNS = 14,	/* two that do not belong together */
	PRICE_FIRST = 8
};

/* Behind each sign, the signs that a program has there. */
static const char *const EXPECTED['~' + 1] = {
	['!'] = "(=", ['"'] = ")],:;.'}>/", ['$'] = "{[_/'", ['%'] = ">(", ['&'] = "&_#$", ['\''] = ")],:;.\"}/",
	['('] = ")[{\"'!&*-_.@/`\\$?:(", [')'] = ").;,:[]{}`*+?-\"'/>", ['*'] = "*/)(", ['+'] = "+=()]",
	[','] = "\"'-,", ['-'] = ">-=(", ['.'] = ".]_/", ['/'] = ">/*.?:\"')", [':'] = ":=]/\"'", [';'] = ";&",
	['<'] = "/%>-=<", ['='] = "=>\"'{$@%-[(&<", ['>'] = "=(;,\"<>)]", ['?'] = ".:)/",
	['@'] = "{/", ['['] = "]\"'$%[^:-0", ['\\'] = "\"\\.*(&-/", [']'] = ".;,:)](`*+>/",
	['^'] = "(", ['_'] = "_(.", ['`'] = ".,)", ['{'] = "}{\"%", ['|'] = "|$", ['}'] = "};,)]\"'`/-_:@",
};

static unsigned price_of_sign(char prev, char c)
{
	const char *expected = (unsigned char)prev <= '~' ? EXPECTED[(unsigned char)prev] : NULL;

	if (prev == c || (expected && credentials_among(c, expected)))
		return PRICE_EXPECTED;
	if (!credentials_is(prev, CH_WORD))
		return PRICE_SIGNS;
	if (credentials_is(c, CH_NAME | CH_DOT) || c == '/')
		return PRICE_JOINT;
	if (credentials_among(c, "()[],;:"))
		return PRICE_BRACKET;
	return credentials_among(c, "<>='\"{}|&*+?!") ? PRICE_OPERATOR : PRICE_SIGN;
}

/* fromHex("…"): the argument may be what is drawn. */
static bool is_call(struct str v)
{
	size_t name = credentials_run(v, 0, CH_WORD | CH_DOT);

	return name >= 3 && name < v.n && credentials_among(v.p[name], "([{") && credentials_among(v.p[v.n - 1], ")]}");
}

bool credentials_drawn(struct str v, enum credentials_drawn where)
{
	unsigned total = PRICE_FIRST, least, classes = 0, signs = 0, steps = 0;

	if (v.n > JUDGED_BYTES)
		v.n = JUDGED_BYTES;
	if (v.n < 8)
		return false;
	for (size_t i = 0; i < v.n; i++) {
		char c = v.p[i], prev = i > 0 ? v.p[i - 1] : ' ';

		if ((unsigned char)c <= ' ' || (unsigned char)c >= 0x7f)
			return false;
		classes |= credentials_class[(unsigned char)c];
		signs += !credentials_is(c, CH_NAME | CH_DOT) && c != '/';
		steps += c == prev + 1;
		if (i > 0)
			total += credentials_is(c, CH_ALNUM) ? credentials_value_surprise(i > 1 ? v.p[i - 2] : ' ',
											   prev, c)
							     : price_of_sign(prev, c);
	}
	if (where == DRAWN_IN_SENTENCE && is_call(v))
		return false;
	/* Signs alone are a pattern; one word with signs around it may be anything. */
	if (signs == 0 || !(classes & CH_LETTER) || credentials_value_distinct(v) < 7 || 5 * steps >= 2 * v.n)
		return false;
	if (!(classes & CH_DIGIT) && (signs < 3 || (classes & CH_LETTER) != CH_LETTER))
		return false;
	/* The shorter it is, the more it must surprise: in tenths of a half bit for each byte. */
	least = v.n >= 16 ? 81 : v.n >= 12 ? 84 : 89;
	return 10 * total >= (least + (where == DRAWN_IN_SENTENCE ? 5 : 0)) * v.n;
}
