/* spine need: asks for memories that a handoff mentions. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"

enum { IDS_MAX = 1000 };

static int put_need(struct cli *cli, struct json_writer *w)
{
	json_key(w, "refs");
	json_begin_array(w);
	for (size_t i = 1; i < cli->options.arg_count; i++) {
		if (!str_is_utf8(str_of(cli->options.args[i])))
			return cli_usage(cli, "an id is not UTF-8 text; expected ms- and a number, such as ms-4821");
		json_put_cstr(w, cli->options.args[i]);
	}
	json_end_array(w);
	return CLI_OK;
}

static int exec_need(struct cli *cli)
{
	static const struct settle settle = {"need", true, put_need, show_memories, true};

	cli->listed = "refs";
	cli->listed_from = 1;
	return settle_run(cli, &settle);
}

const struct command cmd_need = {
	.name = "need",
	.summary = "Asks for memories that a handoff only mentions, and renews its lease",
	.usage = "LEASE ID...",
	.about = "What is not there is named on standard error, and the exit code is 3; the others are printed.",
	.examples = {"spine need ho-1.1 ms-1"},
	.tables = {&client_table},
	.min_args = 2,
	.max_args = IDS_MAX,
	.exec = exec_need,
};
