/* spine nack: gives a handoff back, for another attempt. */
#include "cli/commands.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

static const struct option nack_options[] = {
	{
		.name = "delay", .letter = 'd', .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 86400000,
		.help = "how long until the next attempt; 2, 4, 8 … seconds where it is not given"
	},
};

static const struct option_table nack_table = {"Trying again", nack_options, OPTION_COUNT(nack_options)};

static int put_nack(struct cli *cli, struct json_writer *w)
{
	if (options_is_given(&cli->options, "delay"))
		settle_put_seconds(w, "delay_s", options_int(&cli->options, "delay"));
	return settle_put_reason(cli, false, w);
}

static int exec_nack(struct cli *cli)
{
	static const struct settle settle = {"nack", false, put_nack, show_handoff_line, false};

	return settle_run(cli, &settle);
}

const struct command cmd_nack = {
	.name = "nack",
	.summary = "Gives a handoff back: it is tried again, then falls back, then is parked",
	.usage = "LEASE [REASON|-]",
	.about = "The reason may be given as an argument or by --reason; with \"-\" it is read from standard input.",
	.examples = {"spine nack ho-2.1 \"the compiler is not there\" --delay 0"},
	.tables = {&nack_table, &settle_reason_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_nack,
};
