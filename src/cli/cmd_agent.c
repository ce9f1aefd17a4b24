/* spine agent: shows an agent, or registers it. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/shared_options.h"
#include "cli/show.h"

enum { BODY_MAX_BYTES = 1024 * 1024 };

static const struct option agent_options[] = {
	{
		.name = "accepts", .arg = "VERSIONS", .type = OPTION_TEXT,
		.help = "the versions of envelopes that it reads: 2, 1, or both as in 1,2"
	},
	{
		.name = "tokenizer", .arg = "NAME", .type = OPTION_CHOICE, .choices = tokenizer_choices,
		.help = "in whose tokens its prompts are counted"
	},
	{
		.name = "max-tokens", .letter = 'm', .arg = "N", .type = OPTION_INT, .min = 1, .max = 10000000,
		.help = "the budget of its prompts"
	},
	{
		.name = "description", .letter = 'd', .arg = "TEXT", .type = OPTION_TEXT,
		.help = "what it does"
	},
	{
		.name = "replace", .type = OPTION_FLAG,
		.help = "forget the settings that are not given, instead of keeping them"
	},
};

static const struct option_table agent_table = {"Registering", agent_options, OPTION_COUNT(agent_options)};

static bool is_registering(const struct cli *cli)
{
	for (size_t i = 0; i < agent_table.count; i++)
		if (options_is_given(&cli->options, agent_options[i].name))
			return true;
	return false;
}

static int put_accepts(const struct cli *cli, const char *given, struct json_writer *w)
{
	struct str rest = str_of(given);

	json_key(w, "accepts");
	json_begin_array(w);
	while (rest.p) {
		struct str version = str_trim(str_cut(&rest, ','));

		if (version.n == 0 || !str_is_utf8(version))
			return cli_usage(cli, "--accepts is \"%.80s\"; expected versions, such as 2 or 1,2", given);
		json_put_str(w, version);
	}
	json_end_array(w);
	return CLI_OK;
}

/* A setting that was not given stays what it is. */
static void keep(const struct json *present, const char *key, struct json_writer *w)
{
	const struct json *value = json_get(present, key);

	if (value && value->type != JSON_NULL) {
		json_key(w, key);
		json_put(w, value);
	}
}

static int put_body(const struct cli *cli, const struct json *present, struct buf *out)
{
	const struct options *o = &cli->options;
	const char *accepts = options_text(o, "accepts"), *description = options_text(o, "description");
	struct json_writer w;
	int code = CLI_OK;

	json_writer_init(&w, out);
	json_begin_object(&w);
	if (accepts)
		code = put_accepts(cli, accepts, &w);
	else
		keep(present, "accepts", &w);
	if (options_is_given(o, "tokenizer"))
		json_member_cstr(&w, "tokenizer", options_text(o, "tokenizer"));
	else
		keep(present, "tokenizer", &w);
	if (options_is_given(o, "max-tokens"))
		json_member_int(&w, "max_tokens", options_int(o, "max-tokens"));
	else
		keep(present, "max_tokens", &w);
	if (code == CLI_OK && description)
		code = fields_check_text(cli, "--description", str_of(description));
	if (code == CLI_OK && description)
		json_member_cstr(&w, "description", description);
	else
		keep(present, "description", &w);
	json_end_object(&w);
	return code;
}

/* With if_match a second time would be refused, because of the first. */
static int call(struct cli *cli, const char *method, struct str body, const char *if_match)
{
	struct client_request request = {
		.method = method, .path = ask_path(cli->arena, "/v1/agents/", cli->options.args[0], ""),
		.body = body, .if_match = if_match, .repeatable = if_match == NULL,
	};

	return ask_print(cli, &request, show_object);
}

/* The server replaces all settings at once, so the present ones are read first; where somebody changes them meanwhile,
 * it refuses. */
static int exec_agent(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/agents/", cli->options.args[0], ""),
		.repeatable = true,
	};
	struct ask present = {0};
	struct buf body;
	int code = CLI_OK;

	if (!is_registering(cli))
		return call(cli, "GET", STR_NULL, NULL);
	buf_init(&body, BODY_MAX_BYTES);
	if (!options_flag(&cli->options, "replace")) {
		ask_make(cli, &request, cli->arena, &present);
		code = str_is(present.code, "agent_not_found") ? CLI_OK : present.exit;
		if (code != CLI_OK)
			ask_report(cli, &present);
	}
	if (code == CLI_OK)
		code = put_body(cli, present.exit == CLI_OK ? &present.json : NULL, &body);
	if (code == CLI_OK)
		code = call(cli, "PUT", buf_str(&body), present.reply.etag[0] ? present.reply.etag : NULL);
	ask_release(&present);
	buf_release(&body);
	return code;
}

const struct command cmd_agent = {
	.name = "agent",
	.summary = "Shows an agent, or registers it where an option is given",
	.usage = "NAME",
	.about = "Settings that are not given stay as they are. An agent that nobody registered takes version 2, "
		 "o200k_base and 8000 tokens.",
	.examples = {
		"spine agent coder --accepts 1,2 --tokenizer cl100k_base --max-tokens 4000",
		"spine agent coder --description \"writes code\"",
		"spine agent coder",
	},
	.tables = {&agent_table, &client_table},
	.min_args = 1,
	.max_args = 1,
	.exec = exec_agent,
};
