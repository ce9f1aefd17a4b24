/* spine list: memories in the order in which they were stored. */
#include "cli/commands.h"
#include "cli/filters.h"
#include "cli/shared_options.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024 };

static const char *const order_choices[] = {"newest", "oldest", NULL};

static const struct option list_options[] = {
	{
		.name = "order", .arg = "ORDER", .type = OPTION_CHOICE, .choices = order_choices, .fallback = "newest",
		.help = "which come first"
	},
};

static const struct option_table list_table = {"Listing", list_options, OPTION_COUNT(list_options)};

static int exec_list(struct cli *cli)
{
	struct buf path;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	buf_puts(&path, "/v1/memories");
	url_add(&path, "order", str_of(options_text(&cli->options, "order")));
	code = filters_put(cli, &path);
	if (code == CLI_OK)
		code = filters_run(cli, &path);
	buf_release(&path);
	return code;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "Lists memories, the newest first",
	.usage = "",
	.examples = {
		"spine list",
		"spine list --pinned --state any",
		"spine list --author researcher --after 2026-01-30 --order oldest -n 100",
	},
	.tables = {&list_table, &filters_table, &client_table},
	.exec = exec_list,
};
