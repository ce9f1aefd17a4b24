/* spine alerts: what is wrong, by which rules, and who has seen it. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/each_id.h"
#include "cli/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_stats.h"
#include "cli/subcommand.h"

enum { BODY_MAX_BYTES = 16 * 1024, IDS_MAX = 1000, LIST_MAX_BYTES = 1 << 20 };

static const char *const state_choices[] = {"firing", "resolved", "all", NULL};

static const struct option alerts_options[] = {
	{
		.name = "state", .arg = "STATE", .type = OPTION_CHOICE, .choices = state_choices, .fallback = "firing",
		.help = "list: which ones"
	},
	{
		.name = "for", .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = INT64_C(30) * 86400000,
		.help = "silence: how long the webhook hears nothing of it; 0 ends it"
	},
	REASON_OPTIONS("silence: for whoever asks later"),
	{
		.name = "by", .arg = "NAME", .type = OPTION_TEXT,
		.help = "who has seen it; the name of --agent or of the user where it is not given"
	},
};

static const struct option_table alerts_table = {"What to do", alerts_options, OPTION_COUNT(alerts_options)};

/* --- Looking --- */

static void print_alerts(const struct cli *cli, const struct json *answer)
{
	struct buf out;

	buf_init(&out, LIST_MAX_BYTES);
	show_stats_alerts(cli, cli->arena, answer, &out);
	cli_write(buf_str(&out));
	buf_release(&out);
	cli_write(STR("\n"));
	show_stats_rules(cli, answer);
}

static int exec_list(struct cli *cli)
{
	const char *state = options_text(&cli->options, "state");
	struct client_request request = {
		.method = "GET", .path = arena_printf(cli->arena, "/v1/alerts?state=%s", state).p, .repeatable = true,
	};

	return ask_print(cli, &request, print_alerts);
}

/* --- Deciding --- */

static void print_decided(const struct cli *cli, const struct json *alert)
{
	struct json list = {.type = JSON_ARRAY, .count = 1, .items = (struct json *)alert};
	struct buf out;

	buf_init(&out, LIST_MAX_BYTES);
	show_stats_alert_list(cli, cli->arena, &list, &out);
	cli_write(buf_str(&out));
	buf_release(&out);
}

static int decide(struct cli *cli, const char *suffix, bool is_silence)
{
	struct each_id what = {
		.method = "POST", .prefix = "/v1/alerts/", .suffix = suffix, .list = "alerts", .skip = 1,
		.show = print_decided,
	};
	const char *by = cli_person(cli), *why = NULL;
	struct json_writer w;
	struct buf body;
	int code = reason_read(cli, &why);

	if (code != CLI_OK)
		return code;
	if (by && !str_is_utf8(str_of(by)))
		return cli_usage(cli, "--by is not UTF-8 text");
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	if (by)
		json_member_cstr(&w, "by", by);
	if (is_silence)
		json_member_double(&w, "for_s", (double)options_int(&cli->options, "for") / 1000);
	if (why)
		json_member_cstr(&w, "why", why);
	json_end_object(&w);
	what.body = buf_str(&body);
	code = buf_overflowed(&body) ? cli_usage(cli, "--reason is too long") : each_id_run(cli, &what);
	buf_release(&body);
	return code;
}

static int exec_ack(struct cli *cli)
{
	return decide(cli, "/ack", false);
}

static int exec_silence(struct cli *cli)
{
	if (!options_is_given(&cli->options, "for"))
		return cli_usage(cli, "alerts silence needs --for TIME: how long the webhook hears nothing of it");
	return decide(cli, "/silence", true);
}

static int exec_alerts(struct cli *cli)
{
	static const struct subcommand list[] = {
		{"list", "[--state STATE]", 0, 0, {"state", NULL}, exec_list},
		{"ack", "ID...", 1, IDS_MAX, {"by", NULL}, exec_ack},
		{"silence", "ID... --for TIME", 1, IDS_MAX, {"for", "reason", "why", "by", NULL}, exec_silence},
		{0},
	};

	return subcommand_run(cli, list);
}

static const char *const alerts_words[] = {"list", "ack", "silence", NULL};

const struct command cmd_alerts = {
	.name = "alerts",
	.summary = "Lists what is wrong and the rules it is judged by; notes who has seen it",
	.usage = "[list | ack ID... | silence ID...]",
	.about = "An alert fires once and is over by itself. Below the list: what each alert measures, and the "
		 "threshold that is in force for it, which options of spine serve change (--alert-latency and the "
		 "like). ack notes who has seen an alert; silence keeps it from the webhook for a while, also where "
		 "it is over and fires again.",
	.examples = {
		"spine alerts",
		"spine alerts list --state all --json | jq .rules",
		"spine alerts ack al-3",
		"spine alerts silence al-3 --for 2h --reason \"the agent is being moved\"",
	},
	.tables = {&alerts_table, &client_table},
	.max_args = IDS_MAX + 1,
	.args = ARGS_WORDS,
	.words = alerts_words,
	.exec = exec_alerts,
};
