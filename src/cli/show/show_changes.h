/* What became of things on the way from one envelope to another, as people read it. */
#ifndef SPINE_CLI_SHOW_CHANGES_H
#define SPINE_CLI_SHOW_CHANGES_H

#include "cli/cli.h"
#include "codec/json.h"

/* A line for each change. */
void show_changes(const struct cli *cli, const struct json *changes);
/* A task's hops in lines: what each kept of the one before and of the first, what it did to the constraints, which
 * memories it dropped and why. */
void show_fidelity(const struct cli *cli, const struct json *fidelity);
/* The same, and beside it what a chain that loses ten percent a hop would have left. */
void show_fidelity_compared(const struct cli *cli, const struct json *fidelity);

#endif
