/* spine revert: makes an old version the newest. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/version_match.h"

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
	request.path = ask_memory_path(cli->arena, id, "/revert");
	request.body = arena_printf(cli->arena, "{\"version\":%llu}", (unsigned long long)version);
	request.if_match = version_match(cli, id);
	return ask_print(cli, &request, show_version);
}

const struct command cmd_revert = {
	.name = "revert",
	.summary = "Makes a new version of a memory with what an old one said",
	.usage = "ID VERSION",
	.examples = {"spine revert ms-1 1"},
	.tables = {&version_match_table, &client_table},
	.min_args = 1,
	.max_args = 2,
	.exec = exec_revert,
};
