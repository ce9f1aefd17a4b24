/* spine quarantine and spine purge: memories that cannot be trusted. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show.h"
#include "cli/subcommand.h"

#include <stdio.h>
#include <unistd.h>

enum { BODY_MAX_BYTES = 512 * 1024, IDS_MAX = 10000, LIMIT = 10000 };

#define FILTERS \
	{.name = "author", .arg = "AGENT", .type = OPTION_TEXT, .help = "what this agent wrote, in any version"}, \
	{.name = "stored-with", .arg = "KEY", .type = OPTION_TEXT, \
	 .help = "what was stored with this key, such as key-7"}, \
	{.name = "task", .arg = "ID", .type = OPTION_TEXT, .help = "what is of this task"}, \
	{.name = "trust", .arg = "TRUST", .type = OPTION_CHOICE, .choices = trust_choices, \
	 .help = "what has this trust"}, \
	{.name = "since", .arg = "TIME", .type = OPTION_TEXT, \
	 .help = "what was written at this time or later: 1h (ago), a date, or 2026-01-30T12:00:00Z"}, \
	{.name = "before", .arg = "TIME", .type = OPTION_TEXT, .help = "what was written before this time"}, \
	{.name = "dry-run", .type = OPTION_FLAG, .help = "only show what would be done, and whom it had reached"}, \
	{.name = "why", .arg = "TEXT", .type = OPTION_TEXT, .help = "for whoever asks later; purge needs it"}, \
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT, \
	 .help = "who decides; the name of --agent or of the user where it is not given"}

static const struct option quarantine_options[] = {FILTERS};
static const struct option purge_options[] = {
	FILTERS,
	{.name = "quarantined", .type = OPTION_FLAG, .help = "all that is in quarantine, or of that what else fits"},
	{.name = "yes", .letter = 'y', .type = OPTION_FLAG,
	 .help = "do not ask; required where standard input is no terminal"},
};
static const struct option_table quarantine_table = {"Which, and why", quarantine_options,
						     OPTION_COUNT(quarantine_options)};
static const struct option_table purge_table = {"Which, and why", purge_options, OPTION_COUNT(purge_options)};

/* --- What came of it --- */

/* Of what is forgotten the key that wrote it is all that is known. */
static struct str cell_forgotten(const struct column_item *item, const char *key)
{
	const struct json *origin = json_get(item->json, "origin");
	struct str with = STR_NULL;

	if (!ask_bool(item->json, key))
		return STR_NULL;
	if (origin && origin->type == JSON_OBJECT)
		with = term_line(item->arena, ask_str(origin, "key"));
	return with.n ? arena_printf(item->arena, "forgotten, of %.*s", STR_ARG(with)) : STR("forgotten");
}

static const struct column found_columns[] = {
	{"ID", .cell = cell_version, .style = TERM_BOLD},
	{"TRUST", "trust", .style = TERM_PLAIN},
	{"AUTHOR", "agent", .style = TERM_PLAIN},
	{"WRITTEN", "written_at", .cell = cell_age},
	{"STATE", "forgotten", .cell = cell_forgotten, .style = TERM_YELLOW},
	{"TEXT", "beginning", .may_cut = true},
	{0},
};
static const struct column envelope_columns[] = {
	{"ENVELOPE", "id", .style = TERM_BOLD},
	{"FROM, TO", .cell = cell_from_to},
	{"TASK", "task", .may_cut = true},
	{"PACKED", "created_at", .cell = cell_age},
	{"MEMORIES", "memories", .cell = cell_number, .right = true},
	{0},
};
static const struct column agent_columns[] = {
	{"AGENT", "name", .style = TERM_BOLD},
	{"DELIVERED", "delivered", .cell = cell_number, .right = true},
	{"WAITING", "waiting", .cell = cell_number, .right = true},
	{"OPENED", "opened", .cell = cell_number, .right = true},
	{0},
};

static void show_reach(const struct cli *cli, const struct json *reached)
{
	const struct json *envelopes = ask_array(reached, "envelopes"), *agents = ask_array(reached, "agents");
	int64_t pruned = ask_int(reached, "handoffs_pruned", 0);

	if (envelopes->count) {
		cli_note(cli, "\nEnvelopes that refer to them:");
		columns_show(cli, envelopes, envelope_columns);
	}
	if (agents->count) {
		cli_note(cli, "\nAgents that were given them, wait for them, or opened them:");
		columns_show(cli, agents, agent_columns);
	}
	if (pruned)
		cli_note(cli, "(%lld handoffs of the space are not kept any more: whom they had reached is not known)",
			 (long long)pruned);
}

static unsigned count_forgotten(const struct json *memories)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < memories->count; i++)
		count += ask_bool(&memories->items[i], "forgotten");
	return count;
}

static void show_done(const struct cli *cli, const struct json *answer)
{
	static const char *const past[][2] = {
		{"quarantine", "put in quarantine"}, {"release", "released"}, {"purge", "purged"},
	};
	const struct json *memories = ask_array(answer, "memories"), *reached = json_get(answer, "reached");
	const char *done = "done";
	unsigned forgotten = count_forgotten(memories);

	for (size_t i = 0; i < sizeof(past) / sizeof(past[0]); i++)
		if (str_is(ask_str(answer, "action"), past[i][0]))
			done = past[i][1];
	columns_show(cli, memories, found_columns);
	if (reached)
		show_reach(cli, reached);
	if (ask_bool(answer, "dry_run"))
		cli_note(cli, "(%lld would be %s; nothing was changed)", (long long)ask_int(answer, "matched", 0),
			 done);
	else
		cli_note(cli, "(%u %s)", memories->count - forgotten, done);
	if (forgotten)
		cli_note(cli, "(%u had been forgotten before: what is left of them is whom they had reached)",
			 forgotten);
	if (ask_str(answer, "next_after").n)
		cli_note(cli, "(there are more: the same command goes on)");
}

/* --- Asking --- */

static int put_filter(struct cli *cli, size_t first, struct json_writer *w)
{
	static const struct call_member members[] = {
		{"author", "agent"}, {"stored-with", "key"}, {"task", "task"}, {"trust", "trust"},
		{"dry-run", "dry_run"}, {NULL, NULL},
	};
	int code = body_put_members(cli, members, w);

	if (code == CLI_OK)
		code = body_put_time(cli, "since", "since", w);
	if (code == CLI_OK)
		code = body_put_time(cli, "before", "before", w);
	if (code == CLI_OK && cli->options.arg_count > first)
		code = body_put_ids(cli, "ids", first, BODY_ID_EXPECTED, w);
	if (code == CLI_OK)
		code = body_put(cli, "why", "why", w);
	return code == CLI_OK ? reason_put_person(cli, w) : code;
}

static int decide(struct cli *cli, const char *path, size_t first, bool quarantined)
{
	struct client_request request = {.method = "POST", .path = path, .repeatable = true};
	struct json_writer w;
	struct buf body;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	json_member_int(&w, "limit", LIMIT);
	if (quarantined)
		json_member_bool(&w, "quarantined", true);
	code = put_filter(cli, first, &w);
	json_end_object(&w);
	if (code == CLI_OK && buf_overflowed(&body))
		code = cli_usage(cli, "what was given is too long");
	request.body = buf_str(&body);
	if (code == CLI_OK)
		code = ask_print(cli, &request, show_done);
	buf_release(&body);
	return code;
}

static bool is_filtered(const struct cli *cli)
{
	static const char *const filters[] = {"author", "stored-with", "task", "trust", "since", "before", NULL};

	for (const char *const *f = filters; *f; f++)
		if (options_is_given(&cli->options, *f))
			return true;
	return false;
}

static int check_which(const struct cli *cli, size_t first, const char *command)
{
	bool has_ids = cli->options.arg_count > first;

	if (has_ids && is_filtered(cli))
		return cli_usage(cli, "%s takes ids or a filter, not both", command);
	if (has_ids || is_filtered(cli))
		return CLI_OK;
	return cli_usage(cli, "%s needs ids, or which ones: --author, --stored-with, --task, --trust, --since, "
			 "--before", command);
}

static int exec_add(struct cli *cli)
{
	int code = check_which(cli, 1, "quarantine add");

	return code == CLI_OK ? decide(cli, "/v1/quarantine", 1, false) : code;
}

static int exec_release(struct cli *cli)
{
	int code = check_which(cli, 1, "quarantine release");

	return code == CLI_OK ? decide(cli, "/v1/quarantine/release", 1, false) : code;
}

static bool is_confirmed(const struct cli *cli)
{
	char answer[16];

	cli_note(cli, "Purge them? The content of all that fit is removed for good, all versions of it. "
		 "(--dry-run shows them.) [y/N]");
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int exec_purge(struct cli *cli)
{
	const struct options *o = &cli->options;
	bool quarantined = options_flag(o, "quarantined"), is_dry = options_flag(o, "dry-run");
	int code = quarantined && o->arg_count == 0 ? CLI_OK : check_which(cli, 0, "purge");

	if (code != CLI_OK)
		return code;
	if (quarantined && o->arg_count)
		return cli_usage(cli, "purge takes ids or a filter, not both");
	if (!options_is_given(o, "why"))
		return cli_usage(cli, "purge needs --why TEXT: it is gone for good, and somebody will ask");
	if (!is_dry && !options_flag(o, "yes")) {
		if (!isatty(STDIN_FILENO))
			return cli_usage(cli, "purging cannot be undone; confirm it with --yes");
		if (!is_confirmed(cli)) {
			cli_error(cli, "nothing was purged");
			return CLI_FAILED;
		}
	}
	return decide(cli, "/v1/purge", 0, quarantined);
}

/* --- The commands --- */

static const struct column listed_columns[] = {
	{"ID", .cell = cell_version, .style = TERM_BOLD},
	{"TRUST", "trust", .style = TERM_PLAIN},
	{"AUTHOR", "agent", .style = TERM_PLAIN},
	{"SINCE", "quarantined_at", .cell = cell_age},
	{"FLAGS", "flags", .cell = cell_flags, .style = TERM_YELLOW},
	{"TEXT", "content", .may_cut = true},
	{0},
};

#define WHICH "author", "stored-with", "task", "trust", "since", "before", "dry-run", "why", "by"

static const struct subcommand quarantine_subs[] = {
	{"list", "", 0, 0, .call = {
		.path = "/v1/quarantine", .is_paged = true, .list = "memories", .columns = listed_columns,
		.none = "(nothing is in quarantine)",
	}},
	{"add", "ID... | --author AGENT | --stored-with KEY | --trust TRUST", 0, IDS_MAX, {WHICH}, .exec = exec_add},
	{"release", "ID... | --author AGENT | --stored-with KEY", 0, IDS_MAX, {WHICH}, .exec = exec_release},
	{0},
};

const struct command cmd_quarantine = {
	.name = "quarantine",
	.summary = "Keeps memories that cannot be trusted from everybody, or gives them back",
	.usage = "[list | add ID... | release ID...]", .max_args = IDS_MAX + 1,
	.about = "A memory in quarantine is neither found nor packed, references to it resolve to \"quarantined\", and "
		 "its text is shown by spine quarantine list alone. release undoes it. A filter fits where any version "
		 "of the memory does. What is answered says which envelopes refer to these memories, which agents were "
		 "given them, and who opened one: --dry-run says so, too, and changes nothing.",
	.examples = {
		"spine quarantine add --author scraper --dry-run",
		"spine quarantine add --author scraper --why poisoned",
		"spine quarantine", "spine quarantine release ms-2",
	},
	.tables = {&quarantine_table, &pages_table, &client_table},
	.subs = quarantine_subs,
};

const struct command cmd_purge = {
	.name = "purge",
	.summary = "Removes all memories of an author, a key or a trust for good",
	.usage = "[ID...]", .max_args = IDS_MAX,
	.about = "As spine forget for all that fit, and with the list of the envelopes and agents that they had "
		 "reached. Put them in quarantine first, look at them, and then purge what is in quarantine. On a "
		 "terminal it asks first.",
	.examples = {
		"spine purge --quarantined --why poisoned --dry-run",
		"spine purge --quarantined --why poisoned --yes",
	},
	.tables = {&purge_table, &client_table},
	.exec = exec_purge,
};
