/* spine status: what the server says of itself. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_stats.h"

enum { DELIVERY_MAX_BYTES = 1 << 20, CLIENTS_MAX_BYTES = 16 * 1024 };

/* A server that answers but takes no more work is not well. Where nothing of it answers, the next call says so. */
static int check_ready(struct cli *cli)
{
	int code = CLI_OK;
	struct str reason;
	struct ask ready;

	ask_make_get(cli, "/readyz", &ready);
	reason = ask_str(&ready.json, "reason");
	if (ready.reply.status == 503) {
		cli_error(cli, "the server is not ready: %.*s", STR_ARG(reason.n ? reason : ready.code));
		code = str_is(reason, "store_failed") ? CLI_DAMAGED : CLI_UNREACHABLE;
	}
	ask_release(&ready);
	return code;
}

static void print_verdict(const struct cli *cli, bool is_ready)
{
	enum term_style style = is_ready ? TERM_GREEN : TERM_RED;

	cli_write(arena_printf(cli->arena, "%s: %s%s%s\n", client_url(cli->client), term_on(&cli->out, style),
			       is_ready ? "ready" : "not ready", term_off(&cli->out, style)));
}

static const struct show_word status_words[] = {
	{"started_at", "started", NULL},
	{"uptime", "running for", NULL},
	{"clock_offset", "ahead of the wall clock", NULL},
	{"store bytes", "store size", NULL},
	{"store data", "data directory", NULL},
	{"store growth bytes", "store has grown by", NULL},
	{"store growth since", "since", NULL},
	{"retention handoffs_s", "ended handoffs kept", "for ever (spine space --keep)"},
	{"retention events_s", "events kept", "for ever (spine space --keep)"},
	{"retention handoffs", "ended handoffs kept", "for ever (spine space --keep)"},
	{"retention events", "events kept", "for ever (spine space --keep)"},
	{"retention handoffs_kept", "handoffs kept now", NULL},
	{"retention handoffs_pruned", "handoffs pruned", NULL},
	{"http connections", "connections", NULL},
	{"http requests", "requests so far", NULL},
	{"http requests_active", "requests under way", NULL},
	{"http refused", "requests refused", NULL},
	{"writer queued", "writes waiting", NULL},
	{"writer writes", "writes so far", NULL},
	{"writer commits", "commits so far", NULL},
	{"events streams", "streams of events", NULL},
	{"traces", "spans", "sent nowhere (spine serve --otlp-endpoint)"},
	{"traces exported", "spans sent", NULL},
	{"traces dropped", "spans dropped", NULL},
	{"traces dropped_by refused", "spans dropped, refused", NULL},
	{"traces dropped_by rejected", "spans dropped, rejected", NULL},
	{"traces dropped_by behind", "spans dropped, behind", NULL},
	{"traces dropped_by stopped", "spans dropped, stopped", NULL},
	{"traces failed_posts", "posts of spans failed", NULL},
	{NULL, NULL, NULL},
};

/* "memory-spine 1.4.0, memory-spine-python 1.3.2", in the place of the list. */
static struct json with_clients_in_words(const struct cli *cli, const struct json *status)
{
	const struct json *clients = ask_array(status, "clients");
	struct json copy = *status, text = {.type = JSON_STRING};
	struct buf words;

	if (status->type != JSON_OBJECT)
		return copy;
	buf_init(&words, CLIENTS_MAX_BYTES);
	for (uint32_t i = 0; i < clients->count; i++)
		buf_printf(&words, "%s%.*s %.*s", i ? ", " : "", STR_ARG(ask_str(&clients->items[i], "name")),
			   STR_ARG(ask_str(&clients->items[i], "version")));
	text.s = cli_keep(cli->arena, &words);
	copy.members = arena_calloc(cli->arena, copy.count, sizeof(*copy.members));
	for (uint32_t i = 0; i < copy.count; i++) {
		copy.members[i] = status->members[i];
		if (&status->members[i].value == clients)
			copy.members[i].value = text;
	}
	return copy;
}

/* How delivery went in the last five minutes, and what is wrong. A server that does not say it is no failure. */
static void print_delivery(struct cli *cli)
{
	struct ask stats, alerts;
	struct buf out;

	ask_make_get(cli, "/v1/stats", &stats);
	ask_make_get(cli, "/v1/alerts", &alerts);
	buf_init(&out, DELIVERY_MAX_BYTES);
	if (stats.exit == CLI_OK) {
		buf_puts(&out, "\nThe last five minutes:\n");
		show_stats_overall(cli, &stats.json, &out);
	}
	if (alerts.exit == CLI_OK)
		show_stats_alerts(cli, cli->arena, &alerts.json, &out);
	cli_write_buf(&out);
	ask_release(&stats);
	ask_release(&alerts);
}

static int exec_status(struct cli *cli)
{
	int code, ready;
	struct ask status;

	cli->is_told_at_once = true;	/* how it is now is what is asked for */
	ready = check_ready(cli);
	code = ask_run_get(cli, "/v1/status", &status);
	if (code == CLI_OK) {
		code = ready;
		if (cli_is_json(cli)) {
			cli_write_json(cli, buf_str(&status.reply.body));
		} else {
			struct json shown = with_clients_in_words(cli, &status.json);

			print_verdict(cli, code == CLI_OK);
			show_object_as(cli, &shown, status_words);
			print_delivery(cli);
		}
	}
	ask_release(&status);
	return code;
}

const struct command cmd_status = {
	.name = "status",
	.summary = "Says how the server is; the exit code is 0 only where it is ready",
	.usage = "",
	.about = "Below it: how delivery went in the last five minutes, and the alerts that are firing. "
		 "Live: spine top.",
	.examples = {"spine status", "spine status --json | jq .version"},
	.tables = {&client_table},
	.exec = exec_status,
};
