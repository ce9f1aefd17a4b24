/* Envelopes that are there, and tasks: envelope, resolve, receipts, verify, tasks, task, fidelity, diff, blame. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/prompt.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_changes.h"
#include "cli/show/show_envelope.h"
#include "cli/show/show_task.h"

enum { IDS_MAX = 1000 };

/* --- An envelope --- */

static const struct option envelope_options[] = {
	{.name = "prompt", .type = OPTION_FLAG,
	 .help = "what the receiving model reads, byte for byte (on a terminal control characters are made visible)"},
	{.name = "v1", .type = OPTION_FLAG, .help = "the JSON of version 1, for agents that read only that"},
};

static const struct option_table envelope_table = {"Forms", envelope_options, OPTION_COUNT(envelope_options)};

static int print_v1(struct cli *cli)
{
	struct ask ask;
	int code = ask_run_get(cli, ask_path(cli->arena, "/v1/envelopes/", cli->options.args[0], "?format=v1"), &ask);

	if (code == CLI_OK)
		ask_write(cli, &ask);
	ask_release(&ask);
	return code;
}

static int exec_envelope(struct cli *cli)
{
	bool v1 = options_flag(&cli->options, "v1");

	if (!options_flag(&cli->options, "prompt"))
		return v1 ? print_v1(cli) : one_call_run(cli, &cli->command->call, 0);
	if (v1 || cli_is_json(cli))
		return cli_usage(cli, "--prompt cannot be used with --json or --v1");
	return prompt_print(cli, cli->options.args[0]);
}

const struct command cmd_envelope = {
	.name = "envelope",
	.summary = "Reads an envelope",
	.usage = "ENV", .min_args = 1, .max_args = 1,
	.about = "What became of its memories since it was packed is told at the end; it is not part of the envelope.",
	.examples = {
		"spine envelope env-1",
		"spine envelope env-1 --prompt | spine tokens",
		"spine envelope env-1 --json | jq .budget",
		"spine envelope env-1 --v1",
	},
	.tables = {&envelope_table, &client_table},
	.exec = exec_envelope,
	.call = {.path = "/v1/envelopes/{0}?format=json", .show = show_envelope},
};

static int put_resolved(struct cli *cli, struct json_writer *w)
{
	return cli->options.arg_count > 1 ? body_put_ids(cli, "ids", 1, "", w) : CLI_OK;
}

const struct command cmd_resolve = {
	.name = "resolve",
	.summary = "Fetches what an envelope trimmed or missed, as it is now",
	.usage = "ENV [ID]...", .min_args = 1, .max_args = IDS_MAX + 1,
	.about = "Without ids, all of it. A receipt says who opened what: name yourself with --agent. What still "
		 "cannot be found is named on standard error, and the exit code is 3; the others are printed.",
	.examples = {"spine resolve env-1 ms-1 --agent coder"},
	.tables = {&client_table},
	.call = {
		.method = "POST", .path = "/v1/envelopes/{0}/resolve", .put = put_resolved, .list = "memories",
		.show = show_memories, .judge = show_missing,
	},
};

static const struct column receipt_columns[] = {
	{"MEMORY", "id", .style = TERM_CYAN},
	{"AGE", "at", cell_age, .right = true},
	{"OPENED", "at", .style = TERM_PLAIN},
	{"AGENT", "agent", .style = TERM_PLAIN},
	{0},
};

const struct command cmd_receipts = {
	.name = "receipts",
	.summary = "Says who opened which memories of an envelope with `spine resolve`",
	.usage = "ENV", .min_args = 1, .max_args = 1,
	.examples = {"spine receipts env-1"},
	.tables = {&client_table},
	.call = {.path = "/v1/envelopes/{0}/receipts", .list = "receipts", .columns = receipt_columns},
};

const struct command cmd_verify = {
	.name = "verify",
	.summary = "Checks an envelope and the chain before it, to the root",
	.usage = "ENV", .min_args = 1, .max_args = 1,
	.about = "The exit code is 0 where all is intact, also where the text of a memory was forgotten since; 6 where "
		 "an envelope does not match its digest or the chain, and the first such one is named.",
	.examples = {"spine verify env-2"},
	.tables = {&client_table},
	.call = {.path = "/v1/envelopes/{0}/verify", .show = show_verdict, .judge = show_verdict_exit},
};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "Says what an envelope kept, added, narrowed, waived and dropped of another",
	.usage = "ENV ENV", .min_args = 2, .max_args = 2,
	.about = "The first is the earlier one. What was narrowed, or waived with a reason, counts as kept.",
	.examples = {"spine diff env-1 env-2", "spine diff env-1 env-2 --json | jq .score"},
	.tables = {&client_table},
	.call = {.path = "/v1/envelopes/{0}/diff/{1}", .show = show_diff},
};

/* --- A task --- */

const struct command cmd_tasks = {
	.name = "tasks",
	.summary = "Lists the tasks that were handed over, the newest first",
	.usage = "",
	.about = "ABOUT is the intent of a task, or what its first envelope says where it has none.",
	.examples = {"spine tasks", "spine tasks --limit 100 --json"},
	.tables = {&pages_table, &client_table},
	.call = {.path = "/v1/tasks", .is_paged = true, .list = "tasks", .columns = task_columns},
};

const struct command cmd_task = {
	.name = "task",
	.summary = "Lists the envelopes of a task, the first one first",
	.usage = "TASK", .min_args = 1, .max_args = 1,
	.examples = {"spine task task-1"},
	.tables = {&rest_table, &client_table},
	.call = {.path = "/v1/tasks/{0}", .is_paged = true, .show = show_task},
};

static const struct option fidelity_options[] = {
	{.name = "compare", .type = OPTION_FLAG,
	 .help = "show beside it what a chain would have left whose every handoff loses a tenth"},
};

static const struct option_table fidelity_table = {"What", fidelity_options, OPTION_COUNT(fidelity_options)};

static void show_asked_fidelity(const struct cli *cli, const struct json *fidelity)
{
	show_fidelity(cli, fidelity, options_flag(&cli->options, "compare"));
}

const struct command cmd_fidelity = {
	.name = "fidelity",
	.summary = "Says what each hop of a task kept, hop by hop",
	.usage = "TASK", .min_args = 1, .max_args = 1,
	.about = "SCORE and KEPT compare an envelope with the one that it continues, OF FIRST with the root of the "
		 "chain; DROPPED counts the memories that it no longer has. 10 % LOSS, which --compare adds, "
		 "is not measured: it is what a chain would have left whose every handoff loses a tenth.",
	.examples = {
		"spine fidelity task-1", "spine fidelity task-1 --compare",
		"spine fidelity task-1 --json | jq .intent_and_constraints",
	},
	.tables = {&fidelity_table, &rest_table, &client_table},
	.call = {.path = "/v1/tasks/{0}/fidelity", .is_paged = true, .show = show_asked_fidelity},
};

const struct command cmd_blame = {
	.name = "blame",
	.summary = "Says where something came into a task, and where it was lost",
	.usage = "TASK KEY", .min_args = 2, .max_args = 2,
	.about = "KEY names a constraint, a memory (ms-4821), an open decision by its text, or \"intent\". What a hop "
		 "left out and a later one has again is still there. The exit code is 3 where it was never there.",
	.examples = {"spine blame task-1 max_retries", "spine blame task-1 intent"},
	.tables = {&client_table},
	.call = {.path = "/v1/tasks/{0}/blame?key={1}", .show = show_blame, .judge = show_blame_exit},
};
