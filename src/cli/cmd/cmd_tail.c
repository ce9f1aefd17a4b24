/* spine tail: prints what happens, as it happens.
 *
 * Where the connection is lost it is made again, from the id of the last event on: nothing is missed and nothing is
 * printed twice, however often the server is restarted.
 */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show_event.h"
#include "cli/stop.h"
#include "client/sse.h"
#include "client/url.h"

#include <stdio.h>

enum {
	PATH_MAX_BYTES = 64 * 1024,
	EVENT_MAX_BYTES = 16 << 20,
	EVENT_DEPTH = 16,
};

static const struct option tail_options[] = {
	{.name = "type", .arg = "TYPE", .type = OPTION_LIST,
	 .help = "only events whose type begins so: handoff., memory.stored; may be given several times"},
	{.name = "after", .arg = "ID", .type = OPTION_INT, .min = 0, .max = INT64_MAX,
	 .help = "begin behind the event with this id, 0 for the first there is; otherwise with what happens from now "
		 "on"},
	{.name = "count", .letter = 'n', .arg = "N", .type = OPTION_INT, .min = 1, .max = INT64_MAX,
	 .help = "end after so many events"},
};

static const struct option_table tail_table = {"What to follow", tail_options, OPTION_COUNT(tail_options)};

struct tail {
	struct cli *cli;
	struct stop stop;
	int64_t after;		/* the position: the id of the last event that came whole */
	int64_t left;		/* how many events are still to be printed; -1: any number */
	struct sse stream;
	bool is_broken;		/* what came is not a stream of events */
	bool has_come;		/* something has, over this connection */
};

/* --- Reading --- */

/* A part of an arena of its own, so that following for days takes no memory. */
static void print_event(struct tail *t, struct str data)
{
	struct arena *outer = t->cli->arena, arena;
	struct json event;
	struct json_error error;

	arena_init(&arena);
	t->is_broken = !json_parse(data, EVENT_DEPTH, &arena, &event, &error);
	if (!t->is_broken && cli_is_json(t->cli)) {
		cli_write_json(t->cli, data);
	} else if (!t->is_broken) {
		t->cli->arena = &arena;
		show_event_line(t->cli, &event);
		t->cli->arena = outer;
	}
	fflush(stdout);
	arena_release(&arena);
	if (t->left > 0)
		t->left--;
}

/* The last id is the position also where there was no data. */
static bool on_event(void *arg, const struct sse *stream, struct str data)
{
	struct tail *t = arg;
	uint64_t id;

	/* One with a name is none of the space: it says why the stream ends. */
	if (data.n && !stream->is_named)
		print_event(t, data);
	if (str_to_u64(buf_str(&stream->id), &id))
		t->after = (int64_t)id;
	return t->left != 0 && !t->is_broken;
}

static bool on_data(void *arg, struct str data)
{
	struct tail *t = arg;
	bool go_on = sse_feed(&t->stream, data, on_event, t);

	t->has_come = true;
	t->is_broken = t->is_broken || (!go_on && t->left != 0);
	return go_on;
}

/* --- Following --- */

static void put_path(const struct tail *t, struct buf *path, int64_t after)
{
	const struct option_value *types = options_value(&t->cli->options, "type");
	struct buf list;

	buf_init(&list, PATH_MAX_BYTES);
	for (size_t i = 0; i < types->list_count; i++)
		buf_printf(&list, "%s%s", i ? "," : "", types->list[i]);
	buf_puts(path, "/v1/events");
	if (list.len)
		url_add(path, "types", buf_str(&list));
	url_add_int(path, "after", after);
	buf_release(&list);
}

/* Asks for a page beyond the end: its answer says where the end is, and whether server and types are what they should
 * be. */
static int find_end(struct tail *t)
{
	struct buf path;
	struct ask ask;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	put_path(t, &path, INT64_MAX);
	code = ask_run_get(t->cli, buf_str(&path).p, &ask);
	if (code == CLI_OK && !options_is_given(&t->cli->options, "after"))
		t->after = ask_int(&ask.json, "next", 0);
	ask_release(&ask);
	buf_release(&path);
	return code;
}

/* A page from the same place is refused for the same reason, in words: events were pruned before they could be told. */
static int say_refusal(struct tail *t, const char *path, int status)
{
	struct ask ask;
	int code = ask_run_get(t->cli, path, &ask);

	ask_release(&ask);
	if (code != CLI_OK)
		return code;
	cli_error(t->cli, "the server answers %d", status);
	return CLI_FAILED;
}

/* One connection, until it ends. Returns false where there is no use in another. */
static bool follow_once(struct tail *t, int *ret_code)
{
	struct client_request request = {
		.method = "GET", .accept = "text/event-stream", .on_data = on_data, .data_arg = t,
		.is_stopped = stop_is_asked, .stop_arg = &t->stop,
	};
	struct client_reply reply = {0};
	struct buf path, why;
	enum client_status status;
	bool go_on;

	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&why, 4096);
	sse_restart(&t->stream);
	t->has_come = false;
	put_path(t, &path, t->after);
	request.path = buf_str(&path).p;
	status = client_call(t->cli->client, &request, &reply, &why);
	/* A server that is stopping says 503. */
	go_on = t->left != 0 && !t->is_broken && stop_count(&t->stop) == 0 && status != CLIENT_INSECURE &&
		(status != CLIENT_OK || reply.status / 100 == 2 || reply.status == 503);
	if (status == CLIENT_INSECURE) {
		cli_error(t->cli, "%s", buf_str(&why).p);
		*ret_code = CLI_FAILED;
	} else if (!go_on && status == CLIENT_OK && reply.status / 100 != 2) {
		*ret_code = say_refusal(t, request.path, reply.status);
	} else if (t->is_broken) {
		cli_error(t->cli, "what the server sends is not a stream of events");
		*ret_code = CLI_FAILED;
	}
	client_reply_release(&reply);
	buf_release(&path);
	buf_release(&why);
	return go_on;
}

static int follow(struct tail *t)
{
	int64_t pause_ms = 0;
	int code = CLI_OK;
	bool is_told = false;

	while (follow_once(t, &code)) {
		if (t->has_come) {
			pause_ms = 0;
			is_told = false;
		}
		if (!is_told)
			cli_note(t->cli,
				 "(the connection was lost; going on behind event %lld when the server is there again)",
				 (long long)t->after);
		is_told = true;
		stop_pause_longer(&t->stop, &pause_ms);
		if (stop_count(&t->stop) > 0)
			break;
	}
	return code;
}

static int exec_tail(struct cli *cli)
{
	const struct options *o = &cli->options;
	struct tail t = {
		.cli = cli, .after = options_int(o, "after"),
		.left = options_is_given(o, "count") ? options_int(o, "count") : -1,
	};
	int code = find_end(&t);

	if (code != CLI_OK)
		return code;
	if (!stop_init(&t.stop, cli))
		return CLI_FAILED;
	sse_init(&t.stream, EVENT_MAX_BYTES);
	code = follow(&t);
	sse_release(&t.stream);
	stop_release(&t.stop);
	return code;
}

const struct command cmd_tail = {
	.name = "tail",
	.summary = "Prints what happens, as it happens",
	.usage = "",
	.about = "One line an event; with --json the CloudEvent itself, one a line. Ctrl-C ends it. When the server is "
		 "restarted it goes on where it was: nothing is missed, and nothing is printed twice.",
	.examples = {
		"spine tail --after 0 --count 1",
		"timeout --preserve-status 2 spine tail --type handoff. --type breaker.",
		"spine tail --after 0 --count 1 --json | jq -r .type",
	},
	.tables = {&tail_table, &client_table},
	.exec = exec_tail,
};
