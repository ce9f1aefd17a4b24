/* spine handoffs: the deliveries there are. */
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show_handoff.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024 };

static const char *const state_choices[] = {
	"queued", "leased", "acked", "completed", "parked", "expired", "discarded", NULL,
};

static const char *const order_choices[] = {"newest", "oldest", NULL};

static const struct option handoffs_options[] = {
	{
		.name = "state", .letter = 's', .arg = "STATE", .type = OPTION_CHOICE, .choices = state_choices,
		.help = "only those in this state"
	},
	{
		.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
		.help = "only those that are for this agent"
	},
	{
		.name = "from", .arg = "AGENT", .type = OPTION_TEXT,
		.help = "only those of this sender"
	},
	{
		.name = "envelope", .letter = 'e', .arg = "ENV", .type = OPTION_TEXT,
		.help = "only those of this envelope"
	},
	{
		.name = "order", .arg = "ORDER", .type = OPTION_CHOICE, .choices = order_choices, .fallback = "newest",
		.help = "which come first"
	},
};

static const struct option_table handoffs_table = {"Which", handoffs_options, OPTION_COUNT(handoffs_options)};

static int exec_handoffs(struct cli *cli)
{
	static const struct { const char *option, *parameter; } filters[] = {
		{"state", "state"}, {"to", "to"}, {"from", "from"}, {"envelope", "envelope_id"},
		{"order", "order"},
	};
	struct buf path;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	buf_puts(&path, "/v1/handoffs");
	for (size_t i = 0; i < OPTION_COUNT(filters); i++) {
		const char *text = options_text(&cli->options, filters[i].option);

		if (text)
			url_add(&path, filters[i].parameter, str_of(text));
	}
	code = pages_run(cli, buf_str(&path).p, "handoffs", show_handoffs);
	buf_release(&path);
	return code;
}

const struct command cmd_handoffs = {
	.name = "handoffs",
	.summary = "Lists deliveries, the newest first: who sent what to whom, and how it stands",
	.usage = "",
	.about = "All of one, with everything that happened to it: spine get ho-1.",
	.examples = {
		"spine handoffs", "spine handoffs --state queued --to coder --order oldest",
		"spine handoffs --json | jq '.handoffs[].state'",
	},
	.tables = {&handoffs_table, &pages_table, &client_table},
	.exec = exec_handoffs,
};
