#include "cluster_internal.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { VERBS = 40, TICK_MS = 2 };

/* --- Time --- */

void part_look_at_clock(struct part *p)
{
	struct cluster *c = p->node->cluster;
	int64_t now_ms = node_time_ms(p->node);

	if (now_ms > p->now_ms)
		p->now_ms = now_ms;
	if (p->now_ms > c->newest_ms)
		c->newest_ms = p->now_ms;
}

/* Not below the newest time in the store: another node may have been ahead. */
static void begin_clock(void *ctx, int64_t newest_ms)
{
	struct part *p = ctx;

	p->now_ms = p->now_ms > newest_ms ? p->now_ms : newest_ms;
}

static int64_t clock_of(void *ctx)
{
	return ((const struct part *)ctx)->now_ms;
}

static void tick_in(struct part *p, int64_t after_ms)
{
	int64_t at_ms = p->node->cluster->now_ms + after_ms;

	if (p->tick_at_ms == 0 || at_ms < p->tick_at_ms)
		p->tick_at_ms = at_ms;
}

static bool has_work(const struct part *p)
{
	struct writer_stats stats = {0};

	writer_stats(p->engine->writer, &stats);
	return stats.queued > 0 || p->post_count > 0;
}

void part_plan(struct part *p)
{
	struct cluster *c = p->node->cluster;
	int64_t wake_ms;

	p->tick_at_ms = 0;
	if (p->engine == NULL || p->is_dormant)
		return;
	if (has_work(p)) {
		tick_in(p, random_between(&c->random, 0, TICK_MS));
		return;
	}
	wake_ms = engine_wake_at(p->engine);
	if (wake_ms) {
		/* Its clock may have been set back. */
		int64_t left_ms = wake_ms - node_time_ms(p->node);

		if (wake_ms <= p->now_ms || left_ms < 1)
			left_ms = 1;
		tick_in(p, left_ms);
	}
}

/* --- The host's view of it --- */

void part_enter(struct part *p)
{
	struct host *h = p->shard->host;

	p->shard->at_hand = p;
	p->node->cluster->trace->shard = p->shard->index + 1;
	h->engine = p->engine;
	h->reader = p->reader;
	h->now_ms = p->now_ms;
	record_enter(h);
}

static void on_committed(void *ctx, struct store_conn *conn)
{
	struct shard *s = ctx;
	struct part *p = s->at_hand;

	/* Not by an engine: the world puts its envelopes there itself. */
	if (p == NULL || p->engine == NULL || p->engine->store != conn)
		return;
	if (s->taker != p || s->taker_life != p->node->life)
		trace_fail(s->cluster->trace, "%s has committed to shard %d, which %s has taken", p->node->name,
			   s->index, s->taker ? s->taker->node->name : "nobody");
	record_committed(s->host);
}

/* The batch stops here, and the node with it. */
static void stop_here(struct part *p)
{
	struct node *n = p->node;
	struct cluster *c = n->cluster;
	struct host *h = p->shard->host;
	bool has_committed = h->has_committed;
	size_t rollbacks = h->rollbacks;

	n->pause_in = 0;
	n->pauses_at_settling = false;
	n->pauses++;
	n->stuck = p;
	c->tally->faults[FAULT_PAUSED_IN_BATCH]++;
	faults_pause(n, random_chance(&c->random, 400) ? random_between(&c->random, 1, 1500)
						      : random_between(&c->random, 1500, 14000));
	if (random_chance(&c->random, 250))
		cluster_later(c, random_between(&c->random, 0, 3000), AT_NODE_DIES, n, NULL)->life = n->life;
	cluster_later(c, IDLE_MS, AT_IDLE, NULL, p)->serial = n->pauses;
	pause_here(&n->pause);
	/* Another may have had the shard meanwhile. */
	part_enter(p);
	h->has_committed = has_committed;
	h->rollbacks = rollbacks;
	h->is_behind = true;
}

static void on_verb(void *ctx, struct store_conn *conn)
{
	struct part *p = ((struct shard *)ctx)->at_hand;

	if (p && p->engine && p->engine->store == conn && p->node->pause_in && --p->node->pause_in == 0)
		stop_here(p);
}

static void on_settling(void *ctx, struct store_conn *conn)
{
	struct part *p = ((struct shard *)ctx)->at_hand;

	if (p == NULL || p->engine == NULL || p->engine->store != conn)
		return;
	p->node->cluster->tally->faults[p->node->breaks_kept ? FAULT_COMMIT_BROKE_KEPT : FAULT_COMMIT_BROKE_LOST]++;
	if (p->node->pauses_at_settling)
		stop_here(p);
}

/* --- Life --- */

static void set_hooks(struct shard *s)
{
	static const unsigned broken[CLUSTER_BROKEN] = {
		[CLUSTER_NO_FENCE] = RAM_NO_FENCE, [CLUSTER_SAME_EPOCH] = RAM_SAME_EPOCH,
		[CLUSTER_NO_MARKER] = RAM_NO_MARKER,
	};

	ram_set_hooks(s->host->store, &(struct ram_hooks){on_verb, on_committed, on_settling, s});
	ram_set_broken(s->host->store, broken[s->cluster->broken]);
}

static bool open_engine(struct part *p, struct buf *error)
{
	struct cluster *c = p->node->cluster;
	struct engine_config config = {
		.data_dir = p->address, .log = &c->log, .key_ttl_ms = HOST_KEY_TTL_MS, .max_queue = 100000,
		.token_entries = 1 << 10, .seed = random_next(&c->random), .rules = alert_rules_default,
		.is_stepped = true, .now_ms = clock_of, .begin_clock = begin_clock, .ctx = p, .keep = c->keep,
	};

	p->shard->at_hand = NULL;
	p->shard->host->is_behind = true;
	snprintf(p->address, sizeof(p->address), "%s@%s", p->shard->address, p->node->name);
	set_hooks(p->shard);
	p->engine = engine_open(&config, error);
	return p->engine;
}

static void begin(struct part *p, struct buf *error)
{
	p->reader = engine_reader_open(p->engine, error);
	list_init(&p->requests);
	p->post_count = 0;
	p->listener = (struct listener){0};
	part_look_at_clock(p);
	record_begin(p->shard->host, p->engine->store);
	part_enter(p);
	/* The host hears of what changes, to hold it against what was written. */
	p->listener.committed = p->shard->host->listener.committed;
	p->listener.changed = p->shard->host->listener.changed;
	p->listener.ctx = p->shard->host;
	engine_listen(p->engine, &p->listener);
	engine_start(p->engine);
}

static void is_taken(struct part *p)
{
	struct shard *s = p->shard;
	struct cluster *c = s->cluster;

	if (s->taker != p)
		c->tally->takeovers++;
	s->taker = p;
	s->taker_life = p->node->life;
	cluster_note(c, s, "%s takes it, epoch %lld", p->node->name, (long long)ram_epoch(p->engine->store));
	check_whole(s->host->check);
}

bool part_open(struct part *p)
{
	struct buf error;

	if (!node_reaches(p->node))
		return false;
	part_look_at_clock(p);
	if (p->is_dormant) {
		p->is_dormant = !ram_retake(p->engine->store);
		if (!p->is_dormant)
			is_taken(p);
		part_plan(p);
		return !p->is_dormant;
	}
	buf_init(&error, 4096);
	if (open_engine(p, &error)) {
		begin(p, &error);
		is_taken(p);
	}
	buf_release(&error);
	part_plan(p);
	return p->engine;
}

void part_close(struct part *p)
{
	if (p->engine == NULL)
		return;
	p->post_count = 0;
	p->tick_at_ms = 0;
	p->is_dormant = false;
	part_enter(p);
	engine_reader_close(p->reader);
	engine_free(p->engine);
	p->engine = NULL;
	p->reader = NULL;
	p->shard->at_hand = NULL;
	p->shard->host->engine = NULL;
	while (!list_is_empty(&p->requests))
		call_lost(LIST_ELEMENT(p->requests.next, struct request, link));
}

/* --- A batch --- */

static void step(void *arg)
{
	engine_step(((struct part *)arg)->engine);
}

/* What goes wrong in it. */
static void plan_faults(struct part *p)
{
	struct node *n = p->node;
	struct cluster *c = n->cluster;
	struct store_conn *store = p->shard->host->store;
	uint64_t dice = random_below(&c->random, 1000);
	bool is_kept = random_chance(&c->random, 500);

	n->pause_in = 0;
	n->pauses_at_settling = false;
	if (c->is_calm || c->scale == 0)
		return;
	if (dice < 4 * c->scale) {
		n->pause_in = 1 + (unsigned)random_below(&c->random, VERBS);
	} else if (dice < 8 * c->scale) {
		ram_break_commit(store, is_kept);
		n->breaks_kept = is_kept;
		n->pauses_at_settling = random_chance(&c->random, 300);
	} else if (dice < 9 * c->scale) {
		ram_fail_commit(store, is_kept);
	}
}

void part_run_posts(struct part *p)
{
	for (size_t i = 0; i < p->post_count; i++)
		p->posts[i].fn(p->posts[i].op);
	p->post_count = 0;
}

static void check_batch(struct part *p)
{
	struct host *h = p->shard->host;

	if (p->shard->taker != p || !h->has_committed || h->rollbacks)
		return;
	host_check_clock(h);
	if (!has_work(p))
		host_check_waiting(h, &p->requests);
}

/* Behind the last verb: the answers leave, unless the node stops or dies before. */
static void batch_is_over(struct part *p)
{
	struct node *n = p->node;
	struct cluster *c = n->cluster;
	struct host *h = p->shard->host;
	bool is_in_way = ram_is_writing(h->store);	/* another's batch, which has stopped */

	part_enter(p);
	if (!is_in_way)
		ram_heal(h->store);
	n->pause_in = 0;
	n->pauses_at_settling = false;
	if (atomic_load(&p->engine->failed)) {
		c->tally->faults[h->has_committed ? FAULT_COMMIT_FAILED_KEPT : FAULT_COMMIT_FAILED_LOST]++;
		if (!is_in_way)
			part_run_posts(p);
		part_close(p);
		return;
	}
	if (h->has_committed && cluster_fails(c, 2)) {
		c->tally->faults[FAULT_KILLED_AFTER_COMMIT]++;
		cluster_later(c, 0, AT_NODE_DIES, n, NULL)->life = n->life;
		faults_pause(n, 1);
	} else if (h->has_committed && cluster_fails(c, 3)) {
		faults_pause(n, random_between(&c->random, 1, 9000));
	} else if (!is_in_way) {
		part_run_posts(p);
		check_batch(p);
	}
	part_plan(p);
}

/* What was written out of a batch that is left for good is lost with the run. */
static void leave_if_failed(struct part *p)
{
	if (p->node->pause.is_left)
		longjmp(p->node->cluster->trace->out, 1);
}

void part_tick(struct part *p)
{
	struct node *n = p->node;
	struct host *h = p->shard->host;
	bool is_over = true;

	p->tick_at_ms = 0;
	part_look_at_clock(p);
	part_enter(p);
	if (ram_is_writing(h->store)) {
		/* Another's transaction is in the way, which is paused. */
		tick_in(p, 100);
		return;
	}
	h->has_committed = false;
	h->rollbacks = 0;
	plan_faults(p);
	if (n->pause_in || n->pauses_at_settling) {
		is_over = pause_run(&n->pause, step, p);
		leave_if_failed(p);
	} else {
		engine_step(p->engine);
	}
	if (is_over)
		batch_is_over(p);
}

void part_go_on(struct part *p)
{
	p->node->stuck = NULL;
	if (pause_go_on(&p->node->pause)) {
		leave_if_failed(p);
		batch_is_over(p);
	}
}
