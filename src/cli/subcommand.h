/* Commands whose first argument says what is to be done: `spine parked redrive ho-1`. */
#ifndef SPINE_CLI_SUBCOMMAND_H
#define SPINE_CLI_SUBCOMMAND_H

#include "cli/cli.h"

enum { SUBCOMMAND_OPTIONS_MAX = 12 };

struct subcommand {
	const char *name;	/* NULL ends the list */
	const char *usage;	/* its arguments: "ID --to AGENT" */
	size_t min_args;	/* behind the name */
	size_t max_args;
	/* Those of the command's first table that it takes, ended by NULL. */
	const char *options[SUBCOMMAND_OPTIONS_MAX];
	int (*exec)(struct cli *cli);	/* NULL: it makes a call */
	struct one_call call;
};

/* Runs the one that the first argument names, or the first of the list where there is no argument. */
int subcommand_run(struct cli *cli, const struct subcommand *list);

#endif
