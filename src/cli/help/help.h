/* Help for people, written from the tables of commands and options. */
#ifndef SPINE_CLI_HELP_H
#define SPINE_CLI_HELP_H

#include "cli/cli.h"

/* To standard error, for who typed just "spine". */
void help_brief(const struct cli *cli);
/* Both to standard output. */
void help_all(const struct cli *cli);
void help_command(const struct cli *cli, const struct command *command);

/* The manual page, in the mdoc language. */
void help_man(struct arena *arena, struct buf *out);
/* The same as a page of Markdown. */
void help_markdown(struct arena *arena, struct buf *out);

/* --- Shared by the renderings --- */

/* What the program is for; paragraphs divided by an empty line. */
extern const char help_purpose[];
extern const char help_config_about[];
extern const char help_output_about[];
extern const char help_safety_about[];

/* The next paragraph of *text, with its line breaks turned into spaces; false at the end. */
bool help_next_paragraph(const char **text, struct arena *arena, struct str *ret);
/* Appends the values and the default: "; low, medium, high or critical; default medium". */
void help_put_values(const struct option *option, struct buf *out);
/* The table is one that several commands have. */
bool help_is_shared(const struct option_table *table);

#endif
