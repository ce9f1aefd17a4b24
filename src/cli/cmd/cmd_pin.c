/* spine pin: pins memories. */
#include "cli/commands.h"
#include "cli/each_id.h"
#include "cli/shared_options.h"

static int exec_pin(struct cli *cli)
{
	static const struct each_id pin = {.method = "POST", .suffix = "/pin", .done = "pinned"};

	return each_id_run(cli, &pin);
}

const struct command cmd_pin = {
	.name = "pin",
	.summary = "Pins memories: they go with every handoff (of their task) and rank higher",
	.usage = "ID...",
	.about = "With --json the document has the member memories, and problems where some of the ids failed.",
	.examples = {"spine pin ms-1 ms-2"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = COMMAND_ARGS_ANY,
	.exec = exec_pin,
};
