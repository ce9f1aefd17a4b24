#include "cli/reason.h"

int reason_read(const struct cli *cli, const char **ret)
{
	const char *reason = options_text(&cli->options, "reason"), *why = options_text(&cli->options, "why");

	if (reason && why)
		return cli_usage(cli, "--reason and --why mean the same; give one of them");
	*ret = reason ? reason : why;
	if (*ret && !str_is_utf8(str_of(*ret)))
		return cli_usage(cli, "--%s is not UTF-8 text", reason ? "reason" : "why");
	return CLI_OK;
}
