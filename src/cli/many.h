/* What a person decides about handoffs: one, several that are named, or all that fit a filter.
 *
 *     static const struct many_call many = {
 *             .name = "cancel", .verb = "cancel", .past = "cancelled", .path = "/v1/queued/cancel",
 *     };
 *
 *     return many_decide(cli, &many, &each, 0);
 *
 * With ids it is a call for each, `each`. Without them, or to see what would be done, it is the server's call for many:
 * a hundred at a time, each a transaction, until all are done. */
#ifndef SPINE_CLI_MANY_H
#define SPINE_CLI_MANY_H

#include "cli/cli.h"

struct many_call {
	const char *name;	/* how the command is called: "parked reroute" */
	const char *verb;	/* "reroute" */
	const char *past;	/* "rerouted" */
	const char *path;	/* of the server's call */
	const char *other;	/* the option that names the new agent, "reroute-to"; NULL: there is none */
	const char *other_name;	/* the member that it becomes */
	const char *needs_why;	/* why --why must be given; NULL: it need not */
};

/* Does it, and shows what was done. The arguments from `first` on are ids. The command has the options --all, --to,
 * --from, --reason, --task, --since, --before, --dry-run, --limit, --why and --by. With ids --reason is --why, and --to
 * is the new agent. Returns the exit code: CLI_CONFLICT where some were refused. */
int many_decide(struct cli *cli, const struct many_call *call, const struct one_call *each, size_t first);

#endif
