#include "cli/request/settle.h"

#include "cli/request/body.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "client/url.h"

enum { TEXT_MAX_BYTES = 8 * 1024 * 1024, RESULT_DEPTH = 256, PATH_MAX_BYTES = 4096 };

static const struct option result_options[] = {
	{.name = "gap", .arg = "TEXT", .type = OPTION_LIST,
	 .help = "something that was missing from what was handed over; may be given several times"},
	{.name = "input-tokens", .arg = "N", .type = OPTION_INT, .min = 0, .max = INT32_MAX,
	 .help = "how many tokens the model read"},
};

const struct option_table settle_result_table = {"About the work", result_options, OPTION_COUNT(result_options)};

static const struct option reason_options[] = {
	REASON_OPTIONS("the reason, where it is not given as an argument"),
};

const struct option_table settle_reason_table = {"Why", reason_options, OPTION_COUNT(reason_options)};

const char *settle_path(struct arena *arena, struct str lease, const char *verb)
{
	size_t dot = str_find(lease, '.');
	const char *path;
	struct buf out;

	if (dot == lease.n || !str_has_prefix(lease, STR("ho-")))
		return NULL;
	buf_init(&out, PATH_MAX_BYTES);
	buf_puts(&out, "/v1/handoffs/");
	url_put_escaped(&out, str_sub(lease, 0, dot));
	buf_printf(&out, "/%s", verb);
	path = buf_overflowed(&out) ? NULL : arena_cstr(arena, buf_str(&out));
	buf_release(&out);
	return path;
}

int settle_check(const struct cli *cli)
{
	struct str lease = str_of(cli->options.args[0]);

	if (!str_is_utf8(lease) || settle_path(cli->arena, lease, "") == NULL)
		return cli_usage(cli, "\"%.80s\" is not a lease; expected what spine receive told, such as ho-12.1",
				 lease.p);
	return CLI_OK;
}

/* --- Parts of the body --- */

int settle_argument(const struct cli *cli, const char *what, const char *option, const char **ret)
{
	const char *arg = cli->options.arg_count > 1 ? cli->options.args[1] : NULL;

	if (arg && option)
		return cli_usage(cli, "the %s is given as an argument or by an option, not by both", what);
	*ret = option ? option : arg;
	return CLI_OK;
}

static int put_text(const struct cli *cli, const char *name, const char *arg, struct json_writer *w)
{
	struct buf text;
	int code;

	if (arg == NULL)
		return CLI_OK;
	buf_init(&text, TEXT_MAX_BYTES);
	code = body_read_text(cli, arg, &text);
	if (code == CLI_OK)
		code = body_check_text(cli, "the text", buf_str(&text));
	if (code == CLI_OK)
		json_member_str(w, name, buf_str(&text));
	buf_release(&text);
	return code;
}

int settle_put_note(struct cli *cli, struct json_writer *w)
{
	return put_text(cli, "note", cli->options.arg_count > 1 ? cli->options.args[1] : NULL, w);
}

static int put_reason(struct cli *cli, bool is_needed, struct json_writer *w)
{
	const char *reason = NULL;
	int code = reason_read(cli, &reason);

	if (code == CLI_OK)
		code = settle_argument(cli, "reason", reason, &reason);
	if (code == CLI_OK && is_needed && reason == NULL)
		code = cli_usage(cli, "%s needs a reason: spine %s LEASE REASON", cli->command->name,
				 cli->command->name);
	return code == CLI_OK ? put_text(cli, "reason", reason, w) : code;
}

int settle_put_reason(struct cli *cli, struct json_writer *w)
{
	return put_reason(cli, false, w);
}

int settle_put_needed_reason(struct cli *cli, struct json_writer *w)
{
	return put_reason(cli, true, w);
}

bool settle_put_result(struct str text, struct arena *arena, struct json_writer *w)
{
	struct json_error error;
	struct json value;

	while (text.n > 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	if (!str_is_utf8(text))
		return false;
	if (text.n == 0)
		return true;
	json_key(w, "result");
	if (json_parse(text, RESULT_DEPTH, arena, &value, &error))
		json_put(w, &value);
	else
		json_put_str(w, text);
	return true;
}
