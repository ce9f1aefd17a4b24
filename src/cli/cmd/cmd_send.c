/* spine send: delivers an envelope, or packs one and delivers it. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pack.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"
#include "cli/when.h"

enum { SUMMARY_MAX_BYTES = 8 * 1024 * 1024 };

static const struct option send_options[] = {
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
	 .help = "who gets it; the one whom the envelope was packed for where it is not given"},
	{.name = "wait", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 600000,
	 .help = "wait so long for the ack; where there is none the handoff is withdrawn, and the exit code is 5"},
	{.name = "fallback", .arg = "AGENT", .type = OPTION_LIST,
	 .help = "who gets it where the receiver fails; may be given several times"},
	{.name = "priority", .arg = "N", .type = OPTION_INT, .min = 0, .max = 9,
	 .help = "0 to 9, the higher goes first; 5 where it is not given"},
	{.name = "attempts", .arg = "N", .type = OPTION_INT, .min = 1, .max = 100,
	 .help = "how often it is tried; the receiver's setting or 3 where it is not given"},
	{.name = "ack-timeout", .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
	 .help = "how long an attempt may take until it is acked; the receiver's setting or 15s"},
	{.name = "not-before", .arg = "TIME", .type = OPTION_TEXT,
	 .help = "nobody gets it before: 10m (from now), a date, or 2026-01-30T12:00:00Z"},
	{.name = "queue-timeout", .arg = "TIME", .type = OPTION_DURATION, .min = 1000, .max = 366 * INT64_C(86400000),
	 .help = "how long it may wait for somebody to take it until it is parked; the receiver's setting or the "
		 "server's"},
	{.name = "idempotency-key", .arg = "KEY", .type = OPTION_TEXT,
	 .help = "the same key with the same request sends only once, within a day"},
};

static const struct option_table send_table = {"Delivery", send_options, OPTION_COUNT(send_options)};

/* One that is there. */
static int put_envelope_id(const struct cli *cli, const char *id, struct json_writer *w)
{
	if (pack_any_given(cli))
		return cli_usage(cli, "%.80s is packed already: of the options only those about delivery can be given",
				 id);
	json_member_cstr(w, "envelope_id", id);
	return body_put(cli, "to", "to", w);
}

/* One that is packed by the same call. */
static int put_new_envelope(const struct cli *cli, const char *arg, struct json_writer *w)
{
	const char *to = options_text(&cli->options, "to");
	struct buf summary;
	int code;

	if (to == NULL && arg)
		return cli_usage(cli, "\"%.80s\" is not an envelope such as env-17; to pack one and send it, say to "
				      "whom: "
				 "spine send --to AGENT \"what it is to do\"", arg);
	if (to == NULL)
		return cli_usage(cli, "there is nothing to send; name an envelope, or whom to send a new one: --to "
				      "AGENT");
	buf_init(&summary, SUMMARY_MAX_BYTES);
	code = pack_read_summary(cli, to, arg, &summary);
	json_key(w, "envelope");
	if (code == CLI_OK)
		code = pack_put(cli, to, buf_str(&summary), false, w);
	buf_release(&summary);
	return code;
}

static void print_sent(const struct cli *cli, const struct json *answer)
{
	show_handoff_line(cli, answer);
	show_handoff_notices(cli, answer);
}

static int put_not_before(const struct cli *cli, struct json_writer *w)
{
	const char *text = options_text(&cli->options, "not-before");
	char time[CLOCK_TEXT_SIZE];
	int64_t ms;

	if (text == NULL)
		return CLI_OK;
	if (!when_parse_later(str_of(text), clock_wall_ms(), &ms))
		return cli_usage(cli, "--not-before is \"%.80s\"; expected " WHEN_LATER_EXPECTED, text);
	clock_format(ms, time);
	json_member_cstr(w, "not_before", time);
	return CLI_OK;
}

static int put_send(struct cli *cli, struct json_writer *w)
{
	const char *arg = cli->options.arg_count ? cli->options.args[0] : NULL;
	int code = put_not_before(cli, w);

	if (code != CLI_OK)
		return code;
	if (options_int(&cli->options, "wait") > 0)
		body_put(cli, "wait", "wait_s", w);
	return pack_is_envelope(arg) ? put_envelope_id(cli, arg, w) : put_new_envelope(cli, arg, w);
}

static int prepare_send(struct cli *cli, struct client_request *request)
{
	request->wait_ms = options_int(&cli->options, "wait");
	request->idempotency_key = options_text(&cli->options, "idempotency-key");
	return CLI_OK;
}

const struct command cmd_send = {
	.name = "send",
	.summary = "Delivers an envelope to an agent, or packs a new one and delivers it",
	.usage = "ENVELOPE | --to AGENT [SUMMARY|-]", .max_args = 1,
	.about = "With an envelope such as env-17 that one is delivered; the options of packing belong to the other "
		 "form, which packs what AGENT needs to go on, as spine handoff does, and delivers it in the same "
		 "call.\n\n"
		 "Without --wait the server takes it from here: it tries again, falls back, and parks what used up "
		 "its attempts. With --wait the call returns when the receiver has acked.\n\n"
		 "What nobody takes waits in the queue, and uses no attempt. It is parked after its queue timeout, 24 "
		 "hours where nobody says otherwise. Behind an open circuit breaker it is held, and goes on by "
		 "itself; with --wait the call fails at once instead.\n\n"
		 "Sending the same envelope to the same agent again never makes a second handoff: what is under way "
		 "goes on, what was withdrawn gets its next attempt, and what was acked is told again.",
	.examples = {
		"spine send --to coder \"Add the retries.\" --from analyst --intent \"No lost payments.\" -c "
		"max_retries=3",
		"spine send env-1",
		"spine send env-1 --to reviewer --fallback tester --attempts 2 --priority 9",
	},
	.tables = {&send_table, &pack_task_table, &pack_memory_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs", .creates = true, .put = put_send, .prepare = prepare_send,
		.members = {
			{"priority", "priority"}, {"attempts", "max_attempts"}, {"ack-timeout", "ack_timeout_s"},
			{"queue-timeout", "queue_timeout_s"}, {"fallback", "fallbacks"},
		},
		.show = print_sent,
	},
};
