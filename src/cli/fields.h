/* The fields of a memory as options of `store` and `update`. */
#ifndef SPINE_CLI_FIELDS_H
#define SPINE_CLI_FIELDS_H

#include "cli/cli.h"
#include "codec/json.h"

extern const struct option_table fields_table;

/* Any of the options was given. */
bool fields_any(const struct cli *cli);
/* Writes the members for the options that were given. Returns CLI_OK, or CLI_USAGE with the reason told. */
int fields_put(const struct cli *cli, struct json_writer *w);

/* The text for "content" or "summary" must be UTF-8, because JSON is; what says which text. Returns CLI_OK or
 * CLI_USAGE. */
int fields_check_text(const struct cli *cli, const char *what, struct str text);

#endif
