#include "cli/show/columns.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/when.h"

#include <assert.h>

enum { FLAGS_MAX_BYTES = 4096 };

struct str cell_age(const struct column_item *item, const char *key)
{
	return when_age(item->arena, ask_str(item->json, key), clock_wall_ms());
}

struct str cell_number(const struct column_item *item, const char *key)
{
	return arena_printf(item->arena, "%lld", (long long)ask_int(item->json, key, 0));
}

struct str cell_count(const struct column_item *item, const char *key)
{
	return ask_int(item->json, key, 0) ? cell_number(item, key) : STR("");
}

struct str cell_flags(const struct column_item *item, const char *key)
{
	const struct json *flags = ask_array(item->json, key);
	struct buf out;

	buf_init(&out, FLAGS_MAX_BYTES);
	for (uint32_t i = 0; i < flags->count; i++)
		if (flags->items[i].type == JSON_STRING)
			show_fact(&out, i == 0 ? "" : ", ", flags->items[i].s);
	return cli_keep(item->arena, &out);
}

struct str cell_from_to(const struct column_item *item, const char *key)
{
	(void)key;
	return show_envelope_from_to(item->cli, item->json);
}

struct str cell_version(const struct column_item *item, const char *key)
{
	(void)key;
	return arena_printf(item->arena, "%.*s@%lld", STR_ARG(term_line(item->arena, ask_str(item->json, "id"))),
			    (long long)ask_int(item->json, "version", 0));
}

static void add_row(struct table *table, const struct column_item *item, const struct column *columns)
{
	struct table_row *row = table_add(table);

	for (const struct column *c = columns; c->title; c++) {
		struct str text = c->cell ? c->cell(item, c->key) : term_line(item->arena, ask_str(item->json, c->key));

		*(c->is_below ? &row->below : &row->cells[c - columns]) = text;
	}
}

static void init_table(struct table *table, const struct column *columns, struct arena *arena)
{
	struct table_column *plain = arena_calloc(arena, TABLE_COLUMNS_MAX + 1, sizeof(*plain));

	for (size_t i = 0; columns[i].title && !columns[i].is_below; i++) {
		assert(i < TABLE_COLUMNS_MAX);
		plain[i] = (struct table_column){columns[i].title, columns[i].right, columns[i].style};
	}
	table_init(table, plain, arena);
	for (size_t i = 0; i < table->column_count; i++) {
		table->may_cut[i] = columns[i].may_cut;
		table->may_omit[i] = columns[i].may_omit;
	}
}

static void fill(const struct cli *cli, struct arena *arena, const struct json *list, const struct column *columns,
		 struct table *table)
{
	struct column_item item = {.cli = cli, .arena = arena};

	init_table(table, columns, arena);
	for (uint32_t i = 0; i < list->count; i++) {
		item.json = &list->items[i];
		add_row(table, &item, columns);
		item.before = item.json;
	}
}

void columns_show(const struct cli *cli, const struct json *list, const struct column *columns)
{
	struct table table;

	fill(cli, cli->arena, list, columns, &table);
	show_rows(cli, &table);
}

void columns_put(const struct cli *cli, struct arena *arena, const struct json *list, const struct column *columns,
		 struct buf *out)
{
	struct table table;

	fill(cli, arena, list, columns, &table);
	table_print(&table, &cli->out, out);
}
