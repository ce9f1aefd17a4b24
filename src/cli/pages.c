#include "cli/pages.h"

#include "cli/ask.h"
#include "cli/shared_options.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024 };

static const struct option pages_options[] = {
	{
		.name = "limit", .letter = 'n', .arg = "N", .type = OPTION_INT, .fallback = "20", .min = 1, .max = 1000,
		.help = "at most so many"
	},
	{
		.name = "page-token", .arg = "TOKEN", .type = OPTION_TEXT,
		.help = "go on where an answer ended: its next_page_token"
	},
};

const struct option_table pages_table = {"Pages", pages_options, OPTION_COUNT(pages_options)};

static void add_options(const struct cli *cli, struct buf *path)
{
	const char *token = options_text(&cli->options, "page-token");

	url_add_int(path, "page_size", options_int(&cli->options, "limit"));
	if (token)
		url_add(path, "page_token", str_of(token));
}

void pages_tell(const struct cli *cli, const struct json *answer)
{
	struct str next = ask_str(answer, "next_page_token");

	if (next.n && cli->out.is_terminal)
		cli_note(cli, "(there are more: --limit N, or --page-token %.*s)", STR_ARG(next));
}

int pages_run(struct cli *cli, const char *path, const char *name,
	      void (*show)(const struct cli *cli, const struct json *list))
{
	struct client_request request = {.method = "GET", .repeatable = true};
	struct ask ask;
	struct buf whole;
	int code;

	buf_init(&whole, PATH_MAX_BYTES);
	buf_puts(&whole, path);
	add_options(cli, &whole);
	request.path = buf_str(&whole).p;
	code = ask_run(cli, &request, &ask);
	if (code == CLI_OK && cli_is_json(cli)) {
		cli_write_json(cli, buf_str(&ask.reply.body));
	} else if (code == CLI_OK) {
		show(cli, ask_array(&ask.json, name));
		pages_tell(cli, &ask.json);
	}
	ask_release(&ask);
	buf_release(&whole);
	return code;
}
