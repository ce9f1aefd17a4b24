/* The nodes of a cluster, and who owns what. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"

static const struct field node_fields[] = {
	DOC_TEXT("id", 0, 0, "Another one at each start."),
	DOC_TEXT("url", 0, 0, "Where the other nodes reach it."),
	DOC_TEXT("version", 0, 0, "Of the server."),
	DOC_ENUM("state", &words_node_state, 0,
		 "leaving: it stops, and gives everything away; gone: its lease is over; unknown: its "
		 "lease, as it was seen last, is over by now, and nobody knows whether it was renewed."),
	COUNT("lease_left_ms", "How long its lease lasts yet, as this node knows it."),
	DOC_INT("clock_offset_ms", NO_MIN, NO_MAX,
		"So much the database's clock is ahead of the machine's, as the node has said it."),
	COUNT("shards", "That it owns."),
	DOC_TEXT("same_url_as", 0, 0,
		 "Another node that lives and is told to be at the same URL: one cannot be reached. null: none.",
		 NULLABLE),
	FIELDS_END,
};
static const struct shape node = {.name = "ClusterNode", .fields = node_fields};

static const struct field shard_fields[] = {
	DOC_INT("shard", 0, 63, "Its number; a space belongs to one by its name."),
	DOC_TEXT("owner", 0, 0, "The node; null: nobody.", NULLABLE),
	DOC_INT("epoch", 0, NO_MAX, "Grows with each owner."),
	DOC_ENUM("state", &words_shard_state, 0,
		 "open: it is this node's, and in its memory; owned: another node's; moving: from one to another; "
		 "idle: it has no space, and nobody's until it is asked for; none: it has spaces, and no owner. Their "
		 "requests are answered 503 until a node takes it; unknown: its owner is, or nothing was seen for as "
		 "long as a lease."),
	FIELDS_END,
};
static const struct shape shard = {.name = "ClusterShard", .fields = shard_fields};

static const struct field standby_fields[] = {
	DOC_TEXT("name", 0, 0, "As it calls itself: its application_name."),
	DOC_TEXT("state", 0, 0, "PostgreSQL's word: streaming, catchup and others."),
	DOC_TEXT("sync_state", 0, 0, "PostgreSQL's word: sync, quorum, potential or async. A commit waits for sync."),
	COUNT("lag_ms", "So long ago was committed what it replays; null: not known.", NULLABLE),
	COUNT("lag_bytes", "So much of the primary's log it has not replayed; null: not known.", NULLABLE),
	FIELDS_END,
};
static const struct shape standby = {.name = "ClusterStandby", .fields = standby_fields};

const struct description describe_cluster = {
	.id = "readCluster", .tag = "server", .scope = SCOPE_ADMIN, .is_of_all = true,
	.summary = "The nodes over one database, and which of them owns which spaces",
	.says = "As the node that answers has seen it in the last second, or longer ago where it does not reach the "
		"database: seen_ms_ago. A server that has its store for itself is "
		"its own only node, and has no shards.",
	.takes = TAKES_NO_SPACE,
	ANSWERS(ANSWER(200, "The cluster.", OUTPUT(
		DOC_TEXT("node", 0, 0, "The one that answers."),
		COUNT("seen_ms_ago", "So long ago was all of it so. Above a few seconds: the node does not reach the "
		      "database. null: it has seen nothing.", NULLABLE),
		DOC_SHAPES("nodes", 0, &node, "In the order of their ids."),
		DOC_SHAPES("shards", 0, &shard, "In their order."),
		DOC_SHAPES("standbys", 0, &standby,
			   "Of the database, as its primary told in the last seconds. null: not known, or the "
			   "node's user of the database may not see them, which the role pg_monitor allows.",
			   NULLABLE)))),
};
