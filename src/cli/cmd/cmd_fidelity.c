/* spine fidelity: what each hop of a task kept. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show_changes.h"

static const struct option fidelity_options[] = {
	{
		.name = "compare", .type = OPTION_FLAG,
		.help = "show beside it what a chain would have left whose every handoff loses a tenth"
	},
};

static const struct option_table fidelity_table = {"What", fidelity_options, OPTION_COUNT(fidelity_options)};

static int exec_fidelity(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/tasks/", cli->options.args[0], "/fidelity"),
		.repeatable = true,
	};

	return ask_print(cli, &request,
			 options_flag(&cli->options, "compare") ? show_fidelity_compared : show_fidelity);
}

const struct command cmd_fidelity = {
	.name = "fidelity",
	.summary = "Says what each hop of a task kept, hop by hop",
	.usage = "TASK",
	.about = "SCORE and KEPT compare an envelope with the one that it continues, OF FIRST with the root of the "
		 "chain; DROPPED counts the memories that it no longer has. 10 % LOSS, which --compare adds, "
		 "is not measured: it is what a chain would have left whose every handoff loses a tenth.",
	.examples = {
		"spine fidelity task-1", "spine fidelity task-1 --compare",
		"spine fidelity task-1 --json | jq .intent_and_constraints",
	},
	.tables = {&fidelity_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_fidelity,
};
