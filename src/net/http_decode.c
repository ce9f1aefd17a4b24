/* Percent-decoding of paths and queries. */
#include "net/http.h"

static bool decode(struct http_req *req, struct str raw, bool plus_is_space, struct str *ret)
{
	char *out = arena_alloc(http_req_arena(req), raw.n + 1);
	size_t len = 0;
	struct str text;

	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i];

		if (c == '%') {
			int high = raw.n - i > 2 ? str_hex_digit(raw.p[i + 1]) : -1;
			int low = raw.n - i > 2 ? str_hex_digit(raw.p[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && plus_is_space) {
			c = ' ';
		}
		if (c == '\0')
			return false;
		out[len++] = c;
	}
	out[len] = '\0';
	text = (struct str){out, len};
	if (!str_is_utf8(text))
		return false;
	*ret = text;
	return true;
}

bool http_decode_path(struct http_req *req, struct str raw, struct str *ret)
{
	return decode(req, raw, false, ret);
}

bool http_decode_query(struct http_req *req, struct str raw, struct str *ret)
{
	return decode(req, raw, true, ret);
}
