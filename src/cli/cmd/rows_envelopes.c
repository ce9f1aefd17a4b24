/* Envelopes that are there, and tasks: envelope, resolve, receipts, verify, tasks, task, fidelity, diff, blame,
 * waive. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/prompt.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
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
		.method = "POST", .path = "/v1/envelopes/{0}/resolve", .put = put_resolved, .rest = "ids",
		.list = "memories", .show = show_memories, .judge = show_missing,
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
	.about = "The first is the earlier one. What was narrowed counts as kept. What was waived with a reason does "
		 "not; it is told apart from what was dropped.",
	.examples = {"spine diff env-1 env-2", "spine diff env-1 env-2 --json | jq .score"},
	.tables = {&client_table},
	.call = {.path = "/v1/envelopes/{0}/diff/{1}", .show = show_diff},
};

/* --- A task --- */

static const char *const task_states[] = {"open", "working", "waiting", "held", "parked", "done", NULL};

static const struct option tasks_options[] = {
	{.name = "state", .letter = 's', .arg = "STATE", .type = OPTION_CHOICE, .choices = task_states,
	 .help = "only those in this state; open: all but done"},
	{.name = "with", .arg = "AGENT", .type = OPTION_TEXT, .help = "only those that this agent has, or had last"},
	{.name = "query", .letter = 'q', .arg = "TEXT", .type = OPTION_TEXT,
	 .help = "only those with this text in their name, intent or summary"},
};

static const struct option_table tasks_table = {"Which", tasks_options, OPTION_COUNT(tasks_options)};

const struct command cmd_tasks = {
	.name = "tasks",
	.summary = "Lists the tasks that were handed over, the newest change first",
	.usage = "",
	.about = "STATE follows from the handoffs of a task: parked, working, held (behind a breaker), waiting, or "
		 "done. ABOUT is the intent of a task, or what its newest envelope says where it has none.",
	.examples = {"spine tasks", "spine tasks --state parked", "spine tasks --limit 100 --json"},
	.tables = {&tasks_table, &pages_table, &client_table},
	.call = {
		.path = "/v1/tasks", .members = {{"state", "state"}, {"with", "agent"}, {"query", "query"}},
		.is_paged = true, .list = "tasks", .columns = task_columns,
	},
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

static const struct option waive_options[] = {
	REASON_OPTIONS("why it no longer holds; it stays in the envelopes"),
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT, .help = "who you are; the name of your account otherwise"},
};

static const struct option_table waive_table = {"Waiving", waive_options, OPTION_COUNT(waive_options)};

static int put_waived(struct cli *cli, struct json_writer *w)
{
	int code = body_check_text(cli, "the key", str_of(cli->options.args[1]));

	if (code != CLI_OK)
		return code;
	json_member_cstr(w, "key", cli->options.args[1]);
	return reason_put(cli, "reason", w);
}

static int prepare_waive(struct cli *cli, struct client_request *request)
{
	request->person = cli_person(cli);
	if (request->person == NULL)
		return cli_usage(cli, "an agent does not waive a constraint for a task; say who you are with --by");
	return CLI_OK;
}

const struct command cmd_waive = {
	.name = "waive",
	.summary = "Waives a constraint for a task, also one that is locked: for persons",
	.usage = "TASK KEY --reason TEXT", .min_args = 2, .max_args = 2,
	.about = "The next envelope of each line of the task goes without the constraint, and says who waived it and "
		 "why; envelopes that are there stay as they are. It is told in an event and an alert, and lowers the "
		 "task's fidelity. A server without keys cannot check who you are, and records that you said so; with "
		 "keys it takes one with the scope admin, whose name is recorded.",
	.examples = {"spine waive task-1 max_retries --reason \"the gateway is back\""},
	.tables = {&waive_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/tasks/{0}/waive", .creates = true, .put = put_waived,
		.prepare = prepare_waive,
		.needs = "reason", .needs_why = "somebody will ask", .show = show_object,
	},
};
