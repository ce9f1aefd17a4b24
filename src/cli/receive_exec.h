/* `spine receive --exec`: a program does the work of a handoff, and its exit code answers for it. */
#ifndef SPINE_CLI_RECEIVE_EXEC_H
#define SPINE_CLI_RECEIVE_EXEC_H

#include "cli/cli.h"
#include "cli/stop.h"
#include "codec/json.h"

/* The exit code by which a program rejects what it got: EX_DATAERR of sysexits.h. */
enum { RECEIVE_EXIT_REJECT = 65 };

struct receive_exec {
	const char *agent;		/* borrowed, as are the following */
	const char *const *argv;	/* what to run, ended by NULL */
	bool json_input;		/* the handoff as JSON instead of the prompt */
	bool ack_first;			/* ack when the work begins, not when it is done */
	int64_t work_lease_ms;
	int64_t grace_ms;		/* how long the work may go on after a signal; -1: until it ends */
	struct stop *stop;
	/* Set when the program cannot be run at all: going on would fail everything that is queued. */
	bool is_broken;
};

/* Runs the program for one handoff of a receive's answer, renews the lease meanwhile, and settles it. Returns CLI_OK
 * where it was completed. */
int receive_exec_run(struct cli *cli, struct receive_exec *exec, const struct json *handoff);

#endif
