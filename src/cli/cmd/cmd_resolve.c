/* spine resolve: fetches what an envelope left out or missed. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"

enum { BODY_MAX_BYTES = 1024 * 1024, IDS_MAX = 1000 };

static int put_body(const struct cli *cli, struct buf *out)
{
	struct json_writer w;
	int code = CLI_OK;

	json_writer_init(&w, out);
	json_begin_object(&w);
	if (cli->options.arg_count > 1) {
		json_key(&w, "ids");
		json_begin_array(&w);
		for (size_t i = 1; i < cli->options.arg_count && code == CLI_OK; i++) {
			code = fields_check_text(cli, "an id", str_of(cli->options.args[i]));
			if (code == CLI_OK)
				json_put_cstr(&w, cli->options.args[i]);
		}
		json_end_array(&w);
	}
	json_end_object(&w);
	return code;
}

static int send_body(struct cli *cli, const struct buf *body)
{
	struct client_request request = {
		.method = "POST", .path = ask_path(cli->arena, "/v1/envelopes/", cli->options.args[0], "/resolve"),
		.body = buf_str(body), .repeatable = true,
	};

	return show_found(cli, &request, show_memories);
}

static int exec_resolve(struct cli *cli)
{
	struct buf body;
	int code;

	cli->listed = "ids";
	cli->listed_from = 1;
	buf_init(&body, BODY_MAX_BYTES);
	code = put_body(cli, &body);
	if (code == CLI_OK)
		code = send_body(cli, &body);
	buf_release(&body);
	return code;
}

const struct command cmd_resolve = {
	.name = "resolve",
	.summary = "Fetches what an envelope trimmed or missed, as it is now",
	.usage = "ENV [ID]...",
	.about = "Without ids, all of it. A receipt says who opened what: name yourself with --agent. What still "
		 "cannot be found is named on standard error, and the exit code is 3; the others are printed.",
	.examples = {"spine resolve env-1 ms-1 --agent coder"},
	.tables = {&client_table},
	.min_args = 1,
	.max_args = IDS_MAX + 1,
	.exec = exec_resolve,
};
