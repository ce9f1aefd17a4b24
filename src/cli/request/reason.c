#include "cli/request/reason.h"

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

int reason_put(const struct cli *cli, const char *name, struct json_writer *w)
{
	const char *reason = NULL;
	int code = reason_read(cli, &reason);

	if (reason && code == CLI_OK)
		json_member_cstr(w, name, reason);
	return code;
}

int reason_put_person(const struct cli *cli, struct json_writer *w)
{
	const char *by = cli_person(cli);

	if (by && !str_is_utf8(str_of(by)))
		return cli_usage(cli, "--by is not UTF-8 text");
	if (by)
		json_member_cstr(w, "by", by);
	return CLI_OK;
}

int reason_put_decision(struct cli *cli, struct json_writer *w)
{
	int code = reason_put(cli, "why", w);

	return code == CLI_OK ? reason_put_person(cli, w) : code;
}
