/* spine export --all: what retention takes away, written out before: events, envelopes and handoffs as JSON Lines.
 *
 * Each line is an object with one member, whose name is its kind. The lines of a kind come in the order of their
 * numbers, so a file that was cut off says itself where to go on: --resume drops the half line at its end, and goes on
 * behind the highest number of each kind. What was pruned, or never stored, is no line.
 */
#include "cli/ask.h"
#include "cli/cmd/export_all.h"
#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENTS_PAGE = 1000, LINE_MAX_BYTES = 64 * 1024 * 1024 };

struct dump {
	struct cli *cli;
	FILE *out;
	int64_t event;			/* the last that was written; the same for the next two */
	uint64_t envelope;
	uint64_t handoff;
	int64_t count;
	struct progress progress;
};

/* "ho-12" as 12; 0 where it is no id. */
static uint64_t number_of(struct str id)
{
	const char *dash = id.n ? memchr(id.p, '-', id.n) : NULL;
	uint64_t num = 0;

	return dash && str_to_u64(str_sub(id, (size_t)(dash - id.p) + 1, id.n), &num) ? num : 0;
}

static void write_line(struct dump *d, const char *kind, const struct json *value)
{
	struct json_writer w;
	struct buf line;

	buf_init(&line, LINE_MAX_BYTES);
	json_writer_init(&w, &line);
	json_begin_object(&w);
	json_key(&w, kind);
	json_put(&w, value);
	json_end_object(&w);
	buf_putc(&line, '\n');
	fwrite(line.data, 1, line.len, d->out);
	buf_release(&line);
	d->count++;
	if (!(d->out == stdout && d->cli->out.is_terminal))
		progress_show(&d->progress, d->count, 0);
}

static int failed(struct dump *d, const struct ask *ask)
{
	progress_end(&d->progress);
	ask_report(d->cli, ask);
	return ask->exit;
}

/* --- Events --- */

static int write_events(struct dump *d)
{
	struct client_request request = {.method = "GET", .repeatable = true, .accept = "application/json"};
	bool more = true;
	int code = CLI_OK;

	while (code == CLI_OK && more && !ferror(d->out)) {
		const struct json *events;
		struct arena arena;
		struct ask ask;

		arena_init(&arena);
		request.path = arena_printf(&arena, "/v1/events?limit=%d&after=%lld", EVENTS_PAGE,
					    (long long)d->event).p;
		ask_make(d->cli, &request, &arena, &ask);
		code = ask.exit == CLI_OK ? CLI_OK : failed(d, &ask);
		events = ask_array(&ask.json, "events");
		for (uint32_t i = 0; code == CLI_OK && i < events->count; i++)
			write_line(d, "event", &events->items[i]);
		more = code == CLI_OK && ask_int(&ask.json, "next", 0) > d->event;
		if (more)
			d->event = ask_int(&ask.json, "next", 0);
		more = more && ask_bool(&ask.json, "has_more");
		ask_release(&ask);
		arena_release(&arena);
	}
	return code;
}

/* --- Envelopes and handoffs, by their numbers --- */

/* One; what is not there, or not any more, is passed over. */
static int write_one(struct dump *d, const char *kind, const char *path)
{
	struct arena arena;
	struct ask ask;
	int code = CLI_OK;

	arena_init(&arena);
	ask_make(d->cli, &(struct client_request){.method = "GET", .path = path, .repeatable = true}, &arena, &ask);
	if (ask.exit == CLI_OK)
		write_line(d, kind, &ask.json);
	else if (ask.reply.status != 404 && ask.reply.status != 410)
		code = failed(d, &ask);
	ask_release(&ask);
	arena_release(&arena);
	return code;
}

/* The newest handoff, and its envelope's number, which is hardly ever below that of the newest envelope; those behind
 * it are of handoffs that come next. */
static int find_newest(struct dump *d, uint64_t *ret_handoff, uint64_t *ret_envelope)
{
	struct ask ask;
	int code;

	ask_make_get(d->cli, "/v1/handoffs?order=newest&page_size=100", &ask);
	code = ask.exit == CLI_OK ? CLI_OK : failed(d, &ask);
	if (code == CLI_OK) {
		const struct json *rows = ask_array(&ask.json, "handoffs");

		for (uint32_t i = 0; i < rows->count; i++) {
			uint64_t handoff = number_of(ask_str(&rows->items[i], "id"));
			uint64_t envelope = number_of(ask_str(&rows->items[i], "envelope_id"));

			*ret_handoff = handoff > *ret_handoff ? handoff : *ret_handoff;
			*ret_envelope = envelope > *ret_envelope ? envelope : *ret_envelope;
		}
	}
	ask_release(&ask);
	return code;
}

static int write_numbered(struct dump *d, const char *kind, const char *prefix, uint64_t after, uint64_t last)
{
	int code = CLI_OK;

	for (uint64_t num = after + 1; code == CLI_OK && num <= last && !ferror(d->out); num++) {
		char path[64];

		snprintf(path, sizeof(path), "%s%llu", prefix, (unsigned long long)num);
		code = write_one(d, kind, path);
	}
	return code;
}

static int write_all(struct dump *d)
{
	uint64_t handoff = 0, envelope = 0;
	int code = find_newest(d, &handoff, &envelope);

	if (code == CLI_OK)
		code = write_numbered(d, "envelope", "/v1/envelopes/env-", d->envelope, envelope);
	if (code == CLI_OK)
		code = write_numbered(d, "handoff", "/v1/handoffs/ho-", d->handoff, handoff);
	return code == CLI_OK ? write_events(d) : code;
}

/* --- Going on --- */

static void note_line(struct dump *d, const char *line, size_t len, struct arena *arena)
{
	struct json_error error;
	const struct json *event, *envelope, *handoff;
	struct json json;
	uint64_t num;

	if (!json_parse((struct str){line, len}, ASK_JSON_DEPTH, arena, &json, &error) || json.type != JSON_OBJECT)
		return;
	event = json_get(&json, "event");
	envelope = json_get(&json, "envelope");
	handoff = json_get(&json, "handoff");
	if (event && str_to_u64(ask_str(event, "id"), &num) && (int64_t)num > d->event)
		d->event = (int64_t)num;
	num = envelope ? number_of(ask_str(envelope, "id")) : 0;
	d->envelope = num > d->envelope ? num : d->envelope;
	num = handoff ? number_of(ask_str(handoff, "id")) : 0;
	d->handoff = num > d->handoff ? num : d->handoff;
}

/* Reads what is there; the place behind its last whole line. */
static off_t read_whole_lines(struct dump *d, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	off_t end = 0;
	ssize_t len;

	while ((len = getline(&line, &room, in)) > 0 && line[len - 1] == '\n') {
		struct arena arena;

		arena_init(&arena);
		note_line(d, line, (size_t)len - 1, &arena);
		arena_release(&arena);
		end += len;
		d->count++;
	}
	free(line);
	return end;
}

static FILE *open_file(struct dump *d, const char *file, bool resume)
{
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | (resume ? 0 : O_EXCL), 0600);
	FILE *out = fd >= 0 ? fdopen(fd, "r+") : NULL;
	off_t end;

	if (out == NULL && errno == EEXIST) {
		cli_usage(d->cli, "%s is there already; go on with it by --resume, or name another file", file);
		return NULL;
	}
	if (out) {
		end = read_whole_lines(d, out);
		if (fseeko(out, end, SEEK_SET) != 0 || ftruncate(fd, end) != 0) {
			fclose(out);
			out = NULL;
		}
	}
	if (out == NULL)
		cli_error(d->cli, "cannot write %s: %s", file, strerror(errno));
	return out;
}

int export_all_run(struct cli *cli, const char *file, bool resume)
{
	struct dump d = {.cli = cli, .out = stdout};
	int code;

	if (resume && strcmp(file, "-") == 0)
		return cli_usage(cli, "--resume needs a file to go on with");
	progress_init(&d.progress, cli, "lines", 0);
	if (strcmp(file, "-") != 0)
		d.out = open_file(&d, file, resume);
	if (d.out == NULL)
		return CLI_FAILED;
	code = write_all(&d);
	progress_end(&d.progress);
	if (fflush(d.out) != 0 || ferror(d.out) || (d.out != stdout && fsync(fileno(d.out)) != 0)) {
		cli_error(cli, "cannot write %s: %s", file, strerror(errno));
		code = CLI_FAILED;
	}
	if (d.out != stdout)
		fclose(d.out);
	if (code == CLI_OK && d.out != stdout)
		cli_note(cli, "%s has %lld lines", file, (long long)d.count);
	else if (d.out != stdout)
		cli_note(cli, "%s is not whole; go on with spine export --all --resume", file);
	return code;
}
