/* Handoffs that are there, and those that are parked: handoffs, trace, park, parked. */
#include "cli/commands.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"
#include "cli/show/show_trace.h"
#include "cli/subcommand.h"

enum { BODY_MAX_BYTES = 64 * 1024, IDS_MAX = 1000 };

/* --- Looking --- */

static const char *const state_choices[] = {
	"queued", "leased", "acked", "completed", "parked", "expired", "discarded", NULL,
};

static const char *const order_choices[] = {"newest", "oldest", NULL};

static const struct option handoffs_options[] = {
	{.name = "state", .letter = 's', .arg = "STATE", .type = OPTION_CHOICE, .choices = state_choices,
	 .help = "only those in this state"},
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT, .help = "only those that are for this agent"},
	{.name = "from", .arg = "AGENT", .type = OPTION_TEXT, .help = "only those of this sender"},
	{.name = "envelope", .letter = 'e', .arg = "ENV", .type = OPTION_TEXT, .help = "only those of this envelope"},
	{.name = "order", .arg = "ORDER", .type = OPTION_CHOICE, .choices = order_choices, .fallback = "newest",
	 .help = "which come first"},
};

static const struct option_table handoffs_table = {"Which", handoffs_options, OPTION_COUNT(handoffs_options)};

const struct command cmd_handoffs = {
	.name = "handoffs",
	.summary = "Lists deliveries, the newest first: who sent what to whom, and how it stands",
	.usage = "",
	.about = "All of one, with everything that happened to it: spine get ho-1.",
	.examples = {
		"spine handoffs", "spine handoffs --state queued --to coder --order oldest",
		"spine handoffs --json | jq '.handoffs[].state'",
	},
	.tables = {&handoffs_table, &pages_table, &client_table},
	.call = {
		.path = "/v1/handoffs", .is_paged = true, .list = "handoffs", .columns = handoff_columns,
		.members = {
			{"state", "state"}, {"to", "to"}, {"from", "from"}, {"envelope", "envelope_id"},
			{"order", "order"},
		},
	},
};

const struct command cmd_trace = {
	.name = "trace",
	.summary = "Tells what happened to a task, step by step",
	.usage = "TASK", .min_args = 1, .max_args = 1,
	.about = "Who packed what for whom, who took it, who acked, failed or completed it, when, at which attempt, "
		 "and why. Times count in seconds from the first step.",
	.examples = {"spine trace task-1", "spine trace task-1 --json | jq '.events[].event'"},
	.tables = {&client_table},
	.call = {.path = "/v1/tasks/{0}/trace?page_size=1000", .show = show_trace},
};

/* --- Parking --- */

static const struct option park_options[] = {
	REASON_OPTIONS("what a person reads first"),
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who decides; the name of --agent where it is not given"},
};

static const struct option_table park_table = {"Why", park_options, OPTION_COUNT(park_options)};

static int put_reason(struct cli *cli, struct json_writer *w)
{
	return reason_put(cli, "reason", w);
}

const struct command cmd_park = {
	.name = "park",
	.summary = "Sets an envelope aside, for a person to look at",
	.usage = "ENVELOPE", .min_args = 1, .max_args = 1,
	.about = "What is on its way of it is taken back; one that was never sent is parked, too. What happens next is "
		 "said by spine parked.",
	.examples = {"spine park env-1 --reason \"waits for the client's answer\""},
	.tables = {&park_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/envelopes/{0}/park", .creates = true,
		.needs = "reason", .needs_why = "what a person reads first", .put = put_reason,
		.members = {{"by", "by"}}, .max_body_bytes = BODY_MAX_BYTES, .show = show_handoff_line,
	},
};

static const struct option parked_options[] = {
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
	 .help = "list: only what was for this agent; reroute: who gets it instead"},
	{.name = "max-tokens", .letter = 'm', .arg = "N", .type = OPTION_INT, .min = 1, .max = 10000000,
	 .help = "shrink: the budget of the new, smaller envelope"},
	REASON_OPTIONS("for whoever asks later; discard needs one"),
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who decides; the name of --agent or of the user where it is not given"},
};

static const struct option_table parked_table = {"What to do", parked_options, OPTION_COUNT(parked_options)};

static void say_what_to_do(const struct cli *cli, const struct json *parked)
{
	if (parked->count && cli->out.is_terminal)
		cli_note(cli, "\nspine parked show ID, then redrive ID, reroute ID --to AGENT,\n"
			 "shrink ID --max-tokens N, or discard ID --reason TEXT");
}

/* A decision about each of several handoffs. */
#define DECISION(verb) \
	.method = "POST", .path = "/v1/parked/{0}/" verb, .is_for_each = true, .list = "handoffs", .is_once = true, \
	.put = reason_put_decision, .max_body_bytes = BODY_MAX_BYTES, .show = show_handoff_line

static const struct subcommand parked_subs[] = {
	{"list", "[--to AGENT]", 0, 0, {"to"}, .call = {
		.path = "/v1/parked", .members = {{"to", "to"}}, .is_paged = true, .list = "parked",
		.columns = parked_columns, .show = say_what_to_do, .none = "(nothing is parked)",
	}},
	{"show", "ID", 1, 1, .call = {.path = "/v1/handoffs/{0}", .show = show_handoff}},
	{"redrive", "ID...", 1, IDS_MAX, {"reason", "why", "by"}, .call = {DECISION("redrive")}},
	{"reroute", "ID... --to AGENT", 1, IDS_MAX, {"to", "reason", "why", "by"}, .call = {
		DECISION("reroute"), .members = {{"to", "to"}}, .needs = "to", .needs_why = "who gets the work instead",
	}},
	{"shrink", "ID... --max-tokens N", 1, IDS_MAX, {"max-tokens", "reason", "why", "by"}, .call = {
		DECISION("shrink"), .members = {{"max-tokens", "max_tokens"}},
		.needs = "max-tokens", .needs_why = "what the new envelope may have",
	}},
	{"discard", "ID... --reason TEXT", 1, IDS_MAX, {"reason", "why", "by"}, .call = {
		DECISION("discard"),
		.needs = "reason", .needs_why = "it is gone from the queue for good, and somebody will ask",
	}},
	{0},
};

const struct command cmd_parked = {
	.name = "parked",
	.summary = "Lists what is parked, and gets it out of there",
	.usage = "[list | show ID | redrive ID... | reroute ID... | shrink ID... | discard ID...]",
	.max_args = IDS_MAX + 1,
	.about = "A handoff that used up its attempts and fallbacks, that was rejected, or that nobody took within its "
		 "queue timeout is parked, with the reason. What an outage parked comes back by itself, once, when "
		 "the agent's breaker closes. All else stays there until somebody decides: redrive tries the same "
		 "agent again, reroute gives it to another one, shrink packs a smaller envelope and delivers that, "
		 "discard drops it for good. Who and why is kept.\n\n"
		 "With --json the answers to a decision are in the member handoffs, also for a single id.",
	.examples = {
		"spine parked",
		"spine parked --to coder",
		"spine parked show ho-2",
		"spine parked redrive ho-2 --reason \"the agent is back\"",
	},
	.tables = {&parked_table, &pages_table, &client_table},
	.subs = parked_subs,
};
