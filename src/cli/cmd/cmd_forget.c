/* spine forget: removes the content of memories for good. */
#include "cli/commands.h"
#include "cli/each_id.h"
#include "cli/shared_options.h"

#include <stdio.h>
#include <unistd.h>

static const struct option forget_options[] = {
	{
		.name = "yes", .letter = 'y', .type = OPTION_FLAG,
		.help = "do not ask; required where standard input is no terminal"
	},
};

static const struct option_table forget_table = {"Forgetting", forget_options, OPTION_COUNT(forget_options)};

/* Asks on standard error, so that standard output stays for the result. */
static bool is_confirmed(const struct cli *cli)
{
	size_t count = cli->options.arg_count;
	char answer[16];

	if (count == 1)
		cli_note(cli, "Forget %.80s? Its content is removed for good, all versions of it. [y/N]",
			 cli->options.args[0]);
	else
		cli_note(cli, "Forget these %zu memories? Their content is removed for good, all versions of it. [y/N]",
			 count);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int exec_forget(struct cli *cli)
{
	static const struct each_id forget = {.method = "DELETE", .suffix = "", .done = "forgot"};

	if (!options_flag(&cli->options, "yes")) {
		if (!isatty(STDIN_FILENO))
			return cli_usage(cli, "forgetting cannot be undone; confirm it with --yes");
		if (!is_confirmed(cli)) {
			cli_error(cli, "nothing was forgotten");
			return CLI_FAILED;
		}
	}
	return each_id_run(cli, &forget);
}

const struct command cmd_forget = {
	.name = "forget",
	.summary = "Removes the content of memories for good",
	.usage = "ID...",
	.about = "Text, summary, tags, metadata, author and task of every version are removed; that there was a "
		 "memory of that id stays known. On a terminal it asks first.\n\n"
		 "With --json the document has the member memories, and problems where some of the ids failed.",
	.examples = {"spine forget --yes ms-2"},
	.tables = {&forget_table, &client_table},
	.min_args = 1,
	.max_args = COMMAND_ARGS_ANY,
	.exec = exec_forget,
};
