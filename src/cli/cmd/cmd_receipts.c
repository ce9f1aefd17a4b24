/* spine receipts: who opened what of an envelope. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/when.h"

static void print_receipts(const struct cli *cli, const struct json *answer)
{
	static const struct table_column columns[] = {
		{"MEMORY", false, TERM_CYAN}, {"AGE", true, TERM_PLAIN}, {"OPENED", false, TERM_PLAIN},
		{"AGENT", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	const struct json *receipts = ask_array(answer, "receipts");
	int64_t now_ms = clock_wall_ms();
	struct table table;

	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < receipts->count; i++) {
		const struct json *receipt = &receipts->items[i];
		struct table_row *row = table_add(&table);

		table_set(&table, row, 0, ask_str(receipt, "id"));
		row->cells[1] = when_age(cli->arena, ask_str(receipt, "at"), now_ms);
		table_set(&table, row, 2, ask_str(receipt, "at"));
		table_set(&table, row, 3, ask_str(receipt, "agent"));
	}
	show_rows(cli, &table);
}

static int exec_receipts(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/envelopes/", cli->options.args[0], "/receipts"),
		.repeatable = true,
	};

	return ask_print(cli, &request, print_receipts);
}

const struct command cmd_receipts = {
	.name = "receipts",
	.summary = "Says who opened which memories of an envelope with `spine resolve`",
	.usage = "ENV",
	.examples = {"spine receipts env-1"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_receipts,
};
