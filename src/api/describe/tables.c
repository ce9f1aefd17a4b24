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

/* A sentence in a table ends without a full stop, and begins as it likes. */
static void put_sentence(struct buf *out, const struct field *f)
{
	struct str says = str_of(f->docs ? f->docs : f->says);

	if (says.n && says.p[says.n - 1] == '.')
		says.n--;
	buf_put(out, says);
}

static void put_words(struct buf *out, const struct field *f)
{
	if (f->docs || f->words == NULL)
		return;
	for (const char *const *w = f->words->list; *w; w++)
		buf_printf(out, "%s`%s`", w == f->words->list ? ": " : ", ", *w);
}

static void put_row(struct buf *out, const char *operation, const struct field *f)
{
	buf_puts(out, "|");
	if (operation)
		buf_printf(out, " `%s` |", operation);
	buf_printf(out, " `%s` | ", f->name.p);
	put_default(out, f);
	if (out->data[out->len - 1] != ' ')
		buf_putc(out, ' ');
	buf_puts(out, "| ");
	put_sentence(out, f);
	put_words(out, f);
	buf_puts(out, " |\n");
}

static void put_rows(struct buf *out, const char *operation, const struct shape *s)
{
	/* What must be given comes first. */
	for (int required = 1; required >= 0; required--)
		for (const struct field *f = s->fields; f->type != TYPE_END; f++)
			if (f->type != TYPE_INCLUDE && (f->required != NULL) == required)
				put_row(out, operation, f);
	for (const struct field *f = s->fields; f->type != TYPE_END; f++)
		if (f->type == TYPE_INCLUDE)
			put_rows(out, operation, f->shape);
}

/* --- One table --- */

/* "deliver", or "ack, nack": the operations of that name. */
static const char *find(struct str names, const struct operation *ret[OPERATIONS_MAX], size_t *ret_count)
{
	*ret_count = 0;
	while (names.p) {
		struct str name = str_trim(str_cut(&names, ','));
		char text[NAME_MAX_BYTES] = "";

		if (name.n >= sizeof(text) || *ret_count == OPERATIONS_MAX)
			return "a marker names too much";
		memcpy(text, name.p, name.n);
		ret[*ret_count] = operation_find(text);
		if (ret[*ret_count] == NULL || ret[*ret_count]->description->body[0] == NULL)
			return "a marker names no operation with a body";
		++*ret_count;
	}
	return NULL;
}

static const char *put_table(struct str names, struct buf *out)
{
	const struct operation *found[OPERATIONS_MAX];
	size_t count;
	const char *wrong = find(names, found, &count);

	if (wrong)
		return wrong;
	buf_puts(out, count > 1 ? "| call | field | default | meaning |\n| --- | --- | --- | --- |\n"
				: "| field | default | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < count; i++)
		put_rows(out, count > 1 ? found[i]->description->id : NULL, found[i]->description->body[0]);
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
