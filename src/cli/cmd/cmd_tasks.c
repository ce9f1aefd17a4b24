/* spine tasks: the tasks there are. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/when.h"

enum { ABOUT_MAX_BYTES = 1 << 20, ABOUT_COLUMNS = 200 };

/* A text of an answer, safe to print and not longer than a person reads in a list. */
static struct str beginning(struct arena *arena, struct str text)
{
	struct str copy;
	struct buf out;

	buf_init(&out, ABOUT_MAX_BYTES);
	term_put_line(&out, text, ABOUT_COLUMNS);
	copy = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return copy;
}

static void print_tasks(const struct cli *cli, const struct json *tasks)
{
	static const struct table_column columns[] = {
		{"AGE", true, TERM_PLAIN}, {"ENVELOPES", true, TERM_PLAIN}, {"TASK", false, TERM_CYAN},
		{"ABOUT", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	int64_t now_ms = clock_wall_ms();
	struct table table;

	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct json *task = &tasks->items[i];
		struct str intent = ask_str(task, "intent");
		struct table_row *row = table_add(&table);

		row->cells[0] = when_age(cli->arena, ask_str(task, "created_at"), now_ms);
		row->cells[1] = arena_printf(cli->arena, "%lld", (long long)ask_int(task, "envelopes", 0));
		table_set(&table, row, 2, ask_str(task, "id"));
		row->cells[3] = beginning(cli->arena, intent.n ? intent : ask_str(task, "summary"));
	}
	show_rows(cli, &table);
}

static int exec_tasks(struct cli *cli)
{
	return pages_run(cli, "/v1/tasks", "tasks", print_tasks);
}

const struct command cmd_tasks = {
	.name = "tasks",
	.summary = "Lists the tasks that were handed over, the newest first",
	.usage = "",
	.about = "ABOUT is the intent of a task, or what its first envelope says where it has none.",
	.examples = {"spine tasks", "spine tasks --limit 100 --json"},
	.tables = {&pages_table, &client_table},
	.exec = exec_tasks,
};
