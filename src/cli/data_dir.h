/* Which data directory a command that opens the files itself works on.
 *
 *     --data or SPINE_DATA    that one; where SPINE_URL names a server that keeps its store elsewhere, it is said
 *     --url or SPINE_URL      that of the server there, which must be on this machine
 *     neither                 the usual one
 */
#ifndef SPINE_CLI_DATA_DIR_H
#define SPINE_CLI_DATA_DIR_H

#include "cli/cli.h"

extern const struct option_table store_table;	/* --data, --url */

/* CLI_OK and the directory, in the arena; or the exit code, with the reason told. */
int data_dir_choose(const struct cli *cli, const char **ret);
/* Both are there, and the same. */
bool data_dir_is_same(const char *a, const char *b);

#endif
