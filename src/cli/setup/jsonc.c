#include "cli/setup/jsonc.h"

#include "base/arena.h"
#include "cli/setup/jsonc_scan.h"

enum { PATH_MAX_NAMES = 8, VALUE_MAX_BYTES = 1 << 20, VALUE_DEPTH = 16 };

/* --- Laying out --- */

/* The blanks at the beginning of the line. */
static struct str indent_of(struct str s, long at)
{
	long from = at, end;

	while (from > 0 && s.p[from - 1] != '\n')
		from--;
	for (end = from; strchr(" \t", jsonc_char(s, end)) && jsonc_char(s, end); end++)
		;
	return str_sub(s, (size_t)from, (size_t)end);
}

/* One step of it: that of the first member, where it stands on a line of its own; else two spaces. */
static struct str step_of(struct str s)
{
	long open = jsonc_skip_blank(s, 0), at = open + 1;
	struct jsonc_entry entry;
	struct str indent;

	if (!jsonc_next(s, &at, true, 0, &entry))
		return STR("  ");
	indent = indent_of(s, entry.from);
	return indent.n && indent.p + indent.n == s.p + entry.from ? indent : STR("  ");
}

struct layout {
	struct str step;
	struct buf indent;	/* of the line on which the value begins */
};

static void put_line(struct buf *out, struct layout *l)
{
	buf_putc(out, '\n');
	buf_put(out, buf_str(&l->indent));
}

static void put_value(struct buf *out, const struct json *value, struct layout *l)
{
	bool is_object = value->type == JSON_OBJECT, is_nested = is_object;
	struct json_writer w;

	json_writer_init(&w, out);
	for (uint32_t i = 0; value->type == JSON_ARRAY && i < value->count; i++)
		is_nested = is_nested || value->items[i].type == JSON_OBJECT;
	if (!is_nested || value->count == 0) {
		json_put(&w, value);
		return;
	}
	buf_putc(out, is_object ? '{' : '[');
	buf_put(&l->indent, l->step);
	for (uint32_t i = 0; i < value->count; i++) {
		buf_puts(out, i ? "," : "");
		put_line(out, l);
		if (is_object) {
			json_writer_init(&w, out);
			json_put_str(&w, value->members[i].key);
			buf_puts(out, ": ");
		}
		put_value(out, is_object ? &value->members[i].value : &value->items[i], l);
	}
	l->indent.len -= l->step.n;
	put_line(out, l);
	buf_putc(out, is_object ? '}' : ']');
}

/* The value as it stands on a line with this indent. */
static void lay_out(struct buf *out, struct str value, struct str step, struct str indent)
{
	struct layout l = {.step = step};
	struct json_error error;
	struct arena arena;
	struct json tree;

	arena_init(&arena);
	buf_init(&l.indent, VALUE_MAX_BYTES);
	buf_put(&l.indent, indent);
	if (json_parse(value, VALUE_DEPTH, &arena, &tree, &error))
		put_value(out, &tree, &l);
	buf_release(&l.indent);
	arena_release(&arena);
}

/* --- Changing --- */

static void splice(struct buf *text, long from, long to, struct str in)
{
	struct buf out;

	buf_init(&out, text->max);
	buf_put(&out, str_sub(buf_str(text), 0, (size_t)from));
	buf_put(&out, in);
	buf_put(&out, str_sub(buf_str(text), (size_t)to, text->len));
	buf_release(text);
	*text = out;
}

/* The last entry of what opens at `open`; false where there is none. *ret_comma: one follows it. */
static bool last_entry(struct str s, long open, struct jsonc_entry *ret, bool *ret_comma)
{
	bool is_object = jsonc_char(s, open) == '{', found = false;
	struct jsonc_entry entry;
	long at = open + 1;

	while (jsonc_next(s, &at, is_object, 0, &entry)) {
		*ret = entry;
		found = true;
	}
	*ret_comma = found && jsonc_char(s, jsonc_skip_blank(s, ret->end)) == ',';
	return found;
}

/* Behind a value, and a comment on the same line. */
static long line_end(struct str s, long at)
{
	long end = at;

	while (jsonc_char(s, end) == ' ' || jsonc_char(s, end) == '\t')
		end++;
	if (jsonc_is_at(s, end, "//"))
		end += (long)str_find(str_sub(s, (size_t)end, s.n), '\n');
	return jsonc_char(s, end) == '\n' ? end : at;
}

/* The end of what stands before `at`, behind `from` at least; comments stand, too. */
static long back_over_blanks(struct str s, long at, long from)
{
	while (at > from && strchr(" \t\r\n", s.p[at - 1]))
		at--;
	return at;
}

/* An entry ("name": value, or a value) behind the others of what opens at `open`. */
static void insert(struct buf *text, long open, const char *name, struct str value)
{
	struct str s = buf_str(text), step = step_of(s), outer = indent_of(s, open), indent;
	struct json_writer w;
	struct jsonc_entry last = {0};
	struct buf in, inner;
	bool comma, found = last_entry(s, open, &last, &comma);
	long at = open + 1;

	buf_init(&in, VALUE_MAX_BYTES);
	buf_init(&inner, VALUE_MAX_BYTES);
	buf_put(&inner, outer);
	buf_put(&inner, step);
	indent = found && str_find(str_sub(s, (size_t)open, (size_t)last.from), '\n') < (size_t)(last.from - open) ?
		 indent_of(s, last.from) : buf_str(&inner);
	buf_printf(&in, "\n%.*s", STR_ARG(indent));
	if (name) {
		json_writer_init(&w, &in);
		json_put_cstr(&w, name);
		buf_puts(&in, ": ");
	}
	lay_out(&in, value, step, indent);
	/* Who writes a comma at the end has one at the end. */
	if (comma)
		buf_putc(&in, ',');
	if (!found) {
		buf_printf(&in, "\n%.*s", STR_ARG(outer));
		splice(text, back_over_blanks(s, jsonc_skip_blank(s, at), at), jsonc_skip_blank(s, at), buf_str(&in));
	} else {
		at = comma ? jsonc_skip_blank(s, last.end) + 1 : last.end;
		at = line_end(s, at);
		splice(text, at, at, buf_str(&in));
		if (!comma)
			splice(text, last.end, last.end, STR(","));
	}
	buf_release(&inner);
	buf_release(&in);
}

/* {"b":{"c":VALUE}} of the path a, b, c behind a. */
static void put_nested(struct buf *out, const char *const *path, struct str value)
{
	struct json_writer w;
	size_t count = 0;

	for (; path[count]; count++) {
		buf_putc(out, '{');
		json_writer_init(&w, out);
		json_put_cstr(&w, path[count]);
		buf_putc(out, ':');
	}
	buf_put(out, value);
	while (count--)
		buf_putc(out, '}');
}

bool jsonc_is_same(struct str text, struct str value)
{
	struct json_error error;
	struct json a, b;
	struct arena arena;
	bool same;

	arena_init(&arena);
	same = json_parse(text, VALUE_DEPTH, &arena, &a, &error) &&
	       json_parse(value, VALUE_DEPTH, &arena, &b, &error) && json_equal(&a, &b);
	arena_release(&arena);
	return same;
}

bool jsonc_set(struct buf *text, const char *const *path, struct str value)
{
	struct str s = buf_str(text);
	struct jsonc_entry entry;
	struct buf in;
	long at;
	size_t depth = jsonc_descend(s, path, &entry, &at);

	if (path[depth] && jsonc_char(s, at) != '{')
		return false;
	if (!path[depth] && jsonc_is_same(str_sub(s, (size_t)entry.value, (size_t)entry.end), value))
		return true;
	buf_init(&in, VALUE_MAX_BYTES);
	if (path[depth]) {
		put_nested(&in, path + depth + 1, value);
		insert(text, at, path[depth], buf_str(&in));
	} else {
		lay_out(&in, value, step_of(s), indent_of(s, entry.from));
		splice(text, entry.value, entry.end, buf_str(&in));
	}
	buf_release(&in);
	return true;
}

bool jsonc_append(struct buf *text, const char *const *path, struct str value)
{
	struct jsonc_entry entry;
	struct buf list;
	bool good;
	long at;

	if (path[jsonc_descend(buf_str(text), path, &entry, &at)] == NULL) {
		if (jsonc_char(buf_str(text), at) != '[')
			return false;
		insert(text, at, NULL, value);
		return true;
	}
	buf_init(&list, VALUE_MAX_BYTES);
	buf_printf(&list, "[%.*s]", STR_ARG(value));
	good = jsonc_set(text, path, buf_str(&list));
	buf_release(&list);
	return good;
}

/* Takes the entry out of what opens at `open`. */
static void cut(struct buf *text, long open, const struct jsonc_entry *entry)
{
	struct str s = buf_str(text);
	bool is_object = jsonc_char(s, open) == '{', has_before = false;
	bool comma = jsonc_char(s, jsonc_skip_blank(s, entry->end)) == ',';
	long from, to = entry->end, at = open + 1, before = open, line;
	struct jsonc_entry each;

	while (jsonc_next(s, &at, is_object, 0, &each) && each.from < entry->from) {
		before = jsonc_skip_blank(s, each.end);
		has_before = true;
	}
	if (comma)
		to = jsonc_skip_blank(s, entry->end) + 1;
	from = back_over_blanks(s, entry->from, before + 1);
	/* A comment before it keeps its line break. */
	line = from + (long)str_find(str_sub(s, (size_t)from, (size_t)entry->from), '\n');
	if (from > before + 1 && line < entry->from && line_end(s, to) == to && jsonc_char(s, to) != '\n')
		from = line + 1;
	if (from == open + 1 && !comma)
		while (jsonc_char(s, to) && strchr(" \t\r\n", jsonc_char(s, to)))
			to++;
	splice(text, from, to, STR(""));
	if (has_before && !comma)
		splice(text, before, before + 1, STR(""));
}

static bool is_empty(struct str s, long open)
{
	char next = jsonc_char(s, jsonc_skip_blank(s, open + 1));

	return (jsonc_char(s, open) == '{' && next == '}') || (jsonc_char(s, open) == '[' && next == ']');
}

/* Those around it that have become empty go, too, but for the outermost. */
static void prune(struct buf *text, const char *const *path, size_t depth)
{
	const char *part[PATH_MAX_NAMES + 1] = {NULL};
	struct jsonc_entry entry;
	long at;

	for (; depth > 0; depth--) {
		memcpy(part, path, depth * sizeof(*part));
		part[depth] = NULL;
		if (jsonc_descend(buf_str(text), part, &entry, &at) != depth || !is_empty(buf_str(text), at))
			return;
		part[depth - 1] = NULL;
		jsonc_descend(buf_str(text), part, &(struct jsonc_entry){0}, &at);
		cut(text, at, &entry);
	}
}

static size_t length_of(const char *const *path)
{
	size_t n = 0;

	while (path[n])
		n++;
	return n;
}

bool jsonc_remove(struct buf *text, const char *const *path)
{
	const char *outer[PATH_MAX_NAMES + 1] = {NULL};
	size_t depth = length_of(path);
	struct jsonc_entry entry;
	long at;

	if (depth == 0 || depth > PATH_MAX_NAMES)
		return true;
	memcpy(outer, path, (depth - 1) * sizeof(*outer));
	/* A name may stand twice. */
	while (jsonc_descend(buf_str(text), path, &entry, &at) == depth) {
		jsonc_descend(buf_str(text), outer, &(struct jsonc_entry){0}, &at);
		cut(text, at, &entry);
		prune(text, path, depth - 1);
	}
	return true;
}

bool jsonc_remove_item(struct buf *text, const char *const *path, size_t index)
{
	size_t depth = length_of(path);
	struct jsonc_entry entry, item;
	long at;

	if (depth > PATH_MAX_NAMES || jsonc_descend(buf_str(text), path, &entry, &at) != depth)
		return true;
	if (!jsonc_find_item(buf_str(text), at, index, &item))
		return false;
	cut(text, at, &item);
	prune(text, path, depth);
	return true;
}
