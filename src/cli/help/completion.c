#include "cli/help/completion.h"

#include "cli/commands.h"
#include "cli/subcommand.h"

struct completion {
	struct arena *arena;
	struct buf *out;
};

/* In single quotes, for any of the shells. fish takes \' within them, the others do not. */
static void put_quoted(struct buf *out, const char *text, bool fish)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, fish ? "\\'" : "'\\''");
		else if (*text == '\\' && fish)
			buf_puts(out, "\\\\");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

static void put_words(struct buf *out, const char *const *words)
{
	for (const char *const *w = words; *w; w++)
		buf_printf(out, "%s%s", w == words ? "" : " ", *w);
}

static enum command_args args_of(const struct command *command)
{
	return command->subs ? ARGS_WORDS : command->args;
}

/* What an argument of ARGS_WORDS may be. */
static void put_argument_words(struct buf *out, const struct command *command)
{
	if (command->words)
		put_words(out, command->words);
	for (const struct subcommand *s = command->subs; s && s->name; s++)
		buf_printf(out, "%s%s", s == command->subs ? "" : " ", s->name);
}

/* The name, and the other one where there is one. */
static void put_names(struct buf *out, const struct command *command, const char *between)
{
	buf_puts(out, command->name);
	if (command->alias)
		buf_printf(out, "%s%s", between, command->alias);
}

static void put_name(const struct command *command, void *arg)
{
	struct completion *c = arg;

	put_names(c->out, command, " ");
	buf_putc(c->out, ' ');
}

/* --- bash --- */

static void bash_value_cases(struct buf *out, const struct option *option)
{
	const char *how = option->type == OPTION_PATH ? "-f" : option->choices ? "-W" : NULL;

	if (option->type == OPTION_FLAG)
		return;
	buf_printf(out, "\t\t--%s", option->name);
	if (option->letter)
		buf_printf(out, "|-%c", option->letter);
	buf_puts(out, ") ");
	if (how && option->choices) {
		buf_puts(out, "COMPREPLY=($(compgen -W '");
		put_words(out, option->choices);
		buf_puts(out, "' -- \"$cur\")); ");
	} else if (how) {
		buf_puts(out, "COMPREPLY=($(compgen -f -- \"$cur\")); ");
	}
	buf_puts(out, "return ;;\n");
}

static void bash_arguments(const struct completion *c, const struct command *command)
{
	switch (args_of(command)) {
	case ARGS_OTHER:
		break;
	case ARGS_FILES:
		buf_puts(c->out, "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n");
		break;
	case ARGS_COMMANDS:
		buf_puts(c->out, "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n");
		break;
	case ARGS_WORDS:
		buf_puts(c->out, "\t\tCOMPREPLY=($(compgen -W '");
		put_argument_words(c->out, command);
		buf_puts(c->out, "' -- \"$cur\"))\n");
		break;
	}
}

static void bash_command(const struct command *command, void *arg)
{
	const struct completion *c = arg;

	buf_putc(c->out, '\t');
	put_names(c->out, command, "|");
	buf_puts(c->out, ")\n\t\tcase \"$prev\" in\n");
	for (const struct option_table *const *t = command_tables(command, c->arena); *t; t++)
		for (size_t i = 0; i < (*t)->count; i++)
			bash_value_cases(c->out, &(*t)->options[i]);
	buf_puts(c->out, "\t\tesac\n\t\tif [[ $cur == -* ]]; then\n\t\t\tCOMPREPLY=($(compgen -W '");
	for (const struct option_table *const *t = command_tables(command, c->arena); *t; t++)
		for (size_t i = 0; i < (*t)->count; i++)
			buf_printf(c->out, "--%s ", (*t)->options[i].name);
	buf_puts(c->out, "' -- \"$cur\"))\n\t\t\treturn\n\t\tfi\n");
	bash_arguments(c, command);
	buf_puts(c->out, "\t\t;;\n");
}

void completion_bash(struct arena *arena, struct buf *out)
{
	struct completion c = {arena, out};

	buf_puts(out, "# bash completion for spine. Made by: spine completion bash\n"
		 "_spine()\n{\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} commands='");
	command_each(put_name, &c);
	buf_puts(out, "'\n\tCOMPREPLY=()\n"
		 "\tif ((COMP_CWORD == 1)); then\n"
		 "\t\tCOMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
		 "\t\treturn\n\tfi\n"
		 "\tcase ${COMP_WORDS[1]} in\n");
	command_each(bash_command, &c);
	buf_puts(out, "\tesac\n}\ncomplete -o filenames -F _spine spine\n");
}

/* --- zsh --- */

static void zsh_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
			buf_putc(out, '\\');
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
}

static void zsh_option(struct buf *out, const struct option *option)
{
	buf_puts(out, "\t\t\t");
	if (option->letter)
		buf_printf(out, "'(-%c --%s)'{-%c,--%s}'", option->letter, option->name, option->letter, option->name);
	else
		buf_printf(out, "'%s--%s", option->type == OPTION_LIST ? "*" : "", option->name);
	buf_puts(out, option->type == OPTION_FLAG ? "[" : option->letter ? "[" : "=[");
	zsh_escaped(out, option->help);
	buf_puts(out, "]");
	if (option->type != OPTION_FLAG) {
		buf_putc(out, ':');
		zsh_escaped(out, option->arg);
		buf_putc(out, ':');
		if (option->choices) {
			buf_puts(out, "(");
			put_words(out, option->choices);
			buf_puts(out, ")");
		} else if (option->type == OPTION_PATH) {
			buf_puts(out, "_files");
		}
	}
	buf_puts(out, "' \\\n");
}

static void zsh_describe_name(struct buf *out, const char *name, const struct command *command)
{
	if (name == NULL)
		return;
	buf_printf(out, "\t\t'%s:", name);
	zsh_escaped(out, command->summary);
	buf_puts(out, "'\n");
}

static void zsh_describe(const struct command *command, void *arg)
{
	struct completion *c = arg;

	zsh_describe_name(c->out, command->name, command);
	zsh_describe_name(c->out, command->alias, command);
}

static void zsh_command(const struct command *command, void *arg)
{
	struct completion *c = arg;

	buf_putc(c->out, '\t');
	put_names(c->out, command, "|");
	buf_puts(c->out, ")\n\t\t_arguments -s \\\n");
	for (const struct option_table *const *t = command_tables(command, c->arena); *t; t++)
		for (size_t i = 0; i < (*t)->count; i++)
			zsh_option(c->out, &(*t)->options[i]);
	switch (args_of(command)) {
	case ARGS_OTHER:
		buf_puts(c->out, "\t\t\t'*: :()'\n");
		break;
	case ARGS_FILES:
		buf_puts(c->out, "\t\t\t'*:file:_files'\n");
		break;
	case ARGS_COMMANDS:
		buf_puts(c->out, "\t\t\t'*:command:(");
		command_each(put_name, c);
		buf_puts(c->out, ")'\n");
		break;
	case ARGS_WORDS:
		buf_puts(c->out, "\t\t\t'*:which:(");
		put_argument_words(c->out, command);
		buf_puts(c->out, ")'\n");
		break;
	}
	buf_puts(c->out, "\t\t;;\n");
}

void completion_zsh(struct arena *arena, struct buf *out)
{
	struct completion c = {arena, out};

	buf_puts(out, "#compdef spine\n# zsh completion for spine. Made by: spine completion zsh\n"
		 "_spine()\n{\n\tlocal -a commands=(\n");
	command_each(zsh_describe, &c);
	buf_puts(out, "\t)\n"
		 "\tif ((CURRENT == 2)); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
		 "\tlocal name=$words[2]\n\tshift words\n\t((CURRENT--))\n"
		 "\tcase $name in\n");
	command_each(zsh_command, &c);
	buf_puts(out, "\tesac\n}\n"
		 "if [[ $funcstack[1] == _spine ]]; then\n\t_spine \"$@\"\nelse\n\tcompdef _spine spine\nfi\n");
}

/* --- fish --- */

static void fish_seen(struct buf *out, const struct command *command)
{
	buf_puts(out, "complete -c spine -n '__fish_seen_subcommand_from ");
	put_names(out, command, " ");
	buf_puts(out, "' ");
}

static void fish_option(struct buf *out, const struct command *command, const struct option *option)
{
	fish_seen(out, command);
	buf_printf(out, "-l %s", option->name);
	if (option->letter)
		buf_printf(out, " -s %c", option->letter);
	if (option->type != OPTION_FLAG)
		buf_puts(out, option->type == OPTION_PATH ? " -r -F" : " -x");
	if (option->choices) {
		buf_puts(out, " -a '");
		put_words(out, option->choices);
		buf_puts(out, "'");
	}
	buf_puts(out, " -d ");
	put_quoted(out, option->help, true);
	buf_putc(out, '\n');
}

static void fish_name(struct buf *out, const char *name, const struct command *command)
{
	if (name == NULL)
		return;
	buf_printf(out, "complete -c spine -n __fish_use_subcommand -a %s -d ", name);
	put_quoted(out, command->summary, true);
	buf_putc(out, '\n');
}

static void fish_command(const struct command *command, void *arg)
{
	struct completion *c = arg;

	fish_name(c->out, command->name, command);
	fish_name(c->out, command->alias, command);
	if (args_of(command) != ARGS_OTHER)
		fish_seen(c->out, command);
	if (args_of(command) == ARGS_FILES) {
		buf_puts(c->out, "-F\n");
	} else if (args_of(command) == ARGS_COMMANDS) {
		buf_puts(c->out, "-a '");
		command_each(put_name, c);
		buf_puts(c->out, "'\n");
	} else if (args_of(command) == ARGS_WORDS) {
		buf_puts(c->out, "-a '");
		put_argument_words(c->out, command);
		buf_puts(c->out, "'\n");
	}
	for (const struct option_table *const *t = command_tables(command, c->arena); *t; t++)
		for (size_t i = 0; i < (*t)->count; i++)
			fish_option(c->out, command, &(*t)->options[i]);
}

void completion_fish(struct arena *arena, struct buf *out)
{
	struct completion c = {arena, out};

	buf_puts(out, "# fish completion for spine. Made by: spine completion fish\ncomplete -c spine -f\n");
	command_each(fish_command, &c);
}
