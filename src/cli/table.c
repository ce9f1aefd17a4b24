#include "cli/table.h"

#include <assert.h>

enum { GAP = 2, LAST_MIN = 20, CUT_MIN = 12 };

void table_init(struct table *t, const struct table_column *columns, struct arena *arena)
{
	*t = (struct table){.arena = arena, .columns = columns};
	while (columns[t->column_count].title)
		t->column_count++;
	assert(t->column_count > 0 && t->column_count <= TABLE_COLUMNS_MAX);
	t->last = &t->first;
}

void table_may_cut(struct table *t, size_t column)
{
	assert(column < t->column_count);
	t->may_cut[column] = true;
}

void table_may_omit(struct table *t, size_t column)
{
	assert(column < t->column_count);
	t->may_omit[column] = true;
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

/* The last column needs no spaces behind it. */
static void put_cell(const struct table *t, const struct term *term, size_t i, struct str text, size_t width, bool last,
		     enum term_style style, struct buf *out)
{
	size_t columns = term_columns(text), start;

	if (t->columns[i].right && columns < width)
		put_spaces(out, width - columns);
	buf_puts(out, term_on(term, style));
	start = out->len;
	if (columns > width)
		term_put_line(out, text, width);
	else
		buf_put(out, text);
	/* What was cut may be narrower than it had to be: no "…" stands behind a space. */
	columns = term_columns(str_sub(buf_str(out), start, out->len));
	buf_puts(out, term_off(term, style));
	if (!last && !t->columns[i].right && columns < width)
		put_spaces(out, width - columns);
	buf_puts(out, last ? "\n" : "  ");
}

/* What each column would take; 0 for one without content. */
static void measure(const struct table *t, size_t widths[TABLE_COLUMNS_MAX])
{
	for (const struct table_row *row = t->first; row; row = row->next)
		for (size_t i = 0; i < t->column_count; i++) {
			size_t columns = term_columns(row->cells[i]);

			widths[i] = columns > widths[i] ? columns : widths[i];
		}
	for (size_t i = 0; i < t->column_count; i++) {
		size_t title = strlen(t->columns[i].title);

		if (widths[i] && title > widths[i])
			widths[i] = title;
	}
}

/* The widest of the columns that can still be cut; column_count where there is none. */
static size_t widest(const struct table *t, size_t last, const size_t widths[TABLE_COLUMNS_MAX])
{
	size_t found = t->column_count;

	for (size_t i = 0; i <= last; i++) {
		size_t min = i == last ? LAST_MIN : t->may_cut[i] ? CUT_MIN : SIZE_MAX;

		if (widths[i] > min && (found == t->column_count || widths[i] > widths[found]))
			found = i;
	}
	return found;
}

/* Cuts the columns so that they fit, as far as they can be cut. Returns the last one; *ret_excess is by how much they
 * do not fit. */
static size_t cut_to(const struct table *t, size_t room, size_t widths[TABLE_COLUMNS_MAX], size_t *ret_excess)
{
	size_t used = 0, last = 0, excess, i;

	for (i = 0; i < t->column_count; i++)
		if (widths[i]) {
			used += widths[i] + GAP;
			last = i;
		}
	used -= used ? GAP : 0;
	excess = used > room ? used - room : 0;
	for (; excess > 0 && (i = widest(t, last, widths)) < t->column_count; excess--)
		widths[i]--;
	*ret_excess = excess;
	return last;
}

/* Makes the columns fit into the room. Returns the last one. */
static size_t fit(const struct table *t, size_t room, size_t widths[TABLE_COLUMNS_MAX])
{
	size_t whole[TABLE_COLUMNS_MAX], excess, last;

	memcpy(whole, widths, sizeof(whole));
	last = cut_to(t, room, widths, &excess);
	for (size_t i = t->column_count; i-- > 0 && excess > 0;) {
		if (!t->may_omit[i] || whole[i] == 0)
			continue;
		whole[i] = 0;
		memcpy(widths, whole, sizeof(whole));
		last = cut_to(t, room, widths, &excess);
	}
	return last;
}

void table_print(const struct table *t, const struct term *term, struct buf *out)
{
	size_t widths[TABLE_COLUMNS_MAX] = {0}, last;

	if (t->first == NULL)
		return;
	measure(t, widths);
	/* What goes into a pipe or a file is read by programs, or later and elsewhere: there all of it is worth more
	 * than short lines. */
	last = fit(t, term->is_terminal ? term->width : SIZE_MAX, widths);
	for (size_t i = 0; i <= last && t->columns[0].title[0]; i++)
		if (widths[i])
			put_cell(t, term, i, str_of(t->columns[i].title), widths[i], i == last, TERM_DIM, out);
	for (const struct table_row *row = t->first; row; row = row->next) {
		size_t end = last;

		/* What is empty at the end of a row needs no spaces either. */
		while (end > 0 && row->cells[end].n == 0)
			end--;
		for (size_t i = 0; i < end; i++)
			if (widths[i])
				put_cell(t, term, i, row->cells[i], widths[i], false, t->columns[i].style, out);
		put_cell(t, term, end, row->cells[end], widths[end], true, t->columns[end].style, out);
		if (row->below.n)
			buf_put(out, row->below);
	}
}
