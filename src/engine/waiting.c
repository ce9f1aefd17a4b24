#include "engine/waiting.h"

#include "base/hash.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/quota.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { DUE_MAX = 256, BUCKETS = 4096, RETRY_MS = 1000 };

struct touched {
	enum wait_kind kind;
	int64_t id;
};

struct waiting {
	struct engine *engine;
	uint64_t random;
	int64_t next_due_ms;		/* 0: nothing is waiting for its time. May be too early, never too late. */
	bool is_stuck;			/* what was due could not be carried out: later */
	int64_t due_again_ms;		/* the store's answer was not as expected: what is due is not tried before */
	uint64_t rollbacks;		/* so many transactions were undone */
	int64_t now_ms;			/* of the transaction under way */
	/* Waiting calls, by the hash of their key. The writer's thread alone changes them, under the lock, so that
	 * others may look. */
	pthread_mutex_t lock;
	struct list buckets[BUCKETS];
	size_t count;
	atomic_size_t committed_count;	/* what others see: those whose transaction has ended */
	/* Of the transaction under way. */
	struct list steps;
	struct touched *touched;
	size_t touched_count;
	size_t touched_cap;
	size_t touched_served;		/* so many of them have been looked at */
	int64_t *queued;		/* agents that something was queued for */
	size_t queued_count;
	size_t queued_cap;
	struct arena due_arena;
};

static struct op *op_of_link(struct list *link)
{
	return LIST_ELEMENT(link, struct op, wait.link);
}

static struct list *bucket_of(struct waiting *w, enum wait_kind kind, int64_t id)
{
	int64_t key[2] = {(int64_t)kind, id};

	return &w->buckets[hash_bytes(key, sizeof(key), 0) % BUCKETS];
}

struct waiting *waiting_new(struct engine *e, struct store_conn *c, uint64_t seed)
{
	struct waiting *w = mem_zalloc(sizeof(*w));

	w->engine = e;
	w->random = seed | 1;
	if (delivery_next_due(c, &w->next_due_ms) != STORE_OK)
		w->next_due_ms = 1;	/* not known: the first transaction will see */
	for (int i = 0; i < BUCKETS; i++)
		list_init(&w->buckets[i]);
	pthread_mutex_init(&w->lock, NULL);
	list_init(&w->steps);
	arena_init(&w->due_arena);
	return w;
}

void waiting_free(struct waiting *w)
{
	if (w == NULL)
		return;
	pthread_mutex_destroy(&w->lock);
	arena_release(&w->due_arena);
	free(w->touched);
	free(w->queued);
	free(w);
}

size_t waiting_count(struct waiting *w)
{
	return atomic_load(&w->committed_count);
}

/* Puts the operation before `place` among those that wait. */
static void enter(struct waiting *w, struct op *op, struct list *place)
{
	pthread_mutex_lock(&w->lock);
	list_add(place, &op->wait.link);
	pthread_mutex_unlock(&w->lock);
	if (op->wait.kind == WAIT_AGENT)
		quota_count_waiting(w->engine->quota, op->space, 1);
}

static void take_out(struct waiting *w, struct op *op)
{
	pthread_mutex_lock(&w->lock);
	list_remove(&op->wait.link);
	pthread_mutex_unlock(&w->lock);
	if (op->wait.kind == WAIT_AGENT)
		quota_count_waiting(w->engine->quota, op->space, -1);
}

size_t waiting_receivers(struct waiting *w, int64_t agent)
{
	struct list *bucket = bucket_of(w, WAIT_AGENT, agent);
	size_t count = 0;

	pthread_mutex_lock(&w->lock);
	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		const struct op *op = op_of_link(link);

		count += op->wait.kind == WAIT_AGENT && op->wait.id == agent;
	}
	pthread_mutex_unlock(&w->lock);
	return count;
}

/* --- Tallies --- */

void wait_tally_add(struct wait_tally *tally, enum handoff_state state, int count)
{
	bool ended = state == HANDOFF_COMPLETED || state == HANDOFF_PARKED || state == HANDOFF_DISCARDED;

	tally->count += (size_t)count;
	tally->completed += state == HANDOFF_COMPLETED ? (size_t)count : 0;
	tally->ended += ended ? (size_t)count : 0;
}

static bool is_known(const struct waiting *w, const struct wait_tally *tally)
{
	return tally->is_counted && tally->rollbacks == w->rollbacks;
}

bool waiting_knows_tally(struct op *op, int64_t id, struct wait_tally *tally)
{
	struct waiting *w = op->engine->waiting;
	struct list *bucket = bucket_of(w, WAIT_ENVELOPE, id);

	for (struct list *link = bucket->next; link != bucket && !is_known(w, tally); link = link->next) {
		const struct wait *other = &op_of_link(link)->wait;

		if (other->kind == WAIT_ENVELOPE && other->id == id && other->tally &&
		    other->tally->channel == tally->channel)
			*tally = *other->tally;
	}
	return is_known(w, tally);
}

void waiting_keep_tally(struct op *op, struct wait_tally *tally)
{
	tally->is_counted = true;
	tally->rollbacks = op->engine->waiting->rollbacks;
}

/* One that is new to the channel is not counted here: it may be one of thousands, of a publish that is refused in the
 * end. Whoever waits counts anew when it looks. */
static void keep_tallies(struct waiting *w, const struct handoff_row *h, enum handoff_state before)
{
	int64_t id = waiting_id(h->space, h->envelope);
	struct list *bucket = bucket_of(w, WAIT_ENVELOPE, id);

	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		const struct wait *wait = &op_of_link(link)->wait;

		if (wait->kind != WAIT_ENVELOPE || wait->id != id || !wait->tally ||
		    wait->tally->channel != h->channel)
			continue;
		if (before == HANDOFF_STATES) {
			wait->tally->is_counted = false;
		} else {
			wait_tally_add(wait->tally, before, -1);
			wait_tally_add(wait->tally, h->state, 1);
		}
	}
}

/* --- What has happened --- */

/* And is not served yet. */
static bool is_last_touched(const struct waiting *w, enum wait_kind kind, int64_t id)
{
	size_t count = w->touched_count;

	return count > w->touched_served && w->touched[count - 1].kind == kind && w->touched[count - 1].id == id;
}

static void touch(struct waiting *w, enum wait_kind kind, int64_t id)
{
	if (list_is_empty(bucket_of(w, kind, id)))
		return;
	/* Many handoffs of one agent or envelope in one transaction are one reason to look, not many. */
	if (is_last_touched(w, kind, id))
		return;
	if (w->touched_count == w->touched_cap) {
		w->touched_cap = w->touched_cap ? w->touched_cap * 2 : 64;
		w->touched = mem_reallocarray(w->touched, w->touched_cap, sizeof(*w->touched));
	}
	w->touched[w->touched_count++] = (struct touched){kind, id};
}

/* There may be something to take: for receivers first, then for those who only look. */
static void touch_agent(struct waiting *w, int64_t agent)
{
	touch(w, WAIT_AGENT, agent);
	touch(w, WAIT_QUEUE, agent);
	touch(w, WAIT_QUEUE, 0);
}

static void note_queued(struct waiting *w, int64_t agent)
{
	if (w->queued_count && w->queued[w->queued_count - 1] == agent)
		return;
	if (w->queued_count == w->queued_cap) {
		w->queued_cap = w->queued_cap ? w->queued_cap * 2 : 64;
		w->queued = mem_reallocarray(w->queued, w->queued_cap, sizeof(*w->queued));
	}
	w->queued[w->queued_count++] = agent;
}

static void note_due(struct waiting *w, int64_t due_ms)
{
	if (due_ms && (w->next_due_ms == 0 || due_ms < w->next_due_ms))
		w->next_due_ms = due_ms;
}

/* A breaker lets something through, or will: those who wait for its agent look again. */
static void on_ready(void *ctx, int64_t agent, int64_t at_ms)
{
	struct waiting *w = ctx;

	note_due(w, at_ms);
	if (at_ms <= w->now_ms) {
		touch_agent(w, agent);
		note_queued(w, agent);
	}
}

static void on_changed(void *ctx, const struct handoff_row *h, enum handoff_state before)
{
	struct waiting *w = ctx;

	keep_tallies(w, h, before);
	note_due(w, h->due_ms);
	for (struct listener *l = w->engine->listeners; l; l = l->next)
		if (l->changed)
			l->changed(l->ctx, h);
	if (h->state == HANDOFF_QUEUED) {
		touch_agent(w, h->agent);
		note_queued(w, h->agent);
	}
	if (h->state != HANDOFF_LEASED)
		touch(w, WAIT_HANDOFF, waiting_id(h->space, h->num));
	if (h->state > HANDOFF_LEASED)
		touch(w, WAIT_ENVELOPE, waiting_id(h->space, h->envelope));
}

struct delivery waiting_step(struct waiting *w, struct store_conn *c, struct arena *arena, int64_t space,
			     int64_t now_ms)
{
	return (struct delivery){
		.conn = c, .arena = arena, .space = space, .now_ms = now_ms, .random = &w->random,
		.queue_timeout_ms = w->engine->config.queue_timeout_ms,
		.breaker_open_ms = w->engine->config.breaker_open_ms, .changed = on_changed, .ready = on_ready,
		.ctx = w,
	};
}

struct delivery waiting_delivery(struct op *op, struct store_conn *c)
{
	struct delivery d = waiting_step(op->engine->waiting, c, op->arena, op->space, op->now_ms);

	d.actor = op->agent;
	d.access_key = op_access_key(op);
	d.only_of = access_party(op->access);
	d.is_blind = !access_has(op->access, ACCESS_READ);
	return d;
}

/* --- Waiting --- */

static void add_step(struct waiting *w, struct op *op)
{
	if (op->wait.step.next == NULL)
		list_init(&op->wait.step);
	if (list_is_empty(&op->wait.step))
		list_add(&w->steps, &op->wait.step);
}

void waiting_for(struct op *op, enum wait_kind kind, int64_t id)
{
	struct waiting *w = op->engine->waiting;

	assert(!op->wait.is_waiting && !op->wait.is_over);
	op->wait.kind = kind;
	op->wait.id = id;
	op->wait.is_waiting = true;
	op->wait.is_fresh = true;
	list_init(&op->wait.link);
	enter(w, op, bucket_of(w, kind, id));
	w->count++;
	add_step(w, op);
}

static void leave(struct waiting *w, struct op *op)
{
	op->wait.is_waiting = false;
	take_out(w, op);
	w->count--;
}

void waiting_end_envelope(struct waiting *w, int64_t space, uint64_t envelope)
{
	int64_t id = waiting_id(space, envelope);
	struct list *bucket = bucket_of(w, WAIT_ENVELOPE, id);

	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		const struct wait *wait = &op_of_link(link)->wait;

		if (wait->kind == WAIT_ENVELOPE && wait->id == id && wait->tally)
			wait->tally->is_counted = false;
	}
	touch(w, WAIT_ENVELOPE, id);
}

void waiting_end_space(struct waiting *w, int64_t space)
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct list *link = w->buckets[i].next; link != &w->buckets[i]; link = link->next) {
			const struct op *op = op_of_link(link);

			if (op->space == space)
				touch(w, op->wait.kind, op->wait.id);
		}
}

bool waiting_in_space(const struct waiting *w, int64_t space)
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct list *link = w->buckets[i].next; link != &w->buckets[i]; link = link->next)
			if (op_of_link(link)->space == space)
				return true;
	return false;
}

void waiting_forget(struct op *op)
{
	if (op->wait.is_waiting)
		leave(op->engine->waiting, op);
}

/* Runs a waiting operation again. Where it still waits for the same it keeps its place. */
static enum store_status serve(struct waiting *w, struct op *op, struct store_conn *c)
{
	struct list *place = op->wait.link.next;
	struct touched key = {op->wait.kind, op->wait.id};
	bool was_fresh = op->wait.is_fresh;
	enum store_status status;

	leave(w, op);
	op->wait.is_again = true;
	status = op->job.run(&op->job, c, w->now_ms);
	if (status == STORE_OK && op->wait.is_waiting) {
		if (op->wait.kind == key.kind && op->wait.id == key.id) {
			take_out(w, op);
			enter(w, op, place);
		}
		op->wait.is_fresh = was_fresh;
		if (!was_fresh)
			list_remove(&op->wait.step);
		return STORE_OK;
	}
	waiting_forget(op);	/* it may have got as far as waiting again */
	op->wait.is_fresh = was_fresh;
	op->wait.is_served = true;
	op->wait.is_refused = store_is_answer(status);
	add_step(w, op);
	return status;
}

/* Serves those who wait for this. Of receivers only as many as there is something for; those who look at one queue all
 * see the same. */
static enum store_status serve_all(struct waiting *w, struct touched key, struct store_conn *c)
{
	struct list *bucket = bucket_of(w, key.kind, key.id), *link, *next;
	enum store_status status = STORE_OK;

	for (link = bucket->next; status == STORE_OK && link != bucket; link = next) {
		struct op *op = op_of_link(link);

		next = link->next;
		if (op->wait.kind != key.kind || op->wait.id != key.id)
			continue;
		status = serve(w, op, c);
		if (op->wait.is_waiting && (key.kind == WAIT_AGENT || (key.kind == WAIT_QUEUE && key.id)))
			break;
	}
	return status;
}

/* --- The hooks --- */

/* What is due could not be carried out just now. (Not for longer where the clock is set back.) */
static bool is_put_off(const struct waiting *w, int64_t now_ms)
{
	return w->due_again_ms > now_ms && w->due_again_ms <= now_ms + RETRY_MS;
}

enum store_status waiting_begin(struct waiting *w, struct store_conn *c, int64_t now_ms)
{
	struct delivery d = waiting_step(w, c, &w->due_arena, 0, now_ms);
	struct problem problem = {0};
	int64_t next_ms = 0;
	enum problem_code code;

	w->now_ms = now_ms;
	w->touched_count = w->touched_served = 0;
	if (w->next_due_ms == 0 || w->next_due_ms > now_ms || is_put_off(w, now_ms))
		return STORE_OK;
	code = delivery_due(&d, DUE_MAX, &next_ms, &problem);
	arena_release(&w->due_arena);
	if (code == P_OK)
		w->next_due_ms = next_ms;
	/* The jobs of this transaction are not to blame: it is tried again without what is due. */
	if (code != P_OK && store_is_answer(problem_store_status(code))) {
		w->due_again_ms = now_ms + RETRY_MS;
		log_write(w->engine->log, LOG_ERROR, "what is due could not be carried out",
			  LOG_STR("error", problem.detail));
	}
	return problem_store_status(code);
}

enum store_status waiting_serve(struct waiting *w, struct store_conn *c)
{
	enum store_status status = STORE_OK;

	/* What is served here may touch more. */
	while (status == STORE_OK && w->touched_served < w->touched_count)
		status = serve_all(w, w->touched[w->touched_served++], c);
	return status;
}

/* An operation that began in this very transaction is told by the writer, the others here. */
void waiting_after(struct waiting *w, bool committed)
{
	struct list *link;

	for (struct listener *l = w->engine->listeners; committed && l; l = l->next)
		l->committed(l->ctx, w->queued, w->queued_count);
	w->queued_count = 0;
	w->is_stuck = !committed;
	/* What was due has not been carried out after all: when is not known any more. */
	if (!committed) {
		w->next_due_ms = 1;
		w->rollbacks++;
	}
	/* Whoever is answered does not wait any more, and finds it so. */
	if (committed)
		atomic_store(&w->committed_count, w->count);
	while ((link = w->steps.prev) != &w->steps) {
		struct op *op = LIST_ELEMENT(link, struct op, wait.step);
		bool fresh = op->wait.is_fresh, served = op->wait.is_served, refused = op->wait.is_refused;

		list_remove(link);
		op->wait.is_fresh = op->wait.is_served = op->wait.is_refused = false;
		if (!committed && fresh)
			op->wait.is_again = false;
		if (committed && served && !fresh) {
			op->job.done(&op->job, STORE_OK);
		} else if (!committed && fresh && op->wait.is_waiting) {
			leave(w, op);
		} else if (!committed && served && !fresh && refused) {
			op->job.done(&op->job, STORE_REFUSED);
		} else if (!committed && served && !fresh) {
			struct list *bucket = bucket_of(w, op->wait.kind, op->wait.id);

			/* From the last to the first, each to the front: the order is as it was. */
			op->wait.is_waiting = true;
			enter(w, op, bucket->next);
			w->count++;
		}
	}
	atomic_store(&w->committed_count, w->count);
}

int64_t waiting_wake_at(const struct waiting *w)
{
	/* Something is due and the store could not do it: not at once again. */
	if (w->next_due_ms && w->next_due_ms < w->due_again_ms && is_put_off(w, w->now_ms))
		return w->due_again_ms;
	if (w->is_stuck && w->next_due_ms && w->next_due_ms <= w->now_ms)
		return w->now_ms + RETRY_MS;
	return w->next_due_ms;
}

/* --- Nudges --- */

static struct op *op_of_nudge(struct writer_job *job)
{
	return (struct op *)((char *)job - offsetof(struct op, wait.nudge));
}

/* On the writer's thread: the operation is answered now, if it still waits. */
static enum store_status nudge_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct op *op = op_of_nudge(job);

	(void)now_ms;
	/* One that is being prepared once more does not begin to wait when it is run again. */
	if (op->prepares_again)
		op->wait.is_over = true;
	if (!op->wait.is_waiting)
		return STORE_OK;
	op->wait.is_over = true;
	return serve(op->engine->waiting, op, c);
}

static void nudge_back(void *arg)
{
	struct op *op = arg;

	op->wait.is_nudged = false;
	if (op->wait.is_finished)
		op_finish(op);
}

static void nudge_done(struct writer_job *job, enum store_status status)
{
	struct op *op = op_of_nudge(job);

	/* It could not be run again: it must be answered all the same. */
	if (status != STORE_OK && op->wait.is_waiting) {
		leave(op->engine->waiting, op);
		atomic_store(&op->engine->waiting->committed_count, op->engine->waiting->count);
		op->wait.is_over = true;
		op->job.done(&op->job, status);
	}
	op->owner->post(op, nudge_back);
}

void engine_nudge(struct op *op)
{
	if (op->wait.is_nudged || op->wait.is_finished)
		return;
	op->wait.is_nudged = true;
	op->wait.nudge.run = nudge_run;
	op->wait.nudge.done = nudge_done;
	writer_submit_always(op->engine->writer, &op->wait.nudge);
}

/* Once a nudge is on its way the writer may look at it. */
void engine_cut(struct op *op)
{
	if (!op->wait.is_nudged && !op->wait.is_finished)
		op->wait.is_cut = true;
	engine_nudge(op);
}

void op_may_wait(struct op *op, int64_t wait_ms)
{
	if (op->aside.is_now) {
		op->aside.wait_ms = wait_ms;
		return;
	}
	op->wait.is_over = wait_ms <= 0 || atomic_load(&op->engine->draining);
	if (!op->wait.is_over)
		op->owner->wait(op, wait_ms);
}

void waiting_again(struct op *op)
{
	op->wait.is_again = op->wait.is_finished = false;
	/* The nudge of a server that drains may have come while there was nothing to end. */
	op->wait.is_over = atomic_load(&op->engine->draining);
}

bool waiting_may_finish(struct op *op)
{
	/* From here on no nudge is sent: the operation may end at any time, and must not end under one. */
	op->wait.is_finished = true;
	return !op->wait.is_nudged;
}
