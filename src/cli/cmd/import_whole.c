/* spine import of a file that spine export --whole has written. Settings, agents, channels and routes are set as
 * anybody sets them; rows go to POST /v1/import, many of one kind at a time. What is there already is left alone, so
 * the same import can be run again. */
#include "cli/cmd/export_whole.h"

#include "base/mem.h"
#include "cli/ask.h"
#include "cli/progress.h"

#include <stdlib.h>

enum { BATCH_ROWS = 500, BATCH_BYTES = 2 * 1024 * 1024, BODY_MAX_BYTES = 64 * 1024 * 1024 };

struct import_whole {
	struct cli *cli;
	struct progress progress;
	const char *list;		/* what the batch is of; NULL: it is empty */
	uint64_t first;			/* the line that it begins with */
	size_t count;
	struct buf body;		/* {"memories":[…  */
	int64_t set;			/* settings, agents, channels and routes */
	int64_t imported;
	int64_t unchanged;
};

struct import_whole *import_whole_new(struct cli *cli)
{
	struct import_whole *w = mem_zalloc(sizeof(*w));

	w->cli = cli;
	buf_init(&w->body, BODY_MAX_BYTES);
	progress_init(&w->progress, cli, "rows", 0);
	return w;
}

void import_whole_free(struct import_whole *w)
{
	if (w == NULL)
		return;
	buf_release(&w->body);
	free(w);
}

static int fail(struct import_whole *w, uint64_t line, const struct ask *ask)
{
	progress_end(&w->progress);
	cli_note(w->cli, "spine: line %llu, or one of those behind it, was refused:", (unsigned long long)line);
	ask_report(w->cli, ask);
	if (w->imported + w->unchanged)
		cli_note(w->cli, "%lld rows before it are there; importing the file again finds them.",
			 (long long)(w->imported + w->unchanged));
	return ask->exit;
}

static int call(struct import_whole *w, const char *method, const char *path, struct str body, uint64_t line)
{
	struct client_request request = {.method = method, .path = path, .body = body, .repeatable = true};
	struct arena arena;
	struct ask ask;
	int code;

	arena_init(&arena);
	ask_make(w->cli, &request, &arena, &ask);
	code = ask.exit == CLI_OK ? CLI_OK : fail(w, line, &ask);
	w->imported += ask_int(&ask.json, "imported", 0);
	w->unchanged += ask_int(&ask.json, "unchanged", 0);
	ask_release(&ask);
	arena_release(&arena);
	return code;
}

/* --- Rows --- */

static int flush(struct import_whole *w)
{
	int code = CLI_OK;

	if (w->count) {
		buf_puts(&w->body, "]}");
		code = call(w, "POST", "/v1/import", buf_str(&w->body), w->first);
	}
	buf_clear(&w->body);
	w->count = 0;
	w->list = NULL;
	progress_show(&w->progress, w->imported + w->unchanged, 0);
	return code;
}

static int add_row(struct import_whole *w, const char *list, const struct json *row, uint64_t line)
{
	struct json_writer writer;
	int code = CLI_OK;

	if (w->list && (w->list != list || w->count == BATCH_ROWS || w->body.len > BATCH_BYTES))
		code = flush(w);
	if (code != CLI_OK)
		return code;
	if (w->count == 0) {
		w->list = list;
		w->first = line;
		buf_printf(&w->body, "{\"%s\":[", list);
	} else {
		buf_putc(&w->body, ',');
	}
	json_writer_init(&writer, &w->body);
	json_put(&writer, row);
	w->count++;
	return CLI_OK;
}

/* --- Settings --- */

/* Those members of a thing that can be set; what is null is not. */
static void put_members(struct json_writer *w, const struct json *thing, const char *const *names)
{
	json_begin_object(w);
	for (; *names; names++) {
		const struct json *value = json_get(thing, *names);

		if (value && value->type != JSON_NULL) {
			json_key(w, *names);
			json_put(w, value);
		}
	}
	json_end_object(w);
}

static int set(struct import_whole *w, const char *path, const struct json *thing, const char *const *names,
	       uint64_t line)
{
	struct json_writer writer;
	struct buf body;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&writer, &body);
	put_members(&writer, thing, names);
	code = call(w, "PUT", path, buf_str(&body), line);
	buf_release(&body);
	w->set += code == CLI_OK;
	return code;
}

static int set_space(struct import_whole *w, const struct json *space, uint64_t line)
{
	static const char *const names[] = {"guard", "locked", "trust_floor", "keep_handoffs_s", "keep_events_s",
					    "keep_idle_s", NULL};

	return set(w, "/v1/space", space, names, line);
}

static const char *path_of(struct import_whole *w, const char *prefix, struct str name, const char *suffix)
{
	return ask_path(w->cli->arena, prefix, arena_cstr(w->cli->arena, name), suffix);
}

static int set_agent(struct import_whole *w, const struct json *agent, uint64_t line)
{
	static const char *const names[] = {
		"accepts", "tokenizer", "max_tokens", "description", "fetch_hint", "ack_timeout_s", "max_attempts",
		"queue_timeout_s", "fallbacks", NULL,
	};

	struct str name = term_line(w->cli->arena, ask_str(agent, "name"));
	struct str webhook = term_line(w->cli->arena, ask_str(agent, "webhook"));

	/* Its receiver must be told the new secret, which is shown once. */
	if (webhook.n)
		cli_note(w->cli, "spine: %.*s had the webhook %.*s: its secret was not exported. Register it again "
			 "with spine agent, which shows a new one", STR_ARG(name), STR_ARG(webhook));
	return set(w, path_of(w, "/v1/agents/", ask_str(agent, "name"), ""), agent, names, line);
}

static int set_channel(struct import_whole *w, const struct json *channel, uint64_t line)
{
	static const char *const names[] = {"description", NULL};
	const char *path = path_of(w, "/v1/channels/", ask_str(channel, "name"), "");
	const struct json *subscribers = ask_array(channel, "subscribers");
	int code = set(w, path, channel, names, line);

	for (uint32_t i = 0; code == CLI_OK && i < subscribers->count; i++) {
		const char *prefix = arena_printf(w->cli->arena, "%s/subscribers/", path).p;

		code = call(w, "PUT", path_of(w, prefix, subscribers->items[i].s, ""), STR_NULL, line);
	}
	return code;
}

static int set_route(struct import_whole *w, const struct json *route, uint64_t line)
{
	static const char *const names[] = {"from", "to", "when", "order", "description", NULL};

	return set(w, path_of(w, "/v1/routes/", ask_str(route, "name"), ""), route, names, line);
}

/* --- Lines --- */

int import_whole_add(struct import_whole *w, const struct json *line, uint64_t number)
{
	static const struct { const char *kind, *list; } rows[] = {
		{"memory", "memories"}, {"envelope", "envelopes"}, {"handoff", "handoffs"}, {0},
	};
	static const struct {
		const char *kind;
		int (*set)(struct import_whole *w, const struct json *thing, uint64_t line);
	} settings[] = {
		{"space", set_space}, {"agent", set_agent}, {"channel", set_channel}, {"route", set_route}, {0},
	};
	const struct json *value;

	for (size_t i = 0; rows[i].kind; i++)
		if ((value = json_get(line, rows[i].kind)) && value->type == JSON_OBJECT)
			return add_row(w, rows[i].list, value, number);
	for (size_t i = 0; settings[i].kind; i++)
		if ((value = json_get(line, settings[i].kind)) && value->type == JSON_OBJECT) {
			int code = flush(w);

			return code == CLI_OK ? settings[i].set(w, value, number) : code;
		}
	cli_error(w->cli, "line %llu: its kind is not known; the file is of a newer spine, or was changed",
		  (unsigned long long)number);
	return CLI_FAILED;
}

int import_whole_end(struct import_whole *w)
{
	int code = flush(w);
	struct json_writer writer;
	struct buf out;

	progress_end(&w->progress);
	if (code != CLI_OK)
		return code;
	if (!cli_is_json(w->cli)) {
		cli_write(arena_printf(w->cli->arena, "imported %lld rows, and %lld settings\n", (long long)w->imported,
				       (long long)w->set));
		if (w->unchanged)
			cli_write(arena_printf(w->cli->arena, "%lld were there already\n", (long long)w->unchanged));
		return CLI_OK;
	}
	buf_init(&out, 65536);
	json_writer_init(&writer, &out);
	json_begin_object(&writer);
	json_member_int(&writer, "imported", w->imported);
	json_member_int(&writer, "unchanged", w->unchanged);
	json_member_int(&writer, "settings", w->set);
	json_end_object(&writer);
	cli_write_json_buf(w->cli, &out);
	return CLI_OK;
}
