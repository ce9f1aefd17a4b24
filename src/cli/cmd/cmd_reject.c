/* spine reject: refuses a handoff for good. */
#include "cli/commands.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

static int put_reject(struct cli *cli, struct json_writer *w)
{
	return settle_put_reason(cli, true, w);
}

static int exec_reject(struct cli *cli)
{
	static const struct settle settle = {"reject", false, put_reject, show_handoff_line, false};

	return settle_run(cli, &settle);
}

const struct command cmd_reject = {
	.name = "reject",
	.summary = "Refuses a handoff for good: it goes to a fallback agent, or is parked",
	.usage = "LEASE REASON|- | LEASE --reason TEXT",
	.about = "A reason is needed: as an argument, or by --reason; with \"-\" it is read from standard input.",
	.examples = {"spine reject ho-2.2 \"this needs a person\""},
	.tables = {&settle_reason_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_reject,
};
