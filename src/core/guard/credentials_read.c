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

/* b"…", rb'…', f"…", L"…", @"…", $"…": where the quote stands, with the backslashes before it;
 * text.n where there is none. */
static size_t quote_at(struct str text, size_t i, size_t *ret_escapes)
{
	size_t at = i, escapes = 0;

	while (at < text.n && at < i + 2 && credentials_among(text.p[at], "bBrRfFuUL@$"))
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
			*ret = (struct credentials_value){quote + 1, i - escapes, true, false};
			/* With fewer, it closes the text that the value stands in. */
			return (escapes == 0 || slashes == escapes) && ret->end > ret->at;
		}
		slashes = 0;
	}
	return false;
}

/* a=1&b=2, where a password may have a '&' of its own. */
static bool is_next_parameter(struct str text, size_t amp)
{
	struct str look = text.n - amp > CREDENTIALS_NAME_BYTES ? str_sub(text, 0, amp + CREDENTIALS_NAME_BYTES) : text;
	size_t end = credentials_run(look, amp + 1, CH_NAME | CH_DOT);

	return end > amp + 1 && end < text.n && (text.p[end] == '=' || text.p[end] == ';');
}

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

bool credentials_read_value(struct str text, size_t i, struct credentials_value *ret)
{
	size_t escapes = 0, quote, end;

	i = skip_blanks(text, i);
	quote = quote_at(text, i, &escapes);
	if (quote < text.n)
		return read_quoted(text, quote, escapes, ret);
	for (end = i; end < text.n && end - i < CREDENTIALS_VALUE_LOOK && !ends_bare(text, end);)
		end++;
	*ret = (struct credentials_value){i, end, false, end < text.n && credentials_among(text.p[end], "([{")};
	/* What ends a sentence, or Markdown's bold. */
	if (end == text.n || credentials_is(text.p[end], CH_SPACE))
		while (ret->end > i && credentials_among(text.p[ret->end - 1], ".:?*"))
			ret->end--;
	return ret->end > i;
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
