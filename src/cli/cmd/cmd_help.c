/* What the program says about itself: help, completion, version. */
#include "cli/commands.h"
#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/shared_options.h"
#include "codec/json_member.h"
#include "serve/build_info.h"

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
	.usage = "[COMMAND]", .max_args = 1,
	.examples = {"spine help search"},
	.tables = {&help_table},
	.args = ARGS_COMMANDS,
	.exec = exec_help,
};

/* --- Completion --- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int exec_completion(struct cli *cli)
{
	struct str shell = str_of(cli->options.args[0]);

	if (str_is(shell, "bash"))
		return print_page(cli, completion_bash);
	if (str_is(shell, "zsh"))
		return print_page(cli, completion_zsh);
	if (str_is(shell, "fish"))
		return print_page(cli, completion_fish);
	return cli_usage(cli, "the shell is \"%.80s\"; expected one of bash, zsh, fish", shell.p);
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "Prints a script that completes spine's commands in a shell",
	.usage = "bash|zsh|fish", .min_args = 1, .max_args = 1,
	.about = "For bash: put \"source <(spine completion bash)\" into ~/.bashrc. For zsh: put \"source <(spine "
		 "completion zsh)\" into ~/.zshrc, after compinit. For fish: write it to "
		 "~/.config/fish/completions/spine.fish.",
	.examples = {"source <(spine completion bash)"},
	.args = ARGS_WORDS,
	.words = shells,
	.exec = exec_completion,
};

/* --- Version --- */

static void write_build(const struct cli *cli)
{
	struct build_library libraries[BUILD_LIBRARIES];
	struct json_writer w;
	struct buf out;

	build_libraries(libraries);
	buf_init(&out, 1 << 16);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	json_member_cstr(&w, "version", build_info.version);
	json_member_optional(&w, "commit", build_info.commit ? str_of(build_info.commit) : (struct str){0});
	json_member_cstr(&w, "compiler", build_info.compiler);
	json_member_cstr(&w, "flags", build_info.flags);
	json_key(&w, "libraries");
	json_begin_object(&w);
	for (size_t i = 0; i < BUILD_LIBRARIES; i++)
		json_member_cstr(&w, libraries[i].name, libraries[i].version);
	json_end_object(&w);
	json_end_object(&w);
	cli_write_json_buf(cli, &out);
}

static int exec_version(struct cli *cli)
{
	if (cli_is_json(cli))
		write_build(cli);
	else
		cli_write(STR("spine " SPINE_VERSION "\n"));
	return CLI_OK;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "Prints the version of this program",
	.usage = "",
	.about = "With --json also what it was built from and by (commit, compiler, flags), and the versions of the "
		 "libraries that it runs with.",
	.examples = {"spine version", "spine version --json"},
	.tables = {&json_table},
	.exec = exec_version,
};
