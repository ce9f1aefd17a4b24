/* Is a value a secret, or a word, a stand-in, an expression?
 *
 * Random or written is a matter of how surprised a reader of code is by each next byte. LETTER_PAIRS has the surprise
 * of a letter after another in the words of English and of source code: 3.8 bits on average in such words, 6.4 in
 * letters drawn at random. Changes between small letters, capitals and digits have a price too, since names have few of
 * them. The average over a value then tells "db-credentials" (3.5), "maxRetryCount" (4.2) and "2024-01-15T10:00" (3.7)
 * from keys (5 to 7), with no dictionary.
 */
#include "core/guard/credentials_internal.h"

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

/* The surprise of the second letter (column) after the first (row), in half bits above 'a'. Counted over the 16,800
 * words that stand in at least four files of the C++, Linux, OpenSSL, Python, Perl and Node sources of Debian 12 and
 * its licences, each weighed with the square root of the number of files, two added to each count. */
static const char LETTER_PAIRS[26][27] = {
	"qjhjroksjungjhxjvgiflmppmt", "gmkmgnqthmqfnohnwiimhrtukr", "gqlogpthjwijoreoujmgkrrsnx",
	"innjdnoreqrkpoiptkinjoqqnv", "joiglkmqousjkgpknfgiqlojov", "hommhgqsettipngquikkiwqtlx",
	"ipnrepkihwvjlijnvgimiqrtop", "erroessrgwqmmogqwjmiltrsms", "klijkkkwswqijehltkhhvkwnzl",
	"gonmelqpjnkpqqflqogofpmsns", "iooldomogppjpklmsngllrktot", "gqokeopufvphqqgnyqjkkoswhu",
	"fkpnerrsgtpmjqhgtqjojssuow", "iqihhlfqjsmnqmiotqhflmsvou", "mljjpmlsmsmjiekivfjjiljqru",
	"gsonfpqljwphorhitfkiksqtly", "mnqoopprottjnooqlkkpbnmqrt", "gplleomtgynmklhnvkiiloqwkz",
	"krjpfoqjgvnlnojiqphfiqoulw", "hrloeoshfxtloqinxhikksprkt", "kjjmjmlvjyshifoizghgstxpvw",
	"fpnqcpqtfvuonpjpupnppsrrsv", "fqplgpphfvqlqihpuhjorsmpxx", "jmhlgkqnhwwmlpmfrplfoqujmq",
	"lmkpinlshtsjihjetkghpolson", "grprcnrngttmnpiornmnptprno",
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

unsigned credentials_value_surprise(char before, char prev, char c)
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

/* Digits and a to f, mixed, perhaps in groups as in a UUID: drawn at random, or computed, and never a word. Digits are
 * a small surprise each, so that the average says too little. */
static bool is_hexadecimal(struct str v)
{
	size_t digits = 0, letters = 0;

	for (size_t i = 0; i < v.n; i++) {
		digits += credentials_is(v.p[i], CH_DIGIT);
		letters += !credentials_is(v.p[i], CH_DIGIT) && str_hex_digit(v.p[i]) >= 0;
		if (str_hex_digit(v.p[i]) < 0 && v.p[i] != '-')
			return false;
	}
	return v.n >= 16 && digits >= v.n / 5 && letters >= v.n / 10 + 1;
}

/* Is the surprise at least so many quarters of a bit for each byte? */
static bool surprises(struct str v, unsigned quarters)
{
	unsigned total = PRICE_FIRST, steps = 0;

	for (size_t i = 1; i < v.n; i++) {
		if ((unsigned char)v.p[i] >= 0x80)
			return false;
		total += credentials_value_surprise(i > 1 ? v.p[i - 2] : ' ', v.p[i - 1], v.p[i]);
		steps += v.p[i] == v.p[i - 1] + 1;
	}
	/* 1234567890abcdef is easy to write, and nobody's key. */
	return 2 * total >= quarters * v.n && 5 * steps < 3 * v.n;
}

bool credentials_value_is_random(struct str value, size_t min)
{
	struct str v = judged(value);

	if (v.n < min || v.n == 0)
		return false;
	/* The shorter it is, the more it must be. */
	return surprises(v, v.n >= 20 ? 17 : v.n >= 12 ? 19 : 21) || is_hexadecimal(v);
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

/* --- Stand-ins ----------------------------------------------------------------------------------- */

/* Wherever they stand in a value. */
static const char *const STAND_INS[] = {
	"your", "example", "placeholder", "changeme", "change_me", "change-me", "changeit", "xxxx", "****", "....",
	"redacted", "replace", "insert", "dummy", "sample", "todo", "fixme", "process.env", "os.environ", "getenv",
	"env.", "env[", "secrets.", "://", "arn:", "vault:", "data:", "\xe2\x80\xa6",
};

/* The whole value, in any case. */
static const char *const STAND_IN_WORDS[] = {
	"password", "passwort", "passwords", "passwd", "passphrase", "username", "required", "optional", "undefined",
	"disabled", "enabled", "unknown", "invalid", "missing", "incorrect", "forbidden", "default", "readonly",
	"external", "internal", "encrypted", "unencrypted", "plaintext", "cleartext", "sensitive", "protected",
	"interactive", "keyboard", "publickey", "authenticated", "unauthenticated", "expected", "whatever",
	"anything", "something", "nullable", "userpassword", "sha256", "sha512", "base64", "base32", "sha-256",
	"sha-512", "utf-8", "md5sum", "oauth2", "pbkdf2",
};

/* In small letters, in capitals, or with the first one a capital: as people write words, and chance seldom does. Chance
 * does not write a long one in any case (ChangeMe). */
static bool here_as_word(struct str v, size_t at, struct str word)
{
	bool capitals = true, small = true;

	if (!credentials_here_nocase(v, at, word))
		return false;
	for (size_t i = 1; i < word.n; i++) {
		capitals = capitals && !credentials_is(v.p[at + i], CH_LOWER);
		small = small && !credentials_is(v.p[at + i], CH_UPPER);
	}
	return small || (capitals && !credentials_is(v.p[at], CH_LOWER)) || word.n >= 7;
}

static bool has_stand_in(struct str v)
{
	/* First the first byte, for the sake of long values. */
	for (size_t at = 0; at < v.n; at++)
		for (size_t i = 0; i < sizeof(STAND_INS) / sizeof(STAND_INS[0]); i++)
			if (lower(v.p[at]) == STAND_INS[i][0] && here_as_word(v, at, str_of(STAND_INS[i])))
				return true;
	return false;
}

bool credentials_value_is_word(struct str value)
{
	for (size_t i = 0; i < sizeof(STAND_IN_WORDS) / sizeof(STAND_IN_WORDS[0]); i++)
		if (str_ieq(value, str_of(STAND_IN_WORDS[i])))
			return true;
	return false;
}

/* The value is the end of the name, up to how words are joined: token=token, self.token = token,
 * API_TOKEN = "apiToken". */
bool credentials_value_is_name(struct str name, struct str value)
{
	size_t i = name.n, k = value.n;

	while (i > 0 && k > 0) {
		if (!credentials_is(name.p[i - 1], CH_ALNUM))
			i--;
		else if (!credentials_is(value.p[k - 1], CH_ALNUM))
			k--;
		else if (str_ieq(str_sub(name, i - 1, i), str_sub(value, k - 1, k)))
			i--, k--;	/* the same letter */
		else
			return false;
	}
	return k == 0;
}

/* ${NAME}, $(command), {{ name }}, #{name}, %(name)s, {}, %s: what a program puts in later. A random password may have
 * some of these signs, so that all of the form must be there, or the value be short. */
static bool is_interpolated(struct str v)
{
	static const struct {
		struct str open;
		char close;
	} forms[] = {{{"${", 2}, '}'}, {{"$(", 2}, ')'}, {{"{{", 2}, '}'}, {{"#{", 2}, '}'},
		     {{"%(", 2}, ')'}, {{"%{", 2}, '}'}, {{"{", 1}, '}'}};

	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] == '%' && (credentials_byte(v, i + 1) == 's' || credentials_byte(v, i + 1) == 'd') &&
		    v.n < 12)
			return true;
		for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
			size_t end = i + forms[k].open.n;

			if (!credentials_here(v, i, forms[k].open))
				continue;
			end = credentials_run(v, end, CH_NAME | CH_DOT | CH_SPACE);
			if (end < v.n && (v.p[end] == forms[k].close || v.p[end] == ':' || v.p[end] == '['))
				return true;
		}
	}
	return false;
}

/* $NAME, %NAME%, <…>, […], ENC(…); and $2b$…, $argon2id$…, {SSHA}…: the hash of a password. */
static bool is_reference(struct str v)
{
	char first = v.p[0], last = v.p[v.n - 1];
	size_t name;

	if (first == '$') {
		name = credentials_run(v, 1, CH_WORD | CH_DOT);
		if (name == v.n)
			return !credentials_value_is_random(str_sub(v, 1, v.n), 8);
		name = credentials_run(v, 1, CH_LOWER | CH_DIGIT | CH_DASH);
		return (name > 1 && name < 14 && v.p[name] == '$') || credentials_among(v.p[1], "{(");
	}
	if ((first == '%' && last == '%') || (first == '<' && last == '>') || (first == '[' && last == ']') ||
	    first == '{')
		return !credentials_drawn(v, DRAWN_IN_SENTENCE);
	return credentials_here(v, 0, STR("ENC(")) || credentials_here(v, 0, STR("ENC[")) ||
	       credentials_here(v, 0, STR("pbkdf2"));
}

bool credentials_value_is_placeholder(struct str value)
{
	struct str v = judged(value);

	if (v.n == 0)
		return true;
	if (credentials_value_distinct(v) < (v.n < 8 ? 3 : v.n < 16 ? 4 : 6) || is_reference(v) || is_interpolated(v))
		return true;
	return has_stand_in(v);
}

/* ./x, ../x, ~/x, C:\x, src/x, key.pem. A key in base64 may have a '/' anywhere, so that alone says nothing. */
static bool is_path(struct str v)
{
	static const char *const ends[] = {
		".pem", ".key", ".json", ".txt", ".yml", ".yaml", ".crt", ".env", ".conf", ".cfg", ".py", ".js",
		".ts", ".sh", ".html", ".php", ".xml", ".md", ".com", ".org", ".net",
	};

	if (credentials_here(v, 0, STR("./")) || credentials_here(v, 0, STR("../")) ||
	    credentials_here(v, 0, STR("~/")))
		return true;
	if (v.n > 2 && v.p[1] == ':' && v.p[2] == '\\')
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (str_has_suffix(v, str_of(ends[i])))
			return true;
	return str_find(v, '/') < v.n && !credentials_value_is_random(v, 8);
}

/* --- Values -------------------------------------------------------------------------------------- */

struct shape {
	unsigned lower, upper, digits;
	unsigned signs;		/* such as people put into passwords: ! @ # … */
	unsigned code;		/* brackets, quotes, operators */
	unsigned cuts;		/* of the latter, those that are no brackets and no quotes */
	unsigned spaces;
	unsigned wide;		/* letters that are no ASCII */
	unsigned ideographs;	/* of scripts without blanks between words */
};

static struct shape shape_of(struct str v)
{
	struct shape s = {0};

	for (size_t i = 0; i < v.n; i++) {
		unsigned c = credentials_class[(unsigned char)v.p[i]];

		if (c & CH_ALNUM) {
			s.lower += (c & CH_LOWER) != 0;
			s.upper += (c & CH_UPPER) != 0;
			s.digits += (c & CH_DIGIT) != 0;
			continue;
		}
		s.wide += ((unsigned char)v.p[i] >= 0xc3 && (unsigned char)v.p[i] <= 0xe1);
		s.ideographs += (unsigned char)v.p[i] >= 0xe3 && (unsigned char)v.p[i] <= 0xed;
		s.cuts += credentials_among(v.p[i], "<>|;,");
		s.spaces += (c & CH_SPACE) != 0 || (unsigned char)v.p[i] < 0x20;
		/* A sign in front is a selector or an operator; = at the end fills up base64. */
		s.signs += i > 0 && credentials_among(v.p[i], "!@#$%^&*+?~");
		s.code += credentials_among(v.p[i], "(){}[]<>|;,'\"`") ||
			  (v.p[i] == '=' && i + 1 < v.n && v.p[i + 1] != '=');
	}
	return s;
}

static bool is_address(struct str v)
{
	size_t at = str_find(v, '@'), dot;

	if (at == 0 || at == v.n)
		return false;
	dot = credentials_run(v, at + 1, CH_NAME);
	return dot > at + 1 && dot < v.n && v.p[dot] == '.' && credentials_run(v, dot + 1, CH_LOWER | CH_DOT) == v.n &&
	       v.n - dot > 2;
}

/* Does a person choose such passwords? */
static bool is_password_like(struct str v, enum credentials_form form, const struct shape *s)
{
	unsigned letters = s->lower + s->upper + s->wide;

	if (v.n < 6 || is_address(v))
		return false;
	/* "8文字以上" is a sentence. */
	if (s->ideographs && (s->digits < 2 || letters < 2))
		return false;
	/* A name cannot begin with a digit; a number has few letters. */
	if (form == FORM_BARE && v.n >= 8 && credentials_is(v.p[0], CH_DIGIT) && letters >= 2 && v.p[1] != 'x' &&
	    !s->code && !credentials_word_is_quantity(v))
		return true;
	if (form == FORM_BARE || form == FORM_LOOSE)
		return v.n >= 8 && letters && s->digits && s->signs && !s->code;
	if (s->code)
		return v.n >= 8 && letters && s->digits && (s->signs || s->code == s->cuts) && s->code <= 2;
	if (letters && s->digits)
		return true;
	if (v.n < 8)
		return false;
	if (letters == 0)
		return s->digits == v.n;
	if (s->signs)
		return true;
	return form == FORM_QUOTED && (letters == v.n || (s->lower && s->upper && surprises(v, 17)));
}

static bool looks_random(struct str v, enum credentials_name name, enum credentials_form form, const struct shape *s)
{
	unsigned letters = s->lower + s->upper;

	/* Brackets and the like are in passwords that a program made; elsewhere they make an expression or a
	 * pattern. */
	if (letters == 0 || (s->code && !(form == FORM_QUOTED && name == NAME_PASSWORD && 4 * s->code <= v.n)))
		return false;
	if (s->digits == 0) {
		/* Only the mix of cases can tell, and only in something long; names in code have one too. */
		if (form == FORM_LOOSE || v.n < (form == FORM_BARE ? 20 : 12) || s->lower == 0 || s->upper == 0)
			return false;
	}
	/* config.oauth2Token */
	if ((form == FORM_BARE ? s->digits < 4 : form == FORM_LITERAL && s->digits == 0) && str_find(v, '.') < v.n)
		return false;
	return credentials_value_is_random(v, 8) ||
	       ((form == FORM_QUOTED || form == FORM_LITERAL) && s->code == 0 && credentials_word_is_shuffled(v, 4));
}

static bool is_base64_of(struct str v, size_t least)
{
	size_t end = credentials_run(v, 0, CH_ALNUM | CH_BASE64);

	return v.n >= least && v.n - end <= 2 && credentials_value_distinct(v) >= 12;
}

static const char *const KINDS[] = {
	[NAME_PASSWORD] = "password",
	[NAME_TOKEN] = "token",
	[NAME_SECRET] = "secret",
	[NAME_API_KEY] = "api_key",
	[NAME_SECRET_KEY] = "secret_key",
	[NAME_AWS_SECRET] = "aws_secret_key",
	[NAME_AZURE_KEY] = "azure_key",
	[NAME_AUTHORIZATION] = "authorization",
	[NAME_VALUE] = NULL,
};

const char *credentials_value_kind(enum credentials_name name)
{
	return name == NAME_AWS_SECRET || name == NAME_AZURE_KEY ? KINDS[NAME_SECRET_KEY] : KINDS[name];
}

/* Capitals, small letters and digits: no path has all of them, but where it begins. */
static bool is_mixed(struct str v, const struct shape *s)
{
	return s->lower && s->upper && s->digits >= 2 && !credentials_among(v.p[0], "/.~") && str_find(v, '.') == v.n;
}

bool credentials_value_is_secret(struct str value, enum credentials_name name, enum credentials_form form,
				 const char **ret_kind)
{
	struct str v = judged(value);
	struct shape s = shape_of(v);
	bool alone = form == FORM_QUOTED || form == FORM_LITERAL, secret;
	bool drawn = (name == NAME_PASSWORD || (alone && (name == NAME_SECRET || name == NAME_SECRET_KEY))) &&
		     credentials_drawn(v, alone ? DRAWN_ALONE : DRAWN_IN_SENTENCE);

	if (s.spaces && name == NAME_PASSWORD && form == FORM_QUOTED &&
	    credentials_word_is_phrase(value, PHRASE_SURE)) {
		*ret_kind = KINDS[name];
		return true;
	}
	/* "value: str = …": a name that says whose it is elsewhere, and here nowhere. */
	if (name == NAME_NONE || name == NAME_VALUE)
		return false;
	if (v.n < 6 || s.spaces || (s.code > v.n / 4 + 1 && !drawn))
		return false;
	/* The two forms that cloud providers give their secret keys; the documented examples are among them. */
	if ((name == NAME_AWS_SECRET && v.n == 40 && is_base64_of(v, 40)) ||
	    (name == NAME_AZURE_KEY && is_base64_of(v, 40))) {
		*ret_kind = KINDS[name];
		return true;
	}
	secret = drawn || looks_random(v, name, form, &s) ||
		 (name == NAME_PASSWORD && is_password_like(v, form, &s));
	/* Last what takes longest. */
	secret = secret && !credentials_value_is_word(v) &&
		 ((alone && (drawn || is_mixed(v, &s))) || !is_path(v)) && !credentials_value_is_placeholder(v);
	if (secret)
		*ret_kind = credentials_value_kind(name);
	return secret;
}
