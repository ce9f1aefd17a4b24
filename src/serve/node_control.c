/* The control thread of a node: renews its lease, looks how everything is, and says what is to be done. */
#include "serve/node_internal.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* FAST_MS: between two looks, however much happens. FAILED_MS: after one that failed. */
enum { FAST_MS = 10, FAILED_MS = 250 };

/* --- Seeing --- */

void node_free_view(struct node_view *v)
{
	if (v)
		arena_release(&v->arena);
	free(v);
}

static struct node_view *renew(struct node *n, enum store_status *ret_status)
{
	struct node_view *v = mem_zalloc(sizeof(*v));
	int64_t offset_ms = n->clock.is_set ? db_clock_offset_ms(&n->clock) : 0, answered_ns;

	arena_init(&v->arena);
	v->me = -1;
	v->asked_ns = clock_boot_ns();
	*ret_status = store_cluster_renew(n->cluster, offset_ms, &v->arena, &v->all);
	answered_ns = clock_boot_ns();
	if (*ret_status != STORE_OK) {
		node_free_view(v);
		return NULL;
	}
	for (size_t i = 0; i < v->all.node_count; i++)
		if (str_is(v->all.nodes[i].id, n->id))
			v->me = (int)i;
	if (v->all.needs.p == NULL)
		db_clock_sample(&n->clock, v->asked_ns, answered_ns, v->all.db_now_ms);
	return v;
}

static int place_of(const struct node_view *v, struct str id)
{
	for (size_t i = 0; id.p && i < v->all.node_count; i++)
		if (str_eq(v->all.nodes[i].id, id))
			return (int)i;
	return -1;
}

static struct cluster_node *nodes_of(struct node_view *v)
{
	struct cluster_node *nodes = arena_calloc(&v->arena, v->all.node_count + 1, sizeof(*nodes));

	for (size_t i = 0; i < v->all.node_count; i++) {
		const struct cluster_node_row *row = &v->all.nodes[i];

		nodes[i] = (struct cluster_node){row->id, row->is_live, row->is_leaving};
	}
	return nodes;
}

static bool has_any_open(const struct node *n)
{
	for (int i = 0; i < SHARDS; i++)
		if (n->shards[i].state != NODE_NONE)
			return true;
	return false;
}

/* NULL: it is not. */
static const char *why_lost(const struct node_view *v, const struct node_shard *s)
{
	const struct engine *e = s->part->part->api.engine;

	if (atomic_load(&e->failed))
		return "its store failed; the log says why";
	if (s->owner != v->me || store_is_lost(e->store))
		return s->owner >= 0 && s->owner != v->me ? "another node took it while this one had no lease" :
			"it was taken from this node, and is nobody's just now";
	return NULL;
}

/* With the lock held. What was opened after the question is not judged by the answer. */
static void judge_parts(struct node *n, const struct node_view *v)
{
	for (int i = 0; i < SHARDS; i++) {
		struct node_shard *s = &n->shards[i];
		bool is_seen = s->state == NODE_OPEN && s->part->opened_ns < v->asked_ns;
		const char *why = is_seen ? why_lost(v, s) : NULL;

		if (why)
			node_begin_close(n, i, why);
		if (s->owner >= 0 && s->owner != v->me)
			s->failures = 0;
	}
}

/* Whose lease is over answers nothing any more. One that has left has answered everything. */
static void cut_gone(const struct node *n, const struct node_view *before, const struct node_view *now)
{
	for (size_t i = 0; before && n->front && i < before->all.node_count; i++) {
		const struct cluster_node_row *row = &before->all.nodes[i];
		int place = place_of(now, row->id);

		if (row->is_live && place >= 0 && !now->all.nodes[place].is_live)
			cluster_front_cut(n->front, row->url);
	}
}

static bool is_time_doubtful(struct node *n, int64_t now_ns)
{
	int64_t doubt_ms = db_clock_doubt_ms(&n->clock, now_ns);
	bool is_doubtful = doubt_ms > DB_CLOCK_DOUBT_MAX_MS;

	if (is_doubtful && !n->is_doubtful)
		log_write(n->log, LOG_WARN, "the database's time is not known well enough: this node owns nothing "
			  "meanwhile", LOG_INT("doubt_ms", doubt_ms));
	n->is_doubtful = is_doubtful;
	return is_doubtful;
}

static void tell_twin(struct node *n, const struct node_view *v)
{
	const struct cluster_node_row *twin = v->me >= 0 ? node_twin(v, v->me) : NULL;

	if (twin && !n->has_twin)
		log_write(n->log, LOG_ERROR, "another node is told to be at this node's URL: requests for its spaces, "
			  "or for this one's, find no way; give each its own --advertise",
			  LOG_STR("url", n->config.url), LOG_SLICE("node", twin->id));
	n->has_twin = twin;
}

/* With the lock held. An answer that came when the lease was over already: others may have had everything meanwhile. */
static void take_view(struct node *n, struct node_view *v, const struct cluster_node *nodes)
{
	struct node_view *before = n->view;
	int64_t now_ns = clock_boot_ns();
	bool is_doubtful = is_time_doubtful(n, now_ns);

	if ((n->lease.is_held && lease_left_ms(&n->lease, now_ns) == 0) || is_doubtful)
		node_lose_all(n, is_doubtful ? "the database's time is not known well enough" :
			      "the lease was over before it was renewed: the node was paused, or the database slow");
	n->view = v;
	for (int i = 0; i < SHARDS; i++) {
		n->shards[i].owner = place_of(v, v->all.shards[i].owner);
		n->shards[i].best = cluster_owner_of(i, nodes, v->all.node_count);
	}
	judge_parts(n, v);
	if (is_doubtful) {
		atomic_store(&n->lease_until_ns, 0);
		if (!has_any_open(n))
			db_clock_restart(&n->clock);
	} else {
		lease_renewed(&n->lease, v->asked_ns);
		n->has_lost = false;
		atomic_store(&n->lease_until_ns, n->lease.asked_ns + (LEASE_MS - LEASE_RESERVE_MS) * NODE_MS_NS);
	}
	cut_gone(n, before, v);
	node_tell_left(n, before, v);
	tell_twin(n, v);
	node_free_view(before);
}

/* --- Deciding: with the lock held --- */

static size_t closing_count(const struct node *n)
{
	size_t count = 0;

	for (int i = 0; i < SHARDS; i++)
		count += n->shards[i].state == NODE_CLOSING || n->shards[i].is_to_give;
	return count;
}

static void give_away(struct node *n, int shard)
{
	struct node_shard *s = &n->shards[shard];

	if (s->state == NODE_OPEN)
		node_begin_close(n, shard, NULL);
	else if (s->state == NODE_NONE && s->owner == n->view->me)
		s->is_to_give = true;
}

static void plan(struct node *n, const struct cluster_node *nodes)
{
	const struct node_view *v = n->view;
	size_t closing = closing_count(n), count;
	struct cluster_shard shards[SHARDS];
	struct cluster_step steps[SHARDS];

	for (int i = 0; i < SHARDS; i++)
		shards[i] = (struct cluster_shard){i, v->all.shards[i].owner};
	count = cluster_plan(str_of(n->id), nodes, v->all.node_count, shards, SHARDS,
			     closing < NODE_GIVE_MAX ? NODE_GIVE_MAX - closing : 0, steps);
	for (size_t i = 0; i < count; i++)
		if (steps[i].action == CLUSTER_GIVE)
			give_away(n, steps[i].shard);
	for (int i = 0; i < SHARDS; i++)
		if (node_is_mine(n, i) && (v->all.shards[i].has_spaces || n->shards[i].waiters))
			node_begin_open(n, i);
}

static int64_t first_until_ns(const struct node_shard *s)
{
	int64_t until_ns = INT64_MAX;

	for (const struct node_waiter *waiter = s->waiters; waiter; waiter = waiter->next)
		if (waiter->until_ns < until_ns)
			until_ns = waiter->until_ns;
	return until_ns;
}

/* Those who wait for a shard: it is another's by now, or they have waited long. */
static void look_at_waiters(struct node *n)
{
	int64_t now_ns = clock_boot_ns();

	for (int i = 0; i < SHARDS; i++) {
		struct node_shard *s = &n->shards[i];

		if (s->waiters == NULL)
			continue;
		if (now_ns > first_until_ns(s))
			node_go_on(n, s, false);
		else if (s->state == NODE_NONE && !s->is_to_give && !node_is_mine(n, i))
			node_go_on(n, s, true);
	}
}

/* --- Doing: without the lock --- */

/* What was closed is the next node's. */
static void give_closed(struct node *n)
{
	for (int i = 0; i < SHARDS; i++) {
		struct node_shard *s = &n->shards[i];
		enum store_status status = STORE_OK;
		bool is_to_give;

		pthread_mutex_lock(&n->lock);
		is_to_give = s->is_to_give;
		pthread_mutex_unlock(&n->lock);
		if (is_to_give)
			status = store_cluster_give(n->cluster, i);
		if (!is_to_give || (status != STORE_OK && status != STORE_NOT_FOUND))
			continue;
		pthread_mutex_lock(&n->lock);
		s->is_to_give = false;
		s->owner = -1;
		node_go_on(n, s, true);
		pthread_cond_broadcast(&n->changed);
		pthread_mutex_unlock(&n->lock);
	}
}

static void tell_reached(struct node *n, bool is_reached)
{
	if (is_reached != atomic_load(&n->is_unreachable))
		return;
	atomic_store(&n->is_unreachable, !is_reached);
	if (is_reached)
		log_write(n->log, LOG_INFO, "the database answers again");
	else
		log_write(n->log, LOG_WARN, "the database does not answer: this node serves until its lease is over",
			  LOG_STR("error", store_cluster_error(n->cluster)));
}

void node_on_silence(void *node)
{
	tell_reached(node, false);
}

/* To whoever looks at the database it is well. */
static void tell_standby(struct node *n)
{
	bool is_missing = store_cluster_lacks_standby(n->cluster);

	if (is_missing && !n->lacks_standby)
		log_write(n->log, LOG_WARN, "a synchronous standby of the database is missing: nothing is served "
			  "until there is one, or the database is told to go on without",
			  LOG_STR("error", store_cluster_error(n->cluster)));
	n->lacks_standby = is_missing;
}

/* The database is away: at the end of the lease nothing is this node's any more. */
static void pass_time(struct node *n)
{
	if (!n->lease.is_held || lease_left_ms(&n->lease, clock_boot_ns()) > 0)
		return;
	pthread_mutex_lock(&n->lock);
	node_lose_all(n, "the lease is over: the database was not reached");
	look_at_waiters(n);
	node_end_lingering(n);
	pthread_mutex_unlock(&n->lock);
}

/* Nothing is known of the others. Returns how long to sleep. */
static int64_t be_blind(struct node *n)
{
	pthread_mutex_lock(&n->lock);
	node_look_at_spreads(n, NULL);
	pthread_mutex_unlock(&n->lock);
	pass_time(n);
	return FAILED_MS;
}

/* It has no lease any more, and owns nothing. What it does not know of the database it must not touch. */
static void be_too_old(struct node *n, struct str needs)
{
	if (atomic_exchange(&n->is_too_old, true))
		return;
	snprintf(n->needs, sizeof(n->needs), "%.*s", (int)(sizeof(n->needs) - 1 < needs.n ? sizeof(n->needs) - 1 :
		 needs.n), needs.p);
	log_write(n->log, LOG_ERROR, "this server is too old for the database, and owns nothing any more: install a "
		  "newer one", LOG_STR("needs", n->needs), LOG_STR("version", SPINE_VERSION));
	atomic_store(&n->lease_until_ns, 0);
	pthread_mutex_lock(&n->lock);
	node_lose_all(n, "this server is too old for the database");
	n->lease.is_held = false;
	node_free_view(n->view);
	n->view = NULL;
	look_at_waiters(n);
	node_end_lingering(n);
	pthread_mutex_unlock(&n->lock);
	store_cluster_remove(n->cluster);
}

static void leave_if_asked(struct node *n)
{
	bool is_leaving;

	pthread_mutex_lock(&n->lock);
	is_leaving = n->is_leaving;
	pthread_mutex_unlock(&n->lock);
	if (is_leaving && !n->has_left)
		n->has_left = store_cluster_leave(n->cluster) == STORE_OK;
}

/* Returns how long to sleep. */
static int64_t look(struct node *n)
{
	enum store_status status;
	struct cluster_node *nodes;
	struct node_view *v;
	bool has_new_keys;

	leave_if_asked(n);
	v = renew(n, &status);
	tell_reached(n, v != NULL);
	tell_standby(n);
	if (v == NULL)
		return be_blind(n);
	if (v->all.needs.p) {
		be_too_old(n, v->all.needs);
		node_free_view(v);
		return LEASE_RENEW_MS;
	}
	atomic_store(&n->is_too_old, false);
	/* First of all: while it has a lease it goes by all keys that were committed before that began. */
	if (!node_read_keys(n, v->all.keys_version, &has_new_keys)) {
		node_free_view(v);
		return be_blind(n);
	}
	if (n->front)
		cluster_front_set_secret(n->front, v->all.secret);
	nodes = nodes_of(v);
	pthread_mutex_lock(&n->lock);
	take_view(n, v, nodes);
	if (n->is_started && node_has_lease(n))
		plan(n, nodes);
	look_at_waiters(n);
	node_end_lingering(n);
	node_look_at_spreads(n, v);
	pthread_mutex_unlock(&n->lock);
	give_closed(n);
	node_read_standbys(n);
	/* Somebody may wait to hear it. */
	return has_new_keys ? 0 : LEASE_RENEW_MS;
}

bool node_join(struct node *n, struct buf *error)
{
	look(n);
	if (n->view && node_has_lease(n)) {
		n->keys_version = n->view->all.keys_version;
		store_cluster_know_keys(n->cluster, n->keys_version);
		return true;
	}
	if (atomic_load(&n->is_too_old))
		buf_printf(error, "this node cannot join the others: the database is for servers of version %s or "
			   "later, this is %s", n->needs, SPINE_VERSION);
	else
		buf_printf(error, "this node cannot join the others: %s", n->view ?
			   "the database's clock is too far off" : store_cluster_error(n->cluster));
	return false;
}

static bool is_over(struct node *n)
{
	bool is_over;

	pthread_mutex_lock(&n->lock);
	is_over = n->is_stopping;
	pthread_mutex_unlock(&n->lock);
	return is_over;
}

static void drain_wakes(struct node *n)
{
	uint64_t count;

	while (read(n->wake_fd, &count, sizeof(count)) > 0)
		;
}

void *node_control_main(void *node)
{
	struct node *n = node;

	while (!is_over(n)) {
		int64_t sleep_ms;

		drain_wakes(n);
		sleep_ms = look(n);
		usleep(FAST_MS * 1000);
		store_cluster_wait(n->cluster, n->wake_fd, sleep_ms);
	}
	return NULL;
}
