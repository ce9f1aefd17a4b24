/* The servers that share a database: spine cluster. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"

enum { TEXT_MAX_BYTES = 64 * 1024 };

/* Of a server that has no lease it says nothing. */
static struct str cell_lease(const struct column_item *item, const char *key)
{
	int64_t ms = ask_int(item->json, key, 0);

	return ms ? arena_printf(item->arena, "%lld.%llds", (long long)ms / 1000, (long long)ms % 1000 / 100) : STR("");
}

static struct str cell_offset(const struct column_item *item, const char *key)
{
	return arena_printf(item->arena, "%+lldms", (long long)ask_int(item->json, key, 0));
}

static const struct column node_columns[] = {
	{"NODE", "id", .style = TERM_CYAN},
	{"STATE", "state", .style = TERM_PLAIN},
	{"SHARDS", "shards", cell_number, .right = true},
	{"LEASE", "lease_left_ms", cell_lease, .right = true},
	{"CLOCK", "clock_offset_ms", cell_offset, .right = true},
	{"VERSION", "version", .may_omit = true},
	{"URL", "url", .style = TERM_PLAIN},
	{0},
};

/* "3 shards have no owner: 4, 17, 60". Nothing where there is none in that state. */
static void put_shards(struct buf *out, const struct json *shards, const char *state, const char *one, const char *many)
{
	size_t count = 0;

	for (uint32_t i = 0; i < shards->count; i++)
		count += str_is(ask_str(&shards->items[i], "state"), state);
	if (count == 0)
		return;
	buf_printf(out, "%zu %s: ", count, count == 1 ? one : many);
	for (uint32_t i = 0, n = 0; i < shards->count; i++)
		if (str_is(ask_str(&shards->items[i], "state"), state))
			buf_printf(out, "%s%lld", n++ ? ", " : "", (long long)ask_int(&shards->items[i], "shard", 0));
	buf_putc(out, '\n');
}

/* Told once for both. */
static void put_twins(struct buf *out, struct arena *arena, const struct json *nodes)
{
	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct json *node = &nodes->items[i];
		struct str id = ask_str(node, "id"), twin = ask_str(node, "same_url_as");

		if (twin.n && str_cmp(id, twin) < 0)
			buf_printf(out, "%.*s and %.*s are both told to be at %.*s: one of them cannot be reached. "
				   "Give each its own --advertise.\n", STR_ARG(term_line(arena, id)),
				   STR_ARG(term_line(arena, twin)), STR_ARG(term_line(arena, ask_str(node, "url"))));
	}
}

static void print_cluster(const struct cli *cli, const struct json *answer)
{
	const struct json *shards = ask_array(answer, "shards");
	struct buf out;

	columns_show(cli, ask_array(answer, "nodes"), node_columns);
	buf_init(&out, TEXT_MAX_BYTES);
	put_twins(&out, cli->arena, ask_array(answer, "nodes"));
	put_shards(&out, shards, "none", "shard has no owner", "shards have no owner");
	put_shards(&out, shards, "moving", "shard is on the way to another node",
		   "shards are on the way to other nodes");
	if (shards->count == 0)
		buf_puts(&out, "This server keeps everything itself; it shares nothing with others.\n");
	cli_write_buf(&out);
}

const struct command cmd_cluster = {
	.name = "cluster",
	.summary = "Lists the servers that share a database, and which of them has which part of it",
	.usage = "",
	.about = "Servers that were started with the same --store postgres://... are nodes of one cluster. The "
		 "database is in 64 shards, a space belongs to one of them by its name, and one node at a time owns a "
		 "shard. Any node takes any request.\n\n"
		 "LEASE is how long a node counts as alive without saying so again; CLOCK is how far the database's "
		 "clock is ahead of the machine's. As seen by the node that answers, in the last second.",
	.examples = {"spine cluster", "spine cluster --json | jq -c '.shards[]'"},
	.tables = {&client_table},
	.call = {.path = "/v1/cluster", .show = print_cluster},
};
