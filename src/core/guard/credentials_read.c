/* Where the name before a sign and the value behind it begin and end, in any of the languages that people write
 * assignments in. */
#include "core/guard/credentials_internal.h"

enum {
	QUOTED_BYTES = 16384,	/* a longer string is no credential */
	ESCAPES = 7,		/* JSON in JSON in JSON */
	BLANKS = 64
};

static size_t skip_blanks(struct str text, size_t i)
{
	size_t limit = text.n - i > BLANKS ? i + BLANKS : text.n;

	while (i < limit && (text.p[i] == ' ' || text.p[i] == '\t'))
		i++;
	return i;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* b"…", N'…', rb'…', f"…", L"…", @"…", $"…": where the quote stands, with the backslashes before it;
 * text.n where there is none. */
static size_t quote_at(struct str text, size_t i, size_t *ret_escapes)
{
	size_t at = i, escapes = 0;

	while (at < text.n && at < i + 2 && credentials_among(text.p[at], "bBrRfFuULN@$"))
		at++;
	while (at < text.n && text.p[at] == '\\' && escapes < ESCAPES) {
		at++;
		escapes++;
	}
	if (at >= text.n || !is_quote(text.p[at]))
		return text.n;
	*ret_escapes = escapes;
	return at;
}

/* A quote with as many backslashes before it as the one that opened: in what JSON made of a text, a text's own quotes
 * have more. */
static bool read_quoted(struct str text, size_t quote, size_t escapes, struct credentials_value *ret)
{
	size_t limit = text.n - quote > QUOTED_BYTES ? quote + QUOTED_BYTES : text.n, slashes = 0;

	for (size_t i = quote + 1; i < limit && text.p[i] != '\n'; i++) {
		if (text.p[i] == '\\') {
			slashes++;
			continue;
		}
		if (text.p[i] == text.p[quote] && (escapes ? slashes <= escapes : slashes % 2 == 0)) {
			*ret = (struct credentials_value){quote + 1, i - escapes, i - escapes, true, false};
			/* With fewer, it closes the text that the value stands in. */
			return (escapes == 0 || slashes == escapes) && ret->end > ret->at;
		}
		slashes = 0;
	}
	return false;
}

/* a=1&b=2, a=1;b=2, where a password may have a '&' of its own; &amp; is one in HTML. */
static bool is_next_parameter(struct str text, size_t amp)
{
	struct str look = text.n - amp > CREDENTIALS_NAME_BYTES ? str_sub(text, 0, amp + CREDENTIALS_NAME_BYTES) : text;
	size_t end = credentials_run(look, amp + 1, CH_NAME | CH_DOT);

	if (end == amp + 1 || end >= text.n || credentials_is(text.p[amp + 1], CH_DIGIT))
		return false;
	if (text.p[amp] != '&' && end - amp < 3)
		return false;
	return text.p[end] == '=' ||
	       (text.p[amp] == '&' && text.p[end] == ';' && credentials_run(look, amp + 1, CH_LOWER) == end);
}

/* In code, and in most of prose. */
static bool ends_bare(struct str text, size_t i)
{
	char c = text.p[i];

	if (credentials_is(c, CH_NAME | CH_DOT))
		return false;
	if ((unsigned char)c <= ' ' || (unsigned char)c >= 0x7f || is_quote(c) || credentials_among(c, ",;)]}<>|([{"))
		return true;
	if (c == '\\')
		return i + 1 < text.n && (is_quote(text.p[i + 1]) || credentials_among(text.p[i + 1], "nrt\\"));
	return c == '&' && is_next_parameter(text, i);
}

/* --- Bare values --- */

/* What is open where a value begins, so that it ends there: ("password=…"). */
struct opened {
	bool quote[128];	/* " \' ` */
	bool bracket[128];	/* ) ] } */
	bool bar;		/* a cell of a table */
	bool in_string;
};

static void read_opened(struct str text, size_t at, struct opened *ret)
{
	static const char opens[] = "([{", closes[] = ")]}";
	int depth[3] = {0};

	*ret = (struct opened){0};
	for (size_t i = credentials_read_line(text, at); i < at; i++) {
		char c = text.p[i];
		const char *open = c ? strchr(opens, c) : NULL, *close = c ? strchr(closes, c) : NULL;

		/* An apostrophe is inside a word. */
		if (is_quote(c) &&
		    (c != '\'' || ret->quote['\''] || i == 0 || !credentials_is(text.p[i - 1], CH_ALNUM)))
			ret->quote[(unsigned char)c] = !ret->quote[(unsigned char)c];
		if (open)
			depth[open - opens]++;
		else if (close && depth[close - closes] > 0)
			depth[close - closes]--;
		ret->bar |= c == '|';
	}
	ret->in_string = ret->quote['"'] || ret->quote['\''] || ret->quote['`'];
	for (int k = 0; k < 3; k++)
		ret->bracket[(unsigned char)closes[k]] = depth[k] > 0;
}

/* Signs beyond ASCII that end a word: quotes, dashes, blanks, a full stop; those of U+3000 and U+FF00, too. */
static bool is_wide_mark(struct str text, size_t i)
{
	unsigned char a = (unsigned char)text.p[i], b = (unsigned char)credentials_byte(text, i + 1),
		      c = (unsigned char)credentials_byte(text, i + 2);

	if (a == 0xc2)
		return b == 0xa0 || b == 0xab || b == 0xbb;
	if (a == 0xe2)
		return b == 0x80 || b == 0x86 || (b == 0x81 && c < 0x90);
	return (a == 0xe3 && b == 0x80) || (a == 0xef && (b == 0xbc || b == 0xbd)) || a == 0x7f;
}

/* </b>, <br>, <br/> */
static bool is_tag(struct str text, size_t i)
{
	size_t name = i + 1 + (credentials_byte(text, i + 1) == '/'), limit = text.n - i > 16 ? i + 16 : text.n, end;

	if (!credentials_is(credentials_byte(text, name), CH_LETTER))
		return false;
	end = credentials_run(str_sub(text, 0, limit), name, CH_ALNUM);
	end += credentials_byte(text, end) == '/';
	return credentials_byte(text, end) == '>';
}

/* Does a sign that is open, or the next parameter, or an end of a string as JSON has it, end a value here? */
static bool ends_run(struct str text, size_t i, const struct opened *open)
{
	unsigned char c = (unsigned char)text.p[i];

	if (c <= ' ' || c >= 0x7f)
		return c <= ' ' || is_wide_mark(text, i);
	if (open->quote[c] || (open->bracket[c]) || (c == '|' && open->bar))
		return true;
	/* Where no string is open, a backslash before a quote is one of the password. */
	if (c == '\\')
		return ends_bare(text, i) && (open->in_string || credentials_among(text.p[i + 1], "nrt"));
	if (c == '&')
		return is_next_parameter(text, i);
	if (c == ',' || c == ';')
		return open->bracket[')'] || open->bracket[']'] || open->bracket['}'] || is_next_parameter(text, i);
	return c == '<' && is_tag(text, i);
}

/* What ends a sentence, or Markdown's bold, or closes a bracket that the value has not. */
static size_t without_closing(struct str text, size_t at, size_t end)
{
	while (end > at && credentials_among(text.p[end - 1], ".,;:?*)]}>\"'`")) {
		static const char closes[] = ")]}>\"'`", opens[] = "([{<\"'`";
		const char *close = strchr(closes, text.p[end - 1]);

		if (close && memchr(text.p + at, opens[close - closes], end - 1 - at))
			break;
		end--;
	}
	return end;
}

/* From the first sign that would end it in code on to where its run of bytes ends. */
static void read_run(struct str text, struct credentials_value *v)
{
	struct opened open;
	size_t end = v->end;

	v->plain_end = v->end;
	if (end == text.n || (unsigned char)text.p[end] <= ' ' || end - v->at >= CREDENTIALS_VALUE_LOOK)
		return;
	read_opened(text, v->at, &open);
	while (end < text.n && end - v->at < CREDENTIALS_VALUE_LOOK &&
	       (!ends_run(text, end, &open) || (end == v->at && text.p[end] == '<')))
		end++;
	/* With no end in sight it is no password. */
	if (end - v->at < CREDENTIALS_VALUE_LOOK)
		v->end = without_closing(text, v->at, end);
	if (v->end < v->plain_end)
		v->end = v->plain_end;
	v->code = v->code && !credentials_drawn(str_sub(text, v->at, v->end), DRAWN_ALONE);
	if (v->code)
		v->end = v->plain_end;
}

static bool read_bare(struct str text, size_t i, struct credentials_value *ret)
{
	size_t end;

	for (end = i; end < text.n && end - i < CREDENTIALS_VALUE_LOOK && !ends_bare(text, end);)
		end++;
	*ret = (struct credentials_value){i, end, end, false, end < text.n && credentials_among(text.p[end], "([{")};
	read_run(text, ret);
	/* What ends a sentence, or Markdown's bold. */
	if (ret->end == ret->plain_end && (end == text.n || credentials_is(text.p[end], CH_SPACE)))
		while (ret->end > i && credentials_among(text.p[ret->end - 1], ".:?*"))
			ret->plain_end = --ret->end;
	return ret->end > i;
}

/* Behind the quote that closes a string nothing goes on to the end of the line but signs of code. */
static bool goes_on(struct str text, size_t i)
{
	char c = credentials_byte(text, i);
	size_t limit = text.n - i > CREDENTIALS_VALUE_LOOK ? i + CREDENTIALS_VALUE_LOOK : text.n;

	if ((unsigned char)c <= ' ' || credentials_among(c, ",;:)]}>.+*`\\|/\"'"))
		return false;
	while (i < limit && (unsigned char)text.p[i] > ' ')
		i++;
	return i == text.n || credentials_among(text.p[i], "\r\n");
}

bool credentials_read_value(struct str text, size_t i, struct credentials_value *ret)
{
	size_t escapes = 0, quote;

	i = skip_blanks(text, i);
	quote = quote_at(text, i, &escapes);
	if (quote == text.n)
		return read_bare(text, i, ret);
	if (read_quoted(text, quote, escapes, ret) && (quote > i || !goes_on(text, ret->end + 1)))
		return true;
	/* A password may begin with a quote. */
	return quote == i && read_bare(text, i, ret) &&
	       credentials_drawn(str_sub(text, ret->at, ret->end), DRAWN_IN_SENTENCE);
}

bool credentials_read_secret(struct str text, struct credentials_value *v, enum credentials_name name,
			     enum credentials_form form, const char **ret_kind)
{
	if (credentials_value_is_secret(str_sub(text, v->at, v->end), name, form, ret_kind) &&
	    (name == NAME_PASSWORD || v->plain_end >= v->end))
		return true;
	if (v->plain_end >= v->end || v->plain_end == v->at ||
	    !credentials_value_is_secret(str_sub(text, v->at, v->plain_end), name, form, ret_kind))
		return false;
	if (name != NAME_PASSWORD)
		v->end = v->plain_end;
	return true;
}

size_t credentials_read_on(struct str text, size_t end)
{
	while (end < text.n && !ends_bare(text, end))
		end++;
	return end;
}

bool credentials_read_name(struct str text, size_t end, struct str *ret)
{
	size_t low = end > BLANKS ? end - BLANKS : 0, start;

	while (end > low && (text.p[end - 1] == ' ' || text.p[end - 1] == '\t'))
		end--;
	while (end > low && credentials_among(text.p[end - 1], "?]*"))
		end--;
	/* char name[64] */
	for (start = end; start > low && credentials_is(text.p[start - 1], CH_DIGIT);)
		start--;
	if (start > low && text.p[start - 1] == '[')
		end = start - 1;
	if (end > low && is_quote(text.p[end - 1])) {
		end--;
		while (end > low && text.p[end - 1] == '\\')
			end--;
	}
	while (end > low && text.p[end - 1] == '*')
		end--;
	low = end > CREDENTIALS_NAME_BYTES ? end - CREDENTIALS_NAME_BYTES : 0;
	for (start = end; start > low && credentials_is(text.p[start - 1], CH_NAME | CH_DOT);)
		start--;
	/* …\nname, as JSON has it. */
	if (start > 0 && start < end && text.p[start - 1] == '\\' && credentials_among(text.p[start], "nrt"))
		start++;
	if (end - start < 2)
		return false;
	*ret = str_sub(text, start, end);
	return true;
}

size_t credentials_read_line(struct str text, size_t i)
{
	size_t low = i > 256 ? i - 256 : 0;

	while (i > low && text.p[i - 1] != '\n' && !(i >= low + 2 && text.p[i - 1] == 'n' && text.p[i - 2] == '\\'))
		i--;
	return i;
}
