/* Aligned columns. A column without any content is left out. Where the table is wider than the terminal, the last
 * column and those that may be are cut, the widest first; where that is not enough, columns that may be are left
 * out. Nothing is cut where it does not go to a terminal. */
#ifndef SPINE_CLI_TABLE_H
#define SPINE_CLI_TABLE_H

#include "cli/term.h"

enum { TABLE_COLUMNS_MAX = 12 };

struct table_column {
	const char *title;	/* NULL ends the list; where the first is empty, no titles are printed */
	bool right;		/* aligned to the right: numbers */
	enum term_style style;
};

struct table_row {
	struct table_row *next;
	struct str cells[TABLE_COLUMNS_MAX];	/* safe to print, in one line */
	struct str below;	/* printed on lines of its own under the row; may be empty */
};

struct table {
	struct arena *arena;			/* borrowed */
	const struct table_column *columns;	/* borrowed */
	size_t column_count;
	bool may_cut[TABLE_COLUMNS_MAX];
	bool may_omit[TABLE_COLUMNS_MAX];
	struct table_row *first;
	struct table_row **last;
};

void table_init(struct table *t, const struct table_column *columns, struct arena *arena);
/* Where there is no room, cells of this column are cut to a dozen characters, or a few more. */
void table_may_cut(struct table *t, size_t column);
/* Where cutting is not enough, this column is left out: what it says must be told elsewhere. */
void table_may_omit(struct table *t, size_t column);
/* A new row at the end, empty; its cells are to be filled in, with text that lives as long as the arena. */
struct table_row *table_add(struct table *t);
/* Puts a text from outside into a cell, made safe. */
void table_set(struct table *t, struct table_row *row, size_t column, struct str text);
/* The whole table with its titles; nothing where it has no rows. */
void table_print(const struct table *t, const struct term *term, struct buf *out);

#endif
