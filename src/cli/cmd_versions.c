/* spine versions: the history of a memory. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show.h"

static int exec_versions(struct cli *cli)
{
	struct client_request request = {.method = "GET", .repeatable = true};
	struct ask ask;
	struct buf path;
	int code;

	buf_init(&path, 64 * 1024);
	buf_puts(&path, ask_memory_path(cli->arena, cli->options.args[0], "/versions"));
	pages_add(cli, &path);
	request.path = buf_str(&path).p;
	code = ask_run(cli, &request, &ask);
	if (code == CLI_OK && cli_is_json(cli)) {
		cli_write_json(cli, buf_str(&ask.reply.body));
	} else if (code == CLI_OK) {
		show_versions(cli, ask_array(&ask.json, "versions"));
		pages_tell(cli, &ask.json);
	}
	ask_release(&ask);
	buf_release(&path);
	return code;
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
