/* spine envelope: reads an envelope. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/prompt.h"
#include "cli/shared_options.h"
#include "cli/show/show_envelope.h"

static const struct option envelope_options[] = {
	{.name = "prompt", .type = OPTION_FLAG,
	 .help = "what the receiving model reads, byte for byte (on a terminal control characters are made visible)"},
	{.name = "v1", .type = OPTION_FLAG, .help = "the JSON of version 1, for agents that read only that"},
};

static const struct option_table envelope_table = {"Forms", envelope_options, OPTION_COUNT(envelope_options)};

static int exec_envelope(struct cli *cli)
{
	const char *id = cli->options.args[0];
	bool v1 = options_flag(&cli->options, "v1");
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/envelopes/", id, v1 ? "?format=v1" : "?format=json"),
		.repeatable = true,
	};
	struct ask ask;
	int code;

	if (options_flag(&cli->options, "prompt")) {
		if (v1 || cli_is_json(cli))
			return cli_usage(cli, "--prompt cannot be used with --json or --v1");
		return prompt_print(cli, id);
	}
	code = ask_run(cli, &request, &ask);
	if (code == CLI_OK && (v1 || cli_is_json(cli)))
		cli_write_json(cli, buf_str(&ask.reply.body));
	else if (code == CLI_OK)
		show_envelope(cli, &ask.json);
	ask_release(&ask);
	return code;
}

const struct command cmd_envelope = {
	.name = "envelope",
	.summary = "Reads an envelope",
	.usage = "ENV",
	.about = "What became of its memories since it was packed is told at the end; it is not part of the envelope.",
	.examples = {
		"spine envelope env-1",
		"spine envelope env-1 --prompt | spine tokens",
		"spine envelope env-1 --json | jq .budget",
		"spine envelope env-1 --v1",
	},
	.tables = {&envelope_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_envelope,
};
