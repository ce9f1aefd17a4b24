#include "cli/request/filters.h"

#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/shared_options.h"
#include "client/url.h"

static const char *const state_choices[] = {"active", "superseded", "expired", "any", NULL};

static const struct option filters_options[] = {
	{.name = "tag", .letter = 't', .arg = "TAG", .type = OPTION_LIST,
	 .help = "with this tag; given several times: with all of them"},
	{.name = "kind", .letter = 'k', .arg = "KIND", .type = OPTION_LIST, .choices = kind_suggestions,
	 .help = "of this kind; given several times: of any of them"},
	{.name = "author", .arg = "AGENT", .type = OPTION_LIST, .help = "stored by this agent; several: any of them"},
	{.name = "task", .arg = "ID", .type = OPTION_LIST, .help = "of this task; several: any of them"},
	{.name = "importance", .letter = 'i', .arg = "LEVEL", .type = OPTION_LIST, .choices = importance_choices,
	 .help = "of this importance; several: any of them"},
	{.name = "trust", .arg = "SOURCE", .type = OPTION_LIST, .choices = trust_choices,
	 .help = "from this source; several: any of them"},
	{.name = "pinned", .type = OPTION_FLAG, .help = "only pinned ones; --pinned=false: only those that are not"},
	{.name = "state", .arg = "STATE", .type = OPTION_CHOICE, .choices = state_choices,
	 .help = "in this state, where not only active ones are wanted"},
	{.name = "after", .arg = "TIME", .type = OPTION_TEXT,
	 .help = "created at this time or later: 2026-01-30T12:00:00Z, 2026-01-30, or 2h (ago)"},
	{.name = "before", .arg = "TIME", .type = OPTION_TEXT, .help = "created before this time"},
	{.name = "metadata", .arg = "KEY=VALUE", .type = OPTION_LIST,
	 .help = "with this value in the metadata; several: all of them"},
	PAGES_OPTIONS,
};

const struct option_table filters_table = {"Filters", filters_options, OPTION_COUNT(filters_options)};

static int put_metadata(const struct cli *cli, struct buf *path)
{
	const struct option_value *v = options_value(&cli->options, "metadata");

	for (size_t i = 0; i < v->list_count; i++) {
		struct str value = str_of(v->list[i]);
		struct str key = str_cut(&value, '=');

		if (key.n == 0 || value.p == NULL)
			return cli_usage(cli, "--metadata is \"%.80s\"; expected KEY=VALUE", v->list[i]);
		url_add(path, arena_printf(cli->arena, "metadata.%.*s", STR_ARG(key)).p, value);
	}
	return CLI_OK;
}

int filters_put(struct cli *cli, struct buf *path)
{
	static const struct call_member members[] = {
		{"tag", "tag"}, {"kind", "kind"}, {"author", "agent"}, {"task", "task"}, {"importance", "importance"},
		{"trust", "trust"}, {"pinned", "pinned"}, {"state", "state"}, {NULL, NULL},
	};
	int code;

	body_add_parameters(cli, members, path);
	code = body_add_time(cli, "after", "created_after", path);
	if (code == CLI_OK)
		code = body_add_time(cli, "before", "created_before", path);
	return code == CLI_OK ? put_metadata(cli, path) : code;
}
