/* Events, envelopes and handoffs of the space as JSON Lines: see cmd_export_all.c. */
#ifndef SPINE_CLI_EXPORT_ALL_H
#define SPINE_CLI_EXPORT_ALL_H

#include "cli/cli.h"

/* To the file, or to standard output ("-"). resume: goes on with a file that was cut off. Returns the exit code. */
int export_all_run(struct cli *cli, const char *file, bool resume);

#endif
