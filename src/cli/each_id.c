#include "cli/each_id.h"

#include "cli/ask.h"

enum { DOCUMENT_MAX_BYTES = 512 * 1024 * 1024 };

struct each {
	const struct each_id *what;
	struct buf answers;	/* JSON, divided by commas */
	struct buf problems;
	int code;
};

static void add_document(struct buf *list, struct str document)
{
	if (list->len > 0)
		buf_putc(list, ',');
	buf_put(list, document);
}

static void do_one(struct cli *cli, struct each *each, const char *id)
{
	struct client_request request = {
		.method = each->what->method,
		.path = ask_path(cli->arena, each->what->prefix ? each->what->prefix : "/v1/memories/", id,
				 each->what->suffix),
		.body = each->what->body,
		.repeatable = !each->what->is_once,
	};
	struct ask ask;

	ask_make(cli, &request, cli->arena, &ask);
	if (ask.exit != CLI_OK) {
		struct str sentence = ask_sentence(cli, &ask);

		each->code = each->code == CLI_OK ? ask.exit : each->code;
		add_document(&each->problems, ask_problem(cli, &ask));
		if (sentence.n)
			cli_error(cli, "%.*s", STR_ARG(sentence));
	} else if (cli_is_json(cli)) {
		add_document(&each->answers, buf_str(&ask.reply.body));
	} else if (each->what->done == NULL) {
		each->what->show(cli, &ask.json);
	} else {
		struct str line = term_line(cli->arena, ask_str(&ask.json, "id"));

		cli_write(arena_printf(cli->arena, "%s %.*s\n", each->what->done, STR_ARG(line)));
	}
	ask_release(&ask);
}

int each_id_run(struct cli *cli, const struct each_id *what)
{
	struct each each = {.what = what, .code = CLI_OK};

	buf_init(&each.answers, DOCUMENT_MAX_BYTES);
	buf_init(&each.problems, DOCUMENT_MAX_BYTES);
	for (size_t i = what->skip; i < cli->options.arg_count; i++) {
		do_one(cli, &each, cli->options.args[i]);
		/* A server that is not there will not be there for the next one either. */
		if (each.code == CLI_UNREACHABLE || cli->client == NULL)
			break;
	}
	if (cli_is_json(cli) && cli->client) {
		struct buf out;

		buf_init(&out, 2 * (size_t)DOCUMENT_MAX_BYTES + 100);
		buf_printf(&out, "{\"%s\":[", what->list ? what->list : "memories");
		buf_put(&out, buf_str(&each.answers));
		buf_putc(&out, ']');
		if (each.problems.len) {
			buf_puts(&out, ",\"problems\":[");
			buf_put(&out, buf_str(&each.problems));
			buf_putc(&out, ']');
		}
		buf_putc(&out, '}');
		cli_write_json(cli, buf_str(&out));
		buf_release(&out);
	}
	buf_release(&each.answers);
	buf_release(&each.problems);
	return each.code;
}
