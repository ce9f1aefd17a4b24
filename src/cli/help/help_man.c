/* The manual page in mdoc(7), as mandoc's lint likes it: one sentence a line, lines of at most 78 bytes, nothing that
 * could be taken for a macro. */
#include "cli/help/help.h"

#include "cli/commands.h"
#include "cli/shared_options.h"

/* The date of the page is part of its source, so that the same source makes the same page. */
#define MAN_DATE "January 30, 2026"

enum { MAN_WIDTH = 78 };

/* Text outside of macro lines; '.' and ''' would begin a macro at the start of a line, '\' begins an escape
 * everywhere. */
static void put_word(struct buf *out, struct str word, bool at_start)
{
	if (at_start && (word.p[0] == '.' || word.p[0] == '\''))
		buf_puts(out, "\\&");
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '\\')
			buf_puts(out, "\\e");
		else if (word.p[i] == '-' && i + 1 < word.n && (i == 0 || word.p[i - 1] == '-'))
			buf_puts(out, "\\-");	/* of an option: to be copied as it stands */
		else
			buf_putc(out, word.p[i]);
	}
}

static bool ends_sentence(struct str word, struct str rest)
{
	char last = word.p[word.n - 1];

	return (last == '.' || last == '!' || last == '?') && rest.n > 0;
}

static void put_text(struct buf *out, struct str text)
{
	size_t column = 0;

	while (text.p && text.n > 0) {
		struct str word = str_cut(&text, ' ');

		if (word.n == 0)
			continue;
		if (column > 0 && column + 1 + word.n > MAN_WIDTH) {
			buf_putc(out, '\n');
			column = 0;
		}
		if (column > 0)
			buf_putc(out, ' ');
		put_word(out, word, column == 0);
		column += word.n + 1;
		if (ends_sentence(word, text)) {
			buf_putc(out, '\n');
			column = 0;
		}
	}
	buf_putc(out, '\n');
}

static void put_paragraphs(struct buf *out, const char *text, struct arena *arena)
{
	struct str paragraph;

	while (help_next_paragraph(&text, arena, &paragraph)) {
		buf_puts(out, ".Pp\n");
		put_text(out, paragraph);
	}
}

/* An argument of a macro, in quotes, so that it is never taken for a macro itself. */
static void put_quoted(struct buf *out, const char *text)
{
	buf_puts(out, "\"");
	for (; *text; text++) {
		if (*text == '\\')
			buf_puts(out, "\\e");
		else if (*text == '"')
			buf_puts(out, "\\(dq");
		else
			buf_putc(out, *text);
	}
	buf_puts(out, "\"");
}

static void put_option(struct buf *out, const struct option *option)
{
	struct buf text;

	buf_puts(out, ".It ");
	if (option->letter)
		buf_printf(out, "Fl %c , ", option->letter);
	buf_printf(out, "Fl \\-%s", option->name);
	if (option->arg) {
		buf_puts(out, " Ar ");
		put_quoted(out, option->arg);
	}
	buf_putc(out, '\n');

	buf_init(&text, 8192);
	buf_puts(&text, option->help);
	help_put_values(option, &text);
	if (option->min != 0 || option->max != 0) {
		buf_puts(&text, "; takes ");
		option_describe(option, &text);
	}
	if (option->env)
		buf_printf(&text, "; in the environment: %s", option->env);
	if (option->key)
		buf_printf(&text, "; in the configuration file: %s", option->key);
	buf_putc(&text, '.');
	put_text(out, buf_str(&text));
	buf_release(&text);
}

static void put_table(struct buf *out, const struct option_table *table)
{
	buf_puts(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < table->count; i++)
		put_option(out, &table->options[i]);
	buf_puts(out, ".El\n");
}

static void put_examples(struct buf *out, const char *const *examples)
{
	if (*examples == NULL)
		return;
	buf_puts(out, ".Bd -literal -offset indent\n");
	for (; *examples; examples++) {
		put_word(out, str_of(*examples), true);
		buf_putc(out, '\n');
	}
	buf_puts(out, ".Ed\n");
}

static void put_command(const struct command *command, struct arena *arena, struct buf *out)
{
	bool first = true;

	buf_printf(out, ".It Nm \"spine %s\" Oo Ar options Oc", command->name);
	if (command->usage[0]) {
		buf_puts(out, " ");
		put_quoted(out, command->usage);
	}
	buf_putc(out, '\n');
	put_text(out, arena_printf(arena, "%s.", command->summary));
	put_paragraphs(out, command->about, arena);
	put_examples(out, command->examples);
	for (const struct option_table *const *t = command->tables; *t; t++)
		if (!help_is_shared(*t)) {
			if (first && command->examples[0] == NULL)
				buf_puts(out, ".Pp\n");
			put_table(out, *t);
			first = false;
		}
	first = true;
	for (const struct option_table *const *t = command->tables; *t; t++)
		if (help_is_shared(*t)) {
			buf_printf(out, "%s%s", first ? ".Pp\nAlso takes the options of: " : ", ", (*t)->title);
			first = false;
		}
	if (!first)
		buf_puts(out, ".\n");
}

static void put_commands(struct arena *arena, struct buf *out)
{
	for (const struct command_group *g = command_groups; g->title; g++) {
		buf_printf(out, ".Ss %s\n.Bl -tag -width Ds\n", g->title);
		for (const struct command *const *c = g->commands; *c; c++)
			put_command(*c, arena, out);
		buf_puts(out, ".El\n");
	}
}

static void put_shared(struct arena *arena, struct buf *out)
{
	buf_puts(out, ".Sh OPTIONS\nThe options that several commands have.\n");
	for (const struct option_table *const *t = command_all_tables(arena); *t; t++)
		if (help_is_shared(*t)) {
			buf_printf(out, ".Ss %s\n", (*t)->title);
			put_table(out, *t);
		}
}

static void put_exits(struct buf *out)
{
	buf_puts(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
	for (const struct cli_exit_text *e = cli_exits; e->meaning; e++) {
		buf_printf(out, ".It %d\n", e->code);
		put_text(out, str_of(e->meaning));
	}
	buf_puts(out, ".El\n");
}

static void put_names(struct arena *arena, struct buf *out, bool env)
{
	buf_puts(out, ".Bl -tag -width Ds\n");
	for (const struct option_table *const *t = command_all_tables(arena); *t; t++)
		for (size_t i = 0; i < (*t)->count; i++) {
			const struct option *option = &(*t)->options[i];

			if (env ? !option->env : !option->key)
				continue;
			buf_printf(out, ".It %s %s\n", env ? "Ev" : "Cm", env ? option->env : option->key);
			put_text(out, str_of(option->help));
		}
	if (env)
		buf_puts(out, ".It Ev NO_COLOR\nno colours, also on a terminal\n");
	buf_puts(out, ".El\n");
}

void help_man(struct arena *arena, struct buf *out)
{
	buf_puts(out, ".\\\" Made by: spine help --man\n.Dd " MAN_DATE "\n.Dt SPINE 1\n.Os\n"
		 ".Sh NAME\n.Nm spine\n.Nd memory between agents\n"
		 ".Sh SYNOPSIS\n.Nm spine\n.Ar command\n.Op Ar options\n.Op Ar arguments\n"
		 ".Sh DESCRIPTION\n");
	put_text(out, str_of(help_purpose));
	buf_puts(out, ".Pp\n");
	put_text(out, str_of(help_output_about));
	buf_puts(out, ".Pp\n");
	put_text(out, str_of(help_safety_about));
	buf_puts(out, ".Sh COMMANDS\n");
	put_commands(arena, out);
	put_shared(arena, out);
	buf_puts(out, ".Sh CONFIGURATION FILE\n");
	put_text(out, str_of(help_config_about));
	buf_puts(out, ".Pp\nThe keys:\n");
	put_names(arena, out, false);
	buf_puts(out, ".Sh ENVIRONMENT\n");
	put_names(arena, out, true);
	buf_puts(out, ".Sh FILES\n.Bl -tag -width Ds\n");
	buf_printf(out, ".It Pa %s\nthe configuration file\n", common_table.options[1].fallback);
	buf_printf(out, ".It Pa %s\nthe data directory\n.El\n", data_table.options[0].fallback);
	put_exits(out);
	buf_puts(out, ".Sh SEE ALSO\n.Xr curl 1 ,\n.Xr jq 1\n");
}
