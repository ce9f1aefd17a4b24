#include "cli/help/help.h"

#include "cli/commands.h"
#include "cli/shared_options.h"

#include <assert.h>
#include <stdio.h>

enum { HELP_MAX_BYTES = 256 * 1024, HELP_COLUMN = 28, HELP_WIDTH_MAX = 92, NAME_COLUMN = 15 };

const char help_purpose[] =
	"Memory Spine keeps what AI agents learn and decide, and hands it from one agent to the next without losing "
	"any of it. One program is the server (spine serve) and everything that a person does by hand: storing and "
	"searching memories, handing work over, sending and receiving it, and keeping the store safe. What it is "
	"good for is shown by spine demo.";

const char help_config_about[] =
	"Every option with a name in the environment can be given there; most also in a configuration file. The "
	"command line goes before the environment, the environment before the file. The file has lines of the form "
	"\"key = value\"; a \"#\" at the start of a line or after a space begins a comment, and double quotes around "
	"a value keep spaces and \"#\". A key that is not known, or stands twice, is an error.";

const char help_output_about[] =
	"Results go to standard output, messages to standard error. With --json the result is one JSON document, the "
	"server's own wherever the server has one; where the server refuses or cannot be reached it is a problem "
	"document (RFC 9457), and the message is on standard error as well.";

const char help_safety_about[] =
	"Text that was stored is shown with control characters and those that nobody sees (of no width, of "
	"direction, tags) as \\x1b, \\u200b or \\U000e0061, so that it cannot do anything to the terminal, and hides "
	"nothing. In a pipe --json, --raw and prompts are exact.";

bool help_next_paragraph(const char **text, struct arena *arena, struct str *ret)
{
	const char *end;
	char *copy;

	if (*text == NULL || **text == '\0')
		return false;
	end = strstr(*text, "\n\n");
	ret->n = end ? (size_t)(end - *text) : strlen(*text);
	copy = arena_cstr(arena, (struct str){*text, ret->n});
	for (char *at = copy; *at; at++)
		if (*at == '\n')
			*at = ' ';
	ret->p = copy;
	*text = end ? end + 2 : NULL;
	return true;
}

void help_put_values(const struct option *option, struct buf *out)
{
	if (option->choices) {
		buf_puts(out, option->type == OPTION_CHOICE ? ": " : ", such as ");
		for (const char *const *c = option->choices; *c; c++)
			buf_printf(out, "%s%s", c == option->choices ? "" : c[1] ? ", " : " or ", *c);
	}
	if (option->fallback)
		buf_printf(out, "; default %s", option->fallback);
}

struct use_count {
	const struct option_table *table;
	size_t count;
};

static void count_use(const struct command *command, void *arg)
{
	struct use_count *use = arg;

	for (const struct option_table *const *t = command->tables; *t; t++)
		use->count += *t == use->table;
}

bool help_is_shared(const struct option_table *table)
{
	struct use_count use = {table, 0};

	command_each(count_use, &use);
	return table == &common_table || use.count > 1;
}

/* --- Text --- */

static size_t help_width(const struct cli *cli)
{
	return cli->out.width < HELP_WIDTH_MAX ? cli->out.width : HELP_WIDTH_MAX;
}

static void put_title(const struct cli *cli, struct buf *out, const char *title)
{
	buf_printf(out, "\n%s%s:%s\n", term_on(&cli->out, TERM_BOLD), title, term_off(&cli->out, TERM_BOLD));
}

static void put_paragraphs(const struct cli *cli, struct buf *out, const char *text)
{
	struct str paragraph;

	while (help_next_paragraph(&text, cli->arena, &paragraph)) {
		buf_putc(out, '\n');
		term_fill(out, paragraph, 0, 0, help_width(cli));
		buf_putc(out, '\n');
	}
}

/* "  -n, --limit N       how many; default 20 [SPINE_LIMIT]" */
static void put_option(const struct cli *cli, struct buf *out, const struct option *option)
{
	struct buf left, right;
	size_t column;

	buf_init(&left, 4096);
	buf_init(&right, 4096);
	if (option->letter)
		buf_printf(&left, "  -%c, --%s", option->letter, option->name);
	else
		buf_printf(&left, "      --%s", option->name);
	if (option->arg)
		buf_printf(&left, " %s", option->arg);
	buf_puts(&right, option->help);
	help_put_values(option, &right);
	if (option->env)
		buf_printf(&right, " [%s]", option->env);

	column = term_columns(buf_str(&left));
	buf_put(out, buf_str(&left));
	if (column + 2 > HELP_COLUMN)
		buf_printf(out, "\n%*s", HELP_COLUMN, "");
	else
		buf_printf(out, "%*s", (int)(HELP_COLUMN - column), "");
	term_fill(out, buf_str(&right), HELP_COLUMN, HELP_COLUMN, help_width(cli));
	buf_putc(out, '\n');
	buf_release(&left);
	buf_release(&right);
}

static void put_table(const struct cli *cli, struct buf *out, const struct option_table *table)
{
	put_title(cli, out, table->title);
	for (size_t i = 0; i < table->count; i++)
		put_option(cli, out, &table->options[i]);
}

static void put_usage(const struct cli *cli, struct buf *out, const struct command *command)
{
	buf_printf(out, "%sUsage:%s spine %s [options]%s%s\n", term_on(&cli->out, TERM_BOLD),
		   term_off(&cli->out, TERM_BOLD), command->name, command->usage[0] ? " " : "", command->usage);
}

void help_command(const struct cli *cli, const struct command *command)
{
	struct buf out;

	buf_init(&out, HELP_MAX_BYTES);
	put_usage(cli, &out, command);
	put_paragraphs(cli, &out, arena_printf(cli->arena, "%s.", command->summary).p);
	put_paragraphs(cli, &out, command->about);
	if (command->examples[0])
		put_title(cli, &out, "Examples");
	for (const char *const *e = command->examples; *e; e++)
		buf_printf(&out, "  %s\n", *e);
	for (const struct option_table *const *t = command_tables(command, cli->arena); *t; t++)
		put_table(cli, &out, *t);
	assert(!buf_overflowed(&out));
	cli_write_buf(&out);
}

static void put_commands(const struct cli *cli, struct buf *out)
{
	for (const struct command_group *g = command_groups; g->title; g++) {
		put_title(cli, out, g->title);
		for (const struct command *const *c = g->commands; *c; c++) {
			buf_printf(out, "  %-*s", NAME_COLUMN - 2, (*c)->name);
			term_fill(out, str_of((*c)->summary), NAME_COLUMN, NAME_COLUMN, help_width(cli));
			buf_putc(out, '\n');
		}
	}
}

static void put_exits(const struct cli *cli, struct buf *out)
{
	put_title(cli, out, "Exit codes");
	for (const struct cli_exit_text *e = cli_exits; e->meaning; e++) {
		buf_printf(out, "  %d  ", e->code);
		term_fill(out, str_of(e->meaning), 5, 5, help_width(cli));
		buf_putc(out, '\n');
	}
}

void help_all(const struct cli *cli)
{
	struct buf out;

	buf_init(&out, HELP_MAX_BYTES);
	buf_printf(&out, "%sUsage:%s spine COMMAND [options] [arguments]\n", term_on(&cli->out, TERM_BOLD),
		   term_off(&cli->out, TERM_BOLD));
	put_paragraphs(cli, &out, help_purpose);
	put_title(cli, &out, "Examples");
	buf_puts(&out,
		 "  spine serve                                     start the server (in a terminal of its own)\n"
		 "  spine store \"The gateway sends Retry-After in seconds.\" --tag gateway\n"
		 "  spine search retry policy of the gateway\n"
		 "  spine get ms-1\n");
	put_commands(cli, &out);
	put_title(cli, &out, "Options and configuration");
	buf_puts(&out, "  ");
	term_fill(&out, str_of(help_config_about), 2, 2, help_width(cli));
	buf_printf(&out, "\n  The default file is %s.\n", common_table.options[1].fallback);
	put_exits(cli, &out);
	buf_puts(&out, "\nspine COMMAND --help says more about a command; the manual page (man spine) says all.\n");
	assert(!buf_overflowed(&out));
	cli_write_buf(&out);
}

void help_brief(const struct cli *cli)
{
	(void)cli;
	fputs("Usage: spine COMMAND [options] [arguments]\n"
	      "Start with: spine serve; then, beside it: spine store \"some text\", spine search words\n"
	      "All commands: spine --help\n", stderr);
}
