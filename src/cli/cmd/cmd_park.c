/* spine park: sets an envelope aside, for a person to look at. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

enum { BODY_MAX_BYTES = 64 * 1024 };

static const struct option park_options[] = {
	REASON_OPTIONS("what a person reads first"),
	{
		.name = "by", .arg = "NAME", .type = OPTION_TEXT,
		.help = "who decides; the name of --agent where it is not given"
	},
};

static const struct option_table park_table = {"Why", park_options, OPTION_COUNT(park_options)};

static int exec_park(struct cli *cli)
{
	const char *reason = NULL, *by = options_text(&cli->options, "by");
	struct client_request request = {
		.method = "POST", .path = ask_path(cli->arena, "/v1/envelopes/", cli->options.args[0], "/park"),
		.creates = true,
	};
	struct json_writer w;
	struct buf body;
	int code = reason_read(cli, &reason);

	if (code != CLI_OK)
		return code;
	if (reason == NULL)
		return cli_usage(cli, "park needs --reason TEXT: what a person reads first");
	if (by && !str_is_utf8(str_of(by)))
		return cli_usage(cli, "--by is not UTF-8 text");
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	json_member_cstr(&w, "reason", reason);
	if (by)
		json_member_cstr(&w, "by", by);
	json_end_object(&w);
	request.body = buf_str(&body);
	code = buf_overflowed(&body) ? cli_usage(cli, "--reason is too long") :
		ask_print(cli, &request, show_handoff_line);
	buf_release(&body);
	return code;
}

const struct command cmd_park = {
	.name = "park",
	.summary = "Sets an envelope aside, for a person to look at",
	.usage = "ENVELOPE",
	.about = "What is on its way of it is taken back; one that was never sent is parked, too. What happens next is "
		 "said by "
		 "spine parked.",
	.examples = {"spine park env-1 --reason \"waits for the client's answer\""},
	.tables = {&park_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_park,
};
