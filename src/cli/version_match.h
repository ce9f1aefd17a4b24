/* "Only if it is still at this version": the option --if-version and its header. */
#ifndef SPINE_CLI_VERSION_MATCH_H
#define SPINE_CLI_VERSION_MATCH_H

#include "cli/cli.h"

extern const struct option_table version_match_table;

/* The value of If-Match for the memory, or NULL where the option was not given. In the arena. */
const char *version_match(const struct cli *cli, const char *id);

#endif
