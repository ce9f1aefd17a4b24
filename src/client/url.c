#include "client/url.h"

#include <stdio.h>

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
	       c == '_' || c == '~' || c == '@';
}

void url_put_escaped(struct buf *out, struct str text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		char escape[3] = {'%', digits[c >> 4], digits[c & 15]};

		if (is_plain(c))
			buf_putc(out, (char)c);
		else
			buf_append(out, escape, 3);
	}
}

void url_add(struct buf *out, const char *name, struct str value)
{
	bool has_query = str_find(buf_str(out), '?') < out->len;

	buf_putc(out, has_query ? '&' : '?');
	url_put_escaped(out, str_of(name));
	buf_putc(out, '=');
	url_put_escaped(out, value);
}

void url_add_int(struct buf *out, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	url_add(out, name, str_of(text));
}
