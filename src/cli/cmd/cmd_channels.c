/* spine channels: one envelope for many receivers, and their results together. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_handoff.h"
#include "cli/subcommand.h"
#include "cli/when.h"

enum { BODY_MAX_BYTES = 4 * 1024 * 1024, JOIN_MAX_MS = 60000, RESULT_COLUMNS = 400 };

static const struct option channels_options[] = {
	{
		.name = "to", .arg = "AGENT", .type = OPTION_LIST,
		.help = "publish: who gets it, instead of the subscribers; may be given several times"
	},
	{
		.name = "priority", .arg = "N", .type = OPTION_INT, .min = 0, .max = 9,
		.help = "publish: 0 to 9, the higher goes first; 5 where it is not given"
	},
	{
		.name = "attempts", .arg = "N", .type = OPTION_INT, .min = 1, .max = 100,
		.help = "publish: how often each is tried"
	},
	{
		.name = "ack-timeout", .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
		.help = "publish: how long an attempt may take until it is acked"
	},
	{
		.name = "need", .arg = "HOW-MANY", .type = OPTION_TEXT,
		.help = "join: how many must have completed: all, any or a number; all where it is not given"
	},
	{
		.name = "wait", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 86400000,
		.help = "join: how long to wait for them"
	},
	{
		.name = "description", .letter = 'd', .arg = "TEXT", .type = OPTION_TEXT,
		.help = "put: what it is for"
	},
};

static const struct option_table channels_table = {
	"Publishing and joining", channels_options, OPTION_COUNT(channels_options),
};

/* --- Looking --- */

static void print_channels(const struct cli *cli, const struct json *channels)
{
	static const struct table_column columns[] = {
		{"CHANNEL", false, TERM_CYAN}, {"AGE", true, TERM_PLAIN}, {"SUBSCRIBERS", true, TERM_PLAIN},
		{"DESCRIPTION", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	int64_t now_ms = clock_wall_ms();
	struct table table;

	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < channels->count; i++) {
		const struct json *c = &channels->items[i];
		struct table_row *row = table_add(&table);

		table_set(&table, row, 0, ask_str(c, "name"));
		row->cells[1] = when_age(cli->arena, ask_str(c, "created_at"), now_ms);
		row->cells[2] = arena_printf(cli->arena, "%lld", (long long)ask_int(c, "subscriber_count", 0));
		table_set(&table, row, 3, ask_str(c, "description"));
	}
	show_rows(cli, &table);
	if (channels->count == 0 && cli->out.is_terminal)
		cli_note(cli, "(there are no channels; publishing or subscribing makes one)");
}

static int exec_list(struct cli *cli)
{
	return pages_run(cli, "/v1/channels", "channels", print_channels);
}

static void print_channel(const struct cli *cli, const struct json *channel)
{
	const struct json *subscribers = ask_array(channel, "subscribers");
	struct str description = term_line(cli->arena, ask_str(channel, "description"));
	struct str name = term_line(cli->arena, ask_str(channel, "name"));

	cli_write(arena_printf(cli->arena, "%s%.*s%s%s%.*s\n", term_on(&cli->out, TERM_CYAN), STR_ARG(name),
			       term_off(&cli->out, TERM_CYAN), description.n ? ": " : "", STR_ARG(description)));
	for (uint32_t i = 0; i < subscribers->count; i++)
		if (subscribers->items[i].type == JSON_STRING)
			cli_write(arena_printf(cli->arena, "  %.*s\n",
					       STR_ARG(term_line(cli->arena, subscribers->items[i].s))));
	if (subscribers->count == 0)
		cli_write(STR("  (no subscribers)\n"));
}

static const char *channel_path(const struct cli *cli, const char *suffix)
{
	return ask_path(cli->arena, "/v1/channels/", cli->options.args[1], suffix);
}

static int exec_show(struct cli *cli)
{
	struct client_request request = {.method = "GET", .path = channel_path(cli, ""), .repeatable = true};

	return ask_print(cli, &request, print_channel);
}

static int exec_put(struct cli *cli)
{
	const char *description = options_text(&cli->options, "description");
	struct client_request request = {.method = "PUT", .path = channel_path(cli, ""), .repeatable = true};
	struct json_writer w;
	struct buf body;
	int code;

	if (description && !str_is_utf8(str_of(description)))
		return cli_usage(cli, "--description is not UTF-8 text");
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	if (description)
		json_member_cstr(&w, "description", description);
	json_end_object(&w);
	request.body = buf_str(&body);
	code = ask_print(cli, &request, print_channel);
	buf_release(&body);
	return code;
}

static int set_subscriber(struct cli *cli, const char *method)
{
	struct client_request request = {
		.method = method, .repeatable = true,
		.path = ask_path(cli->arena, channel_path(cli, "/subscribers/"), cli->options.args[2], ""),
	};

	return ask_print(cli, &request, print_channel);
}

static int exec_subscribe(struct cli *cli)
{
	return set_subscriber(cli, "PUT");
}

static int exec_unsubscribe(struct cli *cli)
{
	return set_subscriber(cli, "DELETE");
}

/* --- Publishing --- */

static void print_published(const struct cli *cli, const struct json *answer)
{
	const struct json *handoffs = ask_array(answer, "handoffs");

	for (uint32_t i = 0; i < handoffs->count; i++)
		show_handoff_line(cli, &handoffs->items[i]);
}

static int put_publish(const struct cli *cli, struct json_writer *w)
{
	const struct options *o = &cli->options;
	const struct option_value *to = options_value(o, "to");

	json_member_cstr(w, "envelope_id", o->args[2]);
	json_member_cstr(w, "delivery", "at-least-once");
	if (options_is_given(o, "priority"))
		json_member_int(w, "priority", options_int(o, "priority"));
	if (options_is_given(o, "attempts"))
		json_member_int(w, "max_attempts", options_int(o, "attempts"));
	if (options_is_given(o, "ack-timeout"))
		settle_put_seconds(w, "ack_timeout_s", options_int(o, "ack-timeout"));
	if (to->list_count == 0)
		return CLI_OK;
	json_key(w, "receivers");
	json_begin_array(w);
	for (size_t i = 0; i < to->list_count; i++) {
		if (!str_is_utf8(str_of(to->list[i])))
			return cli_usage(cli, "--to is not UTF-8 text");
		json_put_cstr(w, to->list[i]);
	}
	json_end_array(w);
	return CLI_OK;
}

static int exec_publish(struct cli *cli)
{
	struct client_request request = {.method = "POST", .path = channel_path(cli, "/publish"), .creates = true};
	struct json_writer w;
	struct buf body;
	int code;

	if (!str_is_utf8(str_of(cli->options.args[2])))
		return cli_usage(cli, "the id of the envelope is not UTF-8 text");
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	code = put_publish(cli, &w);
	json_end_object(&w);
	request.body = buf_str(&body);
	if (code == CLI_OK)
		code = ask_print(cli, &request, print_published);
	buf_release(&body);
	return code;
}

/* --- Joining --- */

static void print_joined(const struct cli *cli, const struct json *answer)
{
	static const struct table_column columns[] = {
		{"AGENT", false, TERM_CYAN}, {"STATE", false, TERM_YELLOW}, {"HANDOFF", false, TERM_PLAIN},
		{"RESULT", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	const struct json *results = ask_array(answer, "results");
	struct str state = term_line(cli->arena, ask_str(answer, "state"));
	struct table table;
	struct buf text;

	cli_write(arena_printf(cli->arena, "%.*s: %lld of %lld receivers have completed, %lld needed\n\n",
			       STR_ARG(state),
			       (long long)ask_int(answer, "completed", 0), (long long)ask_int(answer, "receivers", 0),
			       (long long)ask_int(answer, "need", 0)));
	buf_init(&text, BODY_MAX_BYTES);
	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < results->count; i++) {
		const struct json *h = &results->items[i], *result = json_get(h, "result");
		struct table_row *row = table_add(&table);

		table_set(&table, row, 0, ask_str(h, "to"));
		table_set(&table, row, 1, ask_str(h, "state"));
		table_set(&table, row, 2, ask_str(h, "id"));
		buf_clear(&text);
		if (result && result->type != JSON_NULL)
			show_envelope_value(&text, result, RESULT_COLUMNS);
		else
			term_put_line(&text, show_handoff_about(cli, h), RESULT_COLUMNS);
		row->cells[3] = arena_str(cli->arena, buf_str(&text));
	}
	show_rows(cli, &table);
	buf_release(&text);
}

static int put_join(const struct cli *cli, int64_t wait_ms, struct buf *body)
{
	const char *need = options_text(&cli->options, "need");
	uint64_t number;
	struct json_writer w;

	json_writer_init(&w, body);
	json_begin_object(&w);
	json_member_cstr(&w, "envelope_id", cli->options.args[2]);
	settle_put_seconds(&w, "wait_s", wait_ms);
	if (need && str_to_u64(str_of(need), &number) && number <= 1000000)
		json_member_int(&w, "need", (int64_t)number);
	else if (need == NULL || strcmp(need, "all") == 0 || strcmp(need, "any") == 0)
		json_member_cstr(&w, "need", need ? need : "all");
	else
		return cli_usage(cli, "--need is \"%.40s\"; expected all, any or a number", need);
	json_end_object(&w);
	return CLI_OK;
}

/* The server waits for a minute at most; whoever wants to wait longer asks again. */
static int exec_join(struct cli *cli)
{
	int64_t end_ns = clock_mono_ns() + options_int(&cli->options, "wait") * 1000000, left_ms;
	struct client_request request = {.method = "POST", .path = channel_path(cli, "/join"), .repeatable = true};
	struct ask ask = {0};
	struct str state = STR("waiting");
	struct buf body;
	int code;

	if (!str_is_utf8(str_of(cli->options.args[2])))
		return cli_usage(cli, "the id of the envelope is not UTF-8 text");
	buf_init(&body, BODY_MAX_BYTES);
	do {
		ask_release(&ask);
		ask = (struct ask){0};
		buf_clear(&body);
		left_ms = (end_ns - clock_mono_ns()) / 1000000;
		request.wait_ms = left_ms < 0 ? 0 : left_ms > JOIN_MAX_MS ? JOIN_MAX_MS : left_ms;
		code = put_join(cli, request.wait_ms, &body);
		request.body = buf_str(&body);
		if (code == CLI_OK)
			code = ask_run(cli, &request, &ask);
		state = ask_str(&ask.json, "state");
	} while (code == CLI_OK && str_is(state, "waiting") && left_ms > JOIN_MAX_MS);
	if (code == CLI_OK) {
		if (cli_is_json(cli))
			cli_write_json(cli, buf_str(&ask.reply.body));
		else
			print_joined(cli, &ask.json);
		code = str_is(state, "joined") ? CLI_OK : str_is(state, "waiting") ? CLI_UNREACHABLE : CLI_FAILED;
	}
	ask_release(&ask);
	buf_release(&body);
	return code;
}

static int exec_channels(struct cli *cli)
{
	static const struct subcommand list[] = {
		{"list", "", 0, 0, {NULL}, exec_list},
		{"show", "CHANNEL", 1, 1, {NULL}, exec_show},
		{"put", "CHANNEL", 1, 1, {"description", NULL}, exec_put},
		{"subscribe", "CHANNEL AGENT", 2, 2, {NULL}, exec_subscribe},
		{"unsubscribe", "CHANNEL AGENT", 2, 2, {NULL}, exec_unsubscribe},
		{"publish", "CHANNEL ENVELOPE", 2, 2, {"to", "priority", "attempts", "ack-timeout", NULL},
		 exec_publish},
		{"join", "CHANNEL ENVELOPE", 2, 2, {"need", "wait", NULL}, exec_join},
		{0},
	};

	return subcommand_run(cli, list);
}

static const char *const channels_words[] = {
	"list", "show", "put", "subscribe", "unsubscribe", "publish", "join", NULL,
};

const struct command cmd_channels = {
	.name = "channels",
	.summary = "Sends one envelope to many agents, and waits for their results",
	.usage = "[list | show CHANNEL | put CHANNEL | subscribe CHANNEL AGENT | unsubscribe CHANNEL AGENT | "
		 "publish CHANNEL ENVELOPE | join CHANNEL ENVELOPE]",
	.about = "Publishing makes one handoff for each receiver, all or none; publishing the same envelope again "
		 "changes nothing. Join waits until all, any or so many of them have completed: exit code 0 when they "
		 "have, 5 while they have not, 1 when too many were parked.",
	.examples = {
		"spine channels subscribe reviews security-reviewer",
		"spine channels publish reviews env-1",
		"spine channels publish reviews env-1 --to style-reviewer --to test-reviewer",
		"spine channels show reviews",
	},
	.tables = {&channels_table, &pages_table, &client_table},
	.max_args = 3,
	.args = ARGS_WORDS,
	.words = channels_words,
	.exec = exec_channels,
};
