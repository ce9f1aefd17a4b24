/* spine versions: the history of a memory. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"

static int exec_versions(struct cli *cli)
{
	const char *path = ask_memory_path(cli->arena, cli->options.args[0], "/versions");

	return pages_run(cli, path, "versions", show_versions);
}

const struct command cmd_versions = {
	.name = "versions",
	.summary = "Lists the versions of a memory, the newest first",
	.usage = "ID",
	.examples = {"spine versions ms-1"},
	.tables = {&pages_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_versions,
};
