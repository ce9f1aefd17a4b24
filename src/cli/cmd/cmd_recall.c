/* spine recall: what a handoff would carry, or what an envelope was chosen from. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pack.h"
#include "cli/shared_options.h"
#include "cli/show/show_considered.h"

enum { QUERY_MAX_BYTES = 8 * 1024 * 1024, BODY_MAX_BYTES = 64 * 1024 * 1024 };

/* Who would get it where nobody is named: somebody with the budget that everybody has. */
#define ANYBODY "anybody"

static const struct option recall_options[] = {
	{.name = "why", .type = OPTION_FLAG,
	 .help = "also what is not carried, each with its relevance and the reason"},
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
	 .help = "for whom it would be packed, within that agent's budget; anybody where it is not given"},
	{.name = "parent", .letter = 'p', .arg = "ENV", .type = OPTION_TEXT,
	 .help = "the envelope that the handoff would continue: what was named, decided or opened there comes, too"},
	{.name = "task", .arg = "ID", .type = OPTION_TEXT,
	 .help = "the task of the handoff, where there is no parent; without it only memories of no task are "
		 "looked at"},
	{.name = "intent", .arg = "TEXT", .type = OPTION_TEXT,
	 .help = "the user's own words, which help to find, where there is no parent"},
};

static const struct option_table recall_table = {"What", recall_options, OPTION_COUNT(recall_options)};

static const struct call_member recall_members[] = {
	{"parent", "parent"}, {"task", "task"}, {"intent", "intent"}, {NULL, NULL},
};

/* --- An envelope that is there --- */

static int check_alone(const struct cli *cli, const char *id)
{
	bool given = body_any_given(cli, &pack_memory_table) || options_is_given(&cli->options, "to");

	for (const struct call_member *m = recall_members; m->option; m++)
		given = given || options_is_given(&cli->options, m->option);
	if (cli->options.arg_count > 1)
		return cli_usage(cli, "%.80s is an envelope; nothing can stand beside it", id);
	return given ? cli_usage(cli, "%.80s is packed already: of the options only --why can be given", id) : CLI_OK;
}

static int recall_envelope(struct cli *cli, const char *id)
{
	struct ask record = {0}, packed;
	int code = check_alone(cli, id);

	if (code == CLI_OK)
		code = ask_run_get(cli, ask_path(cli->arena, "/v1/envelopes/", id, "/considered"), &record);
	if (code == CLI_OK && cli_is_json(cli)) {
		ask_write(cli, &record);
	} else if (code == CLI_OK) {
		code = ask_run_get(cli, ask_path(cli->arena, "/v1/envelopes/", id, "?format=json"), &packed);
		if (code == CLI_OK)
			show_considered(cli, &record.json, &packed.json, options_flag(&cli->options, "why"));
		ask_release(&packed);
	}
	ask_release(&record);
	return code;
}

/* --- A handoff that could be --- */

static int ask_dry(struct cli *cli, struct str body)
{
	static const struct json none = {.type = JSON_OBJECT};
	struct client_request request = {.method = "POST", .path = "/v1/envelopes", .body = body, .repeatable = true};
	const struct json *considered, *envelope;
	struct ask ask;
	int code = ask_run(cli, &request, &ask);

	considered = json_get(&ask.json, "considered");
	envelope = json_get(&ask.json, "envelope");
	/* The same document as of an envelope that is there, but without its id. */
	if (code == CLI_OK && cli_is_json(cli))
		ask_write_value(cli, considered ? considered : &none);
	else if (code == CLI_OK)
		show_considered(cli, considered ? considered : &none, envelope ? envelope : &none,
				options_flag(&cli->options, "why"));
	ask_release(&ask);
	return code;
}

static int read_query(const struct cli *cli, struct buf *ret)
{
	if (cli->options.arg_count == 1)
		return body_read_text(cli, cli->options.args[0], ret);
	body_join_arguments(cli, ret);
	return CLI_OK;
}

static int recall_text(struct cli *cli)
{
	const char *to = options_text(&cli->options, "to");
	struct buf query, body;
	struct json_writer w;
	int code;

	buf_init(&query, QUERY_MAX_BYTES);
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	code = read_query(cli, &query);
	if (code == CLI_OK && query.len == 0)
		code = cli_usage(cli, "there is nothing to recall; say what a handoff would be about");
	if (code == CLI_OK)
		code = pack_put_question(cli, to ? to : ANYBODY, buf_str(&query), recall_members, &w);
	if (code == CLI_OK)
		code = ask_dry(cli, buf_str(&body));
	buf_release(&query);
	buf_release(&body);
	return code;
}

/* What an id of another kind names; NULL: it is none. */
static const char *other_kind(const char *arg)
{
	static const struct {
		const char *prefix, *kind;
	} kinds[] = {{"ms-", "a memory"}, {"ho-", "a handoff"}, {"task-", "a task"}};
	struct str text = str_of(arg), id = str_cut(&text, '@');
	uint64_t number;

	for (size_t i = 0; i < OPTION_COUNT(kinds); i++)
		if (str_has_prefix(id, str_of(kinds[i].prefix)) &&
		    str_to_u64(str_sub(id, strlen(kinds[i].prefix), id.n), &number))
			return kinds[i].kind;
	return NULL;
}

static int exec_recall(struct cli *cli)
{
	const char *first = cli->options.args[0];

	if (pack_is_envelope(first))
		return recall_envelope(cli, first);
	if (cli->options.arg_count == 1 && other_kind(first))
		return cli_usage(cli, "\"%.80s\" is %s; expected an envelope such as env-17, or what a handoff would "
				 "be about", first, other_kind(first));
	return recall_text(cli);
}

const struct command cmd_recall = {
	.name = "recall",
	.summary = "Shows what a handoff would carry, or an envelope carries, and why nothing else",
	.usage = "ENV | WORDS...|-", .min_args = 1, .max_args = COMMAND_ARGS_ANY,
	.about = "With words, what a handoff with that summary would carry now; nothing is stored. With an envelope "
		 "such as env-17, what it was chosen from, as it was recorded when it was packed.\n\n"
		 "RELEVANCE goes from 0 to 1. What is less relevant than a floor stays behind unless it was named, "
		 "decided, opened or pinned. --why lists what had no room, what was below the floor, and what was "
		 "beyond --recent: of the latter two the first 32. Texts of what is not carried are those of now.\n\n"
		 "--json prints all of it, with or without --why.",
	.examples = {
		"spine recall retry policy of the payment gateway",
		"spine recall \"Review the patch.\" --to reviewer --parent env-1 --why",
		"spine recall \"Add the retries.\" --scope space --max-tokens 2000 --why",
		"spine recall env-1 --why",
	},
	.tables = {&recall_table, &pack_memory_table, &client_table},
	.exec = exec_recall,
};
