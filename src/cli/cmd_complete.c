/* spine complete: ends a handoff with its result. */
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show_handoff.h"

enum { RESULT_MAX_BYTES = 8 * 1024 * 1024 };

static int put_result(struct cli *cli, struct json_writer *w)
{
	struct buf text, error;
	int code = CLI_OK;

	if (cli->options.arg_count < 2)
		return CLI_OK;
	buf_init(&text, RESULT_MAX_BYTES);
	buf_init(&error, 4096);
	if (!input_text(cli, cli->options.args[1], &text, &error)) {
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
	.about = "A result that can be read as JSON is sent as that, else as text; with \"-\" it is read from standard "
		 "input.",
	.examples = {"spine complete ho-1.1 '{\"patch\":\"ms-1\"}' --gap \"the schema was missing\""},
	.tables = {&settle_result_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_complete,
};
