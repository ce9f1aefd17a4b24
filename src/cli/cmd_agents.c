/* spine agents: the registered agents. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/shared_options.h"
#include "cli/show.h"

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

static void print_agents(const struct cli *cli, const struct json *agents)
{
	static const struct table_column columns[] = {
		{"AGENT", false, TERM_CYAN}, {"ACCEPTS", false, TERM_PLAIN}, {"TOKENIZER", false, TERM_PLAIN},
		{"MAX TOKENS", true, TERM_PLAIN}, {"DESCRIPTION", false, TERM_PLAIN}, {NULL, false, TERM_PLAIN},
	};
	struct table table;

	table_init(&table, columns, cli->arena);
	for (uint32_t i = 0; i < agents->count; i++) {
		const struct json *agent = &agents->items[i];
		struct table_row *row = table_add(&table);
		int64_t max_tokens = ask_int(agent, "max_tokens", 0);

		table_set(&table, row, 0, ask_str(agent, "name"));
		row->cells[1] = versions_text(cli, ask_array(agent, "accepts"));
		table_set(&table, row, 2, ask_str(agent, "tokenizer"));
		if (max_tokens)
			row->cells[3] = arena_printf(cli->arena, "%lld", (long long)max_tokens);
		table_set(&table, row, 4, ask_str(agent, "description"));
	}
	show_rows(cli, &table);
}

static int exec_agents(struct cli *cli)
{
	return pages_run(cli, "/v1/agents", "agents", print_agents);
}

const struct command cmd_agents = {
	.name = "agents",
	.summary = "Lists the agents that were registered",
	.usage = "",
	.examples = {"spine agents"},
	.tables = {&pages_table, &client_table},
	.exec = exec_agents,
};
