/* The doctor at the nodes that share a database, as the one that answers sees them: who lives, who owns what, clocks,
 * PostgreSQL's standbys. Of a server that has its store for itself there is nothing to say. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/doctor/findings.h"
#include "cli/show/show.h"
#include "codec/rfc3339.h"

#include <stdlib.h>

enum {
	SEEN_MS = 4000,		/* nodes look each second */
	/* As the rule SpineClusterClock; from a second on a node owns nothing. */
	CLOCK_OFF_MS = 500,
	/* How far behind is too far is a matter of taste; this is what nobody means. */
	LAG_MS = 60000,
	LAG_BYTES = 256 << 20,
	/* As often as the rule SpineNodeFlaps has it, but in an hour: this is an average since the node began. */
	FLAPS = 3,
	FLAPS_WITHIN_MS = 3600000,
};

/* Returns how many there are of which nobody knows yet whether their owner lives. */
static size_t look_at_shards(struct findings *f, const struct json *shards)
{
	size_t without = 0, unknown = 0;

	for (uint32_t i = 0; i < shards->count; i++) {
		without += str_is(ask_str(&shards->items[i], "state"), "none");
		unknown += str_is(ask_str(&shards->items[i], "state"), "unknown");
	}
	if (without)
		findings_add(f, FINDING_CRITICAL, "cluster", "wait for five seconds, which is how long a node that "
			     "died keeps them; where it stays so, the log of any node says why (\"a shard cannot be "
			     "opened\")",
			     "%zu shard%s %s and no owner: requests are answered 503 (spine cluster names them)",
			     without, without == 1 ? "" : "s", without == 1 ? "has spaces" : "have spaces");
	return unknown;
}

static void look_at_clock_of(struct findings *f, const struct json *node, const char *name)
{
	int64_t off_ms = ask_int(node, "clock_offset_ms", 0);

	if (off_ms >= CLOCK_OFF_MS || off_ms <= -CLOCK_OFF_MS)
		findings_add(f, FINDING_WARNING, "cluster", "set the clocks of that machine and of the database's by "
			     "NTP (timedatectl set-ntp true)", "the clock of %s and that of the database are %lld ms "
			     "apart", name, (long long)(off_ms < 0 ? -off_ms : off_ms));
}

/* Told once for both. */
static void look_at_twin(struct findings *f, const struct json *node, const char *name)
{
	struct str twin = ask_str(node, "same_url_as");

	if (twin.n && str_cmp(ask_str(node, "id"), twin) < 0)
		findings_add(f, FINDING_CRITICAL, "cluster", "give each its own URL (spine serve --advertise)",
			     "%s and %.*s are both told to be at %.*s: one of them cannot be reached by the others",
			     name, STR_ARG(twin), STR_ARG(ask_str(node, "url")));
}

static size_t look_at_nodes(struct findings *f, const struct json *nodes)
{
	size_t living = 0;

	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct json *node = &nodes->items[i];
		struct str state = ask_str(node, "state");
		const char *name = arena_cstr(f->cli->arena, ask_str(node, "id"));

		if (str_is(state, "live"))
			living++;
		else
			findings_add(f, FINDING_NOTE, "cluster", NULL, "%s at %.*s is %.*s", name,
				     STR_ARG(ask_str(node, "url")), STR_ARG(state));
		look_at_clock_of(f, node, name);
		look_at_twin(f, node, name);
	}
	return living;
}

static bool look_at_standby(struct findings *f, const struct json *standby)
{
	int64_t lag_ms = ask_int(standby, "lag_ms", 0), lag_bytes = ask_int(standby, "lag_bytes", 0);
	struct str behind = show_size(f->cli->arena, lag_bytes);
	bool is_far = lag_ms >= LAG_MS || lag_bytes >= LAG_BYTES;

	if (is_far)
		findings_add(f, FINDING_WARNING, "standbys", "look at that machine, its disk and the way to it: what "
			     "it has not replayed is lost with the primary, or delays a failover",
			     "%.*s (%.*s, %.*s) is %lld s and %.*s behind", STR_ARG(ask_str(standby, "name")),
			     STR_ARG(ask_str(standby, "state")), STR_ARG(ask_str(standby, "sync_state")),
			     (long long)(lag_ms / 1000), STR_ARG(behind));
	return is_far;
}

static void look_at_standbys(struct findings *f, const struct json *standbys)
{
	size_t far = 0;

	if (standbys == NULL || standbys->type != JSON_ARRAY) {
		findings_add(f, FINDING_NOTE, "standbys", NULL, "they are not known: the node's user of the database "
			     "may not see them (GRANT pg_monitor TO it)");
		return;
	}
	for (uint32_t i = 0; i < standbys->count; i++)
		far += look_at_standby(f, &standbys->items[i]);
	if (standbys->count == 0)
		findings_add(f, FINDING_NOTE, "standbys", NULL, "PostgreSQL has none: what is stored is as safe as "
			     "its one disk");
	else if (far == 0)
		findings_add(f, FINDING_OK, "standbys", NULL, "%u, none of them far behind", standbys->count);
}

/* "name 3" in the text of /metrics; 0 where it is not there. */
static int64_t figure(struct str text, struct str name)
{
	while (text.p && text.n) {
		struct str line = str_cut(&text, '\n');

		if (str_has_prefix(line, name) && line.n > name.n && line.p[name.n] == ' ')
			return (int64_t)strtod(line.p + name.n, NULL);
	}
	return 0;
}

/* Of the node that answers alone: no other says it of itself here. */
static void look_at_leases(struct findings *f, struct str started_at)
{
	int64_t began_ms, lost, within_ms;
	struct ask metrics;

	ask_make_get(f->cli, "/metrics", &metrics);
	lost = metrics.reply.status == 200 ? figure(buf_str(&metrics.reply.body),
						    STR("spine_cluster_leases_lost_total")) : 0;
	ask_release(&metrics);
	if (lost == 0 || !rfc3339_parse(started_at, &began_ms))
		return;
	within_ms = clock_wall_ms() - began_ms;
	if (lost >= FLAPS && within_ms / lost < FLAPS_WITHIN_MS / FLAPS)
		findings_add(f, FINDING_WARNING, "cluster", "its log says why each time: the way to the database, the "
			     "database itself, or a machine that is paused or swaps",
			     "this node has lost its lease %lld times since it was started, %lld min ago: each time "
			     "its shards go and come", (long long)lost, (long long)(within_ms / 60000));
	else
		findings_add(f, FINDING_NOTE, "cluster", NULL, "this node has lost its lease %lld time%s since it was "
			     "started", (long long)lost, lost == 1 ? "" : "s");
}

/* What is told is of a time when it reached the database: nothing of it needs to be so any more. */
static bool look_at_age(struct findings *f, const struct json *seen)
{
	bool is_stale = seen && (seen->type == JSON_NULL || (seen->type == JSON_INT && seen->i >= SEEN_MS));

	if (is_stale && seen->type == JSON_NULL)
		findings_add(f, FINDING_WARNING, "cluster", "ask another node (--url)", "this node has not reached "
			     "the database yet, and knows nothing of the others");
	else if (is_stale)
		findings_add(f, FINDING_WARNING, "cluster", "ask another node (--url); where none reaches it, it is "
			     "the database that is away", "this node has not reached the database for %lld s: what it "
			     "knows of the others is from then", (long long)(seen->i / 1000));
	return !is_stale;
}

void doctor_look_at_cluster(struct findings *f, struct str started_at)
{
	size_t before = f->counts[FINDING_WARNING] + f->counts[FINDING_CRITICAL], living, unknown;
	const struct json *nodes, *shards;
	struct ask cluster;

	ask_make_get(f->cli, "/v1/cluster", &cluster);
	nodes = ask_array(&cluster.json, "nodes");
	shards = ask_array(&cluster.json, "shards");
	if (cluster.exit == CLI_OK && look_at_age(f, json_get(&cluster.json, "seen_ms_ago")) && shards->count) {
		living = look_at_nodes(f, nodes);
		unknown = look_at_shards(f, shards);
		look_at_leases(f, started_at);
		if (unknown == 0 && f->counts[FINDING_WARNING] + f->counts[FINDING_CRITICAL] == before)
			findings_add(f, FINDING_OK, "cluster", NULL, "%zu node%s, and every space has an owner%s",
				     living, living == 1 ? " lives" : "s live",
				     living == 1 ? "; where it dies nobody takes over" : "");
		look_at_standbys(f, json_get(&cluster.json, "standbys"));
	}
	ask_release(&cluster);
}
