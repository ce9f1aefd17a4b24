/* spine versions: the history of a memory. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "client/url.h"

static const struct option versions_options[] = {
	{
		.name = "limit", .letter = 'n', .arg = "N", .type = OPTION_INT, .fallback = "20", .min = 1, .max = 1000,
		.help = "at most so many"
	},
	{
		.name = "page-token", .arg = "TOKEN", .type = OPTION_TEXT,
		.help = "go on where an answer ended: its next_page_token"
	},
};

static const struct option_table versions_table = {"Pages", versions_options, OPTION_COUNT(versions_options)};

static int exec_versions(struct cli *cli)
{
	const char *token = options_text(&cli->options, "page-token");
	struct client_request request = {.method = "GET", .repeatable = true};
	struct ask ask;
	struct buf path;
	int code;

	buf_init(&path, 64 * 1024);
	buf_puts(&path, ask_memory_path(cli->arena, cli->options.args[0], "/versions"));
	url_add_int(&path, "page_size", options_int(&cli->options, "limit"));
	if (token)
		url_add(&path, "page_token", str_of(token));
	request.path = buf_str(&path).p;
	code = ask_run(cli, &request, &ask);
	if (code == CLI_OK && cli_is_json(cli)) {
		cli_write_json(cli, buf_str(&ask.reply.body));
	} else if (code == CLI_OK) {
		struct str next = ask_str(&ask.json, "next_page_token");

		show_versions(cli, ask_array(&ask.json, "versions"));
		if (next.n && cli->out.is_terminal)
			cli_note(cli, "(there are more: --limit N, or --page-token %.*s)", STR_ARG(next));
	}
	ask_release(&ask);
	buf_release(&path);
	return code;
}

const struct command cmd_versions = {
	.name = "versions",
	.summary = "Lists the versions of a memory, the newest first",
	.usage = "ID",
	.examples = {"spine versions ms-1"},
	.tables = {&versions_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_versions,
};
