/* spine parked: what is parked, and getting it out of there, one or many at a time. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/many.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show_handoff.h"
#include "cli/subcommand.h"

enum { BODY_MAX_BYTES = 64 * 1024, IDS_MAX = 1000 };

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

/* --- Decisions --- */

/* A decision about each of several handoffs. */
#define DECISION(verb) \
	.method = "POST", .path = "/v1/parked/{0}/" verb, .is_for_each = true, .list = "handoffs", .is_once = true, \
	.put = reason_put_decision, .max_body_bytes = BODY_MAX_BYTES, .show = show_handoff_line

static int exec_redrive(struct cli *cli)
{
	static const struct one_call each = {DECISION("redrive")};
	static const struct many_call many = {
		.name = "parked redrive", .verb = "redrive", .past = "redriven",
		.path = "/v1/parked/redrive",
	};

	return many_decide(cli, &many, &each, 1);
}

static int exec_reroute(struct cli *cli)
{
	static const struct one_call to = {
		DECISION("reroute"), .members = {{"to", "to"}}, .needs = "to", .needs_why = "who gets the work instead",
	};
	static const struct one_call reroute_to = {DECISION("reroute"), .members = {{"reroute-to", "to"}}};
	static const struct many_call many = {
		.name = "parked reroute", .verb = "reroute", .past = "rerouted",
		.path = "/v1/parked/reroute", .other = "reroute-to", .other_name = "reroute_to",
	};

	return many_decide(cli, &many, options_is_given(&cli->options, "reroute-to") ? &reroute_to : &to, 1);
}

static int exec_discard(struct cli *cli)
{
	static const struct one_call each = {
		DECISION("discard"),
		.needs = "reason", .needs_why = "it is gone from the queue for good, and somebody will ask",
	};
	static const struct many_call many = {
		.name = "parked discard", .verb = "discard", .past = "discarded",
		.path = "/v1/parked/discard",
		.needs_why = "it is gone from the queue for good, and somebody will ask",
	};

	return many_decide(cli, &many, &each, 1);
}

/* Only what is named: nothing but its id says that it was there. */
static int exec_restore(struct cli *cli)
{
	static const struct one_call each = {DECISION("restore")};
	static const struct many_call many = {
		.name = "parked restore", .verb = "restore", .past = "restored",
		.path = "/v1/parked/restore",
	};

	return many_decide(cli, &many, &each, 1);
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
	{"restore", "ID...", 1, IDS_MAX, {"dry-run", "reason", "why", "by"}, .exec = exec_restore},
	{0},
};

const struct command cmd_parked = {
	.name = "parked",
	.summary = "Lists what is parked, and gets it out of there, one or many at a time",
	.usage = "[list | show ID | redrive ID... | reroute ID... | shrink ID... | discard ID... | restore ID...]",
	.max_args = IDS_MAX + 1,
	.about = "A handoff that used up its attempts and fallbacks, that was rejected, or that nobody took within its "
		 "queue timeout is parked, with the reason. What an outage parked comes back by itself, once, when "
		 "the agent's breaker closes. All else stays there until somebody decides: redrive tries the same "
		 "agent again, reroute gives it to another one, shrink packs a smaller envelope and delivers that, "
		 "discard drops it. Who and why is kept. restore undoes it: what was discarded, or redriven and not "
		 "taken since, is parked again; for all that a call for many has done, give it the ids that the call "
		 "named (see --json).\n\n"
		 "Without ids, redrive, reroute and discard are about many: all that fit --to, --from, --reason (a "
		 "part of why it was parked), --task, --since and --before together, or --all. There --reason says "
		 "which ones and --why says why; reroute names the new agent with --reroute-to. --dry-run shows what "
		 "would be done, --limit ends it after so many. It is done a hundred at a time, and repeating it does "
		 "no harm.\n\n"
		 "With --json the answers to a decision are in the member handoffs, also for a single id; for many it "
		 "is {\"action\",\"dry_run\",\"matched\",\"done\":[…],\"refused\":[…]}.",
	.examples = {
		"spine parked",
		"spine parked show ho-2",
		"spine parked redrive --to coder --since 1h --dry-run",
		"spine parked redrive ho-2 --reason \"the agent is back\"",
	},
	.tables = {&parked_table, &pages_table, &client_table},
	.subs = parked_subs,
};
