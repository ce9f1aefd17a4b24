/* spine store: stores a memory. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/fields.h"
#include "cli/shared_options.h"

#include <stdlib.h>

static const struct option store_options[] = {
	{.name = "pin", .letter = 'p', .type = OPTION_FLAG,
	 .help = "pin it: it goes with every handoff and ranks higher"},
	{.name = "shared", .type = OPTION_FLAG,
	 .help = "it is for the whole space and belongs to no task, whatever SPINE_TASK says"},
	{.name = "supersedes", .arg = "ID", .type = OPTION_TEXT, .help = "the memory that this one replaces"},
	{.name = "id", .arg = "ID", .type = OPTION_TEXT, .help = "a free id of your choice, such as ms-4821"},
	{.name = "idempotency-key", .arg = "KEY", .type = OPTION_TEXT,
	 .help = "the same key with the same request stores only once, within a day"},
};

static const struct option_table store_table = {"Storing", store_options, OPTION_COUNT(store_options)};

static int put_memory(struct cli *cli, struct json_writer *w)
{
	bool is_shared = options_flag(&cli->options, "shared");
	int code;

	if (is_shared && options_text(&cli->options, "task"))
		return cli_usage(cli, "--shared and --task cannot be given together");
	code = body_put_content(cli, cli->options.arg_count ? cli->options.args[0] : NULL, "there is no text to store",
				w);
	if (is_shared)
		json_member_cstr(w, "scope", "space");
	if (options_flag(&cli->options, "pin"))
		json_member_bool(w, "pinned", true);
	return code == CLI_OK ? fields_put(cli, w) : code;
}

static void print_id(const struct cli *cli, const struct json *memory)
{
	cli_write(term_line(cli->arena, ask_str(memory, "id")));
	cli_write(STR("\n"));
}

/* The work that SPINE_TASK names is on the server and in the space that the environment names: not where the command
 * line names others. */
static bool is_elsewhere(const struct cli *cli, const char *option)
{
	const struct option_value *v = options_value(&cli->options, option);
	const char *text = getenv(v->option->env);

	return v->source == OPTION_FROM_ARGS && (text == NULL || strcmp(text, v->text) != 0);
}

/* The task that the text belongs to where nothing was said: that of the work which this command is a part of. */
static int find_task(const struct cli *cli, const char **ret)
{
	const char *task = getenv("SPINE_TASK");

	*ret = NULL;
	if (task == NULL || task[0] == '\0' || options_text(&cli->options, "task") ||
	    options_flag(&cli->options, "shared") || is_elsewhere(cli, "space") || is_elsewhere(cli, "url"))
		return CLI_OK;
	for (const char *p = task; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return cli_usage(cli, "SPINE_TASK holds a control character");
	*ret = task;
	return CLI_OK;
}

static int prepare_store(struct cli *cli, struct client_request *request)
{
	request->idempotency_key = options_text(&cli->options, "idempotency-key");
	return find_task(cli, &request->task);
}

const struct command cmd_store = {
	.name = "store",
	.summary = "Stores a memory and prints its id",
	.usage = "[TEXT|-]", .max_args = 1,
	.about = "The text is the argument. Without one, or with \"-\", it is read from standard input, without the "
		 "line break at its end.\n\n"
		 "What is stored belongs to the task that SPINE_TASK names, as it does for programs of spine receive, "
		 "unless --task names another one or --shared none.",
	.examples = {
		"spine store \"The gateway answers 429 with Retry-After in seconds.\" --tag gateway",
		"git log -1 --format=%B | spine store --kind decision --importance high",
		"spine store \"Retry-After is in milliseconds.\" --supersedes ms-1",
	},
	.tables = {&fields_table, &store_table, &client_table},
	.call = {
		.method = "POST", .path = "/v1/memories", .creates = true, .put = put_memory, .prepare = prepare_store,
		.members = {{"id", "id"}, {"supersedes", "supersedes"}}, .show = print_id,
	},
};
