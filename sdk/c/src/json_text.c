/* Strings of JSON, decoded. */
#include "json_reader.h"

#include <string.h>

static bool read_hex4(struct reader *r, unsigned *ret)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++, r->at++) {
		char c = peek(r);

		if (c >= '0' && c <= '9')
			value = value * 16 + (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value * 16 + (unsigned)((c | 0x20) - 'a' + 10);
		else
			return fail(r, "\\u is not followed by four hexadecimal digits");
	}
	*ret = value;
	return true;
}

/* An escape of six characters gives three bytes at most, one of twelve four. */
static void put_character(struct reader *r, unsigned code)
{
	if (code < 0x80) {
		*r->texts++ = (char)code;
	} else if (code < 0x800) {
		*r->texts++ = (char)(0xc0 | code >> 6);
		*r->texts++ = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		*r->texts++ = (char)(0xe0 | code >> 12);
		*r->texts++ = (char)(0x80 | (code >> 6 & 63));
		*r->texts++ = (char)(0x80 | (code & 63));
	} else {
		*r->texts++ = (char)(0xf0 | code >> 18);
		*r->texts++ = (char)(0x80 | (code >> 12 & 63));
		*r->texts++ = (char)(0x80 | (code >> 6 & 63));
		*r->texts++ = (char)(0x80 | (code & 63));
	}
}

static bool read_unicode_escape(struct reader *r)
{
	static const char half[] = "half of a surrogate pair stands alone";
	unsigned unit, second;

	if (!read_hex4(r, &unit))
		return false;
	if (unit >= 0xd800 && unit <= 0xdfff) {
		if (unit > 0xdbff || r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
			return fail(r, half);
		r->at += 2;
		if (!read_hex4(r, &second))
			return false;
		if (second < 0xdc00 || second > 0xdfff)
			return fail(r, half);
		unit = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
	}
	put_character(r, unit);
	return true;
}

static bool read_escape(struct reader *r)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c;

	r->at++;
	c = peek(r);
	found = c ? strchr(names, c) : NULL;
	if (c == 'u') {
		r->at++;
		return read_unicode_escape(r);
	}
	if (found == NULL)
		return fail(r, "a backslash is not followed by one of \" \\ / b f n r t u");
	r->at++;
	*r->texts++ = values[found - names];
	return true;
}

/* The reader stands on the quote. What is decoded is never longer than what it was decoded from, quotes included. */
bool msi_json_read_text(struct reader *r, const char **ret, size_t *ret_len)
{
	char *begin = r->texts;

	r->at++;
	for (;;) {
		unsigned char c = (unsigned char)peek(r);

		if (r->at >= r->end)
			return fail(r, "a string has no closing quote");
		if (c == '"')
			break;
		if (c < 0x20)
			return fail(r, "a control character stands in a string");
		if (c != '\\')
			*r->texts++ = *r->at++;
		else if (!read_escape(r))
			return false;
	}
	r->at++;
	*ret = begin;
	*ret_len = (size_t)(r->texts - begin);
	*r->texts++ = '\0';
	return true;
}
