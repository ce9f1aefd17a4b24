#include "cli/setup/jsonc_scan.h"

#include "cli/setup/jsonc.h"

enum { NONE = -1, DEPTH_MAX = 200 };

bool jsonc_is_at(struct str s, long at, const char *token)
{
	return at >= 0 && str_has_prefix(str_sub(s, (size_t)at, s.n), str_of(token));
}

char jsonc_char(struct str s, long at)
{
	return at >= 0 && (size_t)at < s.n ? s.p[at] : '\0';
}

long jsonc_skip_blank(struct str s, long at)
{
	while (at >= 0 && (size_t)at < s.n) {
		if (strchr(" \t\r\n", s.p[at])) {
			at++;
		} else if (jsonc_is_at(s, at, "//")) {
			at += (long)str_find(str_sub(s, (size_t)at, s.n), '\n');
		} else if (jsonc_is_at(s, at, "/*")) {
			const char *end = memmem(s.p + at + 2, s.n - (size_t)at - 2, "*/", 2);

			at = end ? end + 2 - s.p : NONE;
		} else {
			break;
		}
	}
	return at;
}

static long skip_string(struct str s, long at)
{
	for (at++; (size_t)at < s.n && s.p[at] != '"'; at++)
		if (s.p[at] == '\\')
			at++;
	return (size_t)at < s.n ? at + 1 : NONE;
}

static long skip_word(struct str s, long at)
{
	long from = at;

	while ((size_t)at < s.n && !strchr(" \t\r\n,:[]{}\"/", s.p[at]))
		at++;
	return at > from ? at : NONE;
}

static long skip_value(struct str s, long at, int depth);

bool jsonc_next(struct str s, long *at, bool is_object, int depth, struct jsonc_entry *ret)
{
	*at = ret->from = ret->value = jsonc_skip_blank(s, *at);
	ret->key = STR_NULL;
	if (*at < 0 || jsonc_char(s, *at) == (is_object ? '}' : ']'))
		return false;
	if (is_object) {
		ret->end = jsonc_char(s, *at) == '"' ? skip_string(s, *at) : NONE;
		if (ret->end < 0 || jsonc_char(s, ret->value = jsonc_skip_blank(s, ret->end)) != ':')
			return *at = NONE, false;
		ret->key = str_sub(s, (size_t)*at + 1, (size_t)ret->end - 1);
		ret->value = jsonc_skip_blank(s, ret->value + 1);
	}
	ret->end = skip_value(s, ret->value, depth + 1);
	*at = ret->end < 0 ? NONE : jsonc_skip_blank(s, ret->end);
	if (jsonc_char(s, *at) == ',')
		(*at)++;
	else if (jsonc_char(s, *at) != (is_object ? '}' : ']'))
		*at = NONE;
	return *at >= 0;
}

static long skip_value(struct str s, long at, int depth)
{
	bool is_object = jsonc_char(s, at) == '{';
	struct jsonc_entry entry;

	if (at < 0 || (size_t)at >= s.n || depth > DEPTH_MAX)
		return NONE;
	if (s.p[at] == '"')
		return skip_string(s, at);
	if (!is_object && s.p[at] != '[')
		return skip_word(s, at);
	at++;
	while (jsonc_next(s, &at, is_object, depth, &entry))
		;
	return at < 0 ? NONE : at + 1;
}

bool jsonc_is_object(struct str text)
{
	long at = jsonc_skip_blank(text, 0), end = jsonc_char(text, at) == '{' ? skip_value(text, at, 0) : NONE;

	return end >= 0 && jsonc_skip_blank(text, end) == (long)text.n;
}

/* The member of the object at `at`. Of several of one name the last: that is the one that programs take. */
static bool find_member(struct str s, long at, const char *name, struct jsonc_entry *ret)
{
	struct jsonc_entry entry;
	bool is_found = false;

	if (jsonc_char(s, at) != '{')
		return false;
	at++;
	while (jsonc_next(s, &at, true, 0, &entry))
		if (str_is(entry.key, name)) {
			*ret = entry;
			is_found = true;
		}
	return is_found;
}

size_t jsonc_descend(struct str s, const char *const *path, struct jsonc_entry *ret, long *ret_at)
{
	size_t depth = 0;

	*ret_at = jsonc_skip_blank(s, 0);
	while (path[depth] && find_member(s, *ret_at, path[depth], ret)) {
		*ret_at = ret->value;
		depth++;
	}
	return depth;
}

struct str jsonc_get(struct str text, const char *const *path)
{
	struct jsonc_entry entry;
	long at;

	if (path[jsonc_descend(text, path, &entry, &at)])
		return STR_NULL;
	return str_sub(text, (size_t)entry.value, (size_t)entry.end);
}

bool jsonc_find_item(struct str s, long at, size_t index, struct jsonc_entry *ret)
{
	if (jsonc_char(s, at) != '[')
		return false;
	at++;
	while (jsonc_next(s, &at, false, 0, ret))
		if (index-- == 0)
			return true;
	return false;
}

struct str jsonc_item(struct str text, const char *const *path, size_t index)
{
	struct jsonc_entry entry, item;
	long at;

	if (path[jsonc_descend(text, path, &entry, &at)] || !jsonc_find_item(text, at, index, &item))
		return STR_NULL;
	return str_sub(text, (size_t)item.value, (size_t)item.end);
}
