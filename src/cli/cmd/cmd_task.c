/* spine task: the envelopes of a task. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/when.h"

static const struct table_column task_columns[] = {
	{"HOP", true, TERM_PLAIN}, {"ENVELOPE", false, TERM_CYAN}, {"CONTINUES", false, TERM_YELLOW},
	{"FROM -> TO", false, TERM_PLAIN}, {"AGE", true, TERM_PLAIN}, {"TOKENS", true, TERM_PLAIN},
	{"MEMORIES", true, TERM_PLAIN}, {"MISSING", true, TERM_PLAIN}, {"TRIMMED", true, TERM_PLAIN},
	{"STATE", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
};

static struct str number(const struct cli *cli, const struct json *obj, const char *key)
{
	return arena_printf(cli->arena, "%lld", (long long)ask_int(obj, key, 0));
}

static void print_chain(const struct cli *cli, const struct json *envelopes)
{
	int64_t now_ms = clock_wall_ms();
	struct str before = STR("");
	struct table table;

	table_init(&table, task_columns, cli->arena);
	table_may_cut(&table, 3);
	for (uint32_t i = 0; i < envelopes->count; i++) {
		const struct json *e = &envelopes->items[i];
		struct table_row *row = table_add(&table);

		row->cells[0] = number(cli, e, "hop");
		table_set(&table, row, 1, ask_str(e, "envelope"));
		/* Worth a word only where the chain branches. */
		if (!str_eq(ask_str(e, "parent"), before))
			table_set(&table, row, 2, ask_str(e, "parent"));
		row->cells[3] = show_envelope_route(cli, e);
		row->cells[4] = when_age(cli->arena, ask_str(e, "created_at"), now_ms);
		row->cells[5] = arena_printf(cli->arena, "%lld/%lld", (long long)ask_int(e, "token_count", 0),
					     (long long)ask_int(e, "max_tokens", 0));
		row->cells[6] = number(cli, e, "refs");
		row->cells[7] = number(cli, e, "missing");
		row->cells[8] = number(cli, e, "trimmed");
		table_set(&table, row, 9, ask_str(e, "state"));
		before = ask_str(e, "envelope");
	}
	show_rows(cli, &table);
}

static void print_task(const struct cli *cli, const struct json *answer)
{
	struct str id = term_line(cli->arena, ask_str(answer, "id"));
	struct str intent = term_line(cli->arena, ask_str(answer, "intent"));

	cli_write(arena_printf(cli->arena, "%s%.*s%s%s%.*s\n", term_on(&cli->out, TERM_CYAN), STR_ARG(id),
			       term_off(&cli->out, TERM_CYAN), intent.n ? ": " : "", STR_ARG(intent)));
	print_chain(cli, ask_array(answer, "envelopes"));
}

static int exec_task(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/tasks/", cli->options.args[0], ""),
		.repeatable = true,
	};

	return ask_print(cli, &request, print_task);
}

const struct command cmd_task = {
	.name = "task",
	.summary = "Lists the envelopes of a task, the first one first",
	.usage = "TASK",
	.examples = {"spine task task-1"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_task,
};
