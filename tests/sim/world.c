/* Errands, the network, and the run. */
#include "world_internal.h"

#include "base/mem.h"
#include "store/ram/ram_faults.h"

#include <assert.h>
#include <stdlib.h>

enum { CALM_AFTER_MS = 20000, CALM_MAX_MS = 1800 * 1000, START_MS = 1000 };

/* Who gets the answer of a request. */
struct letter {
	void (*done)(struct world *w, struct request *q, bool is_known);
	void *who;
	int copies;				/* answers under way */
	struct letter *next_free;
};

/* --- Errands --- */

static bool errand_before(const void *a, const void *b)
{
	const struct errand *x = a, *y = b;

	return x->at_ms != y->at_ms ? x->at_ms < y->at_ms : x->seq < y->seq;
}

static void errand_set_pos(void *item, size_t pos)
{
	((struct errand *)item)->pos = pos;
}

static struct errand *plan_errand(struct world *w, int64_t at_ms, enum errand_kind kind, void *what)
{
	struct errand *e = w->free_errands;

	if (e)
		w->free_errands = e->next_free;
	else
		e = arena_alloc(&w->arena, sizeof(*e));
	*e = (struct errand){.at_ms = at_ms, .seq = w->seq++, .pos = HEAP_NONE, .kind = kind, .what = what};
	heap_insert(&w->errands, e);
	return e;
}

void world_later(struct world *w, int64_t after_ms, enum errand_kind kind, void *what)
{
	plan_errand(w, w->now_ms + after_ms, kind, what);
}

/* --- The network --- */

void *world_who(const struct request *q)
{
	return ((struct letter *)request_ctx(q))->who;
}

/* The server has answered, or nobody will: the answer is on its way, unless it gets lost or comes twice. */
static void on_done(void *ctx, struct request *q, bool is_known)
{
	struct world *w = ctx;
	struct letter *l = request_ctx(q);
	int64_t latency_ms = random_between(&w->random, 0, 8);

	if (is_known && !w->is_calm && random_chance(&w->random, w->loss)) {
		is_known = false;
		w->tally->faults[FAULT_REPLY_LOST]++;
	}
	l->copies = 1;
	plan_errand(w, w->now_ms + latency_ms, ERRAND_REPLY, q)->flag = is_known;
	/* Whoever settles knows what it has asked, and drops a second answer; the others may take it for a new one. */
	if (is_known && !w->is_calm && request_step(q)->kind != STEP_SETTLE && request_step(q)->item == NULL &&
	    random_chance(&w->random, w->loss / 2)) {
		w->tally->faults[FAULT_REPLY_TWICE]++;
		l->copies++;
		plan_errand(w, w->now_ms + latency_ms + random_between(&w->random, 0, 3000), ERRAND_REPLY,
			    q)->flag = true;
	}
}

/* A caller waits: some go away before it is over. */
static void on_wait(void *ctx, struct request *q, int64_t wait_ms)
{
	struct world *w = ctx;
	bool leaves = !w->is_calm && random_chance(&w->random, w->loss);
	struct errand *e;

	if (leaves) {
		/* Some at once, while the answer is being made. */
		wait_ms = random_between(&w->random, 0, random_chance(&w->random, 500) ? 1 : wait_ms);
		w->tally->faults[FAULT_CALLER_GONE]++;
	}
	e = plan_errand(w, w->now_ms + wait_ms, ERRAND_NUDGE, q);
	e->serial = request_serial(q);
	e->flag = leaves;
}

struct step *world_request(struct world *w, enum step_kind kind, int64_t space,
			   void (*done)(struct world *w, struct request *q, bool is_known), void *who)
{
	struct letter *l = w->free_letters;

	if (l)
		w->free_letters = l->next_free;
	else
		l = arena_alloc(&w->arena, sizeof(*l));
	*l = (struct letter){.done = done, .who = who};
	w->draft = host_request(w->host, kind, space);
	request_set_ctx(w->draft, l);
	return request_step(w->draft);
}

static void get_reply(struct world *w, struct request *q, bool is_known)
{
	struct letter *l = request_ctx(q);

	if (l->done)
		l->done(w, q, is_known);
	if (--l->copies == 0) {
		host_release(w->host, q);
		l->next_free = w->free_letters;
		w->free_letters = l;
	}
}

/* --- The server --- */

static void plan_tick(struct world *w)
{
	if (w->tick_is_planned || !host_is_up(w->host) || !host_has_work(w->host))
		return;
	w->tick_is_planned = true;
	world_later(w, random_between(&w->random, 0, HOST_TICK_MAX_MS - 1), ERRAND_TICK, NULL);
}

/* The one tick that the clock of the server asks for is planned, and no other. */
static void plan_wake(struct world *w)
{
	int64_t at_ms = host_wake_at(w->host);

	if (at_ms && at_ms <= w->now_ms)
		at_ms = w->wake && w->wake_at_ms == w->now_ms ? w->now_ms : w->now_ms + 1;
	if (at_ms == w->wake_at_ms)
		return;
	if (w->wake) {
		heap_remove(&w->errands, w->wake->pos);
		w->wake->next_free = w->free_errands;
		w->free_errands = w->wake;
	}
	w->wake = at_ms ? plan_errand(w, at_ms, ERRAND_TICK, w) : NULL;
	w->wake_at_ms = at_ms;
}

void world_submit(struct world *w)
{
	host_submit(w->host, w->draft, w->now_ms);
	plan_tick(w);
}

static void nudge(struct world *w, const struct errand *e)
{
	host_wait_is_over(w->host, e->what, e->serial, e->flag);
	plan_tick(w);
}

static int64_t downtime_ms(struct world *w)
{
	uint64_t dice = random_below(&w->random, 100);

	return dice < 85 ? random_between(&w->random, 1, 500) : random_between(&w->random, 1000,
									       dice < 99 ? 10000 : 200000);
}

static void tick(struct world *w)
{
	if (!host_is_up(w->host))
		return;
	if (!host_tick(w->host, w->now_ms))
		world_later(w, downtime_ms(w), ERRAND_RESTART, NULL);
	plan_tick(w);
}

/* --- The run --- */

static void do_errand(struct world *w, struct errand *e)
{
	switch (e->kind) {
	case ERRAND_TICK:
		if (e->what == NULL)
			w->tick_is_planned = false;
		tick(w);
		break;
	case ERRAND_RESTART:
		host_restart(w->host, w->now_ms);
		trace_note(w->trace, w->now_ms, "the server is up again", 0);
		break;
	case ERRAND_NEW_FLOW:
		senders_new_flow(w);
		if (--w->flows_left)
			world_later(w, random_between(&w->random, 0, 2 * w->flow_gap_ms), ERRAND_NEW_FLOW, NULL);
		else
			world_later(w, CALM_AFTER_MS, ERRAND_CALM, NULL);
		break;
	case ERRAND_FLOW_SEND:
		senders_send(w, e->what);
		break;
	case ERRAND_FLOW_LOOK:
		senders_look(w, e->what);
		break;
	case ERRAND_POLL:
		receivers_poll(w, e->what);
		break;
	case ERRAND_ANSWER:
		receivers_answer(w, e->what);
		break;
	case ERRAND_OPERATE:
		senders_operate(w);
		break;
	case ERRAND_OUTAGE:
		receivers_outage(w, e->what);
		break;
	case ERRAND_REPLY:
		get_reply(w, e->what, e->flag);
		break;
	case ERRAND_NUDGE:
		nudge(w, e);
		break;
	case ERRAND_CALM:
		if (!host_is_up(w->host)) {
			world_later(w, 100, ERRAND_CALM, NULL);
			break;
		}
		trace_note(w->trace, w->now_ms, "everybody behaves from here on; open:",
			   (int64_t)check_open(w->check));
		setup_calm(w);
		break;
	}
}

int64_t world_next_ms(const struct world *w)
{
	const struct errand *e = heap_first(&w->errands);

	return e ? e->at_ms : 0;
}

bool world_is_calm(const struct world *w)
{
	return w->is_calm;
}

bool world_is_over(const struct world *w)
{
	return w->is_calm && check_open(w->check) == 0 && host_is_up(w->host) && !host_has_work(w->host);
}

void world_set_time(struct world *w, int64_t now_ms)
{
	w->now_ms = now_ms;
}

struct host *world_host(struct world *w)
{
	return w->host;
}

void world_go_on(struct world *w)
{
	struct errand *e = heap_first(&w->errands);

	if (e == NULL)
		trace_fail(w->trace, "nothing happens any more, and %zu handoffs are open", check_open(w->check));
	heap_remove(&w->errands, e->pos);
	assert(e->at_ms >= w->now_ms);
	w->now_ms = e->at_ms;
	if (e == w->wake) {
		w->wake = NULL;
		w->wake_at_ms = 0;
	}
	do_errand(w, e);
	e->next_free = w->free_errands;
	w->free_errands = e;
	plan_wake(w);
	if (w->is_calm && w->calm_since_ms == 0)
		w->calm_since_ms = w->now_ms;
	if (w->is_calm && w->now_ms > w->calm_since_ms + CALM_MAX_MS)
		trace_fail(w->trace, "%zu handoffs are open after half an hour of calm", check_open(w->check));
}

/* Some runs go without faults, some are bad, most have a fault every few hundred transactions. */
static struct host_faults choose_faults(struct world *w)
{
	static const unsigned scales[] = {0, 1, 1, 1, 4};
	unsigned scale = scales[random_below(&w->random, 5)];

	w->loss = 15 * scale;
	return (struct host_faults){.killed_before = 1500 * scale, .killed_after = 1000 * scale, .full = 8000 * scale,
				      .verb_failed = 400 * scale, .commit_failed = 800 * scale};
}

/* In half of the runs what has ended goes while the run goes on. */
static struct space_keep choose_keep(struct world *w)
{
	struct space_keep keep = {0};

	if (random_chance(&w->random, 500))
		return keep;
	if (random_chance(&w->random, 800))
		keep.handoffs_ms = random_between(&w->random, 2000, 30000);
	if (random_chance(&w->random, 800))
		keep.events_ms = random_between(&w->random, 1000, 30000);
	return keep;
}

void world_begin(struct world *w, uint64_t seed, size_t handoffs)
{
	struct host_faults faults;
	struct space_keep keep;

	arena_release(&w->arena);
	w->random = seed;
	w->now_ms = START_MS;
	w->errands.len = 0;
	w->free_errands = NULL;
	w->free_letters = NULL;
	w->free_plans = NULL;
	w->seq = 0;
	w->tick_is_planned = w->is_calm = false;
	w->wake = NULL;
	w->wake_at_ms = w->calm_since_ms = 0;
	w->receiver_count = 0;
	memset(w->envelopes, 0, sizeof(w->envelopes));
	memset(w->published, 0, sizeof(w->published));
	memset(w->decided, 0, sizeof(w->decided));
	faults = choose_faults(w);
	keep = choose_keep(w);
	w->store = host_clear(w->host, random_next(&w->random), &faults, &keep);
	setup_cast(w);
	check_clear(w->check, w->store, &w->cast, &keep);
	host_start(w->host, w->check, w->now_ms);
	w->store = host_store(w->host);
	w->flows_left = handoffs;
	w->flow_gap_ms = random_between(&w->random, 20, random_chance(&w->random, 300) ? 400 : 150);
	world_later(w, 0, ERRAND_NEW_FLOW, NULL);
	world_later(w, 1000, ERRAND_OPERATE, NULL);
}

int64_t world_end(struct world *w, int64_t now_ms)
{
	check_end(w->check);
	w->now_ms = host_grow_old(w->host, now_ms);
	check_old(w->check);
	host_check_follower(w->host);
	host_end(w->host);
	return w->now_ms;
}

struct world_result world_run(struct world *w, uint64_t seed, size_t handoffs)
{
	struct world_result result = {0};

	trace_begin(w->trace, seed, "");
	w->tally->runs++;
	if (setjmp(w->trace->out)) {
		w->tally->failed++;
		return result;
	}
	world_begin(w, seed, handoffs);
	while (!world_is_over(w))
		world_go_on(w);
	w->tally->simulated_ms += (uint64_t)world_end(w, w->now_ms);
	return (struct world_result){true, check_hash(w->check)};
}

struct world *world_new(struct tally *tally, struct trace *trace)
{
	struct world *w = mem_zalloc(sizeof(*w));

	w->tally = tally;
	w->trace = trace;
	w->check = check_new(trace, tally);
	w->host = host_new(trace, tally, (struct host_world){on_done, on_wait, w});
	heap_init(&w->errands, errand_before, errand_set_pos);
	arena_init(&w->arena);
	return w;
}

void world_free(struct world *w)
{
	host_free(w->host);
	check_free(w->check);
	heap_release(&w->errands);
	arena_release(&w->arena);
	free(w);
}
