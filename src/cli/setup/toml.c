#include "cli/setup/toml.h"

#include <stdio.h>

enum { LINE_MAX_BYTES = 1 << 20 };

/* Where a line begins says nothing within a string or an array of several lines. */
struct scan {
	char quote;		/* of the string of several lines that is open; 0: none */
	int depth;		/* of open brackets */
	bool is_broken;
};

static bool is_triple(struct str s, size_t at, char quote)
{
	return at + 2 < s.n && s.p[at] == quote && s.p[at + 1] == quote && s.p[at + 2] == quote;
}

/* The position behind a string on one line; s.n where it does not end. */
static size_t skip_string(struct str s, size_t at)
{
	char quote = s.p[at];

	for (at++; at < s.n && s.p[at] != quote; at++)
		if (s.p[at] == '\\' && quote == '"')
			at++;
	return at < s.n ? at + 1 : s.n + 1;
}

static size_t skip_triple(struct scan *scan, struct str s, size_t at)
{
	while (at < s.n && !is_triple(s, at, scan->quote))
		at += s.p[at] == '\\' && scan->quote == '"' ? 2 : 1;
	if (at >= s.n)
		return s.n;
	scan->quote = 0;
	return at + 3;
}

static void scan_line(struct scan *scan, struct str s)
{
	size_t at = 0;

	while (at < s.n && !scan->is_broken) {
		char c = s.p[at];

		if (scan->quote) {
			at = skip_triple(scan, s, at);
		} else if (c == '#') {
			return;
		} else if ((c == '"' || c == '\'') && is_triple(s, at, c)) {
			scan->quote = c;
			at += 3;
		} else if (c == '"' || c == '\'') {
			at = skip_string(s, at);
			scan->is_broken = at > s.n;
		} else {
			scan->depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
			scan->is_broken = scan->depth < 0;
			at++;
		}
	}
}

static bool is_open(const struct scan *scan)
{
	return scan->quote != 0 || scan->depth > 0;
}

/* --- Lines --- */

struct line {
	size_t from, end;	/* end is behind the line break */
	struct str text;	/* without blanks around it */
	bool is_whole;		/* it begins and ends outside of strings and brackets */
	bool is_first;		/* it begins outside of them */
};

static bool next_line(struct str text, size_t *at, struct scan *scan, struct line *ret)
{
	struct str rest = str_sub(text, *at, text.n), line;
	size_t n = str_find(rest, '\n');

	if (*at >= text.n)
		return false;
	line = str_sub(rest, 0, n);
	*ret = (struct line){.from = *at, .end = *at + n + (n < rest.n), .is_first = !is_open(scan)};
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	ret->text = str_trim(line);
	scan_line(scan, line);
	ret->is_whole = ret->is_first && !is_open(scan);
	*at = ret->end;
	return true;
}

/* A part of a dotted name: bare or in quotes. Cuts it off *rest; *ret_more: a dot followed. */
static struct str cut_name(struct str *rest, bool *ret_more)
{
	struct str name;
	size_t end;

	*rest = str_trim(*rest);
	if (rest->n && (rest->p[0] == '"' || rest->p[0] == '\'')) {
		end = skip_string(*rest, 0);
		if (end > rest->n)
			return *ret_more = false, STR_NULL;
		name = str_sub(*rest, 1, end - 1);
	} else {
		for (end = 0; end < rest->n && !strchr(".=]# \t", rest->p[end]); end++)
			;
		name = str_sub(*rest, 0, end);
	}
	*rest = str_trim(str_sub(*rest, end, rest->n));
	*ret_more = rest->n && rest->p[0] == '.';
	if (*ret_more)
		*rest = str_sub(*rest, 1, rest->n);
	return name;
}

enum place { OTHER, OUTER, OURS, WITHIN };

/* Which table a header begins. */
static enum place place_of(struct str header, const char *outer, const char *inner, bool *ret_bad)
{
	bool is_list = str_has_prefix(header, STR("[[")), more;
	struct str rest = str_sub(header, is_list ? 2 : 1, header.n), first = cut_name(&rest, &more), second;

	*ret_bad = first.p == NULL;
	if (!str_is(first, outer))
		return OTHER;
	*ret_bad = is_list;
	if (!more)
		return OUTER;
	second = cut_name(&rest, &more);
	return !str_is(second, inner) ? OTHER : more ? WITHIN : OURS;
}

static struct str key_of(struct str line, bool *ret_dotted)
{
	struct str rest = line;

	if (line.n == 0 || line.p[0] == '#')
		return *ret_dotted = false, STR_NULL;
	return cut_name(&rest, ret_dotted);
}

/* A line within a string does, whatever it looks like. */
static bool says_something(const struct line *line)
{
	return !line->is_first || (line->text.n && line->text.p[0] != '#');
}

/* Where our table stands; from == end where it does not. */
struct table {
	size_t from, body, end;		/* end is behind its last line that says something */
	size_t all_end;			/* the same with the tables within it */
};

/* False where the file cannot be read, or has the table in another form. */
static bool find_table(struct str text, const char *outer, const char *inner, struct table *ret)
{
	struct scan scan = {0};
	enum place place = OTHER;
	bool is_root = true, dotted, bad = false;
	struct line line;
	size_t at = 0;

	*ret = (struct table){text.n, text.n, text.n, text.n};
	while (!bad && next_line(text, &at, &scan, &line)) {
		if (line.is_first && line.text.n && line.text.p[0] == '[') {
			is_root = false;
			place = place_of(line.text, outer, inner, &bad);
			bad = bad || !line.is_whole || (place == OURS && ret->from < text.n);
			if (place == OURS)
				*ret = (struct table){line.from, line.end, line.end, line.end};
			else if (place == WITHIN)
				ret->all_end = ret->from < text.n ? line.end : ret->all_end;
			continue;
		}
		if (line.is_first && (is_root || place == OUTER)) {
			struct str key = key_of(line.text, &dotted);

			bad = bad || (key.p && str_is(key, is_root ? outer : inner));
		}
		if ((place == OURS || place == WITHIN) && says_something(&line) && ret->from < text.n) {
			ret->end = place == OURS ? line.end : ret->end;
			ret->all_end = line.end;
		}
	}
	return !bad && !scan.is_broken && !is_open(&scan);
}

/* --- Changing --- */

static void splice(struct buf *text, size_t from, size_t to, struct str in)
{
	struct buf out;

	buf_init(&out, text->max);
	buf_put(&out, str_sub(buf_str(text), 0, from));
	buf_put(&out, in);
	buf_put(&out, str_sub(buf_str(text), to, text->len));
	buf_release(text);
	*text = out;
}

/* The line of a key in the table. False where it goes over several lines, is dotted, or stands twice, which is no
 * TOML. */
static bool find_key(struct str text, const struct table *table, const char *name, struct line *ret, bool *ret_found)
{
	struct scan scan = {0};
	size_t at = table->body;
	struct line line;
	bool dotted;

	*ret_found = false;
	while (at < table->end && next_line(text, &at, &scan, &line)) {
		struct str key = line.is_first ? key_of(line.text, &dotted) : STR_NULL;

		if (key.p == NULL || !str_is(key, name))
			continue;
		if (*ret_found || !line.is_whole || dotted)
			return false;
		*ret_found = true;
		*ret = line;
	}
	return true;
}

static bool has_value(struct line line, const char *value)
{
	struct str rest = line.text;

	str_cut(&rest, '=');
	return rest.p && str_is(str_trim(rest), value);
}

static bool set_key(struct buf *text, struct table *table, const struct toml_key *key)
{
	struct line line;
	struct buf in;
	bool found;

	if (!find_key(buf_str(text), table, key->name, &line, &found))
		return false;
	if ((!found && key->value == NULL) || (found && key->value && has_value(line, key->value)))
		return true;
	if (!found)
		line.from = line.end = table->end;
	buf_init(&in, LINE_MAX_BYTES);
	if (key->value)
		buf_printf(&in, "%s = %s\n", key->name, key->value);
	splice(text, line.from, line.end, buf_str(&in));
	table->end += in.len - (line.end - line.from);
	buf_release(&in);
	return true;
}

static void end_line(struct buf *text)
{
	if (text->len && text->data[text->len - 1] != '\n')
		buf_putc(text, '\n');
}

bool toml_set(struct buf *text, const char *outer, const char *inner, const struct toml_key *keys)
{
	struct table table;
	struct buf copy;
	bool good;

	if (!find_table(buf_str(text), outer, inner, &table))
		return false;
	buf_init(&copy, text->max);
	buf_put(&copy, buf_str(text));
	if (table.from == text->len) {
		end_line(&copy);
		buf_printf(&copy, "%s[%s.%s]\n", copy.len ? "\n" : "", outer, inner);
		table.body = table.end = copy.len;
	}
	if (table.end == copy.len)
		end_line(&copy);
	table.end = table.end > copy.len || table.end == text->len ? copy.len : table.end;
	good = true;
	for (; good && keys->name; keys++)
		good = set_key(&copy, &table, keys);
	if (good) {
		buf_clear(text);
		buf_put(text, buf_str(&copy));
	}
	buf_release(&copy);
	return good;
}

bool toml_remove(struct buf *text, const char *outer, const char *inner)
{
	struct table table;

	if (!find_table(buf_str(text), outer, inner, &table))
		return false;
	if (table.from == text->len)
		return true;
	/* The empty line that divided it from what stands before. */
	if (table.all_end == text->len && table.from > 1 && text->data[table.from - 1] == '\n' &&
	    text->data[table.from - 2] == '\n')
		table.from--;
	splice(text, table.from, table.all_end, STR(""));
	return true;
}

void toml_put_string(struct buf *out, struct str value)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\u%04X", c);
		else
			buf_putc(out, (char)c);
	}
	buf_putc(out, '"');
}
