#include "cli/request/pack.h"

#include "cli/request/body.h"
#include "cli/request/pairs.h"
#include "cli/shared_options.h"

enum { HISTORY_DEPTH = 256 };

static const char *const strategy_choices[] = {"priority", "full", "summary", "lazy", NULL};
static const char *const scope_choices[] = {"task", "space", NULL};

static const struct option task_options[] = {
	{.name = "from", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who hands over; the name of --agent where it is not given"},
	{.name = "parent", .letter = 'p', .arg = "ENV", .type = OPTION_TEXT,
	 .help = "the envelope that this one continues, such as env-17; without it, in a task that has a chain, what "
		 "you hold of it, or its end; otherwise a new chain begins"},
	{.name = "task", .arg = "ID", .type = OPTION_TEXT,
	 .help = "the task of a new chain; the server names one otherwise"},
	{.name = "new-root", .type = OPTION_FLAG, .help = "begin a second chain in a task that has one"},
	{.name = "intent", .arg = "TEXT", .type = OPTION_TEXT,
	 .help = "the user's own words; set at the beginning of a chain, inherited word for word"},
	{.name = "state", .arg = "TEXT", .type = OPTION_TEXT,
	 .help = "where the work stands; the parent's where it is not given"},
	{.name = "constraint", .letter = 'c', .arg = "KEY=VALUE", .type = OPTION_LIST,
	 .help = "what must hold from here on; may be given several times. VALUE is JSON where it can be read as "
		 "that, else text"},
	{.name = "waive", .arg = "KEY=REASON", .type = OPTION_LIST,
	 .help = "an inherited constraint that no longer holds, and why; may be given several times"},
	{.name = "lock", .arg = "KEY", .type = OPTION_LIST,
	 .help = "a constraint that no agent may waive from here on; may be given several times"},
	{.name = "decision", .arg = "TEXT", .type = OPTION_LIST,
	 .help = "a decision that is still open; may be given several times"},
	{.name = "resolve-decision", .arg = "TEXT=OUTCOME", .type = OPTION_LIST,
	 .help = "an open decision that was made, and how; may be given several times"},
	{.name = "history", .arg = "JSON", .type = OPTION_LIST,
	 .help = "a step that was done: '{\"agent\":\"me\",\"action\":\"read the logs\"}', or a list of them; may be "
		 "given several times"},
	{.name = "expect", .letter = 'e', .arg = "KEY=VALUE", .type = OPTION_LIST,
	 .help = "what the output should be like: format, length, criteria; as with --constraint"},
	{.name = "max-hops", .arg = "N", .type = OPTION_INT, .min = 1, .max = 64,
	 .help = "how long the chain may get; a later hop can only lower it"},
};

const struct option_table pack_task_table = {"The task", task_options, OPTION_COUNT(task_options)};

static const struct option memory_options[] = {
	{.name = "ref", .letter = 'r', .arg = "ID", .type = OPTION_LIST,
	 .help = "a memory to send along, or a range such as \"ms-1 through ms-5\"; may be given several times"},
	{.name = "recent", .arg = "N", .type = OPTION_INT, .min = 0, .max = 500,
	 .help = "up to how many memories to add by relevance; 20 where it is not given"},
	{.name = "scope", .arg = "NAME", .type = OPTION_CHOICE, .choices = scope_choices,
	 .help = "whose memories may be added by relevance: those of this task and those without one, or those of "
		 "other tasks, too; task where it is not given"},
	{.name = "no-pins", .type = OPTION_FLAG, .help = "do not add what is pinned"},
	{.name = "max-tokens", .letter = 'm', .arg = "N", .type = OPTION_INT, .min = 1, .max = 10000000,
	 .help = "the budget of the prompt; the receiver's or 8000 where it is not given"},
	{.name = "strategy", .arg = "NAME", .type = OPTION_CHOICE, .choices = strategy_choices,
	 .help = "how to fit the budget: by value, everything or nothing, summaries, mentions"},
	{.name = "tokenizer", .arg = "NAME", .type = OPTION_CHOICE, .choices = tokenizer_choices,
	 .help = "whose tokens to count; the receiver's where it is not given"},
};

const struct option_table pack_memory_table = {"Memories and budget", memory_options, OPTION_COUNT(memory_options)};

static const struct option output_options[] = {
	{.name = "prompt", .type = OPTION_FLAG,
	 .help = "print the prompt, for a model to read, and the id on standard error"},
	{.name = "dry-run", .type = OPTION_FLAG,
	 .help = "store nothing; show what 2000, 4000 and 8000 tokens would lose"},
	{.name = "idempotency-key", .arg = "KEY", .type = OPTION_TEXT,
	 .help = "the same key with the same request packs only once, within a day"},
};

const struct option_table pack_output_table = {"Packing", output_options, OPTION_COUNT(output_options)};

/* --- The body --- */

static int put_constraints(const struct cli *cli, struct json_writer *w)
{
	bool has_budget = options_is_given(&cli->options, "max-tokens");
	int code;

	json_key(w, "constraints");
	json_begin_object(w);
	code = pairs_put_members(cli, "constraint", has_budget ? "max_tokens" : NULL, w);
	if (code == CLI_OK)
		code = body_put(cli, "max-tokens", "max_tokens", w);
	json_end_object(w);
	return code;
}

/* Each is a step or a list of steps; what a step holds is for the server to judge. */
static int put_history(const struct cli *cli, struct json_writer *w)
{
	const struct option_value *given = options_value(&cli->options, "history");

	json_key(w, "execution_history");
	json_begin_array(w);
	for (size_t i = 0; i < given->list_count; i++) {
		struct json_error error;
		struct json value;

		if (!json_parse(str_of(given->list[i]), HISTORY_DEPTH, cli->arena, &value, &error))
			return cli_usage(cli, "--history is not JSON: %s", error.detail);
		if (value.type != JSON_OBJECT && value.type != JSON_ARRAY)
			return cli_usage(cli, "--history is %s; expected an object, such as "
					 "'{\"agent\":\"me\",\"action\":\"read the logs\"}', or a list of them",
					 json_type_name(value.type));
		if (value.type == JSON_OBJECT)
			json_put(w, &value);
		for (uint32_t j = 0; value.type == JSON_ARRAY && j < value.count; j++)
			json_put(w, &value.items[j]);
	}
	json_end_array(w);
	return CLI_OK;
}

static int put_pairs(const struct cli *cli, struct json_writer *w)
{
	int code = put_constraints(cli, w);

	if (code != CLI_OK)
		return code;
	json_key(w, "waive");
	code = pairs_put_objects(cli, "waive", "key", "reason", w);
	if (code != CLI_OK)
		return code;
	json_key(w, "resolved_decisions");
	code = pairs_put_objects(cli, "resolve-decision", "decision", "outcome", w);
	if (code != CLI_OK)
		return code;
	json_key(w, "expected_output");
	json_begin_object(w);
	code = pairs_put_members(cli, "expect", NULL, w);
	json_end_object(w);
	return code;
}

int pack_read_summary(const struct cli *cli, const char *target, const char *arg, struct buf *ret)
{
	int code = body_read_text(cli, arg, ret);

	if (code == CLI_OK && ret->len == 0)
		code = cli_usage(cli, "there is no summary; it says what %.80s is to do", target);
	return code;
}

static int put_head(const struct cli *cli, const char *target, struct str summary, struct json_writer *w)
{
	int code = body_check_text(cli, "the summary", summary);

	if (code == CLI_OK)
		code = body_check_text(cli, "the name of the target", str_of(target));
	if (code != CLI_OK)
		return code;
	json_member_cstr(w, "target_agent", target);
	json_member_str(w, "task_summary", summary);
	return CLI_OK;
}

/* All of the table but max-tokens, which is one of the constraints. */
static int put_memories(const struct cli *cli, struct json_writer *w)
{
	static const struct call_member members[] = {
		{"scope", "scope"}, {"strategy", "strategy"}, {"tokenizer", "tokenizer"}, {"ref", "refs"},
		{"recent", "include_recent"}, {NULL, NULL},
	};

	if (options_flag(&cli->options, "no-pins"))
		json_member_bool(w, "include_pins", false);
	return body_put_members(cli, members, w);
}

int pack_put(const struct cli *cli, const char *target, struct str summary, bool dry_run, struct json_writer *w)
{
	static const struct call_member members[] = {
		{"from", "from"}, {"parent", "parent"}, {"task", "task"}, {"intent", "intent"}, {"state", "state"},
		{"decision", "open_decisions"}, {"lock", "locked"}, {"max-hops", "max_hops"}, {NULL, NULL},
	};
	int code;

	json_begin_object(w);
	code = put_head(cli, target, summary, w);
	if (code == CLI_OK)
		code = body_put_members(cli, members, w);
	if (code == CLI_OK)
		code = put_pairs(cli, w);
	if (code == CLI_OK)
		code = put_history(cli, w);
	if (code == CLI_OK)
		code = put_memories(cli, w);
	if (options_flag(&cli->options, "new-root"))
		json_member_bool(w, "new_root", true);
	if (dry_run)
		json_member_bool(w, "dry_run", true);
	json_end_object(w);
	return code;
}

int pack_put_question(const struct cli *cli, const char *target, struct str summary, const struct call_member *members,
		      struct json_writer *w)
{
	int code;

	json_begin_object(w);
	code = put_head(cli, target, summary, w);
	if (code == CLI_OK)
		code = body_put_members(cli, members, w);
	if (code == CLI_OK)
		code = put_memories(cli, w);
	json_key(w, "constraints");
	json_begin_object(w);
	body_put(cli, "max-tokens", "max_tokens", w);
	json_end_object(w);
	/* What would come along, whatever chain the task has. */
	if (!options_is_given(&cli->options, "parent"))
		json_member_bool(w, "new_root", true);
	json_member_bool(w, "dry_run", true);
	json_end_object(w);
	return code;
}

bool pack_is_envelope(const char *arg)
{
	uint64_t number;

	return arg && str_has_prefix(str_of(arg), STR("env-")) && str_to_u64(str_of(arg + 4), &number);
}

bool pack_any_given(const struct cli *cli)
{
	return body_any_given(cli, &pack_task_table) || body_any_given(cli, &pack_memory_table);
}
