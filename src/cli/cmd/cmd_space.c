/* spine space: shows the settings of a space, or changes them. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"

static const char *const guard_choices[] = {"off", "redact", "refuse", NULL};

static const struct option space_options[] = {
	{
		.name = "guard", .letter = 'g', .arg = "POLICY", .type = OPTION_CHOICE, .choices = guard_choices,
		.help = "what becomes of credentials in a handoff: off leaves them, redact blanks them, refuse refuses "
			"it"
	},
};

static const struct option_table space_table = {"Settings", space_options, OPTION_COUNT(space_options)};

static int exec_space(struct cli *cli)
{
	const char *guard = options_text(&cli->options, "guard");
	struct client_request request = {.method = guard ? "PUT" : "GET", .path = "/v1/space", .repeatable = true};

	if (guard)
		request.body = arena_printf(cli->arena, "{\"guard\":\"%s\"}", guard);
	return ask_print(cli, &request, show_object);
}

const struct command cmd_space = {
	.name = "space",
	.summary = "Shows the settings of the space, or changes them where an option is given",
	.usage = "",
	.about = "Which space is said by --space or SPINE_SPACE. The guard is for all handoffs in it; a constraint of "
		 "a handoff can only make it stricter.",
	.examples = {"spine space", "spine space --guard redact", "spine space --space payments --guard refuse --json"},
	.tables = {&space_table, &client_table},
	.exec = exec_space,
};
