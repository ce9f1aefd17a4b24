/* spine fidelity: what each hop of a task kept. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show_changes.h"

static int exec_fidelity(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/tasks/", cli->options.args[0], "/fidelity"),
		.repeatable = true,
	};
	struct ask ask;
	int code = ask_run(cli, &request, &ask);

	if (code == CLI_OK && cli_is_json(cli))
		cli_write_json(cli, buf_str(&ask.reply.body));
	else if (code == CLI_OK)
		show_fidelity(cli, &ask.json);
	ask_release(&ask);
	return code;
}

const struct command cmd_fidelity = {
	.name = "fidelity",
	.summary = "Says what each hop of a task kept, hop by hop",
	.usage = "TASK",
	.about = "SCORE and KEPT compare an envelope with the one that it continues, OF THE FIRST with the root of the "
		 "chain. The column \"10 % loss a hop\" is not measured: it is what a chain would have left whose "
		 "every handoff loses a tenth, to compare with.",
	.examples = {"spine fidelity task-1", "spine fidelity task-1 --json | jq .intent_and_constraints"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_fidelity,
};
