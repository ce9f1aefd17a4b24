/* spine routes: who follows whom, where the sender says "next". */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/body.h"
#include "cli/request/pages.h"
#include "cli/request/pairs.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show_envelope.h"
#include "cli/subcommand.h"

#include <stdlib.h>

enum { BODY_MAX_BYTES = 1024 * 1024, WHEN_COLUMNS = 200 };

static const struct option routes_options[] = {
	{.name = "from", .arg = "AGENT", .type = OPTION_TEXT,
	 .help = "put: for what this agent hands over; any where it is not given"},
	{.name = "to", .arg = "AGENT", .type = OPTION_TEXT, .help = "put: who gets it"},
	{.name = "when-constraint", .arg = "KEY=VALUE", .type = OPTION_LIST,
	 .help = "put: only where this constraint has this value; several: all of them"},
	{.name = "when-tag", .arg = "TAG", .type = OPTION_TEXT,
	 .help = "put: only where a memory of the envelope has this tag"},
	{.name = "when-state", .arg = "TEXT", .type = OPTION_TEXT, .help = "put: only where the work stands so"},
	{.name = "when-hop", .arg = "MIN-MAX", .type = OPTION_TEXT,
	 .help = "put: only at these hops, such as 2-5, 3, or 2- for two and more"},
	{.name = "order", .arg = "N", .type = OPTION_INT, .min = 0, .max = 1000000,
	 .help = "put: the first that fits wins, by this number and then by name"},
	{.name = "description", .letter = 'd', .arg = "TEXT", .type = OPTION_TEXT, .help = "put: what it is for"},
};

static const struct option_table routes_table = {"The route", routes_options, OPTION_COUNT(routes_options)};

/* --- Looking --- */

static void put_condition(struct buf *out, const char *name, struct str text)
{
	if (text.n == 0)
		return;
	buf_printf(out, "%s%s", out->len ? ", " : "", name);
	term_put_line(out, text, WHEN_COLUMNS);
}

/* "language=python, tag=urgent, hop 2-5" */
static struct str cell_when(const struct column_item *item, const char *key)
{
	const struct json *when = json_get(item->json, key), *hop = json_get(when, "hop");
	const struct json *constraint = json_get(when, "constraint");
	struct str tag = ask_str(when, "tag"), state = ask_str(when, "state");
	struct buf out;

	buf_init(&out, BODY_MAX_BYTES);
	for (uint32_t i = 0; constraint && constraint->type == JSON_OBJECT && i < constraint->count; i++) {
		buf_puts(&out, out.len ? ", " : "");
		term_put_line(&out, constraint->members[i].key, WHEN_COLUMNS);
		buf_putc(&out, '=');
		show_envelope_value(&out, &constraint->members[i].value, WHEN_COLUMNS);
	}
	put_condition(&out, "tag ", tag);
	put_condition(&out, "state ", state);
	if (hop && hop->type == JSON_OBJECT) {
		int64_t min = ask_int(hop, "min", 1), max = ask_int(hop, "max", 0);

		buf_printf(&out, "%shop %lld", out.len ? ", " : "", (long long)min);
		if (max == 0)
			buf_puts(&out, " and more");
		else if (max != min)
			buf_printf(&out, " to %lld", (long long)max);
	}
	return cli_keep(item->arena, &out);
}

/* In the order in which they are tried. */
static int compare_routes(const void *a, const void *b)
{
	const struct json *x = a, *y = b;
	int64_t order = ask_int(x, "order", 0) - ask_int(y, "order", 0);

	return order ? (order < 0 ? -1 : 1) : str_cmp(ask_str(x, "name"), ask_str(y, "name"));
}

static struct str cell_from(const struct column_item *item, const char *key)
{
	struct str from = ask_str(item->json, key);

	return from.n ? term_line(item->arena, from) : STR("(any)");
}

static const struct column route_columns[] = {
	{"ORDER", "order", cell_number, .right = true},
	{"ROUTE", "name", .style = TERM_CYAN},
	{"FROM", "from", cell_from, .style = TERM_PLAIN},
	{"TO", "to", .style = TERM_PLAIN},
	{"WHEN", "when", cell_when, .may_cut = true},
	{"DESCRIPTION", "description", .style = TERM_DIM},
	{0},
};

static void print_routes(const struct cli *cli, const struct json *routes)
{
	struct json sorted = *routes;

	if (routes->count == 0)
		return;
	sorted.items = arena_calloc(cli->arena, routes->count, sizeof(*sorted.items));
	memcpy(sorted.items, routes->items, routes->count * sizeof(*sorted.items));
	qsort(sorted.items, sorted.count, sizeof(*sorted.items), compare_routes);
	columns_show(cli, &sorted, route_columns);
}

static void print_route(const struct cli *cli, const struct json *route)
{
	struct json copy = *route;
	struct json list = {.type = JSON_ARRAY, .count = 1, .items = &copy};

	columns_show(cli, &list, route_columns);
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

static int put_when(struct cli *cli, struct json_writer *w)
{
	static const struct call_member members[] = {{"when-tag", "tag"}, {"when-state", "state"}, {NULL, NULL}};
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
		code = body_put_members(cli, members, w);
	if (code == CLI_OK)
		code = put_hop(cli, w);
	json_end_object(w);
	return code;
}

static void print_deleted(const struct cli *cli, const struct json *answer)
{
	(void)answer;
	cli_write(arena_printf(cli->arena, "deleted %.*s\n",
			       STR_ARG(term_line(cli->arena, str_of(cli->options.args[1])))));
}

static const struct subcommand routes_subs[] = {
	{"list", "", 0, 0, .call = {
		.path = "/v1/routes", .is_paged = true, .list = "routes", .show = print_routes,
		.none = "(there are no routes; spine routes put NAME --to AGENT makes one)",
	}},
	{"show", "NAME", 1, 1, .call = {.path = "/v1/routes/{0}", .show = print_route}},
	{
		"put", "NAME --to AGENT", 1, 1,
		{"from", "to", "when-constraint", "when-tag", "when-state", "when-hop", "order", "description"},
		.call = {
			.method = "PUT", .path = "/v1/routes/{0}", .put = put_when,
			.members = {{"from", "from"}, {"to", "to"}, {"description", "description"}, {"order", "order"}},
			.needs = "to", .needs_why = "who gets what fits", .show = print_route,
		},
	},
	{"delete", "NAME", 1, 1, .call = {.method = "DELETE", .path = "/v1/routes/{0}", .show = print_deleted}},
	{0},
};

const struct command cmd_routes = {
	.name = "routes",
	.summary = "Lists or changes who follows whom, for handoffs to \"next\"",
	.usage = "[list | show NAME | put NAME --to AGENT | delete NAME]", .max_args = 2,
	.about = "An agent that hands over to \"next\" lets the routes choose: of those for the sender whose "
		 "conditions the envelope meets, the first by order and then by name.",
	.examples = {
		"spine routes put python --from analyst --to python-coder --when-constraint language=python --order 10",
		"spine routes put other --from analyst --to coder",
		"spine handoff next \"Write it.\" --from analyst -c language=python",
		"spine routes",
	},
	.tables = {&routes_table, &pages_table, &client_table},
	.subs = routes_subs,
};
