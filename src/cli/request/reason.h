/* Why something is done: --reason and --why mean the same, everywhere. */
#ifndef SPINE_CLI_REASON_H
#define SPINE_CLI_REASON_H

#include "cli/cli.h"
#include "codec/json.h"

/* Two options for a command's table; what is the help of the first. */
#define REASON_OPTIONS(what) \
	{.name = "reason", .arg = "TEXT", .type = OPTION_TEXT, .help = what}, \
	{.name = "why", .arg = "TEXT", .type = OPTION_TEXT, .help = "the same as --reason"}

/* What was given by either of them; NULL where neither was. Returns CLI_USAGE, having said why, where both were, or
 * where it is not UTF-8. */
int reason_read(const struct cli *cli, const char **ret);
/* Writes the member of that name where a reason was given. In the same way. */
int reason_put(const struct cli *cli, const char *name, struct json_writer *w);
/* Who decides something: the member "by" (see cli_person()). In the same way. */
int reason_put_person(const struct cli *cli, struct json_writer *w);
/* Who decides something and why: the members "why" and "by" of the two above. In the same way. */
int reason_put_decision(struct cli *cli, struct json_writer *w);

#endif
