/* Handoffs that are there: handoffs, trace; and what a person does with those: cancel, move, park. */
#include "cli/commands.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"
#include "cli/show/show_trace.h"

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
	.tables = {&rest_table, &client_table},
	.call = {.path = "/v1/tasks/{0}/trace?page_size=1000", .is_paged = true, .show = show_trace},
};

/* --- Mending a queue --- */

static const struct option decision_options[] = {
	REASON_OPTIONS("for whoever asks later"),
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who decides; the name of --agent or of the user where it is not given"},
};

static const struct option_table decision_table = {"Why", decision_options, OPTION_COUNT(decision_options)};

#define DECISION(verb) \
	.method = "POST", .path = "/v1/handoffs/{0}/" verb, .is_for_each = true, .list = "handoffs", .is_once = true, \
	.put = reason_put_decision, .max_body_bytes = BODY_MAX_BYTES, .show = show_handoff_line

const struct command cmd_cancel = {
	.name = "cancel",
	.summary = "Takes back handoffs that are queued: nobody gets them any more",
	.usage = "ID...", .min_args = 1, .max_args = IDS_MAX,
	.about = "Only what nobody has taken yet, also what waits for its time or behind a breaker. It ends as "
		 "discarded, and who and why is kept. What is parked is dropped by spine parked discard.\n\n"
		 "With --json the answers are in the member handoffs, and problems where some of the ids failed.",
	.examples = {"spine cancel ho-1 --reason \"the user has changed her mind\""},
	.tables = {&decision_table, &client_table},
	.call = {DECISION("cancel")},
};

static const struct option move_options[] = {
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT, .help = "who gets the work instead"},
};

static const struct option_table move_table = {"Where to", move_options, OPTION_COUNT(move_options)};

const struct command cmd_move = {
	.name = "move",
	.summary = "Gives handoffs that are queued to another agent",
	.usage = "ID... --to AGENT", .min_args = 1, .max_args = IDS_MAX,
	.about = "Only what nobody has taken yet; it begins with new attempts. What is parked is given to "
		 "another agent by spine parked reroute.\n\n"
		 "With --json the answers are in the member handoffs, and problems where some of the ids failed.",
	.examples = {"spine move ho-1 --to reviewer"},
	.tables = {&move_table, &decision_table, &client_table},
	.call = {
		DECISION("move"), .members = {{"to", "to"}}, .needs = "to", .needs_why = "who gets the work instead",
	},
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
