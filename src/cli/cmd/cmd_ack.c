/* spine ack: accepts a handoff that was received. */
#include "cli/commands.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

static const struct option ack_options[] = {
	{
		.name = "work-lease", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
		.help = "hand the work to somebody else where nothing is heard for so long: spine progress renews it"
	},
};

static const struct option_table ack_table = {"Accepting", ack_options, OPTION_COUNT(ack_options)};

static int put_ack(struct cli *cli, struct json_writer *w)
{
	if (options_is_given(&cli->options, "work-lease"))
		settle_put_seconds(w, "work_lease_s", options_int(&cli->options, "work-lease"));
	return settle_put_facts(cli, w);
}

static int exec_ack(struct cli *cli)
{
	static const struct settle settle = {"ack", true, put_ack, show_handoff_line, false};

	return settle_run(cli, &settle);
}

const struct command cmd_ack = {
	.name = "ack",
	.summary = "Accepts a handoff: the sender knows that it has arrived",
	.usage = "LEASE",
	.about = "The lease is what spine receive told, such as ho-12.1. Doing it twice is the same as once. A lease "
		 "that has ended is refused with exit code 4, and nothing is changed.",
	.examples = {"spine ack ho-1.1 --work-lease 5m"},
	.tables = {&ack_table, &settle_result_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_ack,
};
