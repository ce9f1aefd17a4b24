#include "cluster_internal.h"

#include "base/mem.h"
#include "core/cluster/shard.h"

#include <assert.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { START_MS = 1000, PROBE_MS = 250 };

/* --- Errands --- */

static bool errand_before(const void *a, const void *b)
{
	const struct cluster_errand *x = a, *y = b;

	return x->at_ms != y->at_ms ? x->at_ms < y->at_ms : x->seq < y->seq;
}

static void errand_set_pos(void *item, size_t pos)
{
	((struct cluster_errand *)item)->pos = pos;
}

struct cluster_errand *cluster_later(struct cluster *c, int64_t after_ms, enum cluster_errand_kind kind,
				     struct node *node, void *what)
{
	struct cluster_errand *e = c->free_errands;

	if (e)
		c->free_errands = e->next_free;
	else
		e = arena_alloc(&c->arena, sizeof(*e));
	*e = (struct cluster_errand){.at_ms = c->now_ms + after_ms, .seq = c->seq++, .pos = HEAP_NONE, .kind = kind,
				     .node = node, .what = what};
	heap_insert(&c->errands, e);
	return e;
}

void cluster_note(struct cluster *c, struct shard *s, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	c->trace->shard = s ? s->index + 1 : 0;
	trace_note(c->trace, c->now_ms, arena_cstr(&c->arena, str_of(text)), s ? s->index : 0);
}

static void end_idle(struct cluster *c, const struct part *p, uint64_t pause)
{
	const struct node *n = p->node;

	if (n->stuck != p || n->pauses != pause || !ram_is_own(p->engine->store))
		return;
	c->tally->faults[FAULT_IDLE_ENDED]++;
	cluster_note(c, p->shard, "the database ends the transaction of %s", n->name);
	ram_end_idle(p->engine->store);
}

static void probe(struct cluster *c)
{
	bool is_served = true;

	if (c->last_fault_ms == 0 && faults_are_over(c))
		c->last_fault_ms = c->now_ms;
	for (size_t i = 0; i < c->shard_count && c->last_fault_ms; i++) {
		struct shard *s = &c->shards[i];

		if (s->served_ms)
			continue;
		is_served = false;
		if (c->now_ms > c->last_fault_ms + SERVED_WITHIN_MS)
			trace_fail(c->trace, "shard %d is not served %d ms behind the last fault", s->index,
				   SERVED_WITHIN_MS);
		call_probe(s);
	}
	if (!is_served || c->last_fault_ms == 0)
		cluster_later(c, PROBE_MS, AT_PROBE, NULL, NULL);
}

/* A node that is paused does nothing: what reaches it waits. */
static bool is_put_off(struct cluster *c, const struct cluster_errand *e)
{
	const struct node *n = e->node;
	struct cluster_errand *again;
	bool waits = e->kind == AT_NODE_RENEWS || e->kind == AT_RENEWAL_ANSWERED || e->kind == AT_CALL_ENTERS ||
		     e->kind == AT_CALL_PASSED || e->kind == AT_NUDGE;

	if (n == NULL || !waits || n->paused_until_ms == 0)
		return false;
	again = cluster_later(c, n->paused_until_ms - c->now_ms + 1, e->kind, e->node, e->what);
	again->life = e->life;
	again->serial = e->serial;
	again->flag = e->flag;
	return true;
}

static void do_errand(struct cluster *c, struct cluster_errand *e)
{
	struct node *n = e->node;
	bool is_alive = n && (e->life == 0 || (n->is_up && n->life == e->life));

	if (is_put_off(c, e))
		return;
	switch (e->kind) {
	case AT_NODE_RENEWS:
		if (is_alive)
			node_renews(n);
		break;
	case AT_RENEWAL_ARRIVES:
		node_renewal_arrives(c, n, e->life, e->what);
		break;
	case AT_RENEWAL_ANSWERED:
		if (is_alive)
			node_renewed(n, e->what);
		break;
	case AT_NODE_GOES_ON:
		if (is_alive)
			node_go_on(n);
		break;
	case AT_NODE_STARTS:
		node_start(n);
		break;
	case AT_NODE_DIES:
		if (is_alive)
			node_die(n);
		break;
	case AT_NODE_REACHES:
		node_set_cut(n, false);
		break;
	case AT_IDLE:
		end_idle(c, e->what, e->serial);
		break;
	case AT_FAULT:
		faults_next(c);
		break;
	case AT_CALL_ENTERS:
		call_enters(n, e->what);
		break;
	case AT_CALL_PASSED:
		call_passed(n, e->what);
		break;
	case AT_CALL_ENDS:
		call_ends(e->what, e->flag);
		break;
	case AT_CALL_GIVEN_UP:
		call_given_up(e->what);
		break;
	case AT_NUDGE:
		call_nudge(e->what, e->serial, e->flag);
		break;
	case AT_PROBE:
		probe(c);
		break;
	}
}

/* --- What is next --- */

struct next {
	int64_t at_ms;
	struct world *world;			/* it, or the part; neither: an errand */
	struct part *part;
};

static void consider(struct next *best, int64_t at_ms, struct world *world, struct part *part)
{
	if (at_ms && (best->at_ms == 0 || at_ms < best->at_ms))
		*best = (struct next){at_ms, world, part};
}

static struct next find_next(struct cluster *c)
{
	const struct cluster_errand *e = heap_first(&c->errands);
	struct next best = {e ? e->at_ms : 0, NULL, NULL};

	for (size_t i = 0; i < c->shard_count; i++)
		consider(&best, world_next_ms(c->shards[i].world), c->shards[i].world, NULL);
	for (size_t i = 0; i < c->node_count; i++)
		for (size_t j = 0; j < c->shard_count && node_is_awake(&c->nodes[i]); j++)
			consider(&best, c->nodes[i].parts[j].tick_at_ms, NULL, &c->nodes[i].parts[j]);
	return best;
}

static void go_on(struct cluster *c)
{
	struct next next = find_next(c);
	struct cluster_errand *e;

	/* The tick of a node that was paused is late. */
	if (next.at_ms > c->now_ms)
		c->now_ms = next.at_ms;
	ram_database_set_time(c->db, c->now_ms);
	if (next.world) {
		world_go_on(next.world);
	} else if (next.part) {
		part_tick(next.part);
	} else {
		e = heap_first(&c->errands);
		heap_remove(&c->errands, e->pos);
		do_errand(c, e);
		e->next_free = c->free_errands;
		c->free_errands = e;
	}
}

static bool are_worlds(const struct cluster *c, bool (*is)(const struct world *w))
{
	for (size_t i = 0; i < c->shard_count; i++)
		if (!is(c->shards[i].world))
			return false;
	return true;
}

static bool is_served(const struct cluster *c)
{
	for (size_t i = 0; i < c->shard_count; i++)
		if (c->shards[i].served_ms == 0)
			return false;
	return true;
}

static void play(struct cluster *c)
{
	while (!c->is_calm || !are_worlds(c, world_is_over) || !is_served(c)) {
		go_on(c);
		if (!c->is_calm && are_worlds(c, world_is_calm)) {
			cluster_note(c, NULL, "nothing goes wrong from here on");
			faults_end(c);
			cluster_later(c, 0, AT_PROBE, NULL, NULL);
		}
	}
}

/* --- A run --- */

/* Two spaces that belong to the shard of the first, which no other has. */
static void name_spaces(struct cluster *c, struct shard *s)
{
	uint64_t number = random_below(&c->random, 100000);
	bool is_free = false;

	while (!is_free) {
		s->spaces[0] = arena_printf(&c->arena, "space-%llu", (unsigned long long)number++);
		s->number = shard_of(s->spaces[0]);
		is_free = true;
		for (int i = 0; i < s->index; i++)
			is_free &= c->shards[i].number != s->number;
	}
	do
		s->spaces[1] = arena_printf(&c->arena, "space-%llu", (unsigned long long)number++);
	while (shard_of(s->spaces[1]) != s->number);
}

/* For the world, which puts envelopes there. */
static bool enter_owner(void *ctx)
{
	struct shard *s = ctx;
	struct part *p = s->taker;

	if (p == NULL || p->engine == NULL || p->is_dormant || p->node->life != s->taker_life ||
	    !node_is_awake(p->node) || !node_reaches(p->node) || ram_is_writing(s->host->store) ||
	    atomic_load(&p->engine->failed))
		return false;
	part_look_at_clock(p);
	part_enter(p);
	return true;
}

static void begin_shard(struct cluster *c, int index, size_t handoffs)
{
	struct shard *s = &c->shards[index];
	uint64_t seed = random_next(&c->random);

	s->index = index;
	s->cluster = c;
	s->taker = s->at_hand = NULL;
	s->served_ms = 0;
	s->host = world_host(s->world);
	name_spaces(c, s);
	snprintf(s->address, sizeof(s->address), "ram:%s#%d", c->name, s->number);
	s->host_cluster = (struct host_cluster){call_submit, enter_owner, s};
	c->trace->shard = index + 1;
	host_set_shard(s->host, s->address, s->spaces, NULL);
	world_begin(s->world, seed, handoffs);
	host_leave(s->host);
	host_set_shard(s->host, s->address, s->spaces, &s->host_cluster);
	s->host->faults = (struct host_faults){0};
}

static void begin(struct cluster *c, uint64_t seed, size_t handoffs)
{
	static unsigned databases;

	arena_release(&c->arena);
	c->random = seed;
	c->now_ms = c->newest_ms = START_MS;
	c->errands.len = 0;
	c->free_errands = NULL;
	c->free_calls = NULL;
	c->seq = 0;
	c->is_calm = false;
	c->node_count = 2 + random_below(&c->random, CLUSTER_NODES - 1);
	c->shard_count = 1 + random_below(&c->random, CLUSTER_SHARDS);
	snprintf(c->name, sizeof(c->name), "sim-cluster-%u", ++databases);
	c->db = ram_database_open(c->name);
	ram_database_set_time(c->db, c->now_ms);
	for (size_t i = 0; i < c->shard_count; i++)
		begin_shard(c, (int)i, handoffs / c->shard_count);
	for (size_t i = 0; i < c->node_count; i++) {
		node_init(c, (int)i);
		cluster_later(c, random_between(&c->random, 0, 3000), AT_NODE_STARTS, &c->nodes[i], NULL);
	}
	faults_begin(c);
}

/* Everything is looked at once more, by an engine that has each shard to itself. */
static uint64_t end(struct cluster *c)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < c->node_count; i++)
		node_end(&c->nodes[i]);
	for (size_t i = 0; i < c->shard_count; i++) {
		struct shard *s = &c->shards[i];
		struct ram_hooks none = {0};

		c->trace->shard = s->index + 1;
		ram_set_hooks(s->host->store, &none);
		host_come_back(s->host, c->newest_ms + 1);
		c->tally->simulated_ms += (uint64_t)world_end(s->world, c->newest_ms + 1);
		c->tally->recovered++;
		c->tally->recovery_ms += (uint64_t)(s->served_ms - c->last_fault_ms);
		hash = hash * 31 + check_hash(s->host->check);
	}
	ram_database_close(c->db);
	return hash;
}

/* Out of a batch that was stopped the way leads over the stack of those who run it. */
static void escape(void *ctx)
{
	struct cluster *c = ctx;

	for (size_t i = 0; i < c->node_count; i++)
		if (c->nodes[i].pause.is_inside)
			pause_leave(&c->nodes[i].pause);
}

struct world_result cluster_run(struct cluster *c, uint64_t seed, size_t handoffs, enum cluster_broken broken)
{
	static const char *const again[CLUSTER_BROKEN] = {
		"--cluster", "--cluster --broken 1", "--cluster --broken 2", "--cluster --broken 3",
		"--cluster --broken 4", "--cluster --broken 5",
	};
	struct world_result result = {0};

	trace_begin(c->trace, seed, again[broken]);
	c->broken = broken;
	c->tally->runs++;
	if (setjmp(c->trace->out)) {
		c->tally->failed++;
		return result;
	}
	begin(c, seed, handoffs);
	play(c);
	return (struct world_result){true, end(c)};
}

struct cluster *cluster_new(struct tally *tally, struct trace *trace)
{
	struct cluster *c = mem_zalloc(sizeof(*c));

	c->trace = trace;
	c->tally = tally;
	trace->escape = escape;
	trace->escape_ctx = c;
	heap_init(&c->errands, errand_before, errand_set_pos);
	arena_init(&c->arena);
	log_init(&c->log, open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR, LOG_TEXT);
	for (size_t i = 0; i < CLUSTER_SHARDS; i++)
		c->shards[i].world = world_new(tally, trace);
	return c;
}

void cluster_free(struct cluster *c)
{
	for (size_t i = 0; i < CLUSTER_SHARDS; i++)
		world_free(c->shards[i].world);
	for (size_t i = 0; i < CLUSTER_NODES; i++) {
		pause_release(&c->nodes[i].pause);
		for (size_t j = 0; j < CLUSTER_SHARDS; j++)
			free(c->nodes[i].parts[j].posts);
	}
	heap_release(&c->errands);
	arena_release(&c->arena);
	free(c);
}

const char *cluster_broken_name(enum cluster_broken broken)
{
	static const char *const names[CLUSTER_BROKEN] = {
		[CLUSTER_WELL] = "nothing", [CLUSTER_NO_FENCE] = "fence", [CLUSTER_SAME_EPOCH] = "epoch",
		[CLUSTER_NO_MARKER] = "marker", [CLUSTER_NO_GATE] = "gate", [CLUSTER_KEEPS_CACHES] = "caches",
	};

	return broken < CLUSTER_BROKEN ? names[broken] : NULL;
}
