#include "cli/request/pages.h"

#include "cli/ask.h"
#include "cli/request/body.h"
#include "cli/shared_options.h"

static const struct option pages_options[] = {PAGES_OPTIONS};

const struct option_table pages_table = {"Pages", pages_options, OPTION_COUNT(pages_options)};

void pages_add(const struct cli *cli, struct buf *path)
{
	static const struct call_member members[] = {
		{"limit", "page_size"}, {"page-token", "page_token"}, {NULL, NULL},
	};

	body_add_parameters(cli, members, path);
}

void pages_tell(const struct cli *cli, const struct json *answer)
{
	struct str next = ask_str(answer, "next_page_token");

	if (next.n && cli->out.is_terminal)
		cli_note(cli, "(there are more: --limit N, or --page-token %.*s)", STR_ARG(next));
}
