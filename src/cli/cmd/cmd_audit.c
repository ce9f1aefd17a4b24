/* spine audit: who did what to which object, and when. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show_event.h"
#include "client/url.h"

enum { PATH_MAX_BYTES = 64 * 1024 };

static const struct option audit_options[] = {
	{.name = "actor", .letter = 'a', .arg = "NAME", .type = OPTION_TEXT,
	 .help = "only what this agent or person did"},
	{.name = "with-key", .arg = "ID", .type = OPTION_TEXT, .help = "only what was done with this key: key-7"},
	{.name = "object", .letter = 'o', .arg = "ID", .type = OPTION_TEXT,
	 .help = "only what was done to this memory, envelope, handoff, agent, channel or route"},
	{.name = "action", .arg = "NAMES", .type = OPTION_TEXT,
	 .help = "only actions that begin so: memory.forget, or handoff.,route."},
	{.name = "since", .arg = "TIME", .type = OPTION_TEXT,
	 .help = "only what happened at this time or later: 2026-01-30T12:00:00Z, a date, or 90m, 2h, 7d ago"},
	{.name = "until", .arg = "TIME", .type = OPTION_TEXT, .help = "only what happened before this time"},
	{.name = "oldest", .type = OPTION_FLAG, .help = "from the beginning on; otherwise the newest come first"},
};

static const struct option_table audit_table = {"Which", audit_options, OPTION_COUNT(audit_options)};

static int put_path(const struct cli *cli, struct buf *path)
{
	static const struct call_member members[] = {
		{"actor", "actor"}, {"with-key", "key"}, {"object", "object"}, {"action", "action"},
		{"limit", "page_size"}, {NULL, NULL},
	};
	int code;

	buf_puts(path, "/v1/audit");
	body_add_parameters(cli, members, path);
	url_add(path, "order", options_flag(&cli->options, "oldest") ? STR("oldest") : STR("newest"));
	code = body_add_time(cli, "since", "since", path);
	return code == CLI_OK ? body_add_time(cli, "until", "until", path) : code;
}

/* The server looks through a part of the history at a time: where nothing in it fits, the next part is asked for. */
static int ask_until_found(struct cli *cli, const struct buf *path, const char *token, struct ask *ret)
{
	struct buf whole;
	struct str next;
	int code;

	buf_init(&whole, PATH_MAX_BYTES);
	do {
		buf_clear(&whole);
		buf_put(&whole, buf_str(path));
		if (token)
			url_add(&whole, "page_token", str_of(token));
		code = ask_run_get(cli, buf_str(&whole).p, ret);
		next = ask_str(&ret->json, "next_page_token");
		token = next.n ? arena_cstr(cli->arena, next) : NULL;
		if (code == CLI_OK && token && ask_array(&ret->json, "entries")->count == 0)
			ask_release(ret);
		else
			break;
	} while (true);
	buf_release(&whole);
	return code;
}

static void show_entries(const struct cli *cli, const struct json *answer)
{
	const struct json *entries = ask_array(answer, "entries");

	columns_show(cli, entries, audit_columns);
	if (entries->count == 0 && cli->out.is_terminal)
		cli_note(cli, "(nothing)");
	pages_tell(cli, answer);
}

static int exec_audit(struct cli *cli)
{
	struct ask ask = {0};
	struct buf path;
	int code;

	buf_init(&path, PATH_MAX_BYTES);
	code = put_path(cli, &path);
	if (code == CLI_OK)
		code = ask_until_found(cli, &path, options_text(&cli->options, "page-token"), &ask);
	if (code == CLI_OK && cli_is_json(cli))
		ask_write(cli, &ask);
	else if (code == CLI_OK)
		show_entries(cli, &ask.json);
	ask_release(&ask);
	buf_release(&path);
	return code;
}

const struct command cmd_audit = {
	.name = "audit",
	.summary = "Tells who did what to which object, and when",
	.usage = "",
	.about = "Every write is in it, and nothing is ever removed from it. Whose name is \"-\" did not give one (see "
		 "--agent), or was the server itself: leases that ran out, handoffs that were parked. Where the server "
		 "has keys, KEY tells which of them it was done with.",
	.examples = {
		"spine audit", "spine audit --object ms-1", "spine audit --actor analyst --action memory. --since 7d",
		"spine audit --since 2026-01-30 --oldest --json | jq '.entries[].action'",
	},
	.tables = {&audit_table, &pages_table, &client_table},
	.exec = exec_audit,
};
