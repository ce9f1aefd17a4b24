/* What there is on the server beside memories and handoffs: spaces, space, agents, alerts. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/request/pages.h"
#include "cli/request/reason.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"
#include "cli/show/show.h"
#include "cli/show/show_stats.h"
#include "cli/subcommand.h"

enum { BODY_MAX_BYTES = 16 * 1024, IDS_MAX = 1000, LIST_MAX_BYTES = 1 << 20, VERSION_COLUMNS = 20 };

/* --- Spaces --- */

static const struct column space_columns[] = {
	{"SPACE", "name", .style = TERM_CYAN},
	{"AGE", "created_at", cell_age, .right = true},
	{"MEMORIES", "memories", cell_number, .right = true},
	{"OPEN HANDOFFS", "handoffs_open", cell_number, .right = true},
	{"PARKED", "parked", cell_count, TERM_YELLOW, .right = true},
	{0},
};

const struct command cmd_spaces = {
	.name = "spaces",
	.summary = "Lists the spaces of the server, and how much is in each",
	.usage = "",
	.about = "In the order in which they were made: the first write to a space makes it. Open handoffs are those "
		 "that are queued, leased or being worked on. The settings of one space: spine space.",
	.examples = {"spine spaces", "spine spaces --json | jq -r '.spaces[].name'"},
	.tables = {&pages_table, &client_table},
	.call = {
		.path = "/v1/spaces", .is_paged = true, .list = "spaces", .columns = space_columns,
		.none = "(there are no spaces yet; the first write makes one)",
	},
};

/* --- Agents --- */

static struct str cell_versions(const struct column_item *item, const char *key)
{
	const struct json *accepts = ask_array(item->json, key);
	struct buf out;

	buf_init(&out, 4096);
	for (uint32_t i = 0; i < accepts->count; i++)
		if (accepts->items[i].type == JSON_STRING) {
			buf_puts(&out, out.len ? "," : "");
			term_put_line(&out, accepts->items[i].s, VERSION_COLUMNS);
		}
	return cli_keep(item->arena, &out);
}

static struct str cell_queue(const struct column_item *item, const char *key)
{
	struct column_item queue = *item;

	queue.json = json_get(item->json, "queue");
	return cell_count(&queue, key);
}

static struct str cell_at_work(const struct column_item *item, const char *key)
{
	const struct json *queue = json_get(item->json, key);
	int64_t count = ask_int(queue, "leased", 0) + ask_int(queue, "working", 0);

	return count ? arena_printf(item->arena, "%lld", (long long)count) : STR("");
}

static struct str cell_breaker(const struct column_item *item, const char *key)
{
	struct str state = ask_str(json_get(item->json, key), "state");

	return str_is(state, "closed") ? STR("") : term_line(item->arena, state);
}

static const struct column agent_columns[] = {
	{"AGENT", "name", .style = TERM_CYAN},
	{"SEEN", "last_seen_at", cell_age, .right = true},
	{"QUEUED", "queued", cell_queue, .right = true},
	{"AT WORK", "queue", cell_at_work, .right = true},
	{"PARKED", "parked", cell_queue, TERM_YELLOW, .right = true},
	{"BREAKER", "breaker", cell_breaker, TERM_RED, .right = false},
	{"ACCEPTS", "accepts", cell_versions, .may_omit = true},
	{"TOKENIZER", "tokenizer", .may_omit = true},
	{"MAX TOKENS", "max_tokens", cell_count, .right = true, .may_omit = true},
	{"DESCRIPTION", "description", .style = TERM_PLAIN},
	{0},
};

static void print_deleted(const struct cli *cli, const struct json *answer)
{
	(void)answer;
	cli_write(arena_printf(cli->arena, "deleted %.*s\n",
			       STR_ARG(term_line(cli->arena, str_of(cli->options.args[1])))));
}

static const struct subcommand agents_subs[] = {
	{"list", "", 0, 0, {"limit", "page-token"}, .call = {
		.path = "/v1/agents", .is_paged = true, .list = "agents", .columns = agent_columns,
	}},
	{"delete", "NAME", 1, 1, .call = {.method = "DELETE", .path = "/v1/agents/{0}", .show = print_deleted}},
	{0},
};

const struct command cmd_agents = {
	.name = "agents",
	.summary = "Lists the agents, and what each has queued, at work and parked; deletes one",
	.usage = "[list | delete NAME]", .max_args = 2,
	.about = "A breaker is named where it is not closed: open lets nothing through, half_open lets one through. "
		 "All of one agent: spine agent NAME.\n\n"
		 "delete forgets an agent that has no open work: its settings, breaker and subscriptions go, what it "
		 "had stays in the history, and whoever uses the name again begins anew. What is queued for it can be "
		 "moved or cancelled before: spine move --to NAME --move-to OTHER, spine cancel --to NAME.",
	.examples = {"spine agents", "spine agents delete coder"},
	.tables = {&pages_table, &client_table},
	.subs = agents_subs,
};

/* --- Alerts --- */

static const char *const state_choices[] = {"firing", "resolved", "all", NULL};

static const struct option alerts_options[] = {
	{.name = "state", .arg = "STATE", .type = OPTION_CHOICE, .choices = state_choices, .fallback = "firing",
	 .help = "list: which ones"},
	{.name = "for", .arg = "TIME", .type = OPTION_DURATION, .min = 0, .max = INT64_C(30) * 86400000,
	 .help = "silence: how long the webhook hears nothing of it; 0 ends it"},
	REASON_OPTIONS("silence: for whoever asks later"),
	{.name = "by", .arg = "NAME", .type = OPTION_TEXT,
	 .help = "who has seen it; the name of --agent or of the user where it is not given"},
};

static const struct option_table alerts_table = {"What to do", alerts_options, OPTION_COUNT(alerts_options)};

static void print_alerts(const struct cli *cli, const struct json *answer)
{
	struct buf out;

	buf_init(&out, LIST_MAX_BYTES);
	show_stats_alerts(cli, cli->arena, answer, &out);
	buf_putc(&out, '\n');
	cli_write_buf(&out);
	show_stats_rules(cli, answer);
}

static void print_alert(const struct cli *cli, const struct json *alert)
{
	struct json list = {.type = JSON_ARRAY, .count = 1, .items = (struct json *)alert};
	struct buf out;

	buf_init(&out, LIST_MAX_BYTES);
	show_stats_alert_list(cli, cli->arena, &list, &out);
	cli_write_buf(&out);
}

/* A decision about each of several alerts. */
#define DECISION(verb) \
	.method = "POST", .path = "/v1/alerts/{0}/" verb, .is_for_each = true, .list = "alerts", \
	.put = reason_put_decision, .max_body_bytes = BODY_MAX_BYTES, .show = print_alert

static const struct subcommand alerts_subs[] = {
	{"list", "[--state STATE]", 0, 0, {"state"}, .call = {
		.path = "/v1/alerts", .members = {{"state", "state"}}, .is_paged = true, .show = print_alerts,
	}},
	{"ack", "ID...", 1, IDS_MAX, {"by"}, .call = {DECISION("ack")}},
	{"silence", "ID... --for TIME", 1, IDS_MAX, {"for", "reason", "why", "by"}, .call = {
		DECISION("silence"), .members = {{"for", "for_s"}},
		.needs = "for", .needs_why = "how long the webhook hears nothing of it",
	}},
	{0},
};

const struct command cmd_alerts = {
	.name = "alerts",
	.summary = "Lists what is wrong and the rules it is judged by; notes who has seen it",
	.usage = "[list | ack ID... | silence ID...]", .max_args = IDS_MAX + 1,
	.about = "An alert fires once and is over by itself. Below the list: what each alert measures, and the "
		 "threshold that is in force for it, which options of spine serve change (--alert-latency and the "
		 "like). ack notes who has seen an alert; silence keeps it from the webhook for a while, also where "
		 "it is over and fires again.",
	.examples = {
		"spine alerts",
		"spine alerts list --state all --json | jq .rules",
		"spine alerts ack al-3",
		"spine alerts silence al-3 --for 2h --reason \"the agent is being moved\"",
	},
	.tables = {&alerts_table, &pages_table, &client_table},
	.subs = alerts_subs,
};
