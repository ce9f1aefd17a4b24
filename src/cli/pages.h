/* Lists that the server answers in pages, for commands without filters. */
#ifndef SPINE_CLI_PAGES_H
#define SPINE_CLI_PAGES_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table pages_table;	/* --limit, --page-token */

/* Appends the options to a path. */
void pages_add(const struct cli *cli, struct buf *path);
/* Tells a person at a terminal that the answer was not the last page. */
void pages_tell(const struct cli *cli, const struct json *answer);

#endif
