/* What `list` and `search` ask for, and how they show it. */
#ifndef SPINE_CLI_FILTERS_H
#define SPINE_CLI_FILTERS_H

#include "cli/cli.h"

extern const struct option_table filters_table;

/* Appends the filters that were given to the path as a query. Returns CLI_OK, or CLI_USAGE with the reason told. */
int filters_put(const struct cli *cli, struct buf *path);
/* Asks for the path and prints the page of memories: the document with --json, else a table. Returns the exit code. */
int filters_run(struct cli *cli, const struct buf *path);

#endif
