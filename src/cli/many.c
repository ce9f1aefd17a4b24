#include "cli/many.h"

#include "cli/ask.h"
#include "cli/progress.h"
#include "cli/request/body.h"
#include "cli/request/reason.h"
#include "cli/show/columns.h"

enum {
	BODY_MAX_BYTES = 64 * 1024,
	ANSWERS_MAX_BYTES = 512 << 20,
	/* In a call, which is one transaction: others wait for its end, and the bar moves in such steps. */
	AT_A_TIME = 100,
	/* Of a dry run: what a screen holds, as lists do. */
	SHOWN = 20,
};

/* --- The calls --- */

static const struct call_member filter_members[] = {
	{"to", "to"}, {"from", "from"}, {"reason", "reason"}, {"task", "task"}, {NULL, NULL},
};

struct many {
	struct cli *cli;
	const struct many_call *call;
	size_t first;		/* the argument from which on they are ids */
	bool is_dry;
	int64_t left;		/* how many may still be done; of a dry run, shown */
	const char *after;	/* the last call went as far as this one; NULL: there was none */
	int64_t matched;
	int64_t done;
	struct buf answers;	/* JSON of what was done, divided by commas */
	struct buf refusals;
	int64_t refused;
};

static int put_filter(struct cli *cli, struct json_writer *w)
{
	int code = body_put_members(cli, filter_members, w);

	if (code == CLI_OK)
		code = body_put_time(cli, "since", "since", w);
	if (code == CLI_OK)
		code = body_put_time(cli, "before", "before", w);
	if (options_flag(&cli->options, "all"))
		json_member_bool(w, "all", true);
	return code;
}

static int put_many(const struct many *m, struct json_writer *w)
{
	struct cli *cli = m->cli;
	bool has_ids = cli->options.arg_count > m->first;
	int code;

	json_begin_object(w);
	code = has_ids ? body_put_ids(cli, "ids", m->first, "", w) : put_filter(cli, w);
	if (code == CLI_OK)
		code = reason_put_person(cli, w);
	if (code == CLI_OK)
		code = body_put(cli, has_ids && options_is_given(&cli->options, "reason") ? "reason" : "why", "why", w);
	if (code == CLI_OK && m->call->other)
		code = body_put(cli, has_ids && options_is_given(&cli->options, "to") ? "to" : m->call->other,
				m->call->other_name, w);
	json_member_int(w, "limit", m->left < AT_A_TIME ? m->left : AT_A_TIME);
	if (m->is_dry)
		json_member_bool(w, "dry_run", true);
	if (m->after)
		json_member_cstr(w, "after", m->after);
	json_end_object(w);
	return code;
}

static void add_all(struct buf *list, const struct json *items)
{
	struct json_writer w;

	for (uint32_t i = 0; i < items->count; i++) {
		buf_puts(list, list->len ? "," : "");
		json_writer_init(&w, list);
		json_put(&w, &items->items[i]);
	}
}

static const struct column done_columns[] = {
	{"HANDOFF", "id", .style = TERM_CYAN},
	{"STATE", "state", .style = TERM_YELLOW},
	{"TO", "to", .may_cut = true},
	{"ENVELOPE", "envelope_id", .style = TERM_PLAIN},
	{"TASK", "task", .may_cut = true, .may_omit = true},
	{"REASON", "reason", .style = TERM_PLAIN},
	{0},
};

static void take_answer(struct many *m, const struct json *answer)
{
	const struct json *done = ask_array(answer, "done"), *refused = ask_array(answer, "refused");
	struct str next = ask_str(answer, "next_after");

	if (m->after == NULL)
		m->matched = ask_int(answer, "matched", 0);
	m->done += done->count;
	m->refused += refused->count;
	m->left -= done->count;
	m->after = next.n ? arena_cstr(m->cli->arena, next) : NULL;
	add_all(&m->answers, done);
	add_all(&m->refusals, refused);
}

/* A server before this command: a path of that name was none. */
static int refuse_old_server(const struct many *m, const struct ask *ask)
{
	cli_error(m->cli, "%s is of a version that cannot %s many at once; name them by their ids",
		  client_url(m->cli->client), m->call->verb);
	return ask->exit;
}

/* One transaction of the server's. */
static int call_once(struct many *m)
{
	struct client_request request = {
		.method = "POST", .path = m->call->path, .repeatable = true,
	};
	struct json_writer w;
	struct buf body;
	struct ask ask = {0};
	int code;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	code = put_many(m, &w);
	if (code == CLI_OK && buf_overflowed(&body))
		code = cli_usage(m->cli, "what was given is too long");
	if (code == CLI_OK) {
		request.body = buf_str(&body);
		ask_make(m->cli, &request, m->cli->arena, &ask);
		code = ask.exit;
		if (code == CLI_OK)
			take_answer(m, &ask.json);
		else if (str_is(ask.code, "not_found") || str_is(ask.code, "method_not_allowed"))
			code = refuse_old_server(m, &ask);
		else
			ask_report(m->cli, &ask);
	}
	ask_release(&ask);
	buf_release(&body);
	return code;
}

/* --- What came of it --- */

static struct str document_of(const struct many *m)
{
	struct buf out;

	buf_init(&out, 2 * (size_t)ANSWERS_MAX_BYTES + 1024);
	buf_printf(&out, "{\"action\":\"%s\",\"dry_run\":%s,\"matched\":%lld,\"done\":[", m->call->verb,
		   m->is_dry ? "true" : "false", (long long)m->matched);
	buf_put(&out, buf_str(&m->answers));
	buf_puts(&out, "],\"refused\":[");
	buf_put(&out, buf_str(&m->refusals));
	buf_puts(&out, "]}");
	return cli_keep(m->cli->arena, &out);
}

static void tell(const struct many *m)
{
	if (m->is_dry)
		cli_note(m->cli, "(%lld would be %s; nothing was changed)", (long long)m->matched, m->call->past);
	else
		cli_note(m->cli, "(%lld of %lld %s)", (long long)m->done, (long long)m->matched, m->call->past);
	if (m->is_dry && m->matched > m->done + m->refused)
		cli_note(m->cli, "(there are more: --limit N shows up to 1000)");
	else if (m->after)
		cli_note(m->cli, "(there are more: --limit was reached; the same command goes on)");
}

static int finish(const struct many *m)
{
	struct str document = document_of(m);
	struct json_error error;
	struct json all;

	if (cli_is_json(m->cli)) {
		cli_write_json(m->cli, document);
	} else if (json_parse(document, ASK_JSON_DEPTH, m->cli->arena, &all, &error)) {
		const struct json *refused = ask_array(&all, "refused");

		columns_show(m->cli, ask_array(&all, "done"), done_columns);
		for (uint32_t i = 0; i < refused->count; i++)
			cli_error(m->cli, "%.*s: %.*s", STR_ARG(ask_str(&refused->items[i], "id")),
				  STR_ARG(ask_str(&refused->items[i], "detail")));
		tell(m);
	}
	return m->refused ? CLI_CONFLICT : CLI_OK;
}

static int run(struct cli *cli, const struct many_call *call, size_t first)
{
	bool is_dry = options_flag(&cli->options, "dry-run");
	struct many m = {
		.cli = cli, .call = call, .first = first, .is_dry = is_dry,
		.left = options_is_given(&cli->options, "limit") ? options_int(&cli->options, "limit") :
			is_dry ? SHOWN : INT64_MAX,
	};
	struct progress progress;
	int code;

	buf_init(&m.answers, ANSWERS_MAX_BYTES);
	buf_init(&m.refusals, ANSWERS_MAX_BYTES);
	progress_init(&progress, cli, "handoffs", 0);
	do {
		code = call_once(&m);
		progress.total = m.matched;
		progress_show(&progress, m.done, m.done + m.refused);
	} while (code == CLI_OK && m.after && m.left > 0);
	progress_end(&progress);
	/* What was done before it went wrong is done. */
	if (code == CLI_OK || m.done)
		code = code == CLI_OK ? finish(&m) : (finish(&m), code);
	buf_release(&m.answers);
	buf_release(&m.refusals);
	return code;
}

/* --- One or many --- */

/* A filter that means nothing else. */
static bool is_filtered(const struct cli *cli)
{
	static const char *const filters[] = {"all", "from", "task", "since", "before", NULL};

	for (const char *const *f = filters; *f; f++)
		if (options_is_given(&cli->options, *f))
			return true;
	return false;
}

static int check(const struct cli *cli, const struct many_call *call)
{
	const struct options *o = &cli->options;

	if (!is_filtered(cli) && !options_is_given(o, "to") && !options_is_given(o, "reason"))
		return cli_usage(cli, "%s needs ids, or which ones: --to, --from, --reason, --task, --since, "
				 "--before, or --all", call->name);
	if (call->other && !options_is_given(o, call->other))
		return cli_usage(cli, "%s of many needs --%s AGENT: who gets the work instead (--to says whose it was)",
				 call->name, call->other);
	if (call->needs_why && !options_is_given(o, "why"))
		return cli_usage(cli, "%s of many needs --why TEXT: %s (--reason says which ones)", call->name,
				 call->needs_why);
	return CLI_OK;
}

int many_decide(struct cli *cli, const struct many_call *call, const struct one_call *each, size_t first)
{
	bool has_ids = cli->options.arg_count > first;
	int code = has_ids ? CLI_OK : check(cli, call);

	if (code != CLI_OK)
		return code;
	if (has_ids && (is_filtered(cli) || (options_is_given(&cli->options, "to") && call->other == NULL)))
		return cli_usage(cli, "%s takes ids or a filter, not both", call->name);
	if (has_ids && !options_flag(&cli->options, "dry-run"))
		return one_call_run(cli, each, first);
	return run(cli, call, first);
}
