/* spine agent: shows an agent, or registers it. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"

enum { BODY_MAX_BYTES = 1024 * 1024 };

static const char *const fetch_choices[] = {"mcp", "command", "http", NULL};

static const struct option agent_options[] = {
	{.name = "accepts", .arg = "VERSIONS", .type = OPTION_TEXT,
	 .help = "the versions of envelopes that it reads: 2, 1, or both as in 1,2"},
	{.name = "tokenizer", .arg = "NAME", .type = OPTION_CHOICE, .choices = tokenizer_choices,
	 .help = "in whose tokens its prompts are counted"},
	{.name = "max-tokens", .letter = 'm', .arg = "N", .type = OPTION_INT, .min = 1, .max = 10000000,
	 .help = "the budget of its prompts"},
	{.name = "description", .letter = 'd', .arg = "TEXT", .type = OPTION_TEXT, .help = "what it does"},
	{.name = "fetch-hint", .arg = "WAY", .type = OPTION_CHOICE, .choices = fetch_choices,
	 .help = "how it fetches a memory by its id, so that its prompts say how"},
	{.name = "fallback", .arg = "AGENT", .type = OPTION_LIST,
	 .help = "who gets its work where it fails; may be given several times, in this order"},
	{.name = "ack-timeout", .arg = "TIME", .type = OPTION_DURATION, .min = 1, .max = 86400000,
	 .help = "how long an attempt may take until it has acked; 15s where nobody says otherwise"},
	{.name = "queue-timeout", .arg = "TIME", .type = OPTION_DURATION, .min = 1000, .max = 366 * INT64_C(86400000),
	 .help = "how long its work may wait for it until it is parked; the server's where nobody says otherwise"},
	{.name = "attempts", .arg = "N", .type = OPTION_INT, .min = 1, .max = 100,
	 .help = "how often it is tried; 3 where nobody says otherwise"},
	{.name = "webhook", .arg = "URL", .type = OPTION_TEXT,
	 .help = "where its work is sent to, instead of waiting to be received"},
	{.name = "replace", .type = OPTION_FLAG,
	 .help = "forget the settings that are not given, instead of keeping them"},
};

static const struct option_table agent_table = {"Registering", agent_options, OPTION_COUNT(agent_options)};

static const struct option breaker_options[] = {
	{.name = "reset-breaker", .type = OPTION_FLAG,
	 .help = "close its circuit breaker now, instead of when its time is over"},
};

static const struct option_table breaker_table = {"Circuit breaker", breaker_options, OPTION_COUNT(breaker_options)};

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
	static const struct call_member members[] = {
		{"tokenizer", "tokenizer"}, {"description", "description"}, {"webhook", "webhook"},
		{"fetch-hint", "fetch_hint"}, {"max-tokens", "max_tokens"}, {"attempts", "max_attempts"},
		{"ack-timeout", "ack_timeout_s"}, {"queue-timeout", "queue_timeout_s"}, {"fallback", "fallbacks"},
		{NULL, NULL},
	};
	const char *accepts = options_text(&cli->options, "accepts");
	struct json_writer w;
	int code = CLI_OK;

	json_writer_init(&w, out);
	json_begin_object(&w);
	if (accepts)
		code = put_accepts(cli, accepts, &w);
	else
		keep(present, "accepts", &w);
	for (const struct call_member *m = members; m->option && code == CLI_OK; m++) {
		code = body_put(cli, m->option, m->name, &w);
		if (!options_is_given(&cli->options, m->option))
			keep(present, m->name, &w);
	}
	json_end_object(&w);
	return code;
}

/* A copy of an object with what is there; a setting that nobody made is not worth a line. */
static struct json without_nothing(struct arena *arena, const struct json *object, int depth)
{
	struct json copy = {.type = JSON_OBJECT};

	copy.members = arena_calloc(arena, object->count + 1, sizeof(*copy.members));
	for (uint32_t i = 0; i < object->count; i++) {
		struct json_member m = object->members[i];

		if (m.value.type == JSON_OBJECT && depth > 0)
			m.value = without_nothing(arena, &m.value, depth - 1);
		if (m.value.type != JSON_NULL && !(m.value.type == JSON_ARRAY && m.value.count == 0))
			copy.members[copy.count++] = m;
	}
	return copy;
}

static void print_agent(const struct cli *cli, const struct json *agent)
{
	struct json shown;

	if (agent->type != JSON_OBJECT)
		return;
	shown = without_nothing(cli->arena, agent, 1);
	show_object(cli, &shown);
}

/* The server replaces all settings at once, so the present ones are read first; where somebody changes them meanwhile,
 * it refuses. */
static int register_agent(struct cli *cli)
{
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, "/v1/agents/", cli->options.args[0], ""),
		.repeatable = true,
	};
	struct ask present = {0};
	struct buf body;
	int code = CLI_OK;

	buf_init(&body, BODY_MAX_BYTES);
	if (!options_flag(&cli->options, "replace")) {
		ask_make(cli, &request, cli->arena, &present);
		code = str_is(present.code, "agent_not_found") ? CLI_OK : present.exit;
		if (code != CLI_OK)
			ask_report(cli, &present);
	}
	if (code == CLI_OK)
		code = put_body(cli, present.exit == CLI_OK ? &present.json : NULL, &body);
	/* With if_match a second time would be refused, because of the first. */
	request.method = "PUT";
	request.body = buf_str(&body);
	request.if_match = present.reply.etag[0] ? present.reply.etag : NULL;
	request.repeatable = request.if_match == NULL;
	if (code == CLI_OK)
		code = ask_print(cli, &request, print_agent);
	ask_release(&present);
	buf_release(&body);
	return code;
}

static int exec_agent(struct cli *cli)
{
	static const struct one_call show = {.path = "/v1/agents/{0}", .show = print_agent};
	static const struct one_call reset = {
		.method = "POST", .path = "/v1/agents/{0}/reset", .show = show_object,
	};
	bool registers = body_any_given(cli, &agent_table);

	if (!options_flag(&cli->options, "reset-breaker"))
		return registers ? register_agent(cli) : one_call_run(cli, &show, 0);
	if (registers)
		return cli_usage(cli, "--reset-breaker is given alone, without settings");
	return one_call_run(cli, &reset, 0);
}

const struct command cmd_agent = {
	.name = "agent",
	.summary = "Shows an agent, or registers it where an option is given",
	.usage = "NAME", .min_args = 1, .max_args = 1,
	.about = "Shows what is queued, at work and parked for it, its circuit breaker, and when it was last seen. "
		 "Settings that are not given stay as they are. An agent that nobody registered takes version 2, "
		 "o200k_base and 8000 tokens.",
	.examples = {
		"spine agent coder --accepts 1,2 --tokenizer cl100k_base --max-tokens 4000",
		"spine agent coder --description \"writes code\" --fallback generalist --ack-timeout 30s",
		"spine agent coder --reset-breaker",
		"spine agent coder",
	},
	.tables = {&agent_table, &breaker_table, &client_table},
	.exec = exec_agent,
};
