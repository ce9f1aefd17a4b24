#include "cli/version_match.h"

#include "cli/shared_options.h"

static const struct option version_match_options[] = {
	{.name = "if-version", .arg = "N", .type = OPTION_INT, .min = 1, .max = INT32_MAX,
	 .help = "only if it is still at this version; otherwise the exit code is 4"},
};

const struct option_table version_match_table = {
	"Changing", version_match_options, OPTION_COUNT(version_match_options)
};

const char *version_match(const struct cli *cli, const char *id)
{
	if (!options_is_given(&cli->options, "if-version"))
		return NULL;
	return arena_printf(cli->arena, "\"%s@%lld\"", id, (long long)options_int(&cli->options, "if-version")).p;
}
