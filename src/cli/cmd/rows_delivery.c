/* Handoffs that are there: handoffs, queues, trace; and what a person sets aside: park. */
#include "cli/commands.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"
#include "cli/show/show_trace.h"

enum { BODY_MAX_BYTES = 64 * 1024 };

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

static int exec_queues(struct cli *cli)
{
	static const struct one_call all = {
		.path = "/v1/queues", .is_paged = true, .list = "queues", .columns = queue_columns,
		.none = "(nothing waits, and nothing is at work or parked)",
	};
	static const struct one_call one = {
		.path = "/v1/queues/{0}", .is_paged = true, .list = "queue", .columns = queue_entry_columns,
		.none = "(nothing waits for it)",
	};

	return one_call_run(cli, cli->options.arg_count ? &one : &all, 0);
}

const struct command cmd_queues = {
	.name = "queues",
	.summary = "Lists what waits for whom, since when, and why",
	.usage = "[AGENT]", .max_args = 1,
	.about = "Without an agent, a line for each that has open or parked work: how much waits, since when the first "
		 "of it, and why. With one, what waits for it, the next first; what waits for its time comes last.\n\n"
		 "The reasons are empty_chair (nobody takes anything), busy (the agent is at work), held (behind its "
		 "circuit breaker), backoff (the next attempt is later) and deferred (it was sent for later); UNTIL "
		 "says when that ends, where it is known. What can be done: spine cancel, spine move.",
	.examples = {"spine queues", "spine queues coder", "spine queues --json | jq '.queues[].why'"},
	.tables = {&pages_table, &client_table},
	.exec = exec_queues,
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
