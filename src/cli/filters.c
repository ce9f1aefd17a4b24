#include "cli/filters.h"

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/when.h"
#include "client/url.h"

static const char *const state_choices[] = {"active", "superseded", "expired", "any", NULL};

static const struct option filters_options[] = {
	{
		.name = "tag", .letter = 't', .arg = "TAG", .type = OPTION_LIST,
		.help = "with this tag; given several times: with all of them"
	},
	{
		.name = "kind", .letter = 'k', .arg = "KIND", .type = OPTION_LIST, .choices = kind_suggestions,
		.help = "of this kind; given several times: of any of them"
	},
	{
		.name = "author", .arg = "AGENT", .type = OPTION_LIST,
		.help = "stored by this agent; several: any of them"
	},
	{
		.name = "task", .arg = "ID", .type = OPTION_LIST,
		.help = "of this task; several: any of them"
	},
	{
		.name = "importance", .letter = 'i', .arg = "LEVEL", .type = OPTION_LIST, .choices = importance_choices,
		.help = "of this importance; several: any of them"
	},
	{
		.name = "trust", .arg = "SOURCE", .type = OPTION_LIST, .choices = trust_choices,
		.help = "from this source; several: any of them"
	},
	{
		.name = "pinned", .type = OPTION_FLAG,
		.help = "only pinned ones; --pinned=false: only those that are not"
	},
	{
		.name = "state", .arg = "STATE", .type = OPTION_CHOICE, .choices = state_choices,
		.help = "in this state, where not only active ones are wanted"
	},
	{
		.name = "after", .arg = "TIME", .type = OPTION_TEXT,
		.help = "created at this time or later: 2026-01-30T12:00:00Z, 2026-01-30, or 2h (ago)"
	},
	{
		.name = "before", .arg = "TIME", .type = OPTION_TEXT,
		.help = "created before this time"
	},
	{
		.name = "metadata", .arg = "KEY=VALUE", .type = OPTION_LIST,
		.help = "with this value in the metadata; several: all of them"
	},
	{
		.name = "limit", .letter = 'n', .arg = "N", .type = OPTION_INT, .fallback = "20", .min = 1, .max = 1000,
		.help = "at most so many"
	},
	{
		.name = "page-token", .arg = "TOKEN", .type = OPTION_TEXT,
		.help = "go on where an answer ended: its next_page_token"
	},
};

const struct option_table filters_table = {"Filters", filters_options, OPTION_COUNT(filters_options)};

static void put_list(const struct cli *cli, struct buf *path, const char *option, const char *parameter)
{
	const struct option_value *v = options_value(&cli->options, option);

	for (size_t i = 0; i < v->list_count; i++)
		url_add(path, parameter, str_of(v->list[i]));
}

static void put_text(const struct cli *cli, struct buf *path, const char *option, const char *parameter)
{
	const char *text = options_text(&cli->options, option);

	if (text)
		url_add(path, parameter, str_of(text));
}

static int put_time(const struct cli *cli, struct buf *path, const char *option, const char *parameter)
{
	const char *text = options_text(&cli->options, option);
	char time[CLOCK_TEXT_SIZE];
	int64_t ms;

	if (text == NULL)
		return CLI_OK;
	if (!when_parse(str_of(text), clock_wall_ms(), &ms))
		return cli_usage(cli, "--%s is \"%.80s\"; expected " WHEN_EXPECTED, option, text);
	clock_format(ms, time);
	url_add(path, parameter, str_of(time));
	return CLI_OK;
}

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

int filters_put(const struct cli *cli, struct buf *path)
{
	int code;

	put_list(cli, path, "tag", "tag");
	put_list(cli, path, "kind", "kind");
	put_list(cli, path, "author", "agent");
	put_list(cli, path, "task", "task");
	put_list(cli, path, "importance", "importance");
	put_list(cli, path, "trust", "trust");
	if (options_is_given(&cli->options, "pinned"))
		url_add(path, "pinned", options_flag(&cli->options, "pinned") ? STR("true") : STR("false"));
	put_text(cli, path, "state", "state");
	url_add_int(path, "page_size", options_int(&cli->options, "limit"));
	put_text(cli, path, "page-token", "page_token");
	code = put_time(cli, path, "after", "created_after");
	if (code == CLI_OK)
		code = put_time(cli, path, "before", "created_before");
	if (code == CLI_OK)
		code = put_metadata(cli, path);
	return code;
}

int filters_run(struct cli *cli, const struct buf *path)
{
	struct client_request request = {.method = "GET", .path = buf_str(path).p, .repeatable = true};
	struct ask ask;
	int code;

	if (buf_overflowed(path))
		return cli_usage(cli, "the words and filters are too long together");
	code = ask_run(cli, &request, &ask);
	if (code == CLI_OK && cli_is_json(cli)) {
		cli_write_json(cli, buf_str(&ask.reply.body));
	} else if (code == CLI_OK) {
		const struct json *memories = ask_array(&ask.json, "memories");

		show_table(cli, memories);
		pages_tell(cli, &ask.json);
		if (memories->count == 0 && cli->out.is_terminal)
			cli_note(cli, "(nothing found)");
	}
	ask_release(&ask);
	return code;
}
