/* spine search: finds memories by words. */
#include "cli/commands.h"
#include "cli/filters.h"
#include "cli/shared_options.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024 };

static const struct option search_options[] = {
	{
		.name = "explain", .letter = 'x', .type = OPTION_FLAG,
		.help = "show what each score is made of"
	},
};

static const struct option_table search_table = {"Searching", search_options, OPTION_COUNT(search_options)};

static int exec_search(struct cli *cli)
{
	struct buf path, words;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&words, PATH_MAX_BYTES);
	for (size_t i = 0; i < cli->options.arg_count; i++) {
		buf_puts(&words, i ? " " : "");
		buf_puts(&words, cli->options.args[i]);
	}
	buf_puts(&path, "/v1/memories");
	url_add(&path, "query", buf_str(&words));
	if (options_flag(&cli->options, "explain"))
		url_add(&path, "explain", STR("true"));
	path.overflowed = path.overflowed || words.overflowed;
	code = filters_put(cli, &path);
	if (code == CLI_OK)
		code = filters_run(cli, &path);
	buf_release(&path);
	buf_release(&words);
	return code;
}

const struct command cmd_search = {
	.name = "search",
	.summary = "Finds memories by words, the best first",
	.usage = "WORDS...",
	.about = "There is no syntax: any words will do. They are looked for in texts, summaries and tags, without "
		 "regard to case, accents and endings; names such as retryPolicy and paths are found by their parts.",
	.examples = {
		"spine search retry policy of the payment gateway",
		"spine search retry --tag gateway --after 7d --explain",
		"spine search retry --json -n 5 | jq -r '.memories[].id'",
	},
	.tables = {&search_table, &filters_table, &client_table},
	.min_args = 1,
	.max_args = COMMAND_ARGS_ANY,
	.exec = exec_search,
};
