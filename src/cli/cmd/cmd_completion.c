/* spine completion: prints a completion script for a shell. */
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/shared_options.h"

#include <assert.h>

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int exec_completion(struct cli *cli)
{
	struct str shell = str_of(cli->options.args[0]);
	struct buf out;
	int code = CLI_OK;

	buf_init(&out, 1 << 20);
	if (str_is(shell, "bash"))
		completion_bash(cli->arena, &out);
	else if (str_is(shell, "zsh"))
		completion_zsh(cli->arena, &out);
	else if (str_is(shell, "fish"))
		completion_fish(cli->arena, &out);
	else
		code = cli_usage(cli, "the shell is \"%.80s\"; expected one of bash, zsh, fish", shell.p);
	assert(!buf_overflowed(&out));
	cli_write_buf(&out);
	return code;
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "Prints a script that completes spine's commands in a shell",
	.usage = "bash|zsh|fish",
	.about = "For bash: put \"source <(spine completion bash)\" into ~/.bashrc. For zsh: put \"source <(spine "
		 "completion zsh)\" into ~/.zshrc, after compinit. For fish: write it to "
		 "~/.config/fish/completions/spine.fish.",
	.examples = {"source <(spine completion bash)"},
	.min_args = 1,
	.max_args = 1,
	.args = ARGS_WORDS,
	.words = shells,
	.exec = exec_completion,
};
