/* A strict reader of JSON (RFC 8259) that finds the first fault of a text.
 *
 * It goes through the text once, without recursion: `nesting` remembers for each open container whether it is an
 * object. Each read_… function starts at s->at, leaves it behind what it read, and returns false where the walk is to
 * end: at a fault (s->error is then filled) or at the token that was looked for.
 */
#include "codec/json_scan.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUOTE_MAX = 40 };	/* bytes of the text that an error repeats */

struct scan {
	struct str text;
	size_t at;
	int max_depth;
	int depth;
	uint32_t token;		/* how many were met */
	uint32_t wanted;	/* the walk ends there, with s->at on it */
	struct json_error *error;
	bool nesting[JSON_DEPTH_MAX + 1];
};

void json_scan_report(struct str text, size_t offset, struct json_error *ret_error, const char *code,
		      const char *format, ...)
{
	size_t line = 1, column = 1, room = sizeof(ret_error->detail);
	va_list args;
	int len;

	for (size_t i = 0; i < offset && i < text.n; i++) {
		if (text.p[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)text.p[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	va_start(args, format);
	len = vsnprintf(ret_error->detail, room, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < room)
		snprintf(ret_error->detail + len, room - (size_t)len, " (line %zu, column %zu).", line, column);
	ret_error->code = code;
	ret_error->offset = offset;
}

static bool at_end(const struct scan *s)
{
	return s->at >= s->text.n;
}

/* The byte at the reader, 0 at the end. A NUL in the text gives 0, too; nothing in JSON starts with one. */
static char peek(const struct scan *s)
{
	return at_end(s) ? '\0' : s->text.p[s->at];
}

/* The character at the reader in words, for an error. */
struct found {
	char text[32];
};

static struct found found(const struct scan *s)
{
	unsigned char c = (unsigned char)peek(s);
	struct found f;
	size_t len = 1;

	if (at_end(s)) {
		snprintf(f.text, sizeof(f.text), "the end of the text");
	} else if (c < 0x20 || c == 0x7f) {
		snprintf(f.text, sizeof(f.text), "the control character 0x%02x", c);
	} else {
		while (s->at + len < s->text.n && ((unsigned char)s->text.p[s->at + len] & 0xc0) == 0x80)
			len++;
		snprintf(f.text, sizeof(f.text), "'%.*s'", (int)len, s->text.p + s->at);
	}
	return f;
}

static bool fail_expected(struct scan *s, const char *expected)
{
	json_scan_report(s->text, s->at, s->error, "invalid_json", "Expected %s, found %s", expected, found(s).text);
	return false;
}

static void skip_space(struct scan *s)
{
	while (peek(s) == ' ' || peek(s) == '\n' || peek(s) == '\r' || peek(s) == '\t')
		s->at++;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool read_literal(struct scan *s, struct str literal)
{
	if (!str_has_prefix(str_sub(s->text, s->at, s->text.n), literal)) {
		json_scan_report(s->text, s->at, s->error, "invalid_json",
				 "A word that is not in quotes must be true, false or null");
		return false;
	}
	s->at += literal.n;
	return true;
}

/* Four hexadecimal digits, the reader on the first. */
static bool read_hex4(struct scan *s, unsigned *ret)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++) {
		char c = peek(s);

		if (is_digit(c))
			value = value * 16 + (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value * 16 + (unsigned)((c | 0x20) - 'a' + 10);
		else
			return fail_expected(s, "four hexadecimal digits after \\u");
		s->at++;
	}
	*ret = value;
	return true;
}

static bool fail_surrogate(struct scan *s, size_t offset)
{
	json_scan_report(s->text, offset, s->error, "invalid_json",
			 "The escape %.6s is half of a surrogate pair, without the other half", s->text.p + offset);
	return false;
}

/* \uXXXX, the reader behind the u. */
static bool read_unicode_escape(struct scan *s)
{
	size_t start = s->at - 2;
	unsigned unit, second;

	if (!read_hex4(s, &unit))
		return false;
	if (unit < 0xd800 || unit > 0xdfff)
		return true;
	if (unit > 0xdbff || !str_has_prefix(str_sub(s->text, s->at, s->text.n), STR("\\u")))
		return fail_surrogate(s, start);
	s->at += 2;
	if (!read_hex4(s, &second))
		return false;
	if (second < 0xdc00 || second > 0xdfff)
		return fail_surrogate(s, start);
	return true;
}

static bool read_escape(struct scan *s)
{
	char c;

	s->at++;
	c = peek(s);
	if (c == '\0' || !strchr("\"\\/bfnrtu", c))
		return fail_expected(s, "one of \" \\ / b f n r t u after a backslash");
	s->at++;
	return c != 'u' || read_unicode_escape(s);
}

static bool read_string(struct scan *s)
{
	size_t start = s->at++;

	while (!at_end(s)) {
		unsigned char c = (unsigned char)peek(s);

		if (c == '"') {
			s->at++;
			return true;
		}
		if (c < 0x20) {
			json_scan_report(s->text, s->at, s->error, "invalid_json",
					 "The control character 0x%02x must be escaped in a string", c);
			return false;
		}
		if (c != '\\')
			s->at++;
		else if (!read_escape(s))
			return false;
	}
	json_scan_report(s->text, start, s->error, "invalid_json", "The string that begins here has no closing quote");
	return false;
}

/* Whether a well-formed number is one that json_parse takes; the head of json.h has the rule. */
static bool in_range(struct str number)
{
	bool negative = number.p[0] == '-';
	uint64_t magnitude;
	double value;
	char *copy;

	if (str_find(number, '.') == number.n && str_find(number, 'e') == number.n && str_find(number, 'E') == number.n)
		return str_to_u64(str_sub(number, negative, number.n), &magnitude) && magnitude <= JSON_INT_MAX;
	copy = mem_strndup(number.p, number.n);
	value = fabs(strtod(copy, NULL));
	free(copy);
	return value <= (double)JSON_INT_MAX || (value >= 1e21 && isfinite(value));
}

static void skip_digits(struct scan *s)
{
	while (is_digit(peek(s)))
		s->at++;
}

/* [-] digits [. digits] [e [±] digits] */
static bool read_number(struct scan *s)
{
	size_t start = s->at;
	struct str number;

	if (peek(s) == '-')
		s->at++;
	if (!is_digit(peek(s)))
		return fail_expected(s, "a digit after '-'");
	if (peek(s) == '0') {
		s->at++;
		if (is_digit(peek(s))) {
			json_scan_report(s->text, start, s->error, "invalid_json", "A number must not begin with 0");
			return false;
		}
	}
	skip_digits(s);
	if (peek(s) == '.') {
		s->at++;
		if (!is_digit(peek(s)))
			return fail_expected(s, "a digit after the decimal point");
		skip_digits(s);
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (!is_digit(peek(s)))
			return fail_expected(s, "a digit in the exponent");
		skip_digits(s);
	}
	number = str_sub(s->text, start, s->at);
	if (in_range(number))
		return true;
	json_scan_report(s->text, start, s->error, "number_out_of_range",
			 "The number %.*s%s is beyond ±(2^53-1), where digits get lost; send it as a string",
			 number.n > QUOTE_MAX ? QUOTE_MAX : (int)number.n, number.p, number.n > QUOTE_MAX ? "…" : "");
	return false;
}

static bool next_token(struct scan *s)
{
	return s->token++ != s->wanted;
}

/* "name": with the reader left before the value. */
static bool read_name(struct scan *s, const char *expected)
{
	if (peek(s) != '"')
		return fail_expected(s, expected);
	if (!next_token(s) || !read_string(s))
		return false;
	skip_space(s);
	if (peek(s) != ':')
		return fail_expected(s, "':' after a name");
	s->at++;
	skip_space(s);
	return true;
}

static bool read_open(struct scan *s)
{
	if (s->depth == s->max_depth) {
		json_scan_report(s->text, s->at, s->error, "too_deep",
				 "Arrays and objects are nested more than %d deep", s->max_depth);
		return false;
	}
	s->nesting[s->depth++] = peek(s) == '{';
	s->at++;
	skip_space(s);
	return true;
}

static bool read_scalar(struct scan *s)
{
	switch (peek(s)) {
	case '"':
		return read_string(s);
	case 't':
		return read_literal(s, STR("true"));
	case 'f':
		return read_literal(s, STR("false"));
	case 'n':
		return read_literal(s, STR("null"));
	default:
		if (peek(s) == '-' || is_digit(peek(s)))
			return read_number(s);
		return fail_expected(s, "a value");
	}
}

/* From behind a value to the next one. *ret_done where the text has ended as it should. */
static bool read_to_next_value(struct scan *s, bool *ret_done)
{
	for (;;) {
		bool object = s->depth > 0 && s->nesting[s->depth - 1];

		skip_space(s);
		if (s->depth == 0) {
			*ret_done = at_end(s);
			return *ret_done || fail_expected(s, "nothing after the value");
		}
		if (peek(s) == (object ? '}' : ']')) {
			s->at++;
			s->depth--;
			continue;
		}
		if (peek(s) != ',')
			return fail_expected(s, object ? "',' or '}' after a member" : "',' or ']' after an item");
		s->at++;
		skip_space(s);
		*ret_done = false;
		return !object || read_name(s, "a name in quotes after ','");
	}
}

static bool walk(struct scan *s)
{
	bool done = false;

	skip_space(s);
	while (!done) {
		char c = peek(s);

		if (!next_token(s))
			return false;
		if (c != '{' && c != '[') {
			if (!read_scalar(s))
				return false;
		} else {
			if (!read_open(s))
				return false;
			if (c == '{' && peek(s) != '}') {
				if (!read_name(s, "a name in quotes or '}'"))
					return false;
				continue;
			}
			if (c == '[' && peek(s) != ']')
				continue;
		}
		if (!read_to_next_value(s, &done))
			return false;
	}
	return true;
}

bool json_scan(struct str text, int max_depth, struct json_error *ret_error)
{
	struct scan s = {.text = text, .max_depth = max_depth, .wanted = UINT32_MAX, .error = ret_error};
	size_t good = str_utf8_prefix(text);

	if (max_depth > JSON_DEPTH_MAX)
		s.max_depth = JSON_DEPTH_MAX;
	if (good < text.n) {
		json_scan_report(text, good, ret_error, "invalid_utf8", "The byte 0x%02x does not belong here in UTF-8",
				 (unsigned char)text.p[good]);
		return false;
	}
	if (str_has_prefix(text, STR("\xef\xbb\xbf"))) {
		json_scan_report(text, 0, ret_error, "invalid_json",
				 "The text begins with a byte order mark; send it without one");
		return false;
	}
	skip_space(&s);
	if (at_end(&s)) {
		*ret_error = (struct json_error){.code = "invalid_json"};
		snprintf(ret_error->detail, sizeof(ret_error->detail), "%s",
			 text.n ? "The text is only white space; a JSON value was expected." :
				  "The text is empty; a JSON value was expected.");
		return false;
	}
	return walk(&s);
}

size_t json_scan_token(struct str text, uint32_t token)
{
	struct json_error ignored;
	struct scan s = {.text = text, .max_depth = JSON_DEPTH_MAX, .wanted = token, .error = &ignored};

	return walk(&s) ? 0 : s.at;
}
