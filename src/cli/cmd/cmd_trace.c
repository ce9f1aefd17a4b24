/* spine trace: what happened to a task, step by step. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show_trace.h"

static int exec_trace(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/tasks/", cli->options.args[0],
						  "/trace?page_size=1000"),
		.repeatable = true,
	};

	return ask_print(cli, &request, show_trace);
}

const struct command cmd_trace = {
	.name = "trace",
	.summary = "Tells what happened to a task, step by step",
	.usage = "TASK",
	.about = "Who packed what for whom, who took it, who acked, failed or completed it, when, at which attempt, "
		 "and why. Times count in seconds from the first step.",
	.examples = {"spine trace task-1", "spine trace task-1 --json | jq '.events[].event'"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_trace,
};
