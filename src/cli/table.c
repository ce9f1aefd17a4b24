#include "cli/table.h"

#include <assert.h>

enum { GAP = 2, LAST_MIN = 20 };

void table_init(struct table *t, const struct table_column *columns, struct arena *arena)
{
	*t = (struct table){.arena = arena, .columns = columns};
	while (columns[t->column_count].title)
		t->column_count++;
	assert(t->column_count > 0 && t->column_count <= TABLE_COLUMNS_MAX);
	t->last = &t->first;
}

struct table_row *table_add(struct table *t)
{
	struct table_row *row = arena_zalloc(t->arena, sizeof(*row));

	*t->last = row;
	t->last = &row->next;
	return row;
}

void table_set(struct table *t, struct table_row *row, size_t column, struct str text)
{
	assert(column < t->column_count);
	row->cells[column] = term_line(t->arena, text);
}

static void put_spaces(struct buf *out, size_t count)
{
	buf_printf(out, "%*s", (int)count, "");
}

/* The last column needs no spaces behind it, and gets what room there is. */
static void put_cell(const struct table *t, const struct term *term, size_t i, struct str text, size_t width, bool last,
		     enum term_style style, struct buf *out)
{
	size_t columns = term_columns(text);
	size_t fill = columns < width ? width - columns : 0;

	if (t->columns[i].right)
		put_spaces(out, fill);
	buf_puts(out, term_on(term, style));
	if (last)
		term_put_line(out, text, width);
	else
		buf_put(out, text);
	buf_puts(out, term_off(term, style));
	if (!last && !t->columns[i].right)
		put_spaces(out, fill);
	buf_puts(out, last ? "\n" : "  ");
}

void table_print(const struct table *t, const struct term *term, struct buf *out)
{
	size_t widths[TABLE_COLUMNS_MAX] = {0}, used = 0, last = 0;

	if (t->first == NULL)
		return;
	for (const struct table_row *row = t->first; row; row = row->next)
		for (size_t i = 0; i < t->column_count; i++) {
			size_t columns = term_columns(row->cells[i]);

			widths[i] = columns > widths[i] ? columns : widths[i];
		}
	for (size_t i = 0; i < t->column_count; i++) {
		size_t title = strlen(t->columns[i].title);

		if (widths[i] == 0)
			continue;
		widths[i] = title > widths[i] ? title : widths[i];
		used += widths[i] + GAP;
		last = i;
	}
	used -= widths[last] + GAP;
	if (used + widths[last] > term->width)
		widths[last] = used + LAST_MIN < term->width ? term->width - used : LAST_MIN;
	for (size_t i = 0; i <= last && t->columns[0].title[0]; i++)
		if (widths[i])
			put_cell(t, term, i, str_of(t->columns[i].title), widths[i], i == last, TERM_DIM, out);
	for (const struct table_row *row = t->first; row; row = row->next) {
		for (size_t i = 0; i <= last; i++)
			if (widths[i])
				put_cell(t, term, i, row->cells[i], widths[i], i == last, t->columns[i].style, out);
		if (row->below.n)
			buf_put(out, row->below);
	}
}
