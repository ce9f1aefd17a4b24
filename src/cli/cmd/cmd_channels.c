/* spine channels: one envelope for many receivers, and their results together. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_handoff.h"
#include "cli/subcommand.h"

enum { BODY_MAX_BYTES = 4 * 1024 * 1024, JOIN_MAX_MS = 60000, RESULT_COLUMNS = 400 };

static const struct option channels_options[] = {
	{.name = "to", .arg = "AGENT", .type = OPTION_LIST,
	 .help = "publish: who gets it, instead of the subscribers; may be given several times"},
	{.name = "priority", .arg = "N", .type = OPTION_INT, .min = 0, .max = 9,
	 .help = "publish: 0 to 9, the higher goes first; 5 where it is not given"},
	{.name = "attempts", .arg = "N", .type = OPTION_INT, .min = 1, .max = 100,
	 .help = "publish: how often each is tried"},
	{.name = "ack-timeout", .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
	 .help = "publish: how long an attempt may take until it is acked"},
	{.name = "need", .arg = "HOW-MANY", .type = OPTION_TEXT,
	 .help = "join: how many must have completed: all, any or a number; all where it is not given"},
	{.name = "wait", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 86400000,
	 .help = "join: how long to wait for them"},
	{.name = "description", .letter = 'd', .arg = "TEXT", .type = OPTION_TEXT, .help = "put: what it is for"},
};

static const struct option_table channels_table = {
	"Publishing and joining", channels_options, OPTION_COUNT(channels_options),
};

/* --- Looking --- */

static const struct column channel_columns[] = {
	{"CHANNEL", "name", .style = TERM_CYAN},
	{"AGE", "created_at", cell_age, .right = true},
	{"SUBSCRIBERS", "subscriber_count", cell_number, .right = true},
	{"DESCRIPTION", "description", .style = TERM_PLAIN},
	{0},
};

static void print_channel(const struct cli *cli, const struct json *channel)
{
	const struct json *subscribers = ask_array(channel, "subscribers");

	show_title(cli, ask_str(channel, "name"), ask_str(channel, "description"));
	for (uint32_t i = 0; i < subscribers->count; i++)
		if (subscribers->items[i].type == JSON_STRING)
			cli_write(arena_printf(cli->arena, "  %.*s\n",
					       STR_ARG(term_line(cli->arena, subscribers->items[i].s))));
	if (subscribers->count == 0)
		cli_write(STR("  (no subscribers)\n"));
}

/* --- Publishing --- */

static void print_published(const struct cli *cli, const struct json *answer)
{
	const struct json *handoffs = ask_array(answer, "handoffs");

	for (uint32_t i = 0; i < handoffs->count; i++)
		show_handoff_line(cli, &handoffs->items[i]);
}

/* The envelope, which is the second argument behind the subcommand. */
static int put_envelope(const struct cli *cli, struct json_writer *w)
{
	int code = body_check_text(cli, "the id of the envelope", str_of(cli->options.args[2]));

	if (code == CLI_OK)
		json_member_cstr(w, "envelope_id", cli->options.args[2]);
	return code;
}

static int put_publish(struct cli *cli, struct json_writer *w)
{
	json_member_cstr(w, "delivery", "at-least-once");
	return put_envelope(cli, w);
}

/* --- Joining --- */

static struct str cell_result(const struct column_item *item, const char *key)
{
	const struct json *result = json_get(item->json, key);
	struct buf text;

	buf_init(&text, BODY_MAX_BYTES);
	if (result && result->type != JSON_NULL)
		show_envelope_value(&text, result, RESULT_COLUMNS);
	else
		term_put_line(&text, show_handoff_about(item->cli, item->json), RESULT_COLUMNS);
	return cli_keep(item->arena, &text);
}

static void print_joined(const struct cli *cli, const struct json *answer)
{
	static const struct column columns[] = {
		{"AGENT", "to", .style = TERM_CYAN},
		{"STATE", "state", .style = TERM_YELLOW},
		{"HANDOFF", "id", .style = TERM_PLAIN},
		{"RESULT", "result", cell_result, .style = TERM_PLAIN},
		{0},
	};
	struct str state = term_line(cli->arena, ask_str(answer, "state"));

	cli_write(arena_printf(cli->arena, "%.*s: %lld of %lld receivers have completed, %lld needed\n\n",
			       STR_ARG(state),
			       (long long)ask_int(answer, "completed", 0), (long long)ask_int(answer, "receivers", 0),
			       (long long)ask_int(answer, "need", 0)));
	columns_show(cli, ask_array(answer, "results"), columns);
}

static int put_join(const struct cli *cli, int64_t wait_ms, struct buf *body)
{
	const char *need = options_text(&cli->options, "need");
	uint64_t number;
	struct json_writer w;
	int code;

	json_writer_init(&w, body);
	json_begin_object(&w);
	code = put_envelope(cli, &w);
	body_put_seconds(&w, "wait_s", wait_ms);
	if (need && str_to_u64(str_of(need), &number) && number <= 1000000)
		json_member_int(&w, "need", (int64_t)number);
	else if (need == NULL || strcmp(need, "all") == 0 || strcmp(need, "any") == 0)
		json_member_cstr(&w, "need", need ? need : "all");
	else
		return cli_usage(cli, "--need is \"%.40s\"; expected all, any or a number", need);
	json_end_object(&w);
	return code;
}

/* The server waits for a minute at most; whoever wants to wait longer asks again. */
static int exec_join(struct cli *cli)
{
	int64_t end_ns = clock_mono_ns() + options_int(&cli->options, "wait") * 1000000, left_ms;
	struct client_request request = {.method = "POST", .repeatable = true};
	struct ask ask = {0};
	struct str state;
	struct buf body;
	int code;

	request.path = ask_path(cli->arena, "/v1/channels/", cli->options.args[1], "/join");
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
			ask_write(cli, &ask);
		else
			print_joined(cli, &ask.json);
		code = str_is(state, "joined") ? CLI_OK : str_is(state, "waiting") ? CLI_UNREACHABLE : CLI_FAILED;
	}
	ask_release(&ask);
	buf_release(&body);
	return code;
}

static const struct subcommand channels_subs[] = {
	{"list", "", 0, 0, .call = {
		.path = "/v1/channels", .is_paged = true, .list = "channels", .columns = channel_columns,
		.none = "(there are no channels; publishing or subscribing makes one)",
	}},
	{"show", "CHANNEL", 1, 1, .call = {.path = "/v1/channels/{0}", .show = print_channel}},
	{"put", "CHANNEL", 1, 1, {"description"}, .call = {
		.method = "PUT", .path = "/v1/channels/{0}", .members = {{"description", "description"}},
		.show = print_channel,
	}},
	{"subscribe", "CHANNEL AGENT", 2, 2, .call = {
		.method = "PUT", .path = "/v1/channels/{0}/subscribers/{1}", .show = print_channel,
	}},
	{"unsubscribe", "CHANNEL AGENT", 2, 2, .call = {
		.method = "DELETE", .path = "/v1/channels/{0}/subscribers/{1}", .show = print_channel,
	}},
	{"publish", "CHANNEL ENVELOPE", 2, 2, {"to", "priority", "attempts", "ack-timeout"}, .call = {
		.method = "POST", .path = "/v1/channels/{0}/publish", .creates = true, .put = put_publish,
		.members = {
			{"priority", "priority"}, {"attempts", "max_attempts"}, {"ack-timeout", "ack_timeout_s"},
			{"to", "receivers"},
		},
		.show = print_published,
	}},
	{"join", "CHANNEL ENVELOPE", 2, 2, {"need", "wait"}, exec_join, .call = {0}},
	{0},
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
	.subs = channels_subs,
};
