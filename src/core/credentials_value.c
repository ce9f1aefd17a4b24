/* Is a value a secret, or a word, a stand-in, an expression?
 *
 * Random or written is a matter of how surprised a reader of code is by each next byte. LETTER_PAIRS has the surprise of a letter
 * after another in the words of English and of source code: 3.8 bits on average in such words, 6.4 in letters drawn at random.
 * Changes between small letters, capitals and digits have a price too, since names have few of them. The average over a value
 * then tells "db-credentials" (3.5), "maxRetryCount" (4.2) and "2024-01-15T10:00" (3.7) from keys (5 to 7), with no dictionary.
 */
#include "core/credentials_internal.h"

const uint8_t credentials_class[256] = {
	['a' ... 'z'] = CH_LOWER,
	['A' ... 'Z'] = CH_UPPER,
	['0' ... '9'] = CH_DIGIT,
	['_'] = CH_UNDER,
	['-'] = CH_DASH,
	['.'] = CH_DOT,
	['+'] = CH_BASE64,
	['/'] = CH_BASE64,
	[' '] = CH_SPACE,
	['\t'] = CH_SPACE,
	['\r'] = CH_SPACE,
	['\n'] = CH_SPACE,
};

/* The surprise of the second letter (column) after the first (row), in half bits above 'a'. Counted over the 16,800 words that stand
 * in at least four files of the C++, Linux, OpenSSL, Python, Perl and Node sources of Debian 12 and its licences, each weighed with
 * the square root of the number of files, two added to each count. */
static const char LETTER_PAIRS[26][27] = {
	"qjhjroksjungjhxjvgiflmppmt",
	"gmkmgnqthmqfnohnwiimhrtukr",
	"gqlogpthjwijoreoujmgkrrsnx",
	"innjdnoreqrkpoiptkinjoqqnv",
	"joiglkmqousjkgpknfgiqlojov",
	"hommhgqsettipngquikkiwqtlx",
	"ipnrepkihwvjlijnvgimiqrtop",
	"erroessrgwqmmogqwjmiltrsms",
	"klijkkkwswqijehltkhhvkwnzl",
	"gonmelqpjnkpqqflqogofpmsns",
	"iooldomogppjpklmsngllrktot",
	"gqokeopufvphqqgnyqjkkoswhu",
	"fkpnerrsgtpmjqhgtqjojssuow",
	"iqihhlfqjsmnqmiotqhflmsvou",
	"mljjpmlsmsmjiekivfjjiljqru",
	"gsonfpqljwphorhitfkiksqtly",
	"mnqoopprottjnooqlkkpbnmqrt",
	"gplleomtgynmklhnvkiiloqwkz",
	"krjpfoqjgvnlnojiqphfiqoulw",
	"hrloeoshfxtloqinxhikksprkt",
	"kjjmjmlvjyshifoizghgstxpvw",
	"fpnqcpqtfvuonpjpupnppsrrsv",
	"fqplgpphfvqlqihpuhjorsmpxx",
	"jmhlgkqnhwwmlpmfrplfoqujmq",
	"lmkpinlshtsjihjetkghpolson",
	"grprcnrngttmnpiornmnptprno",
};

/* The rest of the prices, in half bits; chosen by hand. */
enum {
	PRICE_FIRST = 8,	/* the first letter of a word */
	PRICE_DIGIT = 7,	/* a digit after a digit: one of ten */
	PRICE_TO_DIGIT = 12,
	PRICE_FROM_DIGIT = 12,
	PRICE_TO_UPPER = 11,	/* camelCase */
	PRICE_CASE_ODD = 5,	/* beside the letter's: a small letter after two capitals or more */
	PRICE_JOINT = 5,	/* - _ . / in a name */
	PRICE_SIGN = 12
};

/* What is judged of a long value. */
enum { JUDGED_BYTES = CREDENTIALS_VALUE_LOOK };

static struct str judged(struct str value)
{
	return value.n > JUDGED_BYTES ? str_sub(value, 0, JUDGED_BYTES) : value;
}

static char lower(char c)
{
	return credentials_is(c, CH_UPPER) ? (char)(c + ('a' - 'A')) : c;
}

bool credentials_here_nocase(struct str text, size_t at, struct str word)
{
	if (at > text.n || text.n - at < word.n)
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (lower(text.p[at + i]) != word.p[i])
			return false;
	return true;
}

static unsigned surprise(char before, char prev, char c)
{
	unsigned from = credentials_class[(unsigned char)prev], to = credentials_class[(unsigned char)c];
	bool joint = (to & (CH_UNDER | CH_DASH | CH_DOT)) || c == '/' || c == ':';
	unsigned pair;

	if (to & CH_DIGIT)
		return from & CH_DIGIT ? PRICE_DIGIT : from & CH_LETTER ? PRICE_TO_DIGIT : PRICE_FIRST;
	if (!(to & CH_LETTER))
		return joint ? PRICE_JOINT : PRICE_SIGN;
	if (from & CH_DIGIT)
		return PRICE_FROM_DIGIT;
	if (!(from & CH_LETTER))
		return PRICE_FIRST;
	if ((from & CH_LOWER) && (to & CH_UPPER))
		return PRICE_TO_UPPER;
	pair = (unsigned)(LETTER_PAIRS[lower(prev) - 'a'][lower(c) - 'a'] - 'a');
	if ((from & CH_UPPER) && (to & CH_LOWER) && credentials_is(before, CH_UPPER))
		pair += PRICE_CASE_ODD;
	return pair;
}

bool credentials_value_is_random(struct str value, size_t min)
{
	struct str v = judged(value);
	unsigned total = PRICE_FIRST, steps = 0, per_byte = v.n >= 20 ? 17 : v.n >= 12 ? 19 : 21;

	if (v.n < min || v.n == 0)
		return false;
	for (size_t i = 1; i < v.n; i++) {
		if ((unsigned char)v.p[i] >= 0x80)
			return false;
		total += surprise(i > 1 ? v.p[i - 2] : ' ', v.p[i - 1], v.p[i]);
		steps += v.p[i] == v.p[i - 1] + 1;
	}
	/* 1234567890abcdef is easy to write, and nobody's key. */
	return 2 * total >= per_byte * v.n && 5 * steps < 3 * v.n;
}

unsigned credentials_value_distinct(struct str value)
{
	uint64_t seen[4] = {0};
	unsigned count = 0;

	for (size_t i = 0; i < value.n && i < 256; i++) {
		unsigned char c = (unsigned char)value.p[i];

		count += !(seen[c >> 6] >> (c & 63) & 1);
		seen[c >> 6] |= UINT64_C(1) << (c & 63);
	}
	return count;
}
