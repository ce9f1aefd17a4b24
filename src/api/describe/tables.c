#include "api/describe/tables.h"

#include "api/describe/describe.h"

enum { NAME_MAX_BYTES = 64, OPERATIONS_MAX = 16 };

#define MARK "<!-- fields of "
#define MARK_END " -->"
#define TABLE_END "<!-- end -->"

/* --- One row --- */

/* JSON as it is given in a table: ' stands for ", and a word needs no quotes here. */
static void put_json(struct buf *out, const char *json)
{
	buf_putc(out, '`');
	for (; *json; json++)
		if (*json != '\'')
			buf_putc(out, *json);
	buf_putc(out, '`');
}

static void put_default(struct buf *out, const struct field *f)
{
	if (f->required)
		buf_puts(out, "required");
	else if (f->usually)
		buf_puts(out, f->usually);
	else if (f->otherwise)
		put_json(out, f->otherwise);
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* A sentence in a table has neither a capital at its beginning, unless it is an abbreviation, nor a full stop. */
static void put_sentence(struct buf *out, const struct field *f)
{
	struct str says = str_of(f->docs ? f->docs : f->says);

	if (says.p[says.n - 1] == '.')
		says.n--;
	if (f->docs == NULL && is_capital(says.p[0]) && !is_capital(says.p[1])) {
		buf_putc(out, (char)(says.p[0] - 'A' + 'a'));
		says = str_sub(says, 1, says.n);
	}
	buf_put(out, says);
}

static void put_words(struct buf *out, const struct field *f)
{
	if (f->docs || f->words == NULL)
		return;
	for (const char *const *w = f->words->list; *w; w++)
		buf_printf(out, "%s`%s`", w == f->words->list ? ": " : ", ", *w);
}

/* What several operations have alike is told once. */
struct table {
	const struct operation *of[OPERATIONS_MAX];
	size_t count;
};

static bool is_same(const struct field *a, const struct field *b)
{
	return str_eq(a->name, b->name) && strcmp(a->says, b->says) == 0;
}

static const struct field *field_of(const struct operation *o, const struct field *like)
{
	const struct field *f = shape_find(o->description->body[0], like->name);

	return f && is_same(f, like) ? f : NULL;
}

static void put_operations(struct buf *out, const struct table *t, const struct field *f)
{
	const char *between = " ";

	for (size_t i = 0; i < t->count; i++) {
		if (field_of(t->of[i], f) == NULL)
			continue;
		buf_printf(out, "%s`%s`", between, t->of[i]->description->id);
		between = ", ";
	}
	buf_puts(out, " |");
}

static void put_row(struct buf *out, const struct table *t, const struct field *f)
{
	buf_printf(out, "| `%s` |", f->name.p);
	if (t->count > 1)
		put_operations(out, t, f);
	buf_putc(out, ' ');
	put_default(out, f);
	if (out->data[out->len - 1] != ' ')
		buf_putc(out, ' ');
	buf_puts(out, "| ");
	put_sentence(out, f);
	put_words(out, f);
	buf_puts(out, " |\n");
}

static bool is_told(const struct table *t, size_t index, const struct field *f)
{
	for (size_t i = 0; i < index; i++)
		if (field_of(t->of[i], f))
			return true;
	return false;
}

/* The rows of one operation, as far as those before it have not told them. What must be given comes first. */
static void put_rows(struct buf *out, const struct table *t, size_t index, const struct shape *s)
{
	for (int required = 1; required >= 0; required--)
		for (const struct field *f = s->fields; f->type != TYPE_END; f++)
			if (f->type != TYPE_INCLUDE && (f->required != NULL) == required && !is_told(t, index, f))
				put_row(out, t, f);
	for (const struct field *f = s->fields; f->type != TYPE_END; f++)
		if (f->type == TYPE_INCLUDE)
			put_rows(out, t, index, f->shape);
}

/* --- One table --- */

/* "deliver", or "ack, nack": the operations of that name. */
static const char *find(struct str names, struct table *ret)
{
	*ret = (struct table){.count = 0};
	while (names.p) {
		struct str name = str_trim(str_cut(&names, ','));
		char text[NAME_MAX_BYTES] = "";
		const struct operation *o;

		if (name.n >= sizeof(text) || ret->count == OPERATIONS_MAX)
			return "a marker names too much";
		memcpy(text, name.p, name.n);
		o = operation_find(text);
		if (o == NULL || o->description->body[0] == NULL)
			return "a marker names no operation with a body";
		ret->of[ret->count++] = o;
	}
	return NULL;
}

static const char *put_table(struct str names, struct buf *out)
{
	struct table t;
	const char *wrong = find(names, &t);

	if (wrong)
		return wrong;
	buf_puts(out, t.count > 1 ? "| field | of | default | meaning |\n| --- | --- | --- | --- |\n"
				  : "| field | default | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < t.count; i++)
		put_rows(out, &t, i, t.of[i]->description->body[0]);
	return NULL;
}

/* --- The document --- */

static const char *find_text(struct str in, const char *what)
{
	return in.n ? memmem(in.p, in.n, what, strlen(what)) : NULL;
}

static struct str behind(struct str text, const char *at, const char *mark)
{
	const char *from = at + strlen(mark);

	return (struct str){from, (size_t)(text.p + text.n - from)};
}

const char *tables_rewrite(struct str text, struct buf *out)
{
	const char *mark;

	while ((mark = find_text(text, MARK)) != NULL) {
		struct str rest = behind(text, mark, MARK);
		const char *names_end = find_text(rest, MARK_END), *end = find_text(rest, TABLE_END), *wrong;

		if (names_end == NULL || end == NULL || end < names_end)
			return "a marker has no end";
		buf_put(out, (struct str){text.p, (size_t)(names_end - text.p)});
		buf_puts(out, MARK_END "\n");
		wrong = put_table((struct str){rest.p, (size_t)(names_end - rest.p)}, out);
		if (wrong)
			return wrong;
		buf_puts(out, TABLE_END);
		text = behind(text, end, TABLE_END);
	}
	buf_put(out, text);
	return NULL;
}
