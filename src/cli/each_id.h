/* Commands that do one thing to each of several memories: pin, unpin, forget. */
#ifndef SPINE_CLI_EACH_ID_H
#define SPINE_CLI_EACH_ID_H

#include "cli/cli.h"

struct each_id {
	const char *method;
	const char *suffix;	/* of the path, after the id */
	const char *done;	/* what is said of each: "pinned" */
};

/* Does it to every id of the arguments, also after one of them failed. With --json prints {"memories":[…]}, what the
 * server answered for each, and "problems":[…] where there were some. Returns the exit code of the first failure. */
int each_id_run(struct cli *cli, const struct each_id *what);

#endif
