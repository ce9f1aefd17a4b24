/* What `list` and `search` ask for. */
#ifndef SPINE_CLI_FILTERS_H
#define SPINE_CLI_FILTERS_H

#include "cli/cli.h"

extern const struct option_table filters_table;

/* Appends the filters that were given to the path as a query; --limit and --page-token are left to the row. Returns
 * CLI_OK, or CLI_USAGE with the reason told. */
int filters_put(struct cli *cli, struct buf *path);

#endif
