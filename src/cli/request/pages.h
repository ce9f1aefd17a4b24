/* Lists that the server answers in pages. */
#ifndef SPINE_CLI_PAGES_H
#define SPINE_CLI_PAGES_H

#include "cli/cli.h"
#include "codec/json.h"

/* The options, for a table of a command's own. */
#define PAGES_OPTIONS \
	{.name = "limit", .letter = 'n', .arg = "N", .type = OPTION_INT, .fallback = "20", .min = 1, .max = 1000, \
	 .help = "at most so many"}, \
	PAGE_TOKEN_OPTION
#define PAGE_TOKEN_OPTION \
	{.name = "page-token", .arg = "TOKEN", .type = OPTION_TEXT, \
	 .help = "go on where an answer ended: its next_page_token"}

extern const struct option_table pages_table;	/* --limit, --page-token */
extern const struct option_table rest_table;	/* --page-token: where a page holds all that most will ever need */

/* Appends those that the command has to the query of the path. */
void pages_add(const struct cli *cli, struct buf *path);
/* Says in a line on standard error, also in a pipe, that the answer was not the last page, and how to see more. */
void pages_tell(const struct cli *cli, const struct json *answer);

#endif
