/* spine progress: says that the work on a handoff goes on. */
#include "cli/commands.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

static const struct option progress_options[] = {
	{
		.name = "work-lease", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
		.help = "how long from now, instead of as long as before"
	},
};

static const struct option_table progress_table = {"Going on", progress_options, OPTION_COUNT(progress_options)};

static int put_progress(struct cli *cli, struct json_writer *w)
{
	if (options_is_given(&cli->options, "work-lease"))
		settle_put_seconds(w, "work_lease_s", options_int(&cli->options, "work-lease"));
	return settle_put_text(cli, "note", w);
}

static int exec_progress(struct cli *cli)
{
	static const struct settle settle = {"progress", true, put_progress, show_handoff_line, false};

	return settle_run(cli, &settle);
}

const struct command cmd_progress = {
	.name = "progress",
	.summary = "Says that the work on a handoff goes on, and renews its lease",
	.usage = "LEASE [NOTE|-]",
	.examples = {"spine progress ho-1.1 \"half of the tests pass\""},
	.tables = {&progress_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_progress,
};
