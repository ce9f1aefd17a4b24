/* Where shards are: for the HTTP threads, and for GET /v1/cluster. */
#include "serve/node_internal.h"

#include "base/clock.h"
#include "codec/json_member.h"

static const struct cluster_node_row *node_row(const struct node *n, int place)
{
	return n->view && place >= 0 ? &n->view->all.nodes[place] : NULL;
}

static bool has_living_owner(const struct node *n, int shard)
{
	const struct cluster_node_row *owner = node_row(n, n->shards[shard].owner);

	return owner && owner->is_live;
}

bool node_is_mine(const struct node *n, int shard)
{
	const struct node_shard *s = &n->shards[shard];

	if (n->view == NULL || n->view->me < 0 || n->is_leaving)
		return false;
	return has_living_owner(n, shard) ? s->owner == n->view->me : s->best == n->view->me;
}

/* A row outlives its node by a lease. Where the later of two has been there for longer, both renew theirs. */
const struct cluster_node_row *node_twin(const struct node_view *v, int place)
{
	const struct cluster_node_row *one = &v->all.nodes[place];

	for (size_t i = 0; one->is_live && i < v->all.node_count; i++) {
		const struct cluster_node_row *other = &v->all.nodes[i];
		int64_t both_ms = one->started_at_ms > other->started_at_ms ? one->started_at_ms : other->started_at_ms;

		if (other != one && other->is_live && str_eq(other->url, one->url) &&
		    v->all.db_now_ms - both_ms > LEASE_MS)
			return other;
	}
	return NULL;
}

/* --- Of a request --- */

/* When the request ends. */
static void release(void *arg)
{
	struct node_part *part = arg;
	struct node *n = part->node;

	pthread_mutex_lock(&n->lock);
	if (--part->requests == 0)
		pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

static void hold(struct node_part *part, struct http_req *req, struct cluster_place *ret)
{
	part->requests++;
	http_req_on_end(req, release, part);
	ret->api = &part->part->api;
}

static void wait_for(struct node *n, struct node_shard *s, struct http_req *req,
		     void (*go_on)(void *arg, bool is_open), void *arg, struct cluster_place *ret)
{
	struct node_waiter *waiter = arena_zalloc(http_req_arena(req), sizeof(*waiter));

	*waiter = (struct node_waiter){
		.next = s->waiters, .node = n, .thread = http_req_thread(req), .go_on = go_on, .arg = arg,
		.until_ns = clock_boot_ns() + NODE_WAIT_MS * NODE_MS_NS,
	};
	s->waiters = waiter;
	ret->is_coming = true;
}

/* Of another node that has it, or should take it soon. */
static void point_to(const struct node *n, int shard, struct http_req *req, struct cluster_place *ret)
{
	const struct node_shard *s = &n->shards[shard];
	int place = has_living_owner(n, shard) ? s->owner : s->best;
	const struct cluster_node_row *row = node_row(n, place);

	/* One that was at this node's own address before it is dead, and its lease not over yet. */
	if (row == NULL || place == n->view->me || str_is(row->url, n->config.url))
		return;
	ret->url = arena_str(http_req_arena(req), row->url).p;
	ret->version = arena_str(http_req_arena(req), row->version).p;
	ret->protocol = row->protocol;
}

void node_find(void *node, int shard, struct http_req *req, void (*go_on)(void *arg, bool is_open), void *arg,
	       struct cluster_place *ret)
{
	struct node *n = node;
	struct node_shard *s = &n->shards[shard];

	*ret = (struct cluster_place){0};
	pthread_mutex_lock(&n->lock);
	if (node_has_lease(n)) {
		if (s->state == NODE_OPEN) {
			hold(s->part, req, ret);
		} else if (s->state != NODE_NONE) {
			wait_for(n, s, req, go_on, arg, ret);
		} else if (node_is_mine(n, shard)) {
			wait_for(n, s, req, go_on, arg, ret);
			node_begin_open(n, shard);
		} else {
			point_to(n, shard, req, ret);
		}
	}
	pthread_mutex_unlock(&n->lock);
}

/* --- Of all parts --- */

size_t node_hold(void *node, struct cluster_part ret[CLUSTER_PARTS_MAX])
{
	struct node *n = node;
	size_t count = 0;

	pthread_mutex_lock(&n->lock);
	for (int i = 0; i < SHARDS; i++) {
		struct node_part *part = n->shards[i].part;

		if (n->shards[i].state != NODE_OPEN)
			continue;
		part->requests++;
		ret[count++] = (struct cluster_part){i, &part->part->api, part};
	}
	pthread_mutex_unlock(&n->lock);
	return count;
}

void node_release(void *node, const struct cluster_part *part)
{
	(void)node;
	release(part->part);
}

/* One that was taken a moment ago may have some. */
uint64_t node_shards_with_spaces(void *node)
{
	struct node *n = node;
	uint64_t shards = 0;

	pthread_mutex_lock(&n->lock);
	for (int i = 0; n->view && i < SHARDS; i++)
		if (n->view->all.shards[i].has_spaces || n->view->all.shards[i].owner.p || n->shards[i].part)
			shards |= UINT64_C(1) << i;
	pthread_mutex_unlock(&n->lock);
	return shards;
}

struct store_conn *node_read_shard(void *node, int shard)
{
	struct node *n = node;
	struct store_conn *c;
	struct buf error;

	buf_init(&error, 4096);
	c = node_open_to_read(n, shard, &error);
	if (c == NULL)
		log_write(n->log, LOG_WARN, "a shard cannot be read", LOG_INT("shard", shard),
			  LOG_SLICE("error", buf_str(&error)));
	buf_release(&error);
	return c;
}

/* --- Telling --- */

const char *node_trouble(void *node)
{
	struct node *n = node;
	bool is_leaving;

	pthread_mutex_lock(&n->lock);
	is_leaving = n->is_leaving;
	pthread_mutex_unlock(&n->lock);
	if (is_leaving)
		return "draining";
	if (atomic_load(&n->is_too_old))
		return "too_old";
	if (!node_has_lease(n))
		return "no_lease";
	return atomic_load(&n->is_unreachable) ? "no_database" : NULL;
}

static int64_t view_age_ms(const struct node *n)
{
	return (clock_boot_ns() - n->view->asked_ns) / NODE_MS_NS;
}

/* So long nothing was seen that anybody may have renewed, or taken, what they had. */
static bool is_stale(const struct node *n)
{
	return n->view == NULL || view_age_ms(n) >= LEASE_MS;
}

static bool is_unknown(const struct node *n, const struct cluster_node_row *row)
{
	return is_stale(n) || (row->is_live && row->lease_left_ms <= view_age_ms(n));
}

static void put_node(const struct node *n, struct json_writer *w, int place)
{
	const struct cluster_node_row *row = node_row(n, place);
	const struct cluster_node_row *twin = node_twin(n->view, place);
	int64_t left_ms = row->lease_left_ms - view_age_ms(n);
	int count = 0;

	for (int i = 0; i < SHARDS; i++)
		count += n->shards[i].owner == place;
	json_begin_object(w);
	json_member_str(w, "id", row->id);
	json_member_str(w, "url", row->url);
	json_member_str(w, "version", row->version);
	json_member_cstr(w, "state", is_unknown(n, row) ? "unknown" : !row->is_live ? "gone" : row->is_leaving ?
			 "leaving" : "live");
	json_member_int(w, "lease_left_ms", left_ms > 0 ? left_ms : 0);
	json_member_int(w, "clock_offset_ms", row->clock_offset_ms);
	json_member_int(w, "shards", count);
	json_key(w, "same_url_as");
	if (twin)
		json_put_str(w, twin->id);
	else
		json_put_null(w);
	json_end_object(w);
}

static const char *state_of(const struct node *n, int shard)
{
	const struct node_shard *s = &n->shards[shard];

	if (s->state == NODE_OPENING || s->state == NODE_CLOSING)
		return "moving";
	if (is_stale(n) || (has_living_owner(n, shard) && is_unknown(n, node_row(n, s->owner))))
		return "unknown";
	if (!has_living_owner(n, shard))
		return n->view->all.shards[shard].has_spaces ? "none" : "idle";
	if (s->state == NODE_OPEN)
		return "open";
	return s->best >= 0 && s->best != s->owner ? "moving" : "owned";
}

void node_count(void *node, struct cluster_figures *ret)
{
	struct node *n = node;

	pthread_mutex_lock(&n->lock);
	*ret = (struct cluster_figures){.opened = n->opened, .losses = n->leases_lost};
	for (size_t i = 0; n->view && i < n->view->all.node_count; i++) {
		const struct cluster_node_row *row = &n->view->all.nodes[i];
		bool is_known = !is_unknown(n, row);

		ret->unknown += !is_known;
		ret->live += is_known && row->is_live && !row->is_leaving;
		ret->leaving += is_known && row->is_live && row->is_leaving;
		ret->gone += is_known && !row->is_live;
	}
	for (int i = 0; n->view && i < SHARDS; i++) {
		const char *state = state_of(n, i);
		bool is_own = n->view->me >= 0 && n->shards[i].owner == n->view->me;

		ret->owned += is_own && !is_unknown(n, node_row(n, n->view->me));
		ret->moving += strcmp(state, "moving") == 0;
		ret->orphans += strcmp(state, "none") == 0;
	}
	if (is_stale(n))
		ret->orphans = -1;
	if (n->view && n->view->me >= 0) {
		int64_t left_ns = atomic_load(&n->lease_until_ns) - clock_boot_ns();

		ret->lease_left_ms = left_ns > 0 ? left_ns / NODE_MS_NS : 0;
		ret->clock_offset_ms = node_row(n, n->view->me)->clock_offset_ms;
	}
	node_count_standbys(n, ret);
	pthread_mutex_unlock(&n->lock);
}

static void put_shard(const struct node *n, struct json_writer *w, int shard)
{
	const struct cluster_shard_row *row = &n->view->all.shards[shard];

	json_begin_object(w);
	json_member_int(w, "shard", shard);
	if (row->owner.p)
		json_member_str(w, "owner", row->owner);
	else
		json_member_null(w, "owner");
	json_member_int(w, "epoch", row->epoch);
	json_member_cstr(w, "state", state_of(n, shard));
	json_end_object(w);
}

void node_put(void *node, struct json_writer *w)
{
	struct node *n = node;

	pthread_mutex_lock(&n->lock);
	json_member_cstr(w, "node", n->id);
	if (n->view)
		json_member_int(w, "seen_ms_ago", view_age_ms(n));
	else
		json_member_null(w, "seen_ms_ago");
	json_key(w, "nodes");
	json_begin_array(w);
	for (size_t i = 0; n->view && i < n->view->all.node_count; i++)
		put_node(n, w, (int)i);
	json_end_array(w);
	json_key(w, "shards");
	json_begin_array(w);
	for (int i = 0; n->view && i < SHARDS; i++)
		put_shard(n, w, i);
	json_end_array(w);
	node_put_standbys(n, w);
	pthread_mutex_unlock(&n->lock);
}
