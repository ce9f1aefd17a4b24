/* spine parked: what nobody took or everybody refused, and what a person does with it. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/each_id.h"
#include "cli/pages.h"
#include "cli/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_handoff.h"
#include "cli/subcommand.h"
#include "cli/when.h"
#include "client/url.h"

enum { BODY_MAX_BYTES = 64 * 1024, IDS_MAX = 1000 };

static const struct option parked_options[] = {
	{
		.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
		.help = "list: only what was for this agent; reroute: who gets it instead"
	},
	{
		.name = "max-tokens", .letter = 'm', .arg = "N", .type = OPTION_INT, .min = 1, .max = 10000000,
		.help = "shrink: the budget of the new, smaller envelope"
	},
	REASON_OPTIONS("for whoever asks later; discard needs one"),
	{
		.name = "by", .arg = "NAME", .type = OPTION_TEXT,
		.help = "who decides; the name of --agent or of the user where it is not given"
	},
};

static const struct option_table parked_table = {"What to do", parked_options, OPTION_COUNT(parked_options)};

/* --- Looking --- */

static void print_parked(const struct cli *cli, const struct json *parked)
{
	static const struct table_column columns[] = {
		{"HANDOFF", false, TERM_CYAN}, {"AGE", true, TERM_PLAIN}, {"ENVELOPE", false, TERM_PLAIN},
		{"FROM -> TO", false, TERM_PLAIN}, {"TRIES", true, TERM_PLAIN}, {"REASON", false, TERM_YELLOW},
		{NULL, false, TERM_PLAIN},
	};
	int64_t now_ms = clock_wall_ms();
	struct table table;

	table_init(&table, columns, cli->arena);
	table_may_cut(&table, 3);
	for (uint32_t i = 0; i < parked->count; i++) {
		const struct json *h = &parked->items[i];
		struct table_row *row = table_add(&table);

		table_set(&table, row, 0, ask_str(h, "id"));
		row->cells[1] = when_age(cli->arena, ask_str(h, "changed_at"), now_ms);
		table_set(&table, row, 2, ask_str(h, "envelope_id"));
		row->cells[3] = show_envelope_route(cli, h);
		row->cells[4] = arena_printf(cli->arena, "%lld", (long long)ask_int(h, "attempts", 0));
		table_set(&table, row, 5, ask_str(h, "reason"));
	}
	show_rows(cli, &table);
	if (!cli->out.is_terminal)
		return;
	if (parked->count == 0)
		cli_note(cli, "(nothing is parked)");
	else
		cli_note(cli, "\nspine parked show ID, then redrive ID, reroute ID --to AGENT,\n"
			 "shrink ID --max-tokens N, or discard ID --reason TEXT");
}

static int exec_list(struct cli *cli)
{
	const char *to = options_text(&cli->options, "to");
	struct buf path;
	int code;

	buf_init(&path, BODY_MAX_BYTES);
	buf_puts(&path, "/v1/parked");
	if (to)
		url_add(&path, "to", str_of(to));
	code = pages_run(cli, buf_str(&path).p, "parked", print_parked);
	buf_release(&path);
	return code;
}

static int exec_show(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/handoffs/", cli->options.args[1], ""),
		.repeatable = true,
	};

	return ask_print(cli, &request, show_handoff);
}

/* --- Deciding --- */

static int put_decision(const struct cli *cli, struct json_writer *w)
{
	const char *texts[][2] = {
		{"to", options_text(&cli->options, "to")}, {"why", NULL}, {"by", cli_person(cli)},
	};
	int code = reason_read(cli, &texts[1][1]);

	if (code != CLI_OK)
		return code;
	for (size_t i = 0; i < OPTION_COUNT(texts); i++) {
		if (texts[i][1] && !str_is_utf8(str_of(texts[i][1])))
			return cli_usage(cli, "--%s is not UTF-8 text", texts[i][0]);
		if (texts[i][1])
			json_member_cstr(w, texts[i][0], texts[i][1]);
	}
	if (options_is_given(&cli->options, "max-tokens"))
		json_member_int(w, "max_tokens", options_int(&cli->options, "max-tokens"));
	return CLI_OK;
}

static int decide(struct cli *cli, const char *suffix)
{
	struct each_id what = {
		.method = "POST", .prefix = "/v1/parked/", .suffix = suffix, .list = "handoffs", .skip = 1,
		.is_once = true,
		.show = show_handoff_line,
	};
	struct json_writer w;
	struct buf body;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	code = put_decision(cli, &w);
	json_end_object(&w);
	what.body = buf_str(&body);
	if (code == CLI_OK && buf_overflowed(&body))
		code = cli_usage(cli, "--reason is too long");
	if (code == CLI_OK)
		code = each_id_run(cli, &what);
	buf_release(&body);
	return code;
}

static int exec_redrive(struct cli *cli)
{
	return decide(cli, "/redrive");
}

static int exec_reroute(struct cli *cli)
{
	if (options_text(&cli->options, "to") == NULL)
		return cli_usage(cli, "parked reroute needs --to AGENT: who gets the work instead");
	return decide(cli, "/reroute");
}

static int exec_shrink(struct cli *cli)
{
	if (!options_is_given(&cli->options, "max-tokens"))
		return cli_usage(cli, "parked shrink needs --max-tokens N: what the new envelope may have");
	return decide(cli, "/shrink");
}

static int exec_discard(struct cli *cli)
{
	const char *reason = NULL;
	int code = reason_read(cli, &reason);

	if (code == CLI_OK && reason == NULL)
		code = cli_usage(cli, "parked discard needs --reason TEXT: it is gone from the queue for good, and "
				      "somebody will ask");
	return code == CLI_OK ? decide(cli, "/discard") : code;
}

static int exec_parked(struct cli *cli)
{
	static const struct subcommand list[] = {
		{"list", "[--to AGENT]", 0, 0, {"to", NULL}, exec_list},
		{"show", "ID", 1, 1, {NULL}, exec_show},
		{"redrive", "ID...", 1, IDS_MAX, {"reason", "why", "by", NULL}, exec_redrive},
		{"reroute", "ID... --to AGENT", 1, IDS_MAX, {"to", "reason", "why", "by", NULL}, exec_reroute},
		{
			"shrink", "ID... --max-tokens N", 1, IDS_MAX, {"max-tokens", "reason", "why", "by", NULL},
			exec_shrink
		},
		{"discard", "ID... --reason TEXT", 1, IDS_MAX, {"reason", "why", "by", NULL}, exec_discard},
		{0},
	};

	return subcommand_run(cli, list);
}

static const char *const parked_words[] = {"list", "show", "redrive", "reroute", "shrink", "discard", NULL};

const struct command cmd_parked = {
	.name = "parked",
	.summary = "Lists what is parked, and gets it out of there",
	.usage = "[list | show ID | redrive ID... | reroute ID... | shrink ID... | discard ID...]",
	.about = "A handoff that nobody took, that used up its attempts and fallbacks, or that was rejected is parked, "
		 "with the reason. It stays there until somebody decides: redrive tries the same agent again, reroute "
		 "gives it to another one, shrink packs a smaller envelope and delivers that, discard drops it for "
		 "good. Who and why is kept.\n\n"
		 "With --json the answers to a decision are in the member handoffs, also for a single id.",
	.examples = {
		"spine parked",
		"spine parked --to coder",
		"spine parked show ho-2",
		"spine parked redrive ho-2 --reason \"the agent is back\"",
	},
	.tables = {&parked_table, &pages_table, &client_table},
	.max_args = IDS_MAX + 1,
	.args = ARGS_WORDS,
	.words = parked_words,
	.exec = exec_parked,
};
