/* spine unpin: takes pins away. */
#include "cli/commands.h"
#include "cli/each_id.h"
#include "cli/shared_options.h"

static int exec_unpin(struct cli *cli)
{
	static const struct each_id unpin = {.method = "POST", .suffix = "/unpin", .done = "unpinned"};

	return each_id_run(cli, &unpin);
}

const struct command cmd_unpin = {
	.name = "unpin",
	.summary = "Takes the pins of memories away",
	.usage = "ID...",
	.about = "With --json the document has the member memories, and problems where some of the ids failed.",
	.examples = {"spine unpin ms-1"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = COMMAND_ARGS_ANY,
	.exec = exec_unpin,
};
