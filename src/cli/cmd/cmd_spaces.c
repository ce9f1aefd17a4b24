/* spine spaces: the spaces of the server, and how much is in each. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/when.h"

static void print_spaces(const struct cli *cli, const struct json *spaces)
{
	static const struct table_column columns[] = {
		{"SPACE", false, TERM_CYAN}, {"AGE", true, TERM_PLAIN}, {"MEMORIES", true, TERM_PLAIN},
		{"OPEN HANDOFFS", true, TERM_PLAIN}, {"PARKED", true, TERM_YELLOW}, {NULL, false, TERM_PLAIN},
	};
	int64_t now_ms = clock_wall_ms();
	struct table table;

	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < spaces->count; i++) {
		const struct json *space = &spaces->items[i];
		struct table_row *row = table_add(&table);
		int64_t parked = ask_int(space, "parked", 0);

		table_set(&table, row, 0, ask_str(space, "name"));
		row->cells[1] = when_age(cli->arena, ask_str(space, "created_at"), now_ms);
		row->cells[2] = arena_printf(cli->arena, "%lld", (long long)ask_int(space, "memories", 0));
		row->cells[3] = arena_printf(cli->arena, "%lld", (long long)ask_int(space, "handoffs_open", 0));
		if (parked)
			row->cells[4] = arena_printf(cli->arena, "%lld", (long long)parked);
	}
	show_rows(cli, &table);
	if (spaces->count == 0 && cli->out.is_terminal)
		cli_note(cli, "(there are no spaces yet; the first write makes one)");
}

static int exec_spaces(struct cli *cli)
{
	return pages_run(cli, "/v1/spaces", "spaces", print_spaces);
}

const struct command cmd_spaces = {
	.name = "spaces",
	.summary = "Lists the spaces of the server, and how much is in each",
	.usage = "",
	.about = "In the order in which they were made: the first write to a space makes it. Open handoffs are those "
		 "that are queued, leased or being worked on. The settings of one space: spine space.",
	.examples = {"spine spaces", "spine spaces --json | jq -r '.spaces[].name'"},
	.tables = {&pages_table, &client_table},
	.exec = exec_spaces,
};
