/* The command line as a page of Markdown. */
#include "cli/help/help.h"

#include "cli/commands.h"
#include "cli/shared_options.h"

static void put_paragraphs(struct buf *out, const char *text, struct arena *arena)
{
	struct str paragraph;

	while (help_next_paragraph(&text, arena, &paragraph)) {
		term_fill(out, paragraph, 0, 0, 120);
		buf_puts(out, "\n\n");
	}
}

/* A cell of a table: a '|' would end it. */
static void put_cell(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '|')
			buf_putc(out, '\\');
		buf_putc(out, text.p[i]);
	}
}

static void put_code(struct buf *out, const char *text)
{
	if (text == NULL)
		return;
	buf_putc(out, '`');
	put_cell(out, str_of(text));
	buf_putc(out, '`');
}

static void put_option(struct buf *out, const struct option *option)
{
	struct option plain = *option;
	struct buf text;

	buf_init(&text, 8192);
	plain.fallback = NULL;
	buf_puts(&text, option->help);
	help_put_values(&plain, &text);
	if (option->min != 0 || option->max != 0) {
		buf_puts(&text, "; ");
		option_describe(option, &text);
	}
	buf_puts(out, "| `");
	if (option->letter)
		buf_printf(out, "-%c`, `", option->letter);
	buf_printf(out, "--%s%s", option->name, option->arg ? " " : "");
	put_cell(out, str_of(option->arg ? option->arg : ""));
	buf_puts(out, "` | ");
	put_cell(out, buf_str(&text));
	buf_puts(out, " | ");
	put_code(out, option->fallback);
	buf_puts(out, " | ");
	put_code(out, option->env);
	buf_puts(out, " | ");
	put_code(out, option->key);
	buf_puts(out, " |\n");
	buf_release(&text);
}

static void put_table(struct buf *out, const struct option_table *table)
{
	buf_puts(out, "| option | meaning | default | environment | configuration |\n");
	buf_puts(out, "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < table->count; i++)
		put_option(out, &table->options[i]);
	buf_putc(out, '\n');
}

static void put_command(const struct command *command, struct arena *arena, struct buf *out)
{
	bool first = true;

	buf_printf(out, "### spine %s\n\n    spine %s [options]%s%s\n\n%s.\n\n", command->name, command->name,
		   command->usage[0] ? " " : "", command->usage, command->summary);
	put_paragraphs(out, command->about, arena);
	for (const char *const *e = command->examples; *e; e++)
		buf_printf(out, "    %s\n%s", *e, e[1] ? "" : "\n");
	for (const struct option_table *const *t = command->tables; *t; t++)
		if (!help_is_shared(*t))
			put_table(out, *t);
	for (const struct option_table *const *t = command->tables; *t; t++)
		if (help_is_shared(*t)) {
			buf_printf(out, "%s%s", first ? "Also takes the options of: " : ", ", (*t)->title);
			first = false;
		}
	buf_puts(out, first ? "" : ".\n\n");
}

void help_markdown(struct arena *arena, struct buf *out)
{
	buf_puts(out, "<!-- Made by: spine help --markdown -->\n# The command line\n\n");
	put_paragraphs(out, help_purpose, arena);
	put_paragraphs(out, help_output_about, arena);
	put_paragraphs(out, help_safety_about, arena);
	put_paragraphs(out, help_config_about, arena);
	for (const struct command_group *g = command_groups; g->title; g++) {
		buf_printf(out, "## %s\n\n", g->title);
		for (const struct command *const *c = g->commands; *c; c++)
			put_command(*c, arena, out);
	}
	buf_puts(out, "## Options that several commands have\n\n");
	for (const struct option_table *const *t = command_all_tables(arena); *t; t++)
		if (help_is_shared(*t)) {
			buf_printf(out, "### %s\n\n", (*t)->title);
			put_table(out, *t);
		}
	buf_puts(out, "## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
	for (const struct cli_exit_text *e = cli_exits; e->meaning; e++)
		buf_printf(out, "| %d | %s |\n", e->code, e->meaning);
}
