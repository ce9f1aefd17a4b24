/* spine export --whole: all that can be brought back elsewhere. First settings, agents, channels and routes, as the
 * server shows them, then the rows of memories, envelopes and handoffs (GET /v1/export), in the order of their numbers.
 * Each line is an object with one member, whose name is its kind. */
#include "cli/cmd/export_whole.h"

#include "cli/ask.h"
#include "cli/progress.h"
#include "client/url.h"

enum { LINE_MAX_BYTES = 64 * 1024 * 1024, PATH_MAX_BYTES = 4096, PAGE = 100, ROWS = 500 };

struct whole {
	struct cli *cli;
	FILE *out;
	int64_t count;
	struct progress progress;
};

static void write_line(struct whole *w, const char *kind, const struct json *value)
{
	struct json_writer writer;
	struct buf line;

	buf_init(&line, LINE_MAX_BYTES);
	json_writer_init(&writer, &line);
	json_begin_object(&writer);
	json_key(&writer, kind);
	json_put(&writer, value);
	json_end_object(&writer);
	buf_putc(&line, '\n');
	fwrite(line.data, 1, line.len, w->out);
	buf_release(&line);
	w->count++;
	if (!(w->out == stdout && w->cli->out.is_terminal))
		progress_show(&w->progress, w->count, 0);
}

static int get(struct whole *w, const char *path, struct arena *arena, struct ask *ret)
{
	ask_make(w->cli, &(struct client_request){.method = "GET", .path = path, .repeatable = true}, arena, ret);
	if (ret->exit != CLI_OK) {
		progress_end(&w->progress);
		ask_report(w->cli, ret);
	}
	return ret->exit;
}

/* One thing; what is not there any more is passed over. */
static int write_one(struct whole *w, const char *kind, const char *path)
{
	struct arena arena;
	struct ask ask;
	int code;

	arena_init(&arena);
	code = get(w, path, &arena, &ask);
	if (code == CLI_OK)
		write_line(w, kind, &ask.json);
	ask_release(&ask);
	arena_release(&arena);
	return code;
}

/* --- What the server shows --- */

/* A channel is shown with its subscribers where it is asked for alone. */
static int write_item(struct whole *w, const char *kind, const struct json *item)
{
	const char *name = arena_cstr(w->cli->arena, ask_str(item, "name"));

	if (strcmp(kind, "channel") == 0)
		return write_one(w, kind, ask_path(w->cli->arena, "/v1/channels/", name, ""));
	/* An agent that nobody has registered is a name that is used. */
	if (strcmp(kind, "agent") != 0 || ask_bool(item, "registered"))
		write_line(w, kind, item);
	return CLI_OK;
}

static int write_list(struct whole *w, const char *kind, const char *list)
{
	const char *token = "";
	int code = CLI_OK;

	while (code == CLI_OK && token && !ferror(w->out)) {
		const struct json *items;
		struct arena arena;
		struct buf path;
		struct ask ask;

		arena_init(&arena);
		buf_init(&path, 64 * 1024);
		buf_printf(&path, "/v1/%s", list);
		url_add_int(&path, "page_size", PAGE);
		if (token[0])
			url_add(&path, "page_token", str_of(token));
		code = get(w, buf_str(&path).p, &arena, &ask);
		items = ask_array(&ask.json, list);
		for (uint32_t i = 0; code == CLI_OK && i < items->count; i++)
			code = write_item(w, kind, &items->items[i]);
		token = ask_str(&ask.json, "next_page_token").n ?
			arena_cstr(w->cli->arena, ask_str(&ask.json, "next_page_token")) : NULL;
		ask_release(&ask);
		buf_release(&path);
		arena_release(&arena);
	}
	return code;
}

/* --- Rows --- */

static int write_rows(struct whole *w, const char *kind, const char *part)
{
	bool more = true;
	int64_t after = 0;
	int code = CLI_OK;

	while (code == CLI_OK && more && !ferror(w->out)) {
		char path[PATH_MAX_BYTES];
		const struct json *rows;
		struct arena arena;
		struct ask ask;

		arena_init(&arena);
		snprintf(path, sizeof(path), "/v1/export?part=%s&after=%lld&limit=%d", part, (long long)after, ROWS);
		code = get(w, path, &arena, &ask);
		rows = ask_array(&ask.json, part);
		for (uint32_t i = 0; code == CLI_OK && i < rows->count; i++)
			write_line(w, kind, &rows->items[i]);
		more = code == CLI_OK && ask_bool(&ask.json, "has_more") && ask_int(&ask.json, "next", 0) > after;
		after = ask_int(&ask.json, "next", 0);
		ask_release(&ask);
		arena_release(&arena);
	}
	return code;
}

int export_whole(struct cli *cli, FILE *out, int64_t *ret_count)
{
	struct whole w = {.cli = cli, .out = out};
	int code;

	progress_init(&w.progress, cli, "lines", 0);
	fprintf(out, "{\"" WHOLE_FORMAT "\":%d}\n", WHOLE_FORMAT_NOW);
	code = write_one(&w, "space", "/v1/space");
	if (code == CLI_OK)
		code = write_list(&w, "agent", "agents");
	if (code == CLI_OK)
		code = write_list(&w, "channel", "channels");
	if (code == CLI_OK)
		code = write_list(&w, "route", "routes");
	if (code == CLI_OK)
		code = write_rows(&w, "memory", "memories");
	if (code == CLI_OK)
		code = write_rows(&w, "envelope", "envelopes");
	if (code == CLI_OK)
		code = write_rows(&w, "handoff", "handoffs");
	progress_end(&w.progress);
	*ret_count = w.count;
	return code;
}
