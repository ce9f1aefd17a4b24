#include "serve/node_internal.h"

#include "api/http/held.h"
#include "api/http/sessions.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/mem.h"
#include "core/cluster/protocol.h"
#include "engine/access/keyring.h"
#include "serve/node_past.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* PARTS: a node has rather more parts than one and rather fewer than all; the cache is shared out among so many.
 * SEEN_MS: until the others have seen what was given away. What they pass on before they have is sent back to them, and
 * goes to the new owner: to do so the connections must still be there. */
enum { PARTS = 8, SHARD_SIZE = 16, SEEN_MS = 100 };

bool node_is_address(const char *address)
{
	struct str a = address ? str_of(address) : STR("");

	return (str_has_prefix(a, STR("postgres://")) || str_has_prefix(a, STR("postgresql://"))) &&
	       str_find(a, '#') == a.n;
}

void node_wake(struct node *n)
{
	uint64_t one = 1;

	if (write(n->wake_fd, &one, sizeof(one)) < 0)
		return;	/* it is woken already */
}

bool node_has_lease(const struct node *n)
{
	return clock_boot_ns() < atomic_load(&n->lease_until_ns);
}

struct store_conn *node_open_to_read(const struct node *n, int shard, struct buf *error)
{
	size_t size = strlen(n->config.address) + SHARD_SIZE;
	char *address = mem_alloc(size);
	struct store_conn *c;

	snprintf(address, size, "%s#%d", n->config.address, shard);
	c = store_open(address, STORE_READ, error);
	free(address);
	return c;
}

/* --- Keys --- */

/* A key or a session has ended, or a key is needed from now on. On a writer's thread, the control thread, or that of a
 * call. */
static void on_key_end(void *ctx)
{
	struct node *n = ctx;

	pthread_mutex_lock(&n->lock);
	for (int i = 0; i < SHARDS; i++)
		if (n->shards[i].state == NODE_OPEN || n->shards[i].state == NODE_CLOSING)
			held_look(n->shards[i].part->part->api.held);
	if (n->own)
		held_look(n->own->api.held);
	pthread_mutex_unlock(&n->lock);
}

/* All shards have their keys in one place; any of them shows them. */
static bool open_keys(struct node *n, struct buf *error)
{
	n->keys = node_open_to_read(n, 0, error);
	if (n->keys)
		n->shared->keyring = keyring_open(n->keys, db_clock_now_ms(&n->clock), error);
	if (n->shared->keyring)
		keyring_tell(n->shared->keyring, on_key_end, n);
	if (n->shared->keyring)
		sessions_tell(n->shared->sessions, on_key_end, n);
	return n->shared->keyring != NULL;
}

/* --- Life --- */

static void make_id(struct node *n)
{
	uint32_t chance = 0;

	if (getentropy(&chance, sizeof(chance)) != 0)
		abort();
	snprintf(n->id, sizeof(n->id), "node-%08" PRIx32, chance);
}

static void set_shared(struct node *n)
{
	struct part_shared *shared = n->shared;

	shared->clock = (struct part_clock){
		.now_ms = db_clock_now_ms, .offset_ms = db_clock_offset_ms, .ctx = &n->clock,
	};
	shared->spread = (struct engine_spread){node_spread_keys, n};
	shared->node = &n->api;
	shared->lease_until_ns = &n->lease_until_ns;
	shared->cache_bytes /= PARTS;
}

struct node *node_open(const struct node_config *config, struct buf *error)
{
	struct node *n = mem_zalloc(sizeof(*n));
	struct cluster_self self;
	char past[NODE_PAST_SIZE];

	n->config = *config;
	n->shared = config->shared;
	n->log = config->shared->log;
	n->jobs_end = &n->jobs;
	n->has_lost = true;
	n->api = (struct cluster_node_api){
		.ctx = n, .find = node_find, .hold = node_hold, .release = node_release,
		.shards_with_spaces = node_shards_with_spaces, .read_shard = node_read_shard,
		.has_left = node_has_left, .trouble = node_trouble, .count = node_count, .put = node_put,
	};
	n->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	make_id(n);
	pthread_mutex_init(&n->lock, NULL);
	cond_init(&n->changed);
	db_clock_init(&n->clock);
	set_shared(n);
	for (int i = 0; i < SHARDS; i++)
		n->shards[i].best = n->shards[i].owner = -1;
	self = (struct cluster_self){
		str_of(n->id), str_of(config->url), STR(SPINE_VERSION), PROTOCOL_NOW, node_on_silence, n,
	};
	n->cluster = store_cluster_open(config->address, &self, error);
	if (n->cluster && node_past_read(config->shared->config->data_dir, past))
		store_cluster_retire(n->cluster, str_of(past));
	if (n->wake_fd >= 0 && n->cluster && node_join(n, error) && open_keys(n, error)) {
		n->shared->started_at_ms = db_clock_now_ms(&n->clock);
		node_past_write(config->shared->config->data_dir, n->id);
		return n;
	}
	node_stop(n);
	node_free(n);
	return NULL;
}

bool node_make(struct node *n, struct buf *error)
{
	const struct serve_config *c = n->shared->config;

	n->own = part_open(n->shared, "ram:node", error);
	if (n->own == NULL || !part_make(n->own, error))
		return false;
	/* It remembers nothing that is anybody else's. */
	n->own->api.lease_until_ns = NULL;
	/* Where the others want certificates of their clients, this node shows its own. */
	n->files = (struct http_pass_files){.ca = c->ca_file, .cert = c->tls.cert, .key = c->tls.key};
	n->front = cluster_front_new(&(struct cluster_front_config){
		.own = &n->own->api, .node = &n->api, .id = n->id, .url = n->config.url, .files = &n->files,
		.drain_ms = c->drain_timeout_ms, .threads = c->http_threads,
	});
	cluster_front_set_secret(n->front, n->view->all.secret);
	return true;
}

struct api *node_own_api(struct node *n)
{
	return &n->own->api;
}

struct cluster_front *node_front(struct node *n)
{
	return n->front;
}

void node_start(struct node *n)
{
	part_start(n->own);
	n->is_started = true;
	if (pthread_create(&n->control, NULL, node_control_main, n) != 0)
		abort();
	for (int i = 0; i < NODE_JOBS; i++)
		if (pthread_create(&n->workers[i], NULL, node_jobs_main, n) != 0)
			abort();
	log_write(n->log, LOG_INFO, "a node of a cluster", LOG_STR("node", n->id), LOG_STR("url", n->config.url));
}

/* With the lock held. */
static bool has_any(const struct node *n)
{
	for (int i = 0; i < SHARDS; i++)
		if (n->shards[i].state != NODE_NONE || n->shards[i].is_to_give)
			return true;
	return false;
}

void node_leave(struct node *n, int64_t timeout_ms)
{
	int64_t until_ns = clock_mono_ns() + timeout_ms * NODE_MS_NS;
	bool had_any;

	pthread_mutex_lock(&n->lock);
	had_any = n->is_started && has_any(n);
	n->is_leaving = true;
	pthread_mutex_unlock(&n->lock);
	node_wake(n);
	pthread_mutex_lock(&n->lock);
	while (n->is_started && has_any(n) && cond_wait_until(&n->changed, &n->lock, until_ns))
		;
	pthread_mutex_unlock(&n->lock);
	if (had_any)
		usleep(SEEN_MS * 1000);
}

void node_stop(struct node *n)
{
	if (n == NULL)
		return;
	pthread_mutex_lock(&n->lock);
	n->is_stopping = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	node_wake(n);
	if (n->is_started) {
		pthread_join(n->control, NULL);
		for (int i = 0; i < NODE_JOBS; i++)
			pthread_join(n->workers[i], NULL);
	}
	node_end_spread(n);
	if (n->own)
		part_drain(n->own);
	/* What is open yet is fenced from here on. */
	if (n->cluster)
		store_cluster_remove(n->cluster);
	store_cluster_close(n->cluster);
	n->cluster = NULL;
}

void node_free(struct node *n)
{
	if (n == NULL)
		return;
	node_free_parts(n);
	if (n->own) {
		part_drain_posts(n->own, 0);
		part_stop(n->own);
	}
	part_free(n->own);
	cluster_front_free(n->front);
	keyring_free(n->shared->keyring);
	if (n->keys)
		store_close(n->keys);
	node_free_view(n->view);
	node_free_standbys(n->standbys);
	db_clock_destroy(&n->clock);
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	if (n->wake_fd >= 0)
		close(n->wake_fd);
	free(n);
}

bool node_has_failed(const struct node *n)
{
	return n->own && atomic_load(&n->own->api.engine->failed);
}
