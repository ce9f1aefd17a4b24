/* The fields of a memory as options of `store` and `update`. */
#ifndef SPINE_CLI_FIELDS_H
#define SPINE_CLI_FIELDS_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table fields_table;

/* Writes the members for the options that were given. Returns CLI_OK, or CLI_USAGE with the reason told. */
int fields_put(const struct cli *cli, struct json_writer *w);

#endif
