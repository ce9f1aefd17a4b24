/* spine parked: what is parked, and getting it out of there, one or many at a time. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show_handoff.h"
#include "cli/subcommand.h"

enum {
	BODY_MAX_BYTES = 64 * 1024,
	ANSWERS_MAX_BYTES = 512 << 20,
	IDS_MAX = 1000,
	/* In a call, which is one transaction: others wait for its end, and the bar moves in such steps. */
	AT_A_TIME = 100,
};

#define FILTERS "all", "to", "from", "task", "since", "before", "dry-run"

static const struct option parked_options[] = {
	{.name = "all", .type = OPTION_FLAG, .help = "many: everything that is parked in the space"},
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
	 .help = "list, many: what was for this agent; reroute ID: who gets it instead"},
	{.name = "from", .arg = "AGENT", .type = OPTION_TEXT, .help = "list, many: what this agent has sent"},
	{.name = "task", .arg = "ID", .type = OPTION_TEXT, .help = "list, many: what is of this task"},
	{.name = "since", .arg = "TIME", .type = OPTION_TEXT,
	 .help = "list, many: what was parked at this time or later: 1h (ago), a date, or 2026-01-30T12:00:00Z"},
	{.name = "before", .arg = "TIME", .type = OPTION_TEXT, .help = "list, many: what was parked before this time"},
	{.name = "reroute-to", .arg = "AGENT", .type = OPTION_TEXT, .help = "reroute: who gets the work instead"},
	{.name = "dry-run", .type = OPTION_FLAG, .help = "only show what would be done"},
	{.name = "max-tokens", .letter = 'm', .arg = "N", .type = OPTION_INT, .min = 1, .max = 10000000,
	 .help = "shrink: the budget of the new, smaller envelope"},
	{.name = "reason", .arg = "TEXT", .type = OPTION_TEXT,
	 .help = "list, many: what was parked for a reason that holds this text; with ids: the same as --why"},
	{.name = "why", .arg = "TEXT", .type = OPTION_TEXT, .help = "for whoever asks later; discard needs it"},
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who decides; the name of --agent or of the user where it is not given"},
};

static const struct option_table parked_table = {"Which, and what to do", parked_options, OPTION_COUNT(parked_options)};

/* --- Many at once --- */

static const struct call_member filter_members[] = {
	{"to", "to"}, {"from", "from"}, {"reason", "reason"}, {"task", "task"}, {NULL, NULL},
};

struct many {
	struct cli *cli;
	const char *verb;	/* "redrive" */
	bool is_dry;
	int64_t left;		/* how many may still be done; of a dry run, shown */
	const char *after;	/* the last call went as far as this one; NULL: there was none */
	int64_t matched;
	int64_t done;
	struct buf answers;	/* JSON of what was done, divided by commas */
	struct buf refusals;
	int64_t refused;
};

static int put_filter(struct cli *cli, struct json_writer *w)
{
	int code = body_put_members(cli, filter_members, w);

	if (code == CLI_OK)
		code = body_put_time(cli, "since", "since", w);
	if (code == CLI_OK)
		code = body_put_time(cli, "before", "before", w);
	if (options_flag(&cli->options, "all"))
		json_member_bool(w, "all", true);
	return code;
}

static int put_many(const struct many *m, struct json_writer *w)
{
	struct cli *cli = m->cli;
	bool has_ids = cli->options.arg_count > 1;
	int code;

	json_begin_object(w);
	code = has_ids ? body_put_ids(cli, "ids", 1, "", w) : put_filter(cli, w);
	if (code == CLI_OK)
		code = reason_put_person(cli, w);
	if (code == CLI_OK)
		code = body_put(cli, has_ids && options_is_given(&cli->options, "reason") ? "reason" : "why", "why", w);
	if (code == CLI_OK && strcmp(m->verb, "reroute") == 0)
		code = body_put(cli, has_ids && options_is_given(&cli->options, "to") ? "to" : "reroute-to",
				"reroute_to", w);
	json_member_int(w, "limit", m->left < AT_A_TIME ? m->left : AT_A_TIME);
	if (m->is_dry)
		json_member_bool(w, "dry_run", true);
	if (m->after)
		json_member_cstr(w, "after", m->after);
	json_end_object(w);
	return code;
}

static void add_all(struct buf *list, const struct json *items)
{
	struct json_writer w;

	for (uint32_t i = 0; i < items->count; i++) {
		buf_puts(list, list->len ? "," : "");
		json_writer_init(&w, list);
		json_put(&w, &items->items[i]);
	}
}

static const struct column done_columns[] = {
	{"HANDOFF", "id", .style = TERM_CYAN},
	{"STATE", "state", .style = TERM_YELLOW},
	{"TO", "to", .may_cut = true},
	{"ENVELOPE", "envelope_id", .style = TERM_PLAIN},
	{"TASK", "task", .may_cut = true, .may_omit = true},
	{"REASON", "reason", .style = TERM_PLAIN},
	{0},
};

static void take_answer(struct many *m, const struct json *answer)
{
	const struct json *done = ask_array(answer, "done"), *refused = ask_array(answer, "refused");
	struct str next = ask_str(answer, "next_after");

	if (m->after == NULL)
		m->matched = ask_int(answer, "matched", 0);
	m->done += done->count;
	m->refused += refused->count;
	m->left -= done->count;
	m->after = next.n ? arena_cstr(m->cli->arena, next) : NULL;
	add_all(&m->answers, done);
	add_all(&m->refusals, refused);
}

/* A server before this command: a path of that name was none. */
static int refuse_old_server(const struct many *m, const struct ask *ask)
{
	cli_error(m->cli, "%s is of a version that cannot %s many at once; name them: spine parked %s ID...",
		  client_url(m->cli->client), m->verb, m->verb);
	return ask->exit;
}

/* One transaction of the server's. */
static int call_once(struct many *m)
{
	struct client_request request = {
		.method = "POST", .path = arena_printf(m->cli->arena, "/v1/parked/%s", m->verb).p, .repeatable = true,
	};
	struct json_writer w;
	struct buf body;
	struct ask ask = {0};
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	code = put_many(m, &w);
	if (code == CLI_OK && buf_overflowed(&body))
		code = cli_usage(m->cli, "what was given is too long");
	if (code == CLI_OK) {
		request.body = buf_str(&body);
		ask_make(m->cli, &request, m->cli->arena, &ask);
		code = ask.exit;
		if (code == CLI_OK)
			take_answer(m, &ask.json);
		else if (str_is(ask.code, "not_found") || str_is(ask.code, "method_not_allowed"))
			code = refuse_old_server(m, &ask);
		else
			ask_report(m->cli, &ask);
	}
	ask_release(&ask);
	buf_release(&body);
	return code;
}

/* --- What came of it --- */

static struct str document_of(const struct many *m)
{
	struct buf out;

	buf_init(&out, 2 * (size_t)ANSWERS_MAX_BYTES + 1024);
	buf_printf(&out, "{\"action\":\"%s\",\"dry_run\":%s,\"matched\":%lld,\"done\":[", m->verb,
		   m->is_dry ? "true" : "false", (long long)m->matched);
	buf_put(&out, buf_str(&m->answers));
	buf_puts(&out, "],\"refused\":[");
	buf_put(&out, buf_str(&m->refusals));
	buf_puts(&out, "]}");
	return cli_keep(m->cli->arena, &out);
}

static void tell(const struct many *m)
{
	const char *past = strcmp(m->verb, "redrive") == 0 ? "redriven" :
			   strcmp(m->verb, "reroute") == 0 ? "rerouted" : "discarded";

	if (m->is_dry)
		cli_note(m->cli, "(%lld would be %s; nothing was changed)", (long long)m->matched, past);
	else
		cli_note(m->cli, "(%lld of %lld %s)", (long long)m->done, (long long)m->matched, past);
	if (m->is_dry && m->matched > m->done + m->refused)
		cli_note(m->cli, "(there are more: --limit N shows up to 1000)");
	else if (m->after)
		cli_note(m->cli, "(there are more: --limit was reached; the same command goes on)");
}

static int finish(const struct many *m)
{
	struct str document = document_of(m);
	struct json_error error;
	struct json all;

	if (cli_is_json(m->cli)) {
		cli_write_json(m->cli, document);
	} else if (json_parse(document, ASK_JSON_DEPTH, m->cli->arena, &all, &error)) {
		const struct json *refused = ask_array(&all, "refused");

		columns_show(m->cli, ask_array(&all, "done"), done_columns);
		for (uint32_t i = 0; i < refused->count; i++)
			cli_error(m->cli, "%.*s: %.*s", STR_ARG(ask_str(&refused->items[i], "id")),
				  STR_ARG(ask_str(&refused->items[i], "detail")));
		tell(m);
	}
	return m->refused ? CLI_CONFLICT : CLI_OK;
}

static int run_many(struct cli *cli, const char *verb)
{
	bool is_dry = options_flag(&cli->options, "dry-run");
	struct many m = {
		.cli = cli, .verb = verb, .is_dry = is_dry,
		.left = is_dry || options_is_given(&cli->options, "limit") ? options_int(&cli->options, "limit") :
			INT64_MAX,
	};
	struct progress progress;
	int code;

	buf_init(&m.answers, ANSWERS_MAX_BYTES);
	buf_init(&m.refusals, ANSWERS_MAX_BYTES);
	progress_init(&progress, cli, "handoffs", 0);
	do {
		code = call_once(&m);
		progress.total = m.matched;
		progress_show(&progress, m.done, m.done + m.refused);
	} while (code == CLI_OK && m.after && m.left > 0);
	progress_end(&progress);
	/* What was done before it went wrong is done. */
	if (code == CLI_OK || m.done)
		code = code == CLI_OK ? finish(&m) : (finish(&m), code);
	buf_release(&m.answers);
	buf_release(&m.refusals);
	return code;
}

/* --- One or many --- */

static bool is_filtered(const struct cli *cli)
{
	static const char *const filters[] = {"all", "from", "task", "since", "before", NULL};

	for (const char *const *f = filters; *f; f++)
		if (options_is_given(&cli->options, *f))
			return true;
	return false;
}

static int check_many(const struct cli *cli, const char *verb)
{
	const struct options *o = &cli->options;

	if (!is_filtered(cli) && !options_is_given(o, "to") && !options_is_given(o, "reason"))
		return cli_usage(cli, "parked %s needs ids, or which ones: --to, --from, --reason, --task, --since, "
				 "--before, or --all", verb);
	if (strcmp(verb, "reroute") == 0 && !options_is_given(o, "reroute-to"))
		return cli_usage(cli, "parked reroute of many needs --reroute-to AGENT: who gets the work instead "
				 "(--to says whose it was)");
	if (strcmp(verb, "discard") == 0 && !options_is_given(o, "why"))
		return cli_usage(cli, "parked discard of many needs --why TEXT: it is gone from the queue for good, "
				 "and somebody will ask (--reason says which ones)");
	return CLI_OK;
}

/* With ids as ever, a call for each; without them, or to see what would be done, by the server's call for many. */
static int decide(struct cli *cli, const char *verb, const struct one_call *each)
{
	bool has_ids = cli->options.arg_count > 1;
	int code = has_ids ? CLI_OK : check_many(cli, verb);

	if (code != CLI_OK)
		return code;
	if (has_ids && (is_filtered(cli) || (options_is_given(&cli->options, "to") && strcmp(verb, "reroute") != 0)))
		return cli_usage(cli, "parked %s takes ids or a filter, not both", verb);
	if (has_ids && !options_flag(&cli->options, "dry-run"))
		return one_call_run(cli, each, 1);
	return run_many(cli, verb);
}

/* A decision about each of several handoffs. */
#define DECISION(verb) \
	.method = "POST", .path = "/v1/parked/{0}/" verb, .is_for_each = true, .list = "handoffs", .is_once = true, \
	.put = reason_put_decision, .max_body_bytes = BODY_MAX_BYTES, .show = show_handoff_line

static int exec_redrive(struct cli *cli)
{
	static const struct one_call each = {DECISION("redrive")};

	return decide(cli, "redrive", &each);
}

static int exec_reroute(struct cli *cli)
{
	static const struct one_call to = {
		DECISION("reroute"), .members = {{"to", "to"}}, .needs = "to", .needs_why = "who gets the work instead",
	};
	static const struct one_call reroute_to = {DECISION("reroute"), .members = {{"reroute-to", "to"}}};

	return decide(cli, "reroute", options_is_given(&cli->options, "reroute-to") ? &reroute_to : &to);
}

static int exec_discard(struct cli *cli)
{
	static const struct one_call each = {
		DECISION("discard"),
		.needs = "reason", .needs_why = "it is gone from the queue for good, and somebody will ask",
	};

	return decide(cli, "discard", &each);
}

/* --- The command --- */

static void say_what_to_do(const struct cli *cli, const struct json *parked)
{
	if (parked->count && cli->out.is_terminal)
		cli_note(cli, "\nspine parked show ID, then redrive ID, reroute ID --to AGENT,\n"
			 "shrink ID --max-tokens N, or discard ID --reason TEXT;\n"
			 "many at once: redrive --all, or --to, --reason, --since");
}

static int put_times(struct cli *cli, struct buf *path)
{
	int code = body_add_time(cli, "since", "since", path);

	return code == CLI_OK ? body_add_time(cli, "before", "before", path) : code;
}

static const struct subcommand parked_subs[] = {
	{"list", "[--to AGENT]", 0, 0, {"to", "from", "task", "reason", "since", "before"}, .call = {
		.path = "/v1/parked", .is_paged = true, .list = "parked", .query = put_times,
		.members = {{"to", "to"}, {"from", "from"}, {"task", "task"}, {"reason", "reason"}},
		.columns = parked_columns, .show = say_what_to_do, .none = "(nothing is parked)",
	}},
	{"show", "ID", 1, 1, .call = {.path = "/v1/handoffs/{0}", .show = show_handoff}},
	{"redrive", "ID... | --all | --to AGENT | --reason TEXT | --since TIME", 0, IDS_MAX,
	 {FILTERS, "reason", "why", "by"}, .exec = exec_redrive},
	{"reroute", "ID... --to AGENT | --all --reroute-to AGENT", 0, IDS_MAX,
	 {FILTERS, "reroute-to", "reason", "why", "by"}, .exec = exec_reroute},
	{"shrink", "ID... --max-tokens N", 1, IDS_MAX, {"max-tokens", "reason", "why", "by"}, .call = {
		DECISION("shrink"), .members = {{"max-tokens", "max_tokens"}},
		.needs = "max-tokens", .needs_why = "what the new envelope may have",
	}},
	{"discard", "ID... --reason TEXT | --all --why TEXT", 0, IDS_MAX, {FILTERS, "reason", "why", "by"},
	 .exec = exec_discard},
	{0},
};

const struct command cmd_parked = {
	.name = "parked",
	.summary = "Lists what is parked, and gets it out of there, one or many at a time",
	.usage = "[list | show ID | redrive ID... | reroute ID... | shrink ID... | discard ID...]",
	.max_args = IDS_MAX + 1,
	.about = "A handoff that used up its attempts and fallbacks, that was rejected, or that nobody took within its "
		 "queue timeout is parked, with the reason. What an outage parked comes back by itself, once, when "
		 "the agent's breaker closes. All else stays there until somebody decides: redrive tries the same "
		 "agent again, reroute gives it to another one, shrink packs a smaller envelope and delivers that, "
		 "discard drops it for good. Who and why is kept.\n\n"
		 "Without ids, redrive, reroute and discard are about many: all that fit --to, --from, --reason (a "
		 "part of why it was parked), --task, --since and --before together, or --all. There --reason says "
		 "which ones and --why says why; reroute names the new agent with --reroute-to. --dry-run shows what "
		 "would be done, --limit ends it after so many. It is done a hundred at a time, and repeating it does "
		 "no harm.\n\n"
		 "With --json the answers to a decision are in the member handoffs, also for a single id; for many it "
		 "is {\"action\",\"dry_run\",\"matched\",\"done\":[…],\"refused\":[…]}.",
	.examples = {
		"spine parked",
		"spine parked --to coder",
		"spine parked show ho-2",
		"spine parked redrive ho-2 --reason \"the agent is back\"",
	},
	.tables = {&parked_table, &pages_table, &client_table},
	.subs = parked_subs,
};
