#include "cli/request/pairs.h"

enum { VALUE_DEPTH = 256 };

struct pair {
	struct str key;		/* not empty */
	struct str value;	/* may be empty */
};

static int split(const struct cli *cli, const char *option, const char *given, struct pair *ret)
{
	struct str rest = str_of(given);
	size_t at = str_find(rest, '=');

	if (!str_is_utf8(rest)) {
		cli_usage(cli, "--%s is not UTF-8 text", option);
		return CLI_USAGE;
	}
	if (at == 0 || at >= rest.n) {
		cli_usage(cli, "--%s is \"%.80s\"; expected two parts with \"=\" between them", option, given);
		return CLI_USAGE;
	}
	*ret = (struct pair){str_sub(rest, 0, at), str_sub(rest, at + 1, rest.n)};
	return CLI_OK;
}

/* What is meant to be JSON and says something twice is not text, but a mistake. */
static int put_value(const struct cli *cli, const char *option, struct pair pair, struct json_writer *w)
{
	struct json_error error = {0};
	struct json value;

	if (json_parse(pair.value, VALUE_DEPTH, cli->arena, &value, &error)) {
		json_put(w, &value);
		return CLI_OK;
	}
	if (strcmp(error.code, "duplicate_key") == 0 || strcmp(error.code, "too_deep") == 0)
		return cli_usage(cli, "the value of --%s %.*s cannot be used: %s", option, STR_ARG(pair.key),
				 error.detail);
	json_put_str(w, pair.value);
	return CLI_OK;
}

int pairs_put_members(const struct cli *cli, const char *option, const char *taken, struct json_writer *w)
{
	const struct option_value *given = options_value(&cli->options, option);
	struct pair *pairs = arena_calloc(cli->arena, given->list_count, sizeof(*pairs));
	int code = CLI_OK;

	for (size_t i = 0; i < given->list_count && code == CLI_OK; i++) {
		code = split(cli, option, given->list[i], &pairs[i]);
		if (code != CLI_OK)
			break;
		for (size_t j = 0; j < i; j++)
			if (str_eq(pairs[j].key, pairs[i].key))
				return cli_usage(cli, "--%s %.*s is given twice", option, STR_ARG(pairs[i].key));
		if (taken && str_is(pairs[i].key, taken))
			return cli_usage(cli, "--%s %s is given twice, once as an option of its own", option, taken);
		json_key_str(w, pairs[i].key);
		code = put_value(cli, option, pairs[i], w);
	}
	return code;
}

int pairs_put_objects(const struct cli *cli, const char *option, const char *name_of_key, const char *name_of_value,
		      struct json_writer *w)
{
	const struct option_value *given = options_value(&cli->options, option);
	int code = CLI_OK;

	json_begin_array(w);
	for (size_t i = 0; i < given->list_count && code == CLI_OK; i++) {
		struct pair pair;

		code = split(cli, option, given->list[i], &pair);
		if (code != CLI_OK)
			break;
		json_begin_object(w);
		json_member_str(w, name_of_key, pair.key);
		json_member_str(w, name_of_value, pair.value);
		json_end_object(w);
	}
	json_end_array(w);
	return code;
}
