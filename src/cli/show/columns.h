/* Lists as tables that are described, not programmed: a column names the member that it shows, and how. */
#ifndef SPINE_CLI_SHOW_COLUMNS_H
#define SPINE_CLI_SHOW_COLUMNS_H

#include "cli/cli.h"
#include "cli/table.h"
#include "codec/json.h"

/* The item that a row shows. */
struct column_item {
	const struct cli *cli;
	struct arena *arena;		/* for the cells */
	const struct json *json;
	const struct json *before;	/* the item of the row above; NULL in the first */
};

/* What stands in a cell, safe to print; empty: nothing. */
typedef struct str column_cell(const struct column_item *item, const char *key);

struct column {
	const char *title;	/* NULL ends the list */
	const char *key;	/* the member; NULL where the cell needs none */
	column_cell *cell;	/* NULL: the text of the member */
	enum term_style style;
	bool right;		/* aligned to the right: numbers */
	bool may_cut;		/* see table_may_cut() */
	bool may_omit;		/* see table_may_omit() */
	bool is_below;		/* not a column, but lines under the row; the last of the list */
};

/* A line for each item of the array, to standard output. */
void columns_show(const struct cli *cli, const struct json *list, const struct column *columns);
/* The same appended to *out, with the cells in the arena. */
void columns_put(const struct cli *cli, struct arena *arena, const struct json *list, const struct column *columns,
		 struct buf *out);

/* --- Cells that several lists have --- */

column_cell cell_age;		/* "5m": how long ago the time was */
column_cell cell_number;	/* "12"; 0 where there is none */
column_cell cell_count;		/* "12"; nothing for 0, which is not worth a column */
column_cell cell_flags;		/* "invisible": what the server says of a text */
column_cell cell_from_to;		/* "analyst -> coder": `from` and `to` */
column_cell cell_version;	/* "ms-4821@3": `id` and `version` */

#endif
