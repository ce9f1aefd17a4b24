/* spine space: the settings of a space, and its end. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "client/url.h"

#include <stdio.h>
#include <unistd.h>

enum { BODY_MAX_BYTES = 16 * 1024, NAME_MAX_BYTES = 256 };

static const char *const guard_choices[] = {"off", "redact", "refuse", NULL};

#define KEEP_HELP "90d, 12h, or forever; server: as long as the server keeps it for all spaces"

#define QUOTA_OPTION(option, text) \
	{.name = option, .arg = "N", .type = OPTION_INT, .min = -1, .max = (INT64_C(1) << 53) - 1, \
	 .help = text "; 0: any number, -1: as the server says"}

static const struct option space_options[] = {
	{.name = "guard", .letter = 'g', .arg = "POLICY", .type = OPTION_CHOICE, .choices = guard_choices,
	 .help = "what becomes of credentials in a handoff: off leaves them, redact blanks them, refuse refuses it"},
	{.name = "lock", .arg = "KEY", .type = OPTION_LIST,
	 .help = "a constraint that no agent may waive in any chain of the space; may be given several times, and they "
		 "take the place of those before"},
	{.name = "keep", .arg = "TIME", .type = OPTION_TEXT,
	 .help = "how long ended handoffs (with their envelopes and results) and events are kept: " KEEP_HELP},
	{.name = "keep-handoffs", .arg = "TIME", .type = OPTION_TEXT, .help = "the same for ended handoffs alone"},
	{.name = "keep-events", .arg = "TIME", .type = OPTION_TEXT, .help = "the same for events alone"},
	{.name = "keep-idle", .arg = "TIME", .type = OPTION_TEXT,
	 .help = "how long the space itself is kept when nothing is written in it, such as 30d; then it is deleted "
		 "with everything in it: also forever, or server"},
	{.name = "trust-floor", .arg = "TRUST", .type = OPTION_CHOICE, .choices = trust_choices,
	 .help = "memories that are trusted less go along with handoffs as references only; external: all go along"},
	QUOTA_OPTION("quota-memories", "how many memories it may have"),
	QUOTA_OPTION("quota-bytes", "how many bytes its memories and envelopes may have"),
	QUOTA_OPTION("quota-handoffs", "how many handoffs may be sent in a minute"),
	QUOTA_OPTION("quota-waiting", "how many receivers may wait at a time"),
	QUOTA_OPTION("quota-agents", "how many agents it may know"),
};

static const struct option_table space_table = {"Settings", space_options, OPTION_COUNT(space_options)};

static const struct option delete_options[] = {
	{.name = "yes", .letter = 'y', .type = OPTION_FLAG,
	 .help = "do not ask; required where standard input is no terminal"},
};

static const struct option_table delete_table = {"Deleting", delete_options, OPTION_COUNT(delete_options)};

/* --- Settings --- */

/* As the protocol has it: seconds, 0 for ever, -1 as the server says. Without the option, `all` holds. */
static int put_keep(const struct cli *cli, const char *option, const char *all, const char *name, struct json_writer *w)
{
	static const struct option duration = {.type = OPTION_DURATION, .min = 1000, .max = INT64_MAX};
	const char *given = options_text(&cli->options, option);
	struct option_value value = {0};
	struct buf error;
	bool good;

	if (given == NULL && all) {
		option = all;
		given = options_text(&cli->options, option);
	}
	if (given == NULL)
		return CLI_OK;
	if (strcmp(given, "forever") == 0 || strcmp(given, "server") == 0) {
		json_member_int(w, name, strcmp(given, "forever") == 0 ? 0 : -1);
		return CLI_OK;
	}
	buf_init(&error, 1024);
	good = option_parse(&duration, str_of(given), cli->arena, &value, &error);
	buf_release(&error);
	if (!good)
		return cli_usage(cli, "--%s is \"%.80s\"; expected a time of a second or more, such as 90d, or "
				 "forever, or server", option, given);
	body_put_seconds(w, name, value.number);
	return CLI_OK;
}

static const struct call_member limits[] = {
	{"trust-floor", "trust_floor"}, {"quota-memories", "quota_memories"}, {"quota-bytes", "quota_bytes"},
	{"quota-handoffs", "quota_handoffs_per_minute"}, {"quota-waiting", "quota_waiting"},
	{"quota-agents", "quota_agents"}, {NULL, NULL},
};

static int set_space(struct cli *cli)
{
	struct client_request request = {.method = "PUT", .path = "/v1/space", .repeatable = true};
	struct json_writer w;
	struct buf body;
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	code = body_put(cli, "guard", "guard", &w);
	if (code == CLI_OK)
		code = body_put(cli, "lock", "locked", &w);
	if (code == CLI_OK)
		code = put_keep(cli, "keep-handoffs", "keep", "keep_handoffs_s", &w);
	if (code == CLI_OK)
		code = put_keep(cli, "keep-events", "keep", "keep_events_s", &w);
	if (code == CLI_OK)
		code = put_keep(cli, "keep-idle", NULL, "keep_idle_s", &w);
	if (code == CLI_OK)
		code = body_put_members(cli, limits, &w);
	json_end_object(&w);
	request.body = buf_str(&body);
	if (code == CLI_OK)
		code = ask_print(cli, &request, show_object);
	buf_release(&body);
	return code;
}

/* --- Deleting --- */

/* Asks on standard error, so that standard output stays for the result. The name is typed: a y is too quick. */
static bool is_confirmed(struct cli *cli, const char *name)
{
	char answer[NAME_MAX_BYTES];
	struct ask ask;

	cli->space = name;
	ask_make_get(cli, "/v1/space", &ask);
	if (ask.exit == CLI_OK)
		cli_note(cli, "The space %.80s has %lld memories. They, all handoffs, envelopes and events of it are "
			 "deleted for good.", name, (long long)ask_int(&ask.json, "memories", 0));
	ask_release(&ask);
	cli_note(cli, "Type its name to go on:");
	if (fgets(answer, sizeof(answer), stdin) == NULL)
		return false;
	answer[strcspn(answer, "\r\n")] = 0;
	return strcmp(answer, name) == 0;
}

static void show_deleted(const struct cli *cli, const struct json *answer)
{
	struct str name = term_line(cli->arena, ask_str(answer, "name"));

	long long keys = ask_int(answer, "keys_revoked", 0);

	cli_note(cli, "deleted the space %.*s: %lld memories, %lld open handoffs, %lld parked", STR_ARG(name),
		 (long long)ask_int(answer, "memories", 0), (long long)ask_int(answer, "handoffs_open", 0),
		 (long long)ask_int(answer, "parked", 0));
	if (keys)
		cli_note(cli, "%lld of its keys %s revoked with it", keys, keys == 1 ? "was" : "were");
}

static int delete_space(struct cli *cli, const char *name)
{
	struct client_request request = {.method = "DELETE"};
	struct buf path;
	int code;

	if (!options_flag(&cli->options, "yes")) {
		if (!isatty(STDIN_FILENO))
			return cli_usage(cli, "deleting a space cannot be undone; confirm it with --yes");
		if (!is_confirmed(cli, name)) {
			cli_error(cli, "nothing was deleted");
			return CLI_FAILED;
		}
	}
	buf_init(&path, 64 * 1024);
	buf_puts(&path, ask_path(cli->arena, "/v1/spaces/", name, ""));
	url_add(&path, "confirm", str_of(name));
	request.path = buf_str(&path).p;
	code = ask_print(cli, &request, show_deleted);
	buf_release(&path);
	return code;
}

static int exec_space(struct cli *cli)
{
	static const struct one_call show = {.path = "/v1/space", .show = show_object};
	const struct options *o = &cli->options;
	bool sets = body_any_given(cli, &space_table);

	if (o->arg_count && strcmp(o->args[0], "delete") == 0) {
		if (o->arg_count < 2)
			return cli_usage(cli, "space delete needs the name of the space; usage: spine space "
					 "delete NAME");
		return sets ? cli_usage(cli, "space delete takes no settings") : delete_space(cli, o->args[1]);
	}
	if (o->arg_count > 1)
		return cli_usage(cli, "space has too many arguments; usage: spine space [NAME], or spine space "
				 "delete NAME");
	if (options_flag(o, "yes"))
		return cli_usage(cli, "--yes is for spine space delete");
	if (o->arg_count)
		cli->space = o->args[0];
	return sets ? set_space(cli) : one_call_run(cli, &show, 0);
}

const struct command cmd_space = {
	.name = "space",
	.summary = "Shows the settings of a space, changes them, or deletes it",
	.usage = "[NAME] | delete NAME", .max_args = 2,
	.about = "Without a name, the space is that of --space or SPINE_SPACE. Settings that are not given stay as "
		 "they are. The guard is for all handoffs in it; a constraint of a handoff can only make it "
		 "stricter.\n\n"
		 "With --keep, handoffs that ended longer ago go, with their envelopes and results, and so do events "
		 "that are older. Of a handoff stay its id, the digest and parent of its envelope, and when it was: a "
		 "chain can still be followed. What is open or parked never goes. To write it out before, use spine "
		 "export --all.\n\n"
		 "With --keep-idle, the space is deleted when nothing was written in it for so long (reading does not "
		 "count), unless something in it is open or parked, or somebody waits in it. The space default "
		 "stays.\n\n"
		 "A quota is what the space may have at most: what goes beyond it is refused with quota_exceeded, and "
		 "nothing that was accepted before is. The answer shows what it has of each.\n\n"
		 "Deleting takes everything in the space, and nothing brings it back. On a terminal the name is asked "
		 "for.",
	.examples = {
		"spine space payments --guard refuse --json", "spine space payments --keep 90d --keep-idle 365d",
		"spine space payments --trust-floor agent --quota-memories 100000",
		"spine space delete payments --yes",
	},
	.tables = {&space_table, &delete_table, &client_table},
	.exec = exec_space,
};
