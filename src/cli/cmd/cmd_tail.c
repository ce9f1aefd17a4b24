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
	int64_t id;		/* of the one that is being read */
	int64_t left;		/* how many events are still to be printed; -1: any number */
	struct buf in;		/* what is not a whole line yet */
	struct buf data;	/* of the event that is being read */
	bool is_broken;		/* what came is not a stream of events */
	bool has_come;		/* something has, over this connection */
};

/* --- Reading --- */

/* A part of an arena of its own, so that following for days takes no memory. */
static void print_event(struct tail *t)
{
	struct arena *outer = t->cli->arena, arena;
	struct json event;
	struct json_error error;

	arena_init(&arena);
	t->is_broken = !json_parse(buf_str(&t->data), EVENT_DEPTH, &arena, &event, &error);
	if (!t->is_broken && cli_is_json(t->cli)) {
		cli_write_json(t->cli, buf_str(&t->data));
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

static struct str value_of(struct str line)
{
	struct str value = line;

	str_cut(&value, ':');
	if (value.n && value.p[0] == ' ')
		value = str_sub(value, 1, value.n);
	return value.p ? value : STR("");
}

/* By the rules of server-sent events: an empty line ends an event, and the last id is the position also where there
 * was no data. */
static void take_line(struct tail *t, struct str line)
{
	uint64_t id;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n == 0) {
		if (t->data.len)
			print_event(t);
		buf_clear(&t->data);
		t->after = t->id;
	} else if (str_has_prefix(line, STR("data:"))) {
		buf_put(&t->data, value_of(line));
	} else if (str_has_prefix(line, STR("id:")) && str_to_u64(value_of(line), &id)) {
		t->id = (int64_t)id;
	}
}

static bool on_data(void *arg, struct str data)
{
	struct tail *t = arg;
	struct str rest, line;

	t->has_come = true;
	buf_put(&t->in, data);
	rest = buf_str(&t->in);
	while (t->left != 0 && !t->is_broken && str_find(rest, '\n') < rest.n) {
		line = str_cut(&rest, '\n');
		take_line(t, line);
	}
	buf_consume(&t->in, t->in.len - rest.n);
	t->is_broken = t->is_broken || buf_overflowed(&t->in) || buf_overflowed(&t->data);
	return t->left != 0 && !t->is_broken;
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
	buf_clear(&t->in);
	buf_clear(&t->data);
	t->has_come = false;
	t->id = t->after;
	put_path(t, &path, t->after);
	request.path = buf_str(&path).p;
	status = client_call(t->cli->client, &request, &reply, &why);
	/* A server that is stopping says 503. */
	go_on = t->left != 0 && !t->is_broken && stop_count(&t->stop) == 0 &&
		(status != CLIENT_OK || reply.status / 100 == 2 || reply.status == 503);
	if (!go_on && status == CLIENT_OK && reply.status / 100 != 2) {
		cli_error(t->cli, "the server answers %d", reply.status);
		*ret_code = CLI_FAILED;
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
	buf_init(&t.in, EVENT_MAX_BYTES);
	buf_init(&t.data, EVENT_MAX_BYTES);
	code = follow(&t);
	buf_release(&t.in);
	buf_release(&t.data);
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
