#include "store/ram/ram_database.h"

#include "base/mem.h"
#include "store/ram/ram_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct ram_database {
	struct ram_database *next;
	char *name;
	size_t holders;
	int64_t now_ms;
	struct ram_node nodes[RAM_NODES];
	struct ram_shard shards[RAM_SHARDS];
};

/* Of the whole process, as stores in memory are: they are found by their names. */
static struct ram_database *databases;

/* --- Databases --- */

static struct ram_database *find(const char *name, size_t len)
{
	struct ram_database *db = databases;

	while (db && (strlen(db->name) != len || memcmp(db->name, name, len) != 0))
		db = db->next;
	return db;
}

static struct ram_database *open_named(const char *name, size_t len)
{
	struct ram_database *db = find(name, len);

	if (db == NULL) {
		db = mem_zalloc(sizeof(*db));
		db->name = mem_strndup(name, len);
		db->next = databases;
		databases = db;
	}
	db->holders++;
	return db;
}

struct ram_database *ram_database_open(const char *name)
{
	return open_named(name, strlen(name));
}

void ram_database_close(struct ram_database *db)
{
	struct ram_database **at = &databases;

	if (db == NULL || --db->holders)
		return;
	while (*at != db)
		at = &(*at)->next;
	*at = db->next;
	for (size_t i = 0; i < RAM_SHARDS; i++)
		free(db->shards[i].markers);
	free(db->name);
	free(db);
}

void ram_database_set_time(struct ram_database *db, int64_t now_ms)
{
	assert(now_ms >= db->now_ms);
	db->now_ms = now_ms;
}

/* --- Nodes --- */

/* The place of the node, or with an empty name a free one; NULL: there is none. */
static struct ram_node *node_of(struct ram_database *db, const char *name)
{
	for (size_t i = 0; i < RAM_NODES; i++)
		if (strcmp(db->nodes[i].name, name) == 0)
			return &db->nodes[i];
	return NULL;
}

static bool is_live(struct ram_database *db, const char *name)
{
	const struct ram_node *node = node_of(db, name);

	return *name && node && node->lease_until_ms > db->now_ms;
}

/* The one whose lease ended first: its place is free for another. */
static struct ram_node *longest_gone(struct ram_database *db)
{
	struct ram_node *first = db->nodes;

	for (size_t i = 1; i < RAM_NODES; i++)
		if (db->nodes[i].lease_until_ms < first->lease_until_ms)
			first = &db->nodes[i];
	assert(first->lease_until_ms <= db->now_ms);
	*first = (struct ram_node){0};
	return first;
}

void ram_database_renew(struct ram_database *db, const char *name, int64_t lease_ms, bool is_leaving)
{
	struct ram_node *node = node_of(db, name);

	if (node == NULL)
		node = node_of(db, "");
	if (node == NULL)
		node = longest_gone(db);
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->lease_until_ms = db->now_ms + lease_ms;
	node->is_leaving = is_leaving;
}

void ram_database_remove(struct ram_database *db, const char *name)
{
	struct ram_node *node = node_of(db, name);

	if (node)
		*node = (struct ram_node){0};
}

size_t ram_database_nodes(const struct ram_database *db, struct ram_node *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < RAM_NODES; i++)
		if (db->nodes[i].name[0])
			ret[count++] = db->nodes[i];
	return count;
}

/* --- Shards --- */

const char *ram_database_owner(const struct ram_database *db, int shard)
{
	return db->shards[shard].owner;
}

int64_t ram_database_epoch(const struct ram_database *db, int shard)
{
	return db->shards[shard].epoch;
}

static void raise_epoch(struct ram_shard *shard)
{
	if (!(shard->broken & RAM_SAME_EPOCH))
		shard->epoch++;
	while ((size_t)shard->epoch >= shard->marker_count) {
		shard->markers = mem_reallocarray(shard->markers, shard->marker_count + 1, sizeof(*shard->markers));
		shard->markers[shard->marker_count++] = 0;
	}
}

void ram_database_give(struct ram_database *db, int shard, const char *node)
{
	struct ram_shard *s = &db->shards[shard];

	if (strcmp(s->owner, node) != 0)
		return;
	s->owner[0] = '\0';
	raise_epoch(s);
}

/* "NAME#12": its number; NULL where it is no shard. */
static const char *number_in(const char *name)
{
	const char *mark = strrchr(name, '#');

	return mark ? mark + 1 : NULL;
}

void ram_shard_attach(struct ram_store *s)
{
	const char *number = number_in(s->name);
	long shard = number ? strtol(number, NULL, 10) : 0;

	s->shard = &s->alone;
	if (number == NULL)
		return;
	assert(shard >= 0 && shard < RAM_SHARDS);
	s->db = open_named(s->name, (size_t)(number - 1 - s->name));
	s->shard = &s->db->shards[shard];
}

void ram_shard_detach(struct ram_store *s)
{
	free(s->alone.markers);
	ram_database_close(s->db);
}

bool ram_shard_take(struct ram_conn *c, struct buf *error)
{
	struct ram_store *s = c->store;
	struct ram_shard *shard = s->shard;

	if (*c->node && (s->db == NULL || !is_live(s->db, c->node))) {
		buf_printf(error, "node %s has no lease", c->node);
		return false;
	}
	if (*c->node && strcmp(shard->owner, c->node) != 0 && is_live(s->db, shard->owner)) {
		buf_printf(error, "node %s has %s", shard->owner, s->name);
		return false;
	}
	/* Whoever takes it does not wait for one that stands still. */
	if (s->in_transaction)
		ram_end_session(s->writing);
	raise_epoch(shard);
	snprintf(shard->owner, sizeof(shard->owner), "%s", c->node);
	c->epoch = shard->epoch;
	c->is_broken = c->is_lost = false;
	return true;
}

/* The fence. A session that broke is made anew only while nobody has taken the shard. */
static bool is_ours(const struct ram_conn *c)
{
	const struct ram_shard *shard = c->store->shard;

	return shard->broken & RAM_NO_FENCE ||
	       (!c->is_lost && c->epoch == shard->epoch && (!c->is_broken || strcmp(shard->owner, c->node) == 0));
}

bool ram_shard_holds(struct ram_conn *c)
{
	struct ram_shard *shard = c->store->shard;

	if (c->is_cut) {
		snprintf(c->base.error, sizeof(c->base.error), "the database cannot be reached");
		return false;
	}
	if (!is_ours(c)) {
		c->is_lost = true;
		snprintf(c->base.error, sizeof(c->base.error), "the shard is somebody else's");
		return false;
	}
	/* Where the fence is broken: one after the other. */
	if (c->store->in_transaction)
		return false;
	/* A new session fences what the old one may have left. */
	if (c->is_broken) {
		raise_epoch(shard);
		c->epoch = shard->epoch;
		c->is_broken = false;
	}
	return true;
}

void ram_shard_mark(struct ram_conn *c)
{
	struct ram_shard *shard = c->store->shard;

	shard->markers[c->epoch] = c->batch;
}

/* What the old session had under way is over when the connection is seen to be broken, so its marker changes no more,
 * whoever has the shard now. */
enum store_status ram_shard_settle(struct ram_conn *c)
{
	struct ram_shard *shard = c->store->shard;
	bool is_there = shard->markers[c->epoch] == c->batch;

	c->is_broken = true;
	if (c->is_cut)
		return STORE_UNKNOWN;
	if (shard->broken & RAM_NO_MARKER)
		is_there = false;
	ram_shard_holds(c);
	return is_there ? STORE_OK : STORE_BUSY;
}
