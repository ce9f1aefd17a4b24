#include "cli/request/pages.h"

#include "cli/ask.h"
#include "cli/request/body.h"
#include "cli/shared_options.h"

static const struct option pages_options[] = {PAGES_OPTIONS};

const struct option_table pages_table = {"Pages", pages_options, OPTION_COUNT(pages_options)};

static const struct option rest_options[] = {PAGE_TOKEN_OPTION};

const struct option_table rest_table = {"Pages", rest_options, OPTION_COUNT(rest_options)};

void pages_add(const struct cli *cli, struct buf *path)
{
	static const struct call_member both[] = {
		{"page-token", "page_token"}, {"limit", "page_size"}, {NULL, NULL},
	};
	static const struct call_member token[] = {{"page-token", "page_token"}, {NULL, NULL}};

	body_add_parameters(cli, options_find(&cli->options, "limit") ? both : token, path);
}

void pages_tell(const struct cli *cli, const struct json *answer)
{
	const struct option_value *limit = options_find(&cli->options, "limit");
	struct str next = ask_str(answer, "next_page_token");
	struct str more = STR("");

	if (next.n == 0)
		return;
	if (limit && limit->number < limit->option->max)
		more = arena_printf(cli->arena, "--limit N shows up to %lld, ", (long long)limit->option->max);
	cli_note(cli, "(there are more: %.*s--page-token %.*s goes on here)", STR_ARG(more), STR_ARG(next));
}
