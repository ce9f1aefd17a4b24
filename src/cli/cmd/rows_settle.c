/* What a receiver answers to a handoff: ack, progress, need, complete, nack, release, reject. */
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/settle.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_handoff.h"

enum { RESULT_MAX_BYTES = 8 * 1024 * 1024, IDS_MAX = 1000 };

#define WORK_LEASE_OPTION(what) \
	{.name = "work-lease", .letter = 'w', .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000, \
	 .help = what}

static const struct option ack_options[] = {
	WORK_LEASE_OPTION("hand the work to somebody else where nothing is heard for so long: spine progress renews "
			  "it"),
};

static const struct option_table ack_table = {"Accepting", ack_options, OPTION_COUNT(ack_options)};

const struct command cmd_ack = {
	.name = "ack",
	.summary = "Accepts a handoff: the sender knows that it has arrived",
	.usage = "LEASE", .min_args = 1, .max_args = 1,
	.about = "The lease is what spine receive told, such as ho-12.1. Doing it twice is the same as once. A lease "
		 "that has ended is refused with exit code 4, and nothing is changed.",
	.examples = {"spine ack ho-1.1 --work-lease 5m"},
	.tables = {&ack_table, &settle_result_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/ack", .settles = true,
		.members = {{"work-lease", "work_lease_s"}, SETTLE_RESULT_MEMBERS},
		.show = show_handoff_line,
	},
};

static const struct option progress_options[] = {
	WORK_LEASE_OPTION("how long from now, instead of as long as before"),
};

static const struct option_table progress_table = {"Going on", progress_options, OPTION_COUNT(progress_options)};

const struct command cmd_progress = {
	.name = "progress",
	.summary = "Says that the work on a handoff goes on, and renews its lease",
	.usage = "LEASE [NOTE|-]", .min_args = 1, .max_args = 2,
	.examples = {"spine progress ho-1.1 \"half of the tests pass\""},
	.tables = {&progress_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/progress", .settles = true, .put = settle_put_note,
		.members = {{"work-lease", "work_lease_s"}}, .show = show_handoff_line,
	},
};

static int put_needed(struct cli *cli, struct json_writer *w)
{
	return body_put_ids(cli, "refs", 1, BODY_ID_EXPECTED, w);
}

const struct command cmd_need = {
	.name = "need",
	.summary = "Asks for memories that a handoff only mentions, and renews its lease",
	.usage = "LEASE ID...", .min_args = 2, .max_args = IDS_MAX,
	.about = "What is not there is named on standard error, and the exit code is 3; the others are printed.",
	.examples = {"spine need ho-1.1 ms-1"},
	.tables = {&client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/need", .settles = true, .put = put_needed,
		.rest = "refs", .list = "memories", .show = show_memories, .judge = show_missing,
	},
};

static const struct option complete_options[] = {
	{.name = "result", .arg = "RESULT", .type = OPTION_TEXT,
	 .help = "the result, where it is not given as an argument"},
	{.name = "no-remember", .type = OPTION_FLAG, .help = "keep the result out of the memories of the task"},
};

static const struct option_table complete_table = {"Result", complete_options, OPTION_COUNT(complete_options)};

static int put_result(struct cli *cli, struct json_writer *w)
{
	const char *result;
	struct buf text;
	int code = settle_argument(cli, "result", options_text(&cli->options, "result"), &result);

	buf_init(&text, RESULT_MAX_BYTES);
	if (code == CLI_OK && result)
		code = body_read_text(cli, result, &text);
	if (code == CLI_OK && result && !settle_put_result(buf_str(&text), cli->arena, w))
		code = cli_usage(cli, "the result is not UTF-8 text");
	if (options_flag(&cli->options, "no-remember"))
		json_member_bool(w, "remember", false);
	buf_release(&text);
	return code;
}

const struct command cmd_complete = {
	.name = "complete",
	.summary = "Ends a handoff with its result; one that was not acked is acked with it",
	.usage = "LEASE [RESULT|-]", .min_args = 1, .max_args = 2,
	.about = "The result may be given as an argument or by --result. One that can be read as JSON is sent as that, "
		 "else as text; with \"-\" it is read from standard input. It becomes a memory of the task (kind "
		 "output), and the next agent finds it in its prompt.",
	.examples = {"spine complete ho-1.1 '{\"patch\":\"ms-1\"}' --gap \"the schema was missing\""},
	.tables = {&complete_table, &settle_result_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/complete", .settles = true, .put = put_result,
		.members = {SETTLE_RESULT_MEMBERS}, .show = show_handoff_line,
	},
};

static const struct option nack_options[] = {
	{.name = "delay", .letter = 'd', .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 86400000,
	 .help = "how long until the next attempt; 2, 4, 8 … seconds where it is not given"},
};

static const struct option_table nack_table = {"Trying again", nack_options, OPTION_COUNT(nack_options)};

const struct command cmd_nack = {
	.name = "nack",
	.summary = "Gives a handoff back: it is tried again, then falls back, then is parked",
	.usage = "LEASE [REASON|-]", .min_args = 1, .max_args = 2,
	.about = "The reason may be given as an argument or by --reason; with \"-\" it is read from standard input.",
	.examples = {"spine nack ho-2.1 \"the compiler is not there\" --delay 0"},
	.tables = {&nack_table, &settle_reason_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/nack", .settles = true, .is_once = true,
		.put = settle_put_reason, .members = {{"delay", "delay_s"}}, .show = show_handoff_line,
	},
};

static const struct option release_options[] = {
	{.name = "delay", .letter = 'd', .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = 86400000,
	 .help = "how long nobody gets it; it can be taken at once where this is not given"},
};

static const struct option_table release_table = {"Giving back", release_options, OPTION_COUNT(release_options)};

const struct command cmd_release = {
	.name = "release",
	.summary = "Gives a handoff back unfinished: no attempt is used, and it keeps its place",
	.usage = "LEASE [REASON|-]", .min_args = 1, .max_args = 2,
	.about = "For work that is interrupted: a restart, a deploy. Also after an ack. What was taken 100 times or "
		 "more uses an attempt all the same, so that a loop ends.",
	.examples = {"spine release ho-2.1 \"this machine is shut down\""},
	.tables = {&release_table, &settle_reason_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/release", .settles = true, .is_once = true,
		.put = settle_put_reason, .members = {{"delay", "delay_s"}}, .show = show_handoff_line,
	},
};

const struct command cmd_reject = {
	.name = "reject",
	.summary = "Refuses a handoff for good: it goes to a fallback agent, or is parked",
	.usage = "LEASE REASON|- | LEASE --reason TEXT", .min_args = 1, .max_args = 2,
	.about = "A reason is needed: as an argument, or by --reason; with \"-\" it is read from standard input.",
	.examples = {"spine reject ho-2.2 \"this needs a person\""},
	.tables = {&settle_reason_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/handoffs/{0}/reject", .settles = true, .is_once = true,
		.put = settle_put_needed_reason, .show = show_handoff_line,
	},
};
