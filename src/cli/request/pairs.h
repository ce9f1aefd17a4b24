/* Options that are given as KEY=VALUE, several times. The first "=" divides. */
#ifndef SPINE_CLI_PAIRS_H
#define SPINE_CLI_PAIRS_H

#include "cli/cli.h"
#include "codec/json.h"

/* Writes a member for each KEY=VALUE of the option; VALUE is JSON where it can be read as that, else text. A key that
 * is given twice is refused, and so is `taken` (may be NULL), which another option has written. Returns
 * CLI_OK, or CLI_USAGE with the reason told; so does the next one. */
int pairs_put_members(const struct cli *cli, const char *option, const char *taken, struct json_writer *w);
/* Writes an array of {"name_of_key":KEY,"name_of_value":VALUE}, both as text. */
int pairs_put_objects(const struct cli *cli, const char *option, const char *name_of_key, const char *name_of_value,
		      struct json_writer *w);

#endif
