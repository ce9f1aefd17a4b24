#include "cli/own_key.h"

#include <stdlib.h>

static bool is_in_variable(void)
{
	const char *key = getenv("SPINE_KEY");

	return key && key[0];
}

const char *own_key_file(const struct cli *cli)
{
	const struct option_value *file = options_find(&cli->options, "key-file");

	if (file == NULL || (is_in_variable() && file->source != OPTION_FROM_ARGS))
		return NULL;
	return file->text;
}

bool own_key_is_there(const struct cli *cli)
{
	const struct option_value *file = options_find(&cli->options, "key-file");

	return (file && file->text) || is_in_variable();
}
