/* spine blame: where something came into a task, and where it was lost. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024, LINE_MAX_BYTES = 1024 * 1024 };

static void put_place(const struct cli *cli, struct buf *out, const char *label, const struct json *place)
{
	if (place == NULL)
		return;
	buf_puts(out, label);
	term_put_line(out, ask_str(place, "envelope"), SIZE_MAX);
	buf_printf(out, ", hop %lld, ", (long long)ask_int(place, "hop", 0));
	buf_put(out, show_envelope_route(cli, place));
	show_fact(out, ", ", ask_str(place, "created_at"));
	show_fact(out, ", ", ask_str(place, "fate"));
	show_fact(out, " by ", ask_str(place, "by"));
	show_fact(out, ": ", ask_str(place, "reason"));
	buf_putc(out, '\n');
}

static void print_blame(const struct cli *cli, const struct json *answer)
{
	struct buf out;

	buf_init(&out, LINE_MAX_BYTES);
	term_put_line(&out, ask_str(answer, "key"), SIZE_MAX);
	show_fact(&out, ": ", ask_str(answer, "verdict"));
	buf_putc(&out, '\n');
	put_place(cli, &out, "came in with  ", json_get(answer, "introduced"));
	put_place(cli, &out, "left out in   ", json_get(answer, "left_out"));
	put_place(cli, &out, "resolved in   ", json_get(answer, "resolved"));
	put_place(cli, &out, "lost in       ", json_get(answer, "lost"));
	cli_write(buf_str(&out));
	buf_release(&out);
}

static int exec_blame(struct cli *cli)
{
	struct client_request request = {.method = "GET", .repeatable = true};
	struct ask ask;
	struct buf path;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	buf_puts(&path, ask_path(cli->arena, "/v1/tasks/", cli->options.args[0], "/blame"));
	url_add(&path, "key", str_of(cli->options.args[1]));
	request.path = buf_str(&path).p;
	code = ask_run(cli, &request, &ask);
	if (code == CLI_OK) {
		if (cli_is_json(cli))
			cli_write_json(cli, buf_str(&ask.reply.body));
		else
			print_blame(cli, &ask.json);
		if (str_is(ask_str(&ask.json, "verdict"), "never there"))
			code = CLI_NOT_FOUND;
	}
	ask_release(&ask);
	buf_release(&path);
	return code;
}

const struct command cmd_blame = {
	.name = "blame",
	.summary = "Says where something came into a task, and where it was lost",
	.usage = "TASK KEY",
	.about = "KEY names a constraint, a memory (ms-4821), an open decision by its text, or \"intent\". What a hop "
		 "left out and a later one has again is still there. The exit code is 3 where it was never there.",
	.examples = {"spine blame task-1 max_retries", "spine blame task-1 intent"},
	.tables = {&client_table},
	.min_args = 2,
	.max_args = 2,
	.exec = exec_blame,
};
