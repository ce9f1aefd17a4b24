#include "cli/request/fields.h"

#include "cli/request/body.h"
#include "cli/shared_options.h"

enum { METADATA_DEPTH = 256 };

static const struct option fields_options[] = {
	{.name = "kind", .letter = 'k', .arg = "KIND", .type = OPTION_TEXT, .choices = kind_suggestions,
	 .help = "what it is; any text"},
	{.name = "tag", .letter = 't', .arg = "TAG", .type = OPTION_LIST, .help = "a tag; may be given several times"},
	{.name = "importance", .letter = 'i', .arg = "LEVEL", .type = OPTION_CHOICE, .choices = importance_choices,
	 .help = "how much it matters"},
	{.name = "task", .arg = "ID", .type = OPTION_TEXT, .help = "the task that it belongs to"},
	{.name = "summary", .arg = "TEXT", .type = OPTION_TEXT, .help = "a short form of the text"},
	{.name = "trust", .arg = "SOURCE", .type = OPTION_CHOICE, .choices = trust_choices,
	 .help = "where it comes from"},
	{.name = "ttl", .arg = "TIME", .type = OPTION_DURATION, .min = 1000, .max = 3155760000000,
	 .help = "how long it is to be found: 90m, 2h, 7d; afterwards it has expired"},
	{.name = "metadata", .arg = "JSON", .type = OPTION_TEXT,
	 .help = "more about it, a JSON object: '{\"source\":\"docs/api.md\"}'"},
};

const struct option_table fields_table = {"Fields", fields_options, OPTION_COUNT(fields_options)};

static int put_metadata(const struct cli *cli, struct json_writer *w)
{
	const char *text = options_text(&cli->options, "metadata");
	struct json_error error;
	struct json value;

	if (text == NULL)
		return CLI_OK;
	if (!json_parse(str_of(text), METADATA_DEPTH, cli->arena, &value, &error))
		return cli_usage(cli, "--metadata is not JSON: %s", error.detail);
	if (value.type != JSON_OBJECT)
		return cli_usage(cli, "--metadata is %s; expected an object, such as '{\"key\":\"value\"}'",
				 json_type_name(value.type));
	json_key(w, "metadata");
	json_put(w, &value);
	return CLI_OK;
}

int fields_put(const struct cli *cli, struct json_writer *w)
{
	static const struct call_member members[] = {
		{"kind", "kind"}, {"importance", "importance"}, {"task", "task"}, {"summary", "summary"},
		{"trust", "trust"}, {"tag", "tags"}, {NULL, NULL},
	};
	int code = body_put_members(cli, members, w);

	if (code == CLI_OK)
		code = put_metadata(cli, w);
	if (options_is_given(&cli->options, "ttl"))
		json_member_int(w, "ttl_s", options_int(&cli->options, "ttl") / 1000);
	return code;
}
