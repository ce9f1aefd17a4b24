/* spine update and spine revert: what makes a new version of a memory. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/fields.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"

static const struct option version_match_options[] = {
	{.name = "if-version", .arg = "N", .type = OPTION_INT, .min = 1, .max = INT32_MAX,
	 .help = "only if it is still at this version; otherwise the exit code is 4"},
};

static const struct option_table version_match_table = {
	"Changing", version_match_options, OPTION_COUNT(version_match_options)
};

/* The value of If-Match for the memory, or NULL where the option was not given. In the arena. */
static const char *version_match(const struct cli *cli, const char *id)
{
	if (!options_is_given(&cli->options, "if-version"))
		return NULL;
	return arena_printf(cli->arena, "\"%s@%lld\"", id, (long long)options_int(&cli->options, "if-version")).p;
}

/* --- Update --- */

static const char *const clear_choices[] = {"summary", "task", "tags", "metadata", "expires_at", "agent", NULL};

static const struct option update_options[] = {
	{.name = "clear", .arg = "FIELD", .type = OPTION_LIST, .choices = clear_choices,
	 .help = "empty this field; may be given several times"},
};

static const struct option_table update_table = {"Emptying", update_options, OPTION_COUNT(update_options)};

static int put_cleared(const struct cli *cli, struct json_writer *w)
{
	const struct option_value *clear = options_value(&cli->options, "clear");

	for (size_t i = 0; i < clear->list_count; i++) {
		const char *const *known = clear_choices;

		while (*known && strcmp(*known, clear->list[i]) != 0)
			known++;
		if (*known == NULL)
			return cli_usage(cli, "--clear is \"%.80s\"; expected one of summary, task, tags, metadata, "
					 "expires_at, agent", clear->list[i]);
		json_key(w, *known);
		json_put_null(w);
	}
	return CLI_OK;
}

/* The text is read from standard input only where it is asked for, or where nothing else is to be changed. */
static int put_content(const struct cli *cli, struct json_writer *w)
{
	const char *arg = cli->options.arg_count > 1 ? cli->options.args[1] : NULL;
	bool others = body_any_given(cli, &fields_table) || options_is_given(&cli->options, "clear");

	if (arg == NULL && others)
		return CLI_OK;
	return body_put_content(cli, arg, "there is no text, and nothing else to change", w);
}

static int put_update(struct cli *cli, struct json_writer *w)
{
	int code = put_content(cli, w);

	if (code == CLI_OK)
		code = fields_put(cli, w);
	return code == CLI_OK ? put_cleared(cli, w) : code;
}

/* A second time changes nothing, but would not find the old version any more. */
static int prepare_update(struct cli *cli, struct client_request *request)
{
	request->if_match = version_match(cli, cli->options.args[0]);
	request->repeatable = request->if_match == NULL;
	return CLI_OK;
}

const struct command cmd_update = {
	.name = "update",
	.summary = "Changes a memory and prints its id and new version",
	.usage = "ID [TEXT|-]", .min_args = 1, .max_args = 2,
	.about = "What is given replaces the old: the text, and the fields named by options. The old version can "
		 "still be read (ID@VERSION) and reverted to. With \"-\", or where nothing at all is given, the text "
		 "is read from standard input.",
	.examples = {
		"spine update ms-1 \"Retry-After is in seconds, at most 120.\"",
		"spine update ms-1 --importance high --tag gateway --tag limits",
		"spine update ms-1 --clear summary --if-version 3",
	},
	.tables = {&fields_table, &update_table, &version_match_table, &client_table},
	.call = {
		.method = "PATCH", .path = "/v1/memories/{0}", .put = put_update, .prepare = prepare_update,
		.show = show_version,
	},
};

/* --- Revert --- */

/* "ms-1 2" and "ms-1@2" mean the same. */
static bool read_target(const struct cli *cli, const char **ret_id, uint64_t *ret_version)
{
	struct str version = str_of(cli->options.args[0]);
	struct str id = str_cut(&version, '@');

	if (cli->options.arg_count == 2) {
		if (version.p)
			return false;
		version = str_of(cli->options.args[1]);
	}
	if (id.n == 0 || version.p == NULL || !str_to_u64(version, ret_version) || *ret_version > INT32_MAX)
		return false;
	*ret_id = arena_cstr(cli->arena, id);
	return true;
}

static int exec_revert(struct cli *cli)
{
	struct client_request request = {.method = "POST"};
	const char *id;
	uint64_t version;

	if (!read_target(cli, &id, &version))
		return cli_usage(cli, "expected an id and a version: spine revert ms-1 2, or ms-1@2");
	request.path = ask_path(cli->arena, "/v1/memories/", id, "/revert");
	request.body = arena_printf(cli->arena, "{\"version\":%llu}", (unsigned long long)version);
	request.if_match = version_match(cli, id);
	return ask_print(cli, &request, show_version);
}

const struct command cmd_revert = {
	.name = "revert",
	.summary = "Makes a new version of a memory with what an old one said",
	.usage = "ID VERSION", .min_args = 1, .max_args = 2,
	.examples = {"spine revert ms-1 1"},
	.tables = {&version_match_table, &client_table},
	.exec = exec_revert,
};
