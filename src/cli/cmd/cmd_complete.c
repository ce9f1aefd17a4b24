/* spine complete: ends a handoff with its result. */
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

enum { RESULT_MAX_BYTES = 8 * 1024 * 1024 };

static const struct option complete_options[] = {
	{
		.name = "result", .arg = "RESULT", .type = OPTION_TEXT,
		.help = "the result, where it is not given as an argument"
	},
	{
		.name = "no-remember", .type = OPTION_FLAG,
		.help = "keep the result out of the memories of the task"
	},
};

static const struct option_table complete_table = {"Result", complete_options, OPTION_COUNT(complete_options)};

static int put_result(struct cli *cli, struct json_writer *w)
{
	const char *result;
	struct buf text, error;
	int code = settle_argument(cli, "result", options_text(&cli->options, "result"), &result);

	if (code != CLI_OK || result == NULL)
		return code;
	buf_init(&text, RESULT_MAX_BYTES);
	buf_init(&error, 4096);
	if (!input_text(cli, result, &text, &error)) {
		cli_error(cli, "%s", buf_str(&error).p);
		code = CLI_FAILED;
	} else if (!settle_put_result(buf_str(&text), cli->arena, w)) {
		code = cli_usage(cli, "the result is not UTF-8 text");
	}
	buf_release(&text);
	buf_release(&error);
	return code;
}

static int put_complete(struct cli *cli, struct json_writer *w)
{
	int code = put_result(cli, w);

	if (options_flag(&cli->options, "no-remember"))
		json_member_bool(w, "remember", false);
	return code == CLI_OK ? settle_put_facts(cli, w) : code;
}

static int exec_complete(struct cli *cli)
{
	static const struct settle settle = {"complete", true, put_complete, show_handoff_line, false};

	return settle_run(cli, &settle);
}

const struct command cmd_complete = {
	.name = "complete",
	.summary = "Ends a handoff with its result; one that was not acked is acked with it",
	.usage = "LEASE [RESULT|-]",
	.about = "The result may be given as an argument or by --result. One that can be read as JSON is sent as that, "
		 "else as text; with \"-\" it is read from standard input. It becomes a memory of the task (kind "
		 "output), and the next agent finds it in its prompt.",
	.examples = {"spine complete ho-1.1 '{\"patch\":\"ms-1\"}' --gap \"the schema was missing\""},
	.tables = {&complete_table, &settle_result_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_complete,
};
