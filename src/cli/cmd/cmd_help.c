/* spine help: the help of everything, or of one command. */
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/shared_options.h"

#include <assert.h>

static const struct option help_options[] = {
	{.name = "man", .type = OPTION_FLAG, .help = "print the source of the manual page"},
	{.name = "markdown", .type = OPTION_FLAG, .help = "print everything as one page of Markdown"},
};

static const struct option_table help_table = {"Other forms", help_options, OPTION_COUNT(help_options)};

static int print_page(const struct cli *cli, void (*render)(struct arena *arena, struct buf *out))
{
	struct buf out;

	buf_init(&out, 1 << 20);
	render(cli->arena, &out);
	assert(!buf_overflowed(&out));
	cli_write_buf(&out);
	return CLI_OK;
}

static int exec_help(struct cli *cli)
{
	const struct command *command;

	if (options_flag(&cli->options, "man"))
		return print_page(cli, help_man);
	if (options_flag(&cli->options, "markdown"))
		return print_page(cli, help_markdown);
	if (cli->options.arg_count == 0) {
		help_all(cli);
		return CLI_OK;
	}
	command = command_find(str_of(cli->options.args[0]));
	if (command == NULL)
		return cli_unknown_command(cli, cli->options.args[0]);
	help_command(cli, command);
	return CLI_OK;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "Says what there is, or more about a command",
	.usage = "[COMMAND]",
	.examples = {"spine help search"},
	.tables = {&help_table},
	.max_args = 1,
	.args = ARGS_COMMANDS,
	.exec = exec_help,
};
