#include "cli/demo/demo.h"

#include "base/clock.h"
#include "client/client.h"

#include <stdio.h>

enum {
	REPLY_MAX_BYTES = 64 * 1024 * 1024,
	TEXT_MAX_BYTES = 64 * 1024,
	READ_MS = 650,			/* for a step of the story */
	NAME_COLUMN = 10,
	TEXT_COLUMN = 22,
	WIDTH_MAX = 96,
};

const char *demo_name(enum demo_agent who)
{
	static const char *const names[DEMO_AGENTS] = {"researcher", "analyst", "coder", "reviewer"};

	return names[who];
}

bool demo_init(struct demo *d)
{
	struct client_config config = cli_client_config(d->cli);
	struct buf error;
	bool good = true;

	config.url = d->url;
	config.space = d->space;
	buf_init(&error, TEXT_MAX_BYTES);
	for (int i = 0; i < DEMO_AGENTS; i++) {
		d->players[i] = *d->cli;
		config.agent = demo_name(i);
		d->players[i].client = good ? client_new(&config, &error) : NULL;
		good = good && d->players[i].client;
	}
	if (!good)
		cli_error(d->cli, "%s", buf_str(&error).p);
	d->code = good ? CLI_OK : CLI_USAGE;
	d->start_ns = clock_mono_ns();
	buf_release(&error);
	return good;
}

void demo_release(struct demo *d)
{
	for (int i = 0; i < DEMO_AGENTS; i++)
		client_free(d->players[i].client);
}

double demo_ms_since(int64_t then_ns)
{
	return (double)(clock_mono_ns() - then_ns) / 1e6;
}

/* --- Calls --- */

static struct str format_body(struct demo *d, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static struct str format_body(struct demo *d, const char *format, va_list args)
{
	struct buf out;

	if (format == NULL)
		return STR_NULL;
	buf_init(&out, TEXT_MAX_BYTES);
	buf_vprintf(&out, format, args);
	return cli_keep(d->cli->arena, &out);
}

static struct ask call(struct demo *d, enum demo_agent who, const char *method, const char *path, const char *body,
		       va_list args) __attribute__((format(printf, 5, 0)));

/* Once something has gone wrong nothing is called any more, and the answer is null. */
static struct ask call(struct demo *d, enum demo_agent who, const char *method, const char *path, const char *body,
		       va_list args)
{
	struct client_request request = {
		.method = method, .path = path, .creates = strcmp(method, "POST") == 0, .wait_ms = 60000,
		.is_stopped = stop_is_asked, .stop_arg = d->stop,
	};
	struct ask ask = {0};

	if (d->code == CLI_OK) {
		request.body = format_body(d, body, args);
		ask_make(&d->players[who], &request, d->cli->arena, &ask);
	}
	return ask;
}

static const struct json *keep(struct demo *d, struct ask *ask)
{
	struct json *copy = arena_alloc(d->cli->arena, sizeof(*copy));

	*copy = ask->json;
	ask_release(ask);
	return copy;
}

const struct json *demo_call(struct demo *d, enum demo_agent who, const char *method, const char *path,
			     const char *body, ...)
{
	struct ask ask;
	va_list args;

	va_start(args, body);
	ask = call(d, who, method, path, body, args);
	va_end(args);
	if (ask.exit != CLI_OK && d->code == CLI_OK) {
		d->code = ask.exit;
		if (stop_count(d->stop) == 0)
			ask_report(d->cli, &ask);
	}
	return keep(d, &ask);
}

const struct json *demo_refused(struct demo *d, enum demo_agent who, const char *code, const char *path,
				const char *body, ...)
{
	struct ask ask;
	va_list args;

	va_start(args, body);
	ask = call(d, who, "POST", path, body, args);
	va_end(args);
	if (d->code == CLI_OK && !str_is(ask.code, code)) {
		d->code = CLI_FAILED;
		cli_error(d->cli, "the server should have refused this with %s, but did not: POST %s", code, path);
	}
	return keep(d, &ask);
}

void demo_must(struct demo *d, bool is_true, const char *what)
{
	if (is_true || d->code != CLI_OK)
		return;
	d->code = CLI_FAILED;
	cli_error(d->cli, "the demonstration does not go as it must: %s", what);
}

/* --- Telling --- */

void demo_pause(struct demo *d, int64_t ms)
{
	if (ms > 0 && d->code == CLI_OK)
		stop_pause(d->stop, ms);
	if (stop_count(d->stop) && d->code == CLI_OK)
		d->code = CLI_FAILED;
}

static bool is_silent(const struct demo *d)
{
	return d->code != CLI_OK || cli_is_json(d->cli);
}

void demo_chapter(struct demo *d, int number, const char *title)
{
	const struct term *out = &d->cli->out;

	if (is_silent(d))
		return;
	cli_write(arena_printf(d->cli->arena, "\n%s%d  %s%s\n", term_on(out, TERM_BOLD), number, title,
			       term_off(out, TERM_BOLD)));
	fflush(stdout);
	demo_pause(d, d->is_fast ? 0 : READ_MS);
}

void demo_say(struct demo *d, const char *name, const char *format, ...)
{
	const struct term *term = &d->cli->out;
	size_t width = term->width < WIDTH_MAX ? term->width : WIDTH_MAX;
	struct buf text, safe, out;
	va_list args;

	if (is_silent(d))
		return;
	buf_init(&text, TEXT_MAX_BYTES);
	buf_init(&safe, TEXT_MAX_BYTES * 6);
	buf_init(&out, TEXT_MAX_BYTES * 8);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	term_put_line(&safe, buf_str(&text), SIZE_MAX);
	buf_printf(&out, "%s%7.2f s%s  %s%-*s%s  ", term_on(term, TERM_DIM), demo_ms_since(d->start_ns) / 1000,
		   term_off(term, TERM_DIM), term_on(term, TERM_CYAN), NAME_COLUMN, name ? name : "",
		   term_off(term, TERM_CYAN));
	term_fill(&out, buf_str(&safe), TEXT_COLUMN + 1, TEXT_COLUMN + 1, width);
	buf_putc(&out, '\n');
	cli_write(buf_str(&out));
	fflush(stdout);
	buf_release(&text);
	buf_release(&safe);
	buf_release(&out);
	demo_pause(d, d->is_fast ? 0 : READ_MS);
}
