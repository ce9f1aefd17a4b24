#include "cli/fields.h"

#include "cli/shared_options.h"

enum { METADATA_DEPTH = 256 };

static const struct option fields_options[] = {
	{
		.name = "kind", .letter = 'k', .arg = "KIND", .type = OPTION_TEXT, .choices = kind_suggestions,
		.help = "what it is; any text"
	},
	{
		.name = "tag", .letter = 't', .arg = "TAG", .type = OPTION_LIST,
		.help = "a tag; may be given several times"
	},
	{
		.name = "importance", .letter = 'i', .arg = "LEVEL", .type = OPTION_CHOICE,
		.choices = importance_choices,
		.help = "how much it matters"
	},
	{
		.name = "task", .arg = "ID", .type = OPTION_TEXT,
		.help = "the task that it belongs to"
	},
	{
		.name = "summary", .arg = "TEXT", .type = OPTION_TEXT,
		.help = "a short form of the text"
	},
	{
		.name = "trust", .arg = "SOURCE", .type = OPTION_CHOICE, .choices = trust_choices,
		.help = "where it comes from"
	},
	{
		.name = "ttl", .arg = "TIME", .type = OPTION_DURATION, .min = 1000, .max = 3155760000000,
		.help = "how long it is to be found: 90m, 2h, 7d; afterwards it has expired"
	},
	{
		.name = "metadata", .arg = "JSON", .type = OPTION_TEXT,
		.help = "more about it, a JSON object: '{\"source\":\"docs/api.md\"}'"
	},
};

const struct option_table fields_table = {"Fields", fields_options, OPTION_COUNT(fields_options)};

bool fields_any(const struct cli *cli)
{
	for (size_t i = 0; i < fields_table.count; i++)
		if (options_is_given(&cli->options, fields_options[i].name))
			return true;
	return false;
}

int fields_check_text(const struct cli *cli, const char *what, struct str text)
{
	if (!str_is_utf8(text))
		return cli_usage(cli, "%s is not UTF-8 text", what);
	return CLI_OK;
}

static int put_text(const struct cli *cli, struct json_writer *w, const char *option, const char *field)
{
	const char *text = options_text(&cli->options, option);

	if (text == NULL)
		return CLI_OK;
	if (!str_is_utf8(str_of(text)))
		return cli_usage(cli, "--%s is not UTF-8 text", option);
	json_member_cstr(w, field, text);
	return CLI_OK;
}

static int put_tags(const struct cli *cli, struct json_writer *w)
{
	const struct option_value *tags = options_value(&cli->options, "tag");

	if (tags->list_count == 0)
		return CLI_OK;
	json_key(w, "tags");
	json_begin_array(w);
	for (size_t i = 0; i < tags->list_count; i++) {
		if (!str_is_utf8(str_of(tags->list[i])))
			return cli_usage(cli, "--tag is not UTF-8 text");
		json_put_cstr(w, tags->list[i]);
	}
	json_end_array(w);
	return CLI_OK;
}

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
	static const char *const same_name[] = {"kind", "importance", "task", "summary", "trust", NULL};
	int code = CLI_OK;

	for (const char *const *name = same_name; *name && code == CLI_OK; name++)
		code = put_text(cli, w, *name, *name);
	if (code == CLI_OK)
		code = put_tags(cli, w);
	if (code == CLI_OK)
		code = put_metadata(cli, w);
	if (options_is_given(&cli->options, "ttl"))
		json_member_int(w, "ttl_s", options_int(&cli->options, "ttl") / 1000);
	return code;
}
