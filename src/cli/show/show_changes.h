/* What became of things on the way from one envelope to another, as people read it. */
#ifndef SPINE_CLI_SHOW_CHANGES_H
#define SPINE_CLI_SHOW_CHANGES_H

#include "cli/cli.h"
#include "codec/json.h"

/* How much of one envelope is left in another, and a line for each change. */
void show_diff(const struct cli *cli, const struct json *diff);
/* A task's hops in lines: what each kept of the one before and of the first, what it did to the constraints, which
 * memories it dropped and why. With compare, beside it, what a chain that loses ten percent a hop would have left. */
void show_fidelity(const struct cli *cli, const struct json *fidelity, bool compare);

#endif
