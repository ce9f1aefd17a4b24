/* The servers that share a database: spine cluster. */
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/columns.h"

enum { TEXT_MAX_BYTES = 64 * 1024, SEEN_MS = 4000 };

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

/* Nothing where it is not known, as after a while without writes. */
static struct str cell_lag(const struct column_item *item, const char *key)
{
	int64_t lag = ask_int(item->json, key, -1);

	if (lag < 0)
		return STR("");
	return arena_printf(item->arena, strcmp(key, "lag_ms") == 0 ? "%lldms" : "%lldB", (long long)lag);
}

static const struct column standby_columns[] = {
	{"STANDBY", "name", .style = TERM_CYAN},
	{"STATE", "state", .style = TERM_PLAIN},
	{"SYNC", "sync_state", .style = TERM_PLAIN},
	{"LAG", "lag_ms", cell_lag, .right = true},
	{"BEHIND", "lag_bytes", cell_lag, .right = true},
	{0},
};

/* Those whose `key` is `value`, as "0-5, 9". Returns how many there are. */
static size_t put_ranges(struct buf *out, const struct json *shards, const char *key, struct str value)
{
	int64_t from = -2, to = -2;
	size_t count = 0;

	for (uint32_t i = 0; i <= shards->count; i++) {
		bool is_one = i < shards->count && str_eq(ask_str(&shards->items[i], key), value);
		int64_t shard = is_one ? ask_int(&shards->items[i], "shard", 0) : -2;

		if (is_one && shard == to + 1) {
			to = shard;
		} else if (is_one || i == shards->count) {
			if (from >= 0)
				buf_printf(out, to > from ? "%lld-%lld" : "%lld", (long long)from, (long long)to);
			if (from >= 0 && is_one)
				buf_puts(out, ", ");
			from = to = shard;
		}
		count += is_one;
	}
	return count;
}

/* "3 shards have no owner: 4, 17, 60". Nothing where there is none in that state. */
static void put_shards(struct buf *out, const struct json *shards, const char *state, const char *one, const char *many)
{
	struct buf ranges;
	size_t count;

	buf_init(&ranges, TEXT_MAX_BYTES);
	count = put_ranges(&ranges, shards, "state", str_of(state));
	if (count)
		buf_printf(out, "%zu %s: %.*s\n", count, count == 1 ? one : many, STR_ARG(buf_str(&ranges)));
	buf_release(&ranges);
}

static void put_owners(struct buf *out, struct arena *arena, const struct json *nodes, const struct json *shards)
{
	for (uint32_t i = 0; i < nodes->count; i++) {
		struct str id = ask_str(&nodes->items[i], "id");
		struct buf ranges;

		buf_init(&ranges, TEXT_MAX_BYTES);
		if (id.p && put_ranges(&ranges, shards, "owner", id))
			buf_printf(out, "%.*s owns %.*s\n", STR_ARG(term_line(arena, id)), STR_ARG(buf_str(&ranges)));
		buf_release(&ranges);
	}
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

/* Nodes look each second. */
static void put_age(struct buf *out, const struct json *answer)
{
	int64_t ago_ms = ask_int(answer, "seen_ms_ago", 0);

	if (ago_ms >= SEEN_MS)
		buf_printf(out, "This was so %lld seconds ago: the node that answers does not reach the database. Ask "
			   "another (--url).\n", (long long)ago_ms / 1000);
}

static void print_cluster(const struct cli *cli, const struct json *answer)
{
	const struct json *shards = ask_array(answer, "shards"), *nodes = ask_array(answer, "nodes");
	const struct json *standbys = json_get(answer, "standbys");
	struct buf out;

	columns_show(cli, nodes, node_columns);
	buf_init(&out, TEXT_MAX_BYTES);
	put_age(&out, answer);
	put_owners(&out, cli->arena, nodes, shards);
	put_twins(&out, cli->arena, nodes);
	put_shards(&out, shards, "none", "shard has no owner", "shards have no owner");
	put_shards(&out, shards, "unknown", "shard of which it is not known who has it",
		   "shards of which it is not known who has them");
	put_shards(&out, shards, "moving", "shard is on the way to another node",
		   "shards are on the way to other nodes");
	put_shards(&out, shards, "idle", "shard has no space, and is nobody's until one is asked for",
		   "shards have no space, and are nobody's until one is asked for");
	if (shards->count == 0)
		buf_puts(&out, "This server keeps everything itself; it shares nothing with others.\n");
	else if (standbys && standbys->type == JSON_NULL && ask_int(answer, "seen_ms_ago", 0) < SEEN_MS)
		buf_puts(&out, "PostgreSQL's standbys are not known: the node has not asked yet, or its user of the "
			 "database may not see them (GRANT pg_monitor TO it).\n");
	else if (standbys && standbys->count == 0)
		buf_puts(&out, "PostgreSQL has no standby.\n");
	cli_write_buf(&out);
	if (ask_array(answer, "standbys")->count)
		columns_show(cli, ask_array(answer, "standbys"), standby_columns);
}

const struct command cmd_cluster = {
	.name = "cluster",
	.summary = "Lists the servers that share a database, and which of them has which part of it",
	.usage = "",
	.about = "Servers that were started with the same --store postgres://... are nodes of one cluster. The "
		 "database is in 64 shards, a space belongs to one of them by its name, and one node at a time owns a "
		 "shard. Any node takes any request.\n\n"
		 "LEASE is how long a node counts as alive without saying so again; CLOCK is how far the database's "
		 "clock is ahead of the machine's. As seen by the node that answers, in the last second; where it does "
		 "not reach the database it says how long ago that was, and a node whose lease is over since is "
		 "unknown. Below stand the numbers of the shards that each owns, those that nobody owns, and "
		 "PostgreSQL's standbys: how long ago was committed what one replays, and how many bytes it is behind. "
		 "--json has the state and the epoch of each shard.",
	.examples = {"spine cluster", "spine cluster --json | jq -c '.shards[]'"},
	.tables = {&client_table},
	.call = {.path = "/v1/cluster", .show = print_cluster},
};
