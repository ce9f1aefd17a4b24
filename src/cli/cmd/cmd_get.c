/* spine get: reads memories, an envelope or a handoff by their ids. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_handoff.h"

enum { BODY_MAX_BYTES = 1024 * 1024, IDS_MAX = 1000 };

static const struct option get_options[] = {
	{
		.name = "raw", .letter = 'r', .type = OPTION_FLAG,
		.help = "only the text, byte for byte (on a terminal control characters are made visible all the same)"
	},
};

static const struct option_table get_table = {"Reading", get_options, OPTION_COUNT(get_options)};

static void print_memories(const struct cli *cli, const struct json *memories)
{
	bool raw = options_flag(&cli->options, "raw");

	for (uint32_t i = 0; i < memories->count && raw; i++)
		show_text(cli, ask_str(&memories->items[i], "content"));
	if (!raw)
		show_memories(cli, memories);
}

static int fetch(struct cli *cli, const struct buf *body)
{
	struct client_request request = {
		.method = "POST", .path = "/v1/memories/fetch", .body = buf_str(body), .repeatable = true,
	};

	return show_found(cli, &request, print_memories);
}

/* Of what is not a memory there is one at a time. */
static int get_other(struct cli *cli, const char *prefix,
		     void (*show)(const struct cli *cli, const struct json *answer))
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, prefix, cli->options.args[0], ""), .repeatable = true,
	};

	if (cli->options.arg_count > 1 || options_flag(&cli->options, "raw"))
		return cli_usage(cli, "an envelope or a handoff is read alone, and without --raw");
	return ask_print(cli, &request, show);
}

static int get_memories(struct cli *cli)
{
	struct json_writer w;
	struct buf body;
	int code = CLI_OK;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	json_key(&w, "ids");
	json_begin_array(&w);
	for (size_t i = 0; i < cli->options.arg_count && code == CLI_OK; i++) {
		if (str_is_utf8(str_of(cli->options.args[i])))
			json_put_cstr(&w, cli->options.args[i]);
		else
			code = cli_usage(cli, "an id is not UTF-8 text; expected ms- and a number, such as ms-4821");
	}
	json_end_array(&w);
	json_end_object(&w);
	if (code == CLI_OK)
		code = fetch(cli, &body);
	buf_release(&body);
	return code;
}

static int exec_get(struct cli *cli)
{
	struct str id = str_of(cli->options.args[0]);

	if (str_has_prefix(id, STR("env-")))
		return get_other(cli, "/v1/envelopes/", show_envelope);
	if (str_has_prefix(id, STR("ho-")))
		return get_other(cli, "/v1/handoffs/", show_handoff);
	cli->listed = "ids";
	return get_memories(cli);
}

const struct command cmd_get = {
	.name = "get",
	.summary = "Reads memories, an envelope or a handoff by their ids",
	.usage = "ID[@VERSION]...",
	.about = "Memories that were superseded or have expired are read all the same, and say so. An id that does "
		 "not exist or was forgotten is named on standard error, and the exit code is 3; the others are "
		 "printed.\n\n"
		 "With --json the document has the members memories and missing, also for a single id.\n\n"
		 "An id such as env-1 or ho-1 shows that envelope or handoff.",
	.examples = {
		"spine get ms-1",
		"spine get --raw ms-1@1",
		"spine get --json ms-1 ms-2 | jq '.memories[].tags'",
	},
	.tables = {&get_table, &client_table},
	.min_args = 1,
	.max_args = IDS_MAX,
	.exec = exec_get,
};
