#include "cli/one_call.h"

#include "cli/ask.h"
#include "cli/fetch_rest.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/request/settle.h"
#include "cli/show/columns.h"
#include "client/url.h"

#include <assert.h>

enum { PATH_MAX_BYTES = 64 * 1024, BODY_MAX_BYTES = 64 * 1024 * 1024, ANSWERS_MAX_BYTES = 512 * 1024 * 1024 };

/* --- The request --- */

static int check_needs(const struct cli *cli, const struct one_call *row, size_t first)
{
	const char *reason = NULL, *sub = first ? cli->options.args[0] : "";
	int code = CLI_OK;

	if (row->needs == NULL)
		return CLI_OK;
	if (strcmp(row->needs, "reason") == 0)
		code = reason_read(cli, &reason);
	if (code == CLI_OK && reason == NULL && !options_is_given(&cli->options, row->needs))
		code = cli_usage(cli, "%s%s%s needs --%s %s: %s", cli->command->name, first ? " " : "", sub, row->needs,
				 options_value(&cli->options, row->needs)->option->arg, row->needs_why);
	return code;
}

static int put_body(struct cli *cli, const struct one_call *row, struct buf *body)
{
	struct json_writer w;
	int code = CLI_OK;

	json_writer_init(&w, body);
	json_begin_object(&w);
	if (row->settles)
		json_member_cstr(&w, "lease", cli->options.args[0]);
	if (row->put)
		code = row->put(cli, &w);
	if (code == CLI_OK)
		code = body_put_members(cli, row->members, &w);
	json_end_object(&w);
	if (code == CLI_OK && buf_overflowed(body))
		code = cli_usage(cli, "--reason is too long");
	return code;
}

static bool is_get(const struct one_call *row)
{
	return row->method == NULL || strcmp(row->method, "GET") == 0;
}

static bool has_body(const struct one_call *row)
{
	return !is_get(row) && (row->settles || row->put || row->members[0].option);
}

/* {0} is the argument of that number. */
static void put_path(const struct cli *cli, const struct one_call *row, size_t number, struct buf *path)
{
	for (const char *p = row->path; *p; p++) {
		struct str arg;

		if (*p != '{') {
			buf_putc(path, *p);
			continue;
		}
		arg = str_of(cli->options.args[number + (size_t)(p[1] - '0')]);
		url_put_escaped(path, row->settles ? str_sub(arg, 0, str_find(arg, '.')) : arg);
		p += 2;
	}
}

static int put_query(struct cli *cli, const struct one_call *row, struct buf *path)
{
	int code = row->query ? row->query(cli, path) : CLI_OK;

	if (is_get(row))
		body_add_parameters(cli, row->members, path);
	if (row->is_paged)
		pages_add(cli, path);
	if (code == CLI_OK && buf_overflowed(path))
		code = cli_usage(cli, "the words and filters are too long together");
	return code;
}

static struct client_request request_of(const struct one_call *row, const struct buf *path, struct str body)
{
	return (struct client_request){
		.method = row->method ? row->method : "GET", .path = buf_str(path).p, .body = body,
		.creates = row->creates, .repeatable = !row->creates && !row->is_once,
	};
}

/* --- The answer --- */

static void show_answer(const struct cli *cli, const struct one_call *row, const struct json *answer)
{
	const struct json *shown = row->list ? ask_array(answer, row->list) : answer;

	if (row->columns)
		columns_show(cli, shown, row->columns);
	if (row->show)
		row->show(cli, shown);
	if (row->none && shown->count == 0 && cli->out.is_terminal)
		cli_note(cli, "%s", row->none);
	if (row->is_paged)
		pages_tell(cli, answer);
}

static int call_once(struct cli *cli, const struct one_call *row, size_t first, struct str body)
{
	struct client_request request;
	struct ask ask = {0};
	struct buf path;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	put_path(cli, row, first, &path);
	code = put_query(cli, row, &path);
	request = request_of(row, &path, body);
	if (code == CLI_OK && row->prepare)
		code = row->prepare(cli, &request);
	if (code == CLI_OK)
		code = ask_run(cli, &request, &ask);
	if (code == CLI_OK && row->rest)
		code = fetch_rest_run(cli, &request, row->rest, row->settles ? cli->options.args[0] : NULL, &ask);
	if (code == CLI_OK) {
		if (cli_is_json(cli))
			ask_write(cli, &ask);
		else
			show_answer(cli, row, &ask.json);
		code = row->judge ? row->judge(cli, &ask.json) : CLI_OK;
	}
	ask_release(&ask);
	buf_release(&path);
	return code;
}

/* --- The same for each --- */

struct each {
	const struct one_call *row;
	struct str body;
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

static void take_answer(struct cli *cli, struct each *each, const struct ask *ask)
{
	if (ask->exit != CLI_OK) {
		struct str sentence = ask_sentence(cli, ask);

		each->code = each->code == CLI_OK ? ask->exit : each->code;
		add_document(&each->problems, ask_problem(cli, ask));
		if (sentence.n)
			cli_error(cli, "%.*s", STR_ARG(sentence));
	} else if (cli_is_json(cli)) {
		add_document(&each->answers, buf_str(&ask->reply.body));
	} else if (each->row->done) {
		struct str line = term_line(cli->arena, ask_str(&ask->json, "id"));

		cli_write(arena_printf(cli->arena, "%s %.*s\n", each->row->done, STR_ARG(line)));
	} else {
		each->row->show(cli, &ask->json);
	}
}

static void call_one(struct cli *cli, struct each *each, size_t number)
{
	struct client_request request;
	struct buf path;
	struct ask ask;

	buf_init(&path, PATH_MAX_BYTES);
	put_path(cli, each->row, number, &path);
	request = request_of(each->row, &path, each->body);
	ask_make(cli, &request, cli->arena, &ask);
	take_answer(cli, each, &ask);
	ask_release(&ask);
	buf_release(&path);
}

static void print_each(const struct cli *cli, const struct each *each)
{
	struct buf out;

	buf_init(&out, 2 * (size_t)ANSWERS_MAX_BYTES + 100);
	buf_printf(&out, "{\"%s\":[", each->row->list);
	buf_put(&out, buf_str(&each->answers));
	buf_putc(&out, ']');
	if (each->problems.len) {
		buf_puts(&out, ",\"problems\":[");
		buf_put(&out, buf_str(&each->problems));
		buf_putc(&out, ']');
	}
	buf_putc(&out, '}');
	cli_write_json_buf(cli, &out);
}

static int call_each(struct cli *cli, const struct one_call *row, size_t first, struct str body)
{
	struct each each = {.row = row, .body = body, .code = CLI_OK};

	buf_init(&each.answers, ANSWERS_MAX_BYTES);
	buf_init(&each.problems, ANSWERS_MAX_BYTES);
	for (size_t i = first; i < cli->options.arg_count; i++) {
		call_one(cli, &each, i);
		/* A server that is not there will not be there for the next one either. */
		if (each.code == CLI_UNREACHABLE || cli->client == NULL)
			break;
	}
	if (cli_is_json(cli) && cli->client)
		print_each(cli, &each);
	buf_release(&each.answers);
	buf_release(&each.problems);
	return each.code;
}

int one_call_run(struct cli *cli, const struct one_call *row, size_t first)
{
	struct buf body;
	int code = check_needs(cli, row, first);

	/* The list needs its end. */
	assert(row->members[CALL_MEMBERS_MAX - 1].option == NULL);
	buf_init(&body, row->max_body_bytes ? row->max_body_bytes : BODY_MAX_BYTES);
	if (code == CLI_OK && row->settles)
		code = settle_check(cli);
	if (code == CLI_OK && has_body(row))
		code = put_body(cli, row, &body);
	if (code == CLI_OK)
		code = (row->is_for_each ? call_each : call_once)(cli, row, first,
								   has_body(row) ? buf_str(&body) : STR_NULL);
	buf_release(&body);
	return code;
}
