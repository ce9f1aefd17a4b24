/* Values that stand beside a secret's name without a sign between: in calls, tables, elements, command lines. */
#include "core/guard/credentials_internal.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* setenv("API_KEY", "…") */
bool credentials_beside_pair(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, name;
	struct credentials_value v;
	enum credentials_name sort;
	size_t value = i + 1;

	if (i < 3 || (t.p[i - 1] != '"' && t.p[i - 1] != '\''))
		return false;
	while (value < t.n && is_blank(t.p[value]))
		value++;
	if (value >= t.n || !credentials_among(t.p[value], "\"'\\") || !credentials_read_name(t, i, &name))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE || sort == NAME_VALUE || !credentials_read_value(t, value, &v) || !v.quoted)
		return false;
	if (sort == NAME_AUTHORIZATION)
		return credentials_assign_authorization(s, value, ret);
	return credentials_assign_judge(s, &v, sort, FORM_LOOSE, ret);
}

/* setPassword("…"), .token('…') */
bool credentials_beside_call(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, name;
	struct credentials_value v;
	enum credentials_name sort;

	if (i < 4 || t.p[i - 1] != '(' || !credentials_is(t.p[i - 2], CH_ALNUM) ||
	    !credentials_read_name(t, i - 1, &name))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE || sort == NAME_VALUE || sort == NAME_AUTHORIZATION || !credentials_read_value(t, i, &v))
		return false;
	return credentials_assign_judge(s, &v, sort, sort == NAME_PASSWORD ? FORM_LITERAL : FORM_LOOSE, ret);
}

/* | password | … | */
bool credentials_beside_cell(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, name;
	struct credentials_value v;
	enum credentials_name sort;

	if (i < 3 || t.p[i - 1] != ' ' || credentials_byte(t, i + 1) != ' ' || !credentials_read_name(t, i, &name))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE)
		sort = credentials_assign_two_words(t, name);
	if (sort == NAME_NONE || sort == NAME_VALUE || !credentials_read_value(t, i + 1, &v))
		return false;
	return credentials_assign_judge(s, &v, sort, FORM_LOOSE, ret);
}

/* <td>Password</td><td>…</td>, <key>password</key><string>…</string>, <dt>, <th>, <b>: the next element's text. */
static bool next_element(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LOOK = 120 };
	struct str t = s->text, name;
	size_t open = i, at = i + 1, limit = t.n - i > LOOK ? i + LOOK : t.n;
	struct credentials_value v;
	enum credentials_name sort;

	while (open > 0 && i - open < 10 && t.p[open] != '<')
		open--;
	if (!credentials_here(t, open, STR("</")) || !credentials_read_name(t, open, &name))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE)
		sort = credentials_assign_two_words(t, name);
	if (sort == NAME_NONE || sort == NAME_VALUE || sort == NAME_AUTHORIZATION)
		return false;
	/* Up to two tags, and what is between them. */
	for (int tags = 0; tags < 3 && at < limit; tags++) {
		while (at < limit && credentials_is(t.p[at], CH_SPACE))
			at++;
		if (credentials_byte(t, at) != '<')
			break;
		while (at < limit && t.p[at] != '>')
			at++;
		at++;
	}
	if (at >= limit || !credentials_read_value(t, at, &v) || !credentials_here(t, v.end, STR("</")))
		return false;
	return credentials_assign_judge(s, &v, sort, sort == NAME_PASSWORD ? FORM_LITERAL : FORM_LOOSE, ret);
}

/* <password>…</password> */
bool credentials_beside_element(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text, name;
	struct credentials_value v;
	enum credentials_name sort;
	size_t at;

	if (i < 4 || !credentials_is(t.p[i - 1], CH_LETTER) || !credentials_read_name(t, i, &name))
		return false;
	at = (size_t)(name.p - t.p);
	if (at > 1 && t.p[at - 1] == '/' && t.p[at - 2] == '<')
		return next_element(s, i, ret);
	if (at == 0 || (t.p[at - 1] != '<' && t.p[at - 1] != ':'))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE || sort == NAME_VALUE || !credentials_read_value(t, i + 1, &v) ||
	    !credentials_here(t, v.end, STR("</")))
		return false;
	return credentials_assign_judge(s, &v, sort, v.quoted ? FORM_QUOTED : FORM_LITERAL, ret);
}

/* ### Password, and the value alone on a line below, perhaps in backticks or a fence. */
static bool under_heading(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	enum { LOOK = 80 };
	struct str t = s->text, name;
	size_t end = i, limit = t.n - i > LOOK ? i + LOOK : t.n, stop;
	struct credentials_value v;
	enum credentials_name sort;

	if (i > 0 && t.p[i - 1] != '\n')
		return false;
	while (end < limit && t.p[end] != '\n')
		end++;
	if (end >= limit || !credentials_read_name(t, end - (t.p[end - 1] == ':'), &name))
		return false;
	sort = credentials_name_of(name);
	if (sort == NAME_NONE)
		sort = credentials_assign_two_words(t, name);
	if (sort == NAME_NONE || sort == NAME_VALUE || sort == NAME_AUTHORIZATION)
		return false;
	for (limit = t.n - end > LOOK ? end + LOOK : t.n; end < limit && credentials_is(t.p[end], CH_SPACE);)
		end++;
	if (credentials_here(t, end, STR("```")))
		for (limit = t.n - end > LOOK ? end + LOOK : t.n; end < limit && t.p[end] != '\n';)
			end++;
	while (end < t.n && t.p[end] == '\n')
		end++;
	if (!credentials_read_value(t, end, &v))
		return false;
	stop = v.end + v.quoted;
	while (is_blank(credentials_byte(t, stop)) || credentials_byte(t, stop) == '\r')
		stop++;
	return credentials_byte(t, stop) == '\n' &&
	       credentials_assign_judge(s, &v, sort, sort == NAME_PASSWORD ? FORM_LITERAL : FORM_LOOSE, ret);
}

/* #define API_KEY "…" */
bool credentials_beside_define(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at, end;
	struct credentials_value v;
	enum credentials_name sort;

	if (!credentials_here(t, i, STR("#define ")))
		return under_heading(s, i, ret);
	for (at = i + 8; at < t.n && is_blank(t.p[at]);)
		at++;
	end = credentials_run(t, at, CH_WORD);
	if (end - at < 3 || end - at > CREDENTIALS_NAME_BYTES || !is_blank(credentials_byte(t, end)))
		return false;
	sort = credentials_name_of(str_sub(t, at, end));
	if (sort == NAME_NONE || sort == NAME_VALUE || !credentials_read_value(t, end, &v) || !v.quoted ||
	    credentials_value_is_name(str_sub(t, at, end), str_sub(t, v.at, v.end)))
		return false;
	return credentials_assign_judge(s, &v, sort, FORM_QUOTED, ret);
}

/* --password … or -token …; with '=' it is found at the sign. */
bool credentials_beside_flag(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str t = s->text;
	size_t at = i + 1, end;
	struct credentials_value v;
	enum credentials_name sort;

	if (i > 0 && !credentials_is(t.p[i - 1], CH_SPACE) && !credentials_among(t.p[i - 1], "\"'`[("))
		return false;
	at += credentials_byte(t, at) == '-';
	if (!credentials_is(credentials_byte(t, at), CH_LETTER))
		return false;
	end = credentials_run(t, at, CH_NAME);
	/* ["--password", "…"] is a pair. */
	if (end - at < 4 || end - at > CREDENTIALS_NAME_BYTES || credentials_byte(t, end) != ' ')
		return false;
	sort = credentials_name_of(str_sub(t, at, end));
	if (sort == NAME_NONE || sort == NAME_VALUE || !credentials_read_value(t, end, &v) || t.p[v.at] == '-')
		return false;
	return credentials_assign_judge(s, &v, sort, v.quoted ? FORM_QUOTED : FORM_LITERAL, ret);
}
