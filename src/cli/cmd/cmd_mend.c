/* spine cancel, spine move: what nobody has taken yet is taken back or given to another agent, one or many at once. */
#include "cli/commands.h"
#include "cli/many.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"

enum { BODY_MAX_BYTES = 64 * 1024, IDS_MAX = 1000 };

#define WHICH_OPTIONS(to_help) \
	{.name = "all", .type = OPTION_FLAG, .help = "many: everything that is queued in the space"}, \
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT, .help = to_help}, \
	{.name = "from", .arg = "AGENT", .type = OPTION_TEXT, .help = "many: what this agent has sent"}, \
	{.name = "task", .arg = "ID", .type = OPTION_TEXT, .help = "many: what is of this task"}, \
	{.name = "since", .arg = "TIME", .type = OPTION_TEXT, \
	 .help = "many: what was queued at this time or later: 1h (ago), a date, or 2026-01-30T12:00:00Z"}, \
	{.name = "before", .arg = "TIME", .type = OPTION_TEXT, .help = "many: what was queued before this time"}, \
	{.name = "dry-run", .type = OPTION_FLAG, .help = "only show what would be done"}, \
	{.name = "limit", .letter = 'n', .arg = "N", .type = OPTION_INT, .min = 1, .max = 1000, \
	 .help = "many: end after so many, instead of with the last; a dry run shows so many, else 20"}

static const struct option decision_options[] = {
	{.name = "reason", .arg = "TEXT", .type = OPTION_TEXT,
	 .help = "with ids: the same as --why; many: what failed before for a reason that holds this text"},
	{.name = "why", .arg = "TEXT", .type = OPTION_TEXT, .help = "for whoever asks later"},
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who decides; the name of --agent or of the user where it is not given"},
};

static const struct option_table decision_table = {"Why", decision_options, OPTION_COUNT(decision_options)};

#define DECISION(verb) \
	.method = "POST", .path = "/v1/handoffs/{0}/" verb, .is_for_each = true, .list = "handoffs", .is_once = true, \
	.put = reason_put_decision, .max_body_bytes = BODY_MAX_BYTES, .show = show_handoff_line

#define ABOUT_MANY(more) \
	"Without ids it is about many: all that fit every filter that is given (--to and those below it), or " \
	"--all. " more "There --why says why. --dry-run shows what would be done. It is done a hundred at a time, " \
	"and repeating it does no harm.\n\n" \
	"With --json the answers are in the member handoffs, and problems where some of the ids failed; for many " \
	"it is " \
	"{\"action\",\"dry_run\",\"matched\",\"done\":[…],\"refused\":[…]}."

/* --- Cancel --- */

static const struct option cancel_options[] = {
	WHICH_OPTIONS("many: what is for this agent"),
};

static const struct option_table cancel_table = {"Which", cancel_options, OPTION_COUNT(cancel_options)};

static int exec_cancel(struct cli *cli)
{
	static const struct one_call each = {DECISION("cancel")};
	static const struct many_call many = {
		.name = "cancel", .verb = "cancel", .past = "cancelled",
		.path = "/v1/queued/cancel",
	};

	return many_decide(cli, &many, &each, 0);
}

const struct command cmd_cancel = {
	.name = "cancel",
	.summary = "Takes back handoffs that are queued: nobody gets them any more",
	.usage = "ID... | --all | --to AGENT | --task ID", .max_args = IDS_MAX,
	.about = "Only what nobody has taken yet, also what waits for its time or behind a breaker. It ends as "
		 "discarded, and who and why is kept. What is parked is dropped by spine parked discard. "
		 "spine parked restore brings back what was cancelled, as parked.\n\n"
		 ABOUT_MANY(""),
	.examples = {
		"spine cancel ho-1 --reason \"the user has changed her mind\"",
		"spine cancel --to coder --since 1h --dry-run",
	},
	.tables = {&cancel_table, &decision_table, &client_table},
	.exec = exec_cancel,
};

/* --- Move --- */

static const struct option move_options[] = {
	{.name = "move-to", .arg = "AGENT", .type = OPTION_TEXT, .help = "who gets the work instead"},
	WHICH_OPTIONS("with ids: the same as --move-to; many: what is for this agent"),
};

static const struct option_table move_table = {"Which, and where to", move_options, OPTION_COUNT(move_options)};

static int exec_move(struct cli *cli)
{
	static const struct one_call to = {
		DECISION("move"), .members = {{"to", "to"}}, .needs = "to", .needs_why = "who gets the work instead",
	};
	static const struct one_call move_to = {DECISION("move"), .members = {{"move-to", "to"}}};
	static const struct many_call many = {
		.name = "move", .verb = "move", .past = "moved",
		.path = "/v1/queued/move", .other = "move-to", .other_name = "move_to",
	};

	return many_decide(cli, &many, options_is_given(&cli->options, "move-to") ? &move_to : &to, 0);
}

const struct command cmd_move = {
	.name = "move",
	.summary = "Gives handoffs that are queued to another agent",
	.usage = "ID... --to AGENT | --all --move-to AGENT", .max_args = IDS_MAX,
	.about = "Only what nobody has taken yet; it begins with new attempts. What is parked is given to "
		 "another agent by spine parked reroute.\n\n"
		 ABOUT_MANY("The new agent is named with --move-to. "),
	.examples = {"spine move ho-1 --to reviewer", "spine move --to coder --move-to generalist --dry-run"},
	.tables = {&move_table, &decision_table, &client_table},
	.exec = exec_move,
};
