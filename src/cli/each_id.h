/* Commands that do one thing to each of several memories (pin, unpin, forget) or handoffs (parked redrive, parked
 * discard). */
#ifndef SPINE_CLI_EACH_ID_H
#define SPINE_CLI_EACH_ID_H

#include "cli/cli.h"
#include "codec/json.h"

struct each_id {
	const char *method;
	const char *prefix;	/* of the path, before the id; NULL: "/v1/memories/" */
	const char *suffix;	/* of the path, after the id */
	const char *list;	/* the member with the answers; NULL: "memories" */
	struct str body;	/* the same for all; p NULL: none */
	size_t skip;		/* arguments before the first id */
	bool is_once;		/* a second time would be refused, because of the first */
	const char *done;	/* what is said of each: "pinned" */
	/* Where done is NULL: prints the answer for people. */
	void (*show)(const struct cli *cli, const struct json *answer);
};

/* Does it to every id of the arguments, also after one of them failed. With --json prints {"memories":[…]}, what the
 * server answered for each, and "problems":[…] where there were some. Returns the exit code of the first failure. */
int each_id_run(struct cli *cli, const struct each_id *what);

#endif
