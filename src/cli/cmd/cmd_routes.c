/* spine routes: who follows whom, where the sender says "next". */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/pairs.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/show/show_envelope.h"
#include "cli/subcommand.h"

#include <stdlib.h>

enum { BODY_MAX_BYTES = 1024 * 1024, WHEN_COLUMNS = 200 };

static const struct option routes_options[] = {
	{
		.name = "from", .arg = "AGENT", .type = OPTION_TEXT,
		.help = "put: for what this agent hands over; any where it is not given"
	},
	{
		.name = "to", .arg = "AGENT", .type = OPTION_TEXT,
		.help = "put: who gets it"
	},
	{
		.name = "when-constraint", .arg = "KEY=VALUE", .type = OPTION_LIST,
		.help = "put: only where this constraint has this value; several: all of them"
	},
	{
		.name = "when-tag", .arg = "TAG", .type = OPTION_TEXT,
		.help = "put: only where a memory of the envelope has this tag"
	},
	{
		.name = "when-state", .arg = "TEXT", .type = OPTION_TEXT,
		.help = "put: only where the work stands so"
	},
	{
		.name = "when-hop", .arg = "MIN-MAX", .type = OPTION_TEXT,
		.help = "put: only at these hops, such as 2-5, 3, or 2- for two and more"
	},
	{
		.name = "order", .arg = "N", .type = OPTION_INT, .min = 0, .max = 1000000,
		.help = "put: the first that fits wins, by this number and then by name"
	},
	{
		.name = "description", .letter = 'd', .arg = "TEXT", .type = OPTION_TEXT,
		.help = "put: what it is for"
	},
};

static const struct option_table routes_table = {"The route", routes_options, OPTION_COUNT(routes_options)};

/* --- Looking --- */

/* "language=python, tag=urgent, hop 2-5" */
static struct str when_text(const struct cli *cli, const struct json *when)
{
	const struct json *constraint = json_get(when, "constraint"), *hop = json_get(when, "hop");
	struct str tag = ask_str(when, "tag"), state = ask_str(when, "state"), text;
	struct buf out;

	buf_init(&out, BODY_MAX_BYTES);
	for (uint32_t i = 0; constraint && constraint->type == JSON_OBJECT && i < constraint->count; i++) {
		buf_puts(&out, out.len ? ", " : "");
		term_put_line(&out, constraint->members[i].key, WHEN_COLUMNS);
		buf_putc(&out, '=');
		show_envelope_value(&out, &constraint->members[i].value, WHEN_COLUMNS);
	}
	if (tag.n) {
		buf_puts(&out, out.len ? ", tag " : "tag ");
		term_put_line(&out, tag, WHEN_COLUMNS);
	}
	if (state.n) {
		buf_puts(&out, out.len ? ", state " : "state ");
		term_put_line(&out, state, WHEN_COLUMNS);
	}
	if (hop && hop->type == JSON_OBJECT) {
		int64_t min = ask_int(hop, "min", 1), max = ask_int(hop, "max", 0);

		buf_printf(&out, "%shop %lld", out.len ? ", " : "", (long long)min);
		if (max == 0)
			buf_puts(&out, " and more");
		else if (max != min)
			buf_printf(&out, " to %lld", (long long)max);
	}
	text = arena_str(cli->arena, buf_str(&out));
	buf_release(&out);
	return text;
}

/* In the order in which they are tried. */
static int compare_routes(const void *a, const void *b)
{
	const struct json *x = a, *y = b;
	int64_t order = ask_int(x, "order", 0) - ask_int(y, "order", 0);

	return order ? (order < 0 ? -1 : 1) : str_cmp(ask_str(x, "name"), ask_str(y, "name"));
}

static void print_routes(const struct cli *cli, const struct json *routes)
{
	static const struct table_column columns[] = {
		{"ORDER", true, TERM_PLAIN}, {"ROUTE", false, TERM_CYAN}, {"FROM", false, TERM_PLAIN},
		{"TO", false, TERM_PLAIN}, {"WHEN", false, TERM_PLAIN}, {"DESCRIPTION", false, TERM_DIM},
		{NULL, false, TERM_PLAIN},
	};
	struct json *sorted = arena_calloc(cli->arena, routes->count + 1, sizeof(*sorted));
	struct table table;

	if (routes->count) {
		memcpy(sorted, routes->items, routes->count * sizeof(*sorted));
		qsort(sorted, routes->count, sizeof(*sorted), compare_routes);
	}
	table_init(&table, columns, cli->arena);
	table_may_cut(&table, 4);
	for (uint32_t i = 0; i < routes->count; i++) {
		const struct json *r = &sorted[i];
		struct table_row *row = table_add(&table);
		struct str from = ask_str(r, "from");

		row->cells[0] = arena_printf(cli->arena, "%lld", (long long)ask_int(r, "order", 0));
		table_set(&table, row, 1, ask_str(r, "name"));
		table_set(&table, row, 2, from.n ? from : STR("(any)"));
		table_set(&table, row, 3, ask_str(r, "to"));
		row->cells[4] = when_text(cli, json_get(r, "when"));
		table_set(&table, row, 5, ask_str(r, "description"));
	}
	show_rows(cli, &table);
	if (routes->count == 0 && cli->out.is_terminal)
		cli_note(cli, "(there are no routes; spine routes put NAME --to AGENT makes one)");
}

static int exec_list(struct cli *cli)
{
	return pages_run(cli, "/v1/routes", "routes", print_routes);
}

static void print_route(const struct cli *cli, const struct json *route)
{
	struct json copy = *route;
	struct json list = {.type = JSON_ARRAY, .count = 1, .items = &copy};

	print_routes(cli, &list);
}

static int call(struct cli *cli, const char *method, struct str body,
		void (*show)(const struct cli *cli, const struct json *answer))
{
	struct client_request request = {
		.method = method, .path = ask_path(cli->arena, "/v1/routes/", cli->options.args[1], ""), .body = body,
		.repeatable = true,
	};

	return ask_print(cli, &request, show);
}

static int exec_show(struct cli *cli)
{
	return call(cli, "GET", STR_NULL, print_route);
}

/* --- Changing --- */

/* "2-5", "3", "2-", "-5" */
static int put_hop(const struct cli *cli, struct json_writer *w)
{
	const char *given = options_text(&cli->options, "when-hop");
	struct str max = str_of(given), min;
	uint64_t from = 0, to = 0;
	bool is_range;

	if (given == NULL)
		return CLI_OK;
	min = str_cut(&max, '-');
	is_range = max.p != NULL;
	if ((min.n && !str_to_u64(min, &from)) || (max.n && !str_to_u64(max, &to)) || min.n + max.n == 0 ||
	    from > 1000 ||
	    to > 1000 || (to && from > to))
		return cli_usage(cli, "--when-hop is \"%.40s\"; expected hops, such as 2-5, 3, or 2- for two and more",
				 given);
	json_key(w, "hop");
	json_begin_object(w);
	if (min.n)
		json_member_int(w, "min", (int64_t)from);
	if (max.n || !is_range)
		json_member_int(w, "max", (int64_t)(is_range ? to : from));
	json_end_object(w);
	return CLI_OK;
}

static int put_texts(const struct cli *cli, const char *const (*pairs)[2], struct json_writer *w)
{
	for (; (*pairs)[0]; pairs++) {
		const char *text = options_text(&cli->options, (*pairs)[0]);

		if (text && !str_is_utf8(str_of(text)))
			return cli_usage(cli, "--%s is not UTF-8 text", (*pairs)[0]);
		if (text)
			json_member_cstr(w, (*pairs)[1], text);
	}
	return CLI_OK;
}

static int put_when(const struct cli *cli, struct json_writer *w)
{
	static const char *const texts[][2] = {{"when-tag", "tag"}, {"when-state", "state"}, {NULL, NULL}};
	int code = CLI_OK;

	json_key(w, "when");
	json_begin_object(w);
	if (options_is_given(&cli->options, "when-constraint")) {
		json_key(w, "constraint");
		json_begin_object(w);
		code = pairs_put_members(cli, "when-constraint", NULL, w);
		json_end_object(w);
	}
	if (code == CLI_OK)
		code = put_texts(cli, texts, w);
	if (code == CLI_OK)
		code = put_hop(cli, w);
	json_end_object(w);
	return code;
}

static int exec_put(struct cli *cli)
{
	static const char *const texts[][2] = {
		{"from", "from"}, {"to", "to"}, {"description", "description"}, {NULL, NULL},
	};
	struct json_writer w;
	struct buf body;
	int code;

	if (options_text(&cli->options, "to") == NULL)
		return cli_usage(cli, "routes put needs --to AGENT: who gets what fits");
	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	code = put_texts(cli, texts, &w);
	if (code == CLI_OK)
		code = put_when(cli, &w);
	if (options_is_given(&cli->options, "order"))
		json_member_int(&w, "order", options_int(&cli->options, "order"));
	json_end_object(&w);
	if (code == CLI_OK)
		code = call(cli, "PUT", buf_str(&body), print_route);
	buf_release(&body);
	return code;
}

static void print_deleted(const struct cli *cli, const struct json *answer)
{
	(void)answer;
	cli_write(arena_printf(cli->arena, "deleted %.*s\n",
			       STR_ARG(term_line(cli->arena, str_of(cli->options.args[1])))));
}

static int exec_delete(struct cli *cli)
{
	return call(cli, "DELETE", STR_NULL, print_deleted);
}

static int exec_routes(struct cli *cli)
{
	static const struct subcommand list[] = {
		{"list", "", 0, 0, {NULL}, exec_list},
		{"show", "NAME", 1, 1, {NULL}, exec_show},
		{"put", "NAME --to AGENT", 1, 1,
		 {"from", "to", "when-constraint", "when-tag", "when-state", "when-hop", "order", "description", NULL},
		 exec_put},
		{"delete", "NAME", 1, 1, {NULL}, exec_delete},
		{0},
	};

	return subcommand_run(cli, list);
}

static const char *const routes_words[] = {"list", "show", "put", "delete", NULL};

const struct command cmd_routes = {
	.name = "routes",
	.summary = "Lists or changes who follows whom, for handoffs to \"next\"",
	.usage = "[list | show NAME | put NAME --to AGENT | delete NAME]",
	.about = "An agent that hands over to \"next\" lets the routes choose: of those for the sender whose "
		 "conditions the envelope meets, the first by order and then by name.",
	.examples = {
		"spine routes put python --from analyst --to python-coder --when-constraint language=python --order 10",
		"spine routes put other --from analyst --to coder",
		"spine handoff next \"Write it.\" --from analyst -c language=python",
		"spine routes",
	},
	.tables = {&routes_table, &pages_table, &client_table},
	.max_args = 2,
	.args = ARGS_WORDS,
	.words = routes_words,
	.exec = exec_routes,
};
