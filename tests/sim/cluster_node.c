#include "cluster_internal.h"

#include "core/cluster/shard.h"

#include <stdio.h>

enum { DOUBT_MAX_MS = 1000, GIVE_AT_ONCE = 1, DRIFT_PPM = 30000, ASK_AGAIN_MS = 1000 };

/* --- Clocks --- */

int64_t node_boot_ms(const struct node *n)
{
	int64_t gone_ms = n->cluster->now_ms - n->since_ms;

	return n->boot_base_ms + gone_ms + gone_ms * n->ppm / 1000000;
}

static int64_t wall_ms(const struct node *n)
{
	return node_boot_ms(n) + n->wall_off_ms;
}

int64_t node_time_ms(const struct node *n)
{
	return wall_ms(n) + n->offset_ms;
}

bool node_is_awake(const struct node *n)
{
	return n->is_up && n->paused_until_ms == 0;
}

bool node_reaches(const struct node *n)
{
	return !n->is_cut && n->cluster->now_ms >= n->cluster->away_until_ms;
}

void node_set_cut(struct node *n, bool is_cut)
{
	n->is_cut = is_cut;
	for (size_t i = 0; i < CLUSTER_SHARDS; i++)
		if (n->parts[i].engine)
			ram_cut(n->parts[i].engine->store, !node_reaches(n));
}

/* --- Life --- */

void node_init(struct cluster *c, int index)
{
	struct node *n = &c->nodes[index];

	n->cluster = c;
	n->index = index;
	n->life = 0;
	n->is_up = n->is_cut = n->is_leaving = false;
	n->paused_until_ms = 0;
	n->stuck = NULL;
	n->pause_in = 0;
	n->since_ms = c->now_ms;
	n->boot_base_ms = random_between(&c->random, 0, 1000000);
	n->ppm = random_between(&c->random, -DRIFT_PPM, DRIFT_PPM);
	n->wall_off_ms = random_between(&c->random, -1000000, 1000000);
	for (size_t i = 0; i < c->shard_count; i++) {
		struct part *p = &n->parts[i];

		p->node = n;
		p->shard = &c->shards[i];
		p->engine = NULL;
		p->reader = NULL;
		p->post_count = 0;
		p->now_ms = p->tick_at_ms = 0;
		p->is_dormant = false;
	}
}

/* Another one than before, as its name says. */
void node_start(struct node *n)
{
	struct cluster *c = n->cluster;

	if (n->is_up)
		return;
	n->life++;
	n->is_up = true;
	n->is_leaving = false;
	n->paused_until_ms = 0;
	n->lease = (struct lease){0};
	n->view = (struct view){0};
	n->is_doubtful = true;
	for (size_t i = 0; i < c->shard_count; i++)
		n->parts[i].now_ms = 0;
	snprintf(n->name, sizeof(n->name), "node-%08x", (unsigned)random_next(&c->random));
	cluster_note(c, NULL, "%s starts as number %d", n->name, n->index);
	cluster_later(c, 0, AT_NODE_RENEWS, n, NULL)->life = n->life;
}

/* A batch that was stopped finds that nothing is there any more, and ends: then it can be cleared away. */
static void unwind(struct node *n)
{
	struct part *p = n->stuck;

	if (p == NULL)
		return;
	n->stuck = NULL;
	ram_cut(p->engine->store, true);
	pause_go_on(&n->pause);
	if (n->pause.is_left)
		longjmp(n->cluster->trace->out, 1);
}

void node_end(struct node *n)
{
	unwind(n);
	for (size_t i = 0; i < n->cluster->shard_count; i++)
		part_close(&n->parts[i]);
	n->is_up = false;
	n->paused_until_ms = 0;
}

void node_die(struct node *n)
{
	struct cluster *c = n->cluster;

	if (!n->is_up)
		return;
	cluster_note(c, NULL, "%s dies", n->name);
	node_end(n);
	cluster_later(c, random_between(&c->random, 100, 8000), AT_NODE_STARTS, n, NULL);
}

static void leave_for_good(struct node *n)
{
	struct cluster *c = n->cluster;

	ram_database_remove(c->db, n->name);
	n->is_up = false;
	cluster_note(c, NULL, "%s has left", n->name);
	cluster_later(c, random_between(&c->random, 100, 8000), AT_NODE_STARTS, n, NULL);
}

void node_go_on(struct node *n)
{
	struct cluster *c = n->cluster;

	if (!n->is_up || n->paused_until_ms == 0 || c->now_ms < n->paused_until_ms)
		return;
	n->paused_until_ms = 0;
	cluster_note(c, NULL, "%s goes on", n->name);
	if (n->stuck)
		part_go_on(n->stuck);
	for (size_t i = 0; i < c->shard_count && node_is_awake(n); i++)
		part_plan(&n->parts[i]);
}

/* --- The lease --- */

/* By its own clock, which may be slow or fast. */
static void renew_in(struct node *n, int64_t after_ms)
{
	cluster_later(n->cluster, after_ms > 1 ? after_ms : 1, AT_NODE_RENEWS, n, NULL)->life = n->life;
}

static int64_t way_ms(struct cluster *c)
{
	return cluster_fails(c, 15) ? random_between(&c->random, 20, 2600) : random_between(&c->random, 0, 6);
}

/* Others may have everything by now. Some find that out by themselves, others when they see it. */
static void look_at_lease(struct node *n)
{
	struct cluster *c = n->cluster;

	if (!c->loses_at_end || !n->lease.is_held || lease_left_ms(&n->lease, node_boot_ms(n) * 1000000) > 0)
		return;
	for (size_t i = 0; i < c->shard_count; i++)
		part_close(&n->parts[i]);
}

void node_renews(struct node *n)
{
	struct cluster *c = n->cluster;
	struct renewal *r;

	look_at_lease(n);
	if (!node_reaches(n)) {
		renew_in(n, random_between(&c->random, 200, ASK_AGAIN_MS));
		return;
	}
	r = arena_zalloc(&c->arena, sizeof(*r));
	snprintf(r->node, sizeof(r->node), "%s", n->name);
	r->is_leaving = n->is_leaving;
	r->asked_boot_ms = node_boot_ms(n);
	r->asked_wall_ms = wall_ms(n);
	/* It gets there whatever happens to the node meanwhile. */
	cluster_later(c, way_ms(c), AT_RENEWAL_ARRIVES, n, r)->life = n->life;
}

void node_renewal_arrives(struct cluster *c, struct node *n, uint64_t life, struct renewal *r)
{
	struct view *v = &r->view;

	if (!node_reaches(n)) {
		if (life == n->life)
			cluster_later(c, ASK_AGAIN_MS, AT_NODE_RENEWS, n, NULL)->life = life;
		return;
	}
	ram_database_renew(c->db, r->node, LEASE_MS, r->is_leaving);
	v->node_count = ram_database_nodes(c->db, v->nodes);
	v->db_now_ms = c->now_ms;
	for (size_t i = 0; i < c->shard_count; i++)
		snprintf(v->owners[i], RAM_NODE_NAME, "%s", ram_database_owner(c->db, c->shards[i].number));
	cluster_later(c, way_ms(c), AT_RENEWAL_ANSWERED, n, r)->life = life;
}

/* --- What it owns --- */

static bool is_mine(const struct node *n, size_t shard)
{
	return strcmp(n->view.owners[shard], n->name) == 0;
}

/* What others have is theirs; what it has and is not open is opened. */
static void follow_view(struct node *n)
{
	struct cluster *c = n->cluster;

	for (size_t i = 0; i < c->shard_count; i++) {
		struct part *p = &n->parts[i];

		if (p->engine && !p->is_dormant && !is_mine(n, i)) {
			cluster_note(c, p->shard, "%s has lost it", n->name);
			p->is_dormant = c->broken == CLUSTER_KEEPS_CACHES;
			if (p->is_dormant)
				part_plan(p);
			else
				part_close(p);
		} else if (is_mine(n, i) && (p->engine == NULL || p->is_dormant)) {
			part_open(p);
		}
	}
}

static void carry_out(struct node *n, const struct cluster_step *step)
{
	struct cluster *c = n->cluster;
	struct part *p = n->parts;

	while (p->shard->number != step->shard)
		p++;
	if (step->action == CLUSTER_TAKE) {
		if (p->engine == NULL || p->is_dormant)
			part_open(p);
		return;
	}
	cluster_note(c, p->shard, "%s gives it away", n->name);
	part_close(p);
	if (p->shard->taker == p)
		p->shard->taker = NULL;
	ram_database_give(c->db, p->shard->number, n->name);
}

static void plan(struct node *n)
{
	struct cluster *c = n->cluster;
	const struct view *v = &n->view;
	struct cluster_node nodes[RAM_NODES];
	struct cluster_shard shards[CLUSTER_SHARDS];
	struct cluster_step steps[CLUSTER_SHARDS];
	size_t count;

	for (size_t i = 0; i < v->node_count; i++)
		nodes[i] = (struct cluster_node){str_of(v->nodes[i].name), v->nodes[i].lease_until_ms > v->db_now_ms,
						 v->nodes[i].is_leaving};
	for (size_t i = 0; i < c->shard_count; i++)
		shards[i] = (struct cluster_shard){c->shards[i].number,
						   v->owners[i][0] ? str_of(v->owners[i]) : STR_NULL};
	count = cluster_plan(str_of(n->name), nodes, v->node_count, shards, c->shard_count, GIVE_AT_ONCE, steps);
	for (size_t i = 0; i < count; i++)
		carry_out(n, &steps[i]);
}

static bool has_any(const struct node *n)
{
	for (size_t i = 0; i < n->cluster->shard_count; i++)
		if (n->parts[i].engine || is_mine(n, i))
			return true;
	return false;
}

/* Half the way there and back is what it does not know of the time. */
static void read_clock(struct node *n, const struct renewal *r)
{
	int64_t way_ms = node_boot_ms(n) - r->asked_boot_ms;

	n->is_doubtful = way_ms / 2 > DOUBT_MAX_MS;
	if (!n->is_doubtful)
		n->offset_ms = r->view.db_now_ms - (wall_ms(n) - way_ms / 2);
}

void node_renewed(struct node *n, struct renewal *r)
{
	struct cluster *c = n->cluster;

	look_at_lease(n);
	lease_renewed(&n->lease, r->asked_boot_ms * 1000000);
	n->view = r->view;
	read_clock(n, r);
	renew_in(n, LEASE_RENEW_MS - (node_boot_ms(n) - r->asked_boot_ms));
	if (n->is_doubtful) {
		for (size_t i = 0; i < c->shard_count; i++)
			part_close(&n->parts[i]);
		return;
	}
	follow_view(n);
	plan(n);
	for (size_t i = 0; i < c->shard_count; i++)
		part_plan(&n->parts[i]);
	if (n->is_leaving && r->is_leaving && !has_any(n))
		leave_for_good(n);
}
