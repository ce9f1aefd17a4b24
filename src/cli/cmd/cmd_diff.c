/* spine diff: what became of an envelope's contents in another one. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show_changes.h"

static void print_diff(const struct cli *cli, const struct json *answer)
{
	struct str from = term_line(cli->arena, ask_str(answer, "from"));
	struct str to = term_line(cli->arena, ask_str(answer, "to"));

	cli_write(arena_printf(cli->arena, "%.*s -> %.*s: %.1f %% kept, %lld of %lld\n", STR_ARG(from), STR_ARG(to),
			       ask_number(answer, "score") * 100, (long long)ask_int(answer, "kept", 0),
			       (long long)ask_int(answer, "total", 0)));
	show_changes(cli, ask_array(answer, "changes"));
}

static int exec_diff(struct cli *cli)
{
	const char *before = ask_path(cli->arena, "/v1/envelopes/", cli->options.args[0], "/diff/");
	struct client_request request = {
		.method = "GET", .path = ask_path(cli->arena, before, cli->options.args[1], ""), .repeatable = true,
	};

	return ask_print(cli, &request, print_diff);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "Says what an envelope kept, added, narrowed, waived and dropped of another",
	.usage = "ENV ENV",
	.about = "The first is the earlier one. What was narrowed, or waived with a reason, counts as kept.",
	.examples = {"spine diff env-1 env-2", "spine diff env-1 env-2 --json | jq .score"},
	.tables = {&client_table},
	.min_args = 2,
	.max_args = 2,
	.exec = exec_diff,
};
