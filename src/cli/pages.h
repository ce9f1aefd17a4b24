/* Lists that the server answers in pages, for commands without filters. */
#ifndef SPINE_CLI_PAGES_H
#define SPINE_CLI_PAGES_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table pages_table;	/* --limit, --page-token */

/* Asks for a page of the list at path and prints it: as it came with --json, otherwise by show, which gets the array of
 * that name. */
int pages_run(struct cli *cli, const char *path, const char *name,
	      void (*show)(const struct cli *cli, const struct json *list));
/* Tells a person at a terminal that the answer was not the last page. */
void pages_tell(const struct cli *cli, const struct json *answer);

#endif
