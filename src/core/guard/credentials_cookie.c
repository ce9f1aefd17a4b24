/* Cookies: in headers, on command lines, in programs, in files of cookies. */
#include "core/guard/credentials_internal.h"

enum { COOKIE_NAME_BYTES = 64, COOKIE_VALUE_BYTES = 4096, COOKIES_MAX = 32 };

static bool hit(const struct credentials_scan *s, size_t at, size_t end, struct credential *ret)
{
	if (at < s->from || end <= at)
		return false;
	*ret = (struct credential){at, end - at, "cookie"};
	return true;
}

static bool names_session(struct str name)
{
	static const char *const ends[] = {"sid", "sess", "session", "sessid", "sessionid", "session_id", "session-id",
					   "auth", "token"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (name.n >= strlen(ends[i]) &&
		    credentials_here_nocase(name, name.n - strlen(ends[i]), str_of(ends[i])))
			return true;
	return false;
}

/* A session's value is drawn at random, or goes to and fro between letters and digits; a flag, a language or a date
 * does not. Where the name says that it is a session, any digits among letters do. */
static bool is_session(struct str name, struct str value)
{
	if (value.n < 16 || credentials_value_is_placeholder(value))
		return false;
	return credentials_word_is_shuffled(value, names_session(name) ? 1 : 4) ||
	       credentials_value_is_random(value, 16);
}

/* a=…; b=… from at on: from the first value that counts to the end of the last. */
bool credentials_cookie_pairs(const struct credentials_scan *s, size_t at, struct credential *ret)
{
	struct str t = s->text;
	size_t start = at, first = 0, last = 0;

	for (int k = 0; k < COOKIES_MAX; k++) {
		size_t name, end, limit;

		while (at < t.n && at < start + 2 + (size_t)k * COOKIE_VALUE_BYTES &&
		       credentials_among(t.p[at], " \t\"'"))
			at++;
		name = credentials_run(t.n - at > COOKIE_NAME_BYTES ? str_sub(t, 0, at + COOKIE_NAME_BYTES) : t, at,
				       CH_NAME | CH_DOT);
		if (name == at || credentials_byte(t, name) != '=')
			break;
		limit = t.n - name > COOKIE_VALUE_BYTES ? name + COOKIE_VALUE_BYTES : t.n;
		for (end = name + 1; end < limit && (unsigned char)t.p[end] > ' ' &&
		     !credentials_among(t.p[end], ";\"'\\,");)
			end++;
		if (is_session(str_sub(t, at, name), str_sub(t, name + 1, end))) {
			first = first ? first : name + 1;
			last = end;
		}
		if (credentials_byte(t, end) != ';')
			break;
		at = end + 1;
	}
	return first && hit(s, first, last, ret);
}

/* Cookie: a=…; b=…, Set-Cookie: a=…; Path=/, document.cookie = "a=…" */
bool credentials_cookie_header(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t end = i;

	while (end > 0 && i - end < 3 && credentials_among(t.p[end - 1], " \"'"))
		end--;
	return end >= 6 && credentials_here_nocase(t, end - 6, STR("cookie")) &&
	       credentials_cookie_pairs(s, i + 1, ret);
}

/* The line before at says that it is about cookies, or the object behind it does. */
static bool is_about_cookies(struct str text, size_t at, size_t end)
{
	enum { BEHIND = 160 };
	size_t line = credentials_read_line(text, at);
	struct str behind = str_sub(text, end, text.n - end > BEHIND ? end + BEHIND : text.n);

	return memmem(text.p + line, at - line, "ookie", 5) || memmem(behind.p, behind.n, "\"domain\"", 8) ||
	       memmem(behind.p, behind.n, "\"httpOnly\"", 10);
}

/* cookies = {'sessionid': '…'}, cookies.set('session', '…'), {"name": "session", "value": "…", "domain": …}; i is
 * ':' or ',' behind the name, or behind "value". */
bool credentials_cookie_member(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, name;
	struct credentials_value v;
	size_t end = i;

	if (i < 8 || !credentials_among(t.p[i - 1], "\"'"))
		return false;
	/* First what costs little. */
	name = str_sub(t, i > 12 ? i - 12 : 0, i - 1);
	if (!credentials_among(name.p[name.n - 1], "desnhDESNH") ||
	    (!names_session(name) && !credentials_here_nocase(name, name.n - 5, STR("value"))) ||
	    !credentials_read_name(t, i, &name))
		return false;
	if (str_ieq(name, STR("value"))) {
		end = (size_t)(name.p - t.p);
		while (end > 0 && i - end < 24 && credentials_among(t.p[end - 1], " \t\r\n\"',"))
			end--;
		if (!credentials_read_name(t, end + 1, &name))
			return false;
		if (credentials_here_nocase(name, name.n >= 6 ? name.n - 6 : 0, STR("cookie")))
			return credentials_cookie_pairs(s, i + 1, ret);
	}
	if (!names_session(name) || !credentials_read_value(t, i + 1, &v) || !v.quoted)
		return false;
	return is_about_cookies(t, i, v.end) && is_session(name, str_sub(t, v.at, v.end)) && hit(s, v.at, v.end, ret);
}

/* host TRUE / TRUE time session value, with tabs: a line of a file of cookies; i is in the name. */
bool credentials_cookie_file(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t line, at = i, end;
	unsigned tabs = 0;

	while (at > 0 && i - at < COOKIE_NAME_BYTES && credentials_is(t.p[at - 1], CH_NAME | CH_DOT))
		at--;
	if (at == 0 || t.p[at - 1] != '\t')
		return false;
	end = credentials_run(t.n - i > COOKIE_NAME_BYTES ? str_sub(t, 0, i + COOKIE_NAME_BYTES) : t, i,
			      CH_NAME | CH_DOT);
	if (credentials_byte(t, end) != '\t')
		return false;
	line = credentials_read_line(t, at);
	for (size_t k = line; k < at; k++)
		tabs += t.p[k] == '\t';
	if (tabs != 5 || !memmem(t.p + line, at - line, "\t/", 2))
		return false;
	line = end + 1;
	while (line < t.n && line < end + COOKIE_VALUE_BYTES && (unsigned char)t.p[line] > ' ')
		line++;
	return is_session(str_sub(t, at, end), str_sub(t, end + 1, line)) && hit(s, end + 1, line, ret);
}
