/* spine agents: the agents, and how delivery to them goes. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show/show.h"
#include "cli/when.h"

static struct str versions_text(const struct cli *cli, const struct json *accepts)
{
	struct str text;
	struct buf out;

	buf_init(&out, 4096);
	for (uint32_t i = 0; i < accepts->count; i++)
		if (accepts->items[i].type == JSON_STRING) {
			buf_puts(&out, out.len ? "," : "");
			term_put_line(&out, accepts->items[i].s, 20);
		}
	text = arena_str(cli->arena, buf_str(&out));
	buf_release(&out);
	return text;
}

enum {
	COL_AGENT, COL_SEEN, COL_QUEUED, COL_AT_WORK, COL_PARKED, COL_BREAKER, COL_ACCEPTS, COL_TOKENIZER,
	COL_MAX_TOKENS,
	COL_DESCRIPTION,
};

/* Only what is there: a zero is not worth a column. */
static struct str count_text(const struct cli *cli, int64_t count)
{
	return count ? arena_printf(cli->arena, "%lld", (long long)count) : STR("");
}

static void add_delivery(const struct cli *cli, struct table *table, struct table_row *row, const struct json *agent,
			 int64_t now_ms)
{
	const struct json *queue = json_get(agent, "queue"), *breaker = json_get(agent, "breaker");
	struct str state = ask_str(breaker, "state");

	row->cells[COL_SEEN] = when_age(cli->arena, ask_str(agent, "last_seen_at"), now_ms);
	row->cells[COL_QUEUED] = count_text(cli, ask_int(queue, "queued", 0));
	row->cells[COL_AT_WORK] = count_text(cli, ask_int(queue, "leased", 0) + ask_int(queue, "working", 0));
	row->cells[COL_PARKED] = count_text(cli, ask_int(queue, "parked", 0));
	if (!str_is(state, "closed"))
		table_set(table, row, COL_BREAKER, state);
}

static void print_agents(const struct cli *cli, const struct json *agents)
{
	static const struct table_column columns[] = {
		[COL_AGENT] = {"AGENT", false, TERM_CYAN},
		[COL_SEEN] = {"SEEN", true, TERM_PLAIN},
		[COL_QUEUED] = {"QUEUED", true, TERM_PLAIN},
		[COL_AT_WORK] = {"AT WORK", true, TERM_PLAIN},
		[COL_PARKED] = {"PARKED", true, TERM_YELLOW},
		[COL_BREAKER] = {"BREAKER", false, TERM_RED},
		[COL_ACCEPTS] = {"ACCEPTS", false, TERM_PLAIN},
		[COL_TOKENIZER] = {"TOKENIZER", false, TERM_PLAIN},
		[COL_MAX_TOKENS] = {"MAX TOKENS", true, TERM_PLAIN},
		[COL_DESCRIPTION] = {"DESCRIPTION", false, TERM_PLAIN},
		{NULL, false, TERM_PLAIN},
	};
	int64_t now_ms = clock_wall_ms();
	struct table table;

	table_init(&table, columns, cli->arena);
	table_may_omit(&table, COL_TOKENIZER);
	table_may_omit(&table, COL_ACCEPTS);
	table_may_omit(&table, COL_MAX_TOKENS);
	for (uint32_t i = 0; i < agents->count; i++) {
		const struct json *agent = &agents->items[i];
		struct table_row *row = table_add(&table);
		int64_t max_tokens = ask_int(agent, "max_tokens", 0);

		table_set(&table, row, COL_AGENT, ask_str(agent, "name"));
		row->cells[COL_ACCEPTS] = versions_text(cli, ask_array(agent, "accepts"));
		table_set(&table, row, COL_TOKENIZER, ask_str(agent, "tokenizer"));
		if (max_tokens)
			row->cells[COL_MAX_TOKENS] = arena_printf(cli->arena, "%lld", (long long)max_tokens);
		table_set(&table, row, COL_DESCRIPTION, ask_str(agent, "description"));
		add_delivery(cli, &table, row, agent, now_ms);
	}
	show_rows(cli, &table);
}

static int exec_agents(struct cli *cli)
{
	return pages_run(cli, "/v1/agents", "agents", print_agents);
}

const struct command cmd_agents = {
	.name = "agents",
	.summary = "Lists the agents, and what is queued, at work and parked for each",
	.usage = "",
	.about = "A breaker is named where it is not closed: open lets nothing through, half_open lets one through. "
		 "All of one agent: spine agent NAME.",
	.examples = {"spine agents"},
	.tables = {&pages_table, &client_table},
	.exec = exec_agents,
};
