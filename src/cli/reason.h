/* Why something is done: --reason and --why mean the same, everywhere. */
#ifndef SPINE_CLI_REASON_H
#define SPINE_CLI_REASON_H

#include "cli/cli.h"

/* Two options for a command's table; what is the help of the first. */
#define REASON_OPTIONS(what) \
	{ \
		.name = "reason", .arg = "TEXT", .type = OPTION_TEXT, \
		.help = what \
	}, \
	{ \
		.name = "why", .arg = "TEXT", .type = OPTION_TEXT, \
		.help = "the same as --reason" \
	}

/* What was given by either of them; NULL where neither was. Returns CLI_USAGE, having said why, where both were, or
 * where it is not UTF-8. */
int reason_read(const struct cli *cli, const char **ret);

#endif
