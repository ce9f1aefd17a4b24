#include "engine/writer.h"

#include "base/cond.h"
#include "base/mem.h"
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { WRITER_BATCH_MAX = 256, WRITER_TRIES = 2, WRITER_TRIES_ALONE = 64, WRITER_WAIT_MAX_MS = 1000 };

struct writer {
	struct writer_config config;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	struct writer_job *head;
	struct writer_job **tail;
	size_t queued;
	bool stopping;
	bool failed;
	uint64_t jobs;
	uint64_t commits;
	/* The writer's thread's alone. */
	enum store_status refusing;	/* STORE_OK: nothing */
	int64_t refused_at_ms;		/* the last time */
};

/* Waits for a job, the end, or the moment when the hooks want to run. The lock is held. */
static void wait_for_work(struct writer *w)
{
	int64_t wake_at_ms =
		w->config.hooks.wake_at_ms && !w->failed ? w->config.hooks.wake_at_ms(w->config.hooks.ctx) : 0;

	while (w->head == NULL && !w->stopping) {
		int64_t wait_ms = wake_at_ms ? wake_at_ms - w->config.now_ms(w->config.ctx) : 0;

		if (wake_at_ms == 0) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		if (wait_ms <= 0)
			return;
		/* Not longer than a second at a time: the clock that deadlines are on may run a tenth faster than this
		 * one, and goes on while the machine sleeps. */
		wait_ms = wait_ms < WRITER_WAIT_MAX_MS ? wait_ms : WRITER_WAIT_MAX_MS;
		cond_wait_until(&w->wake, &w->lock, clock_mono_ns() + wait_ms * 1000000);
	}
}

/* Takes up to WRITER_BATCH_MAX jobs off the queue, in order; waits for one. NULL where the hooks want to run without
 * one. False when it is time to stop. */
static bool take_batch(struct writer *w, struct writer_job **ret)
{
	struct writer_job *batch, *last;
	size_t count = 1;
	bool go_on;

	pthread_mutex_lock(&w->lock);
	if (w->has_thread)
		wait_for_work(w);
	batch = last = w->head;
	if (batch) {
		while (last->next && count < WRITER_BATCH_MAX) {
			last = last->next;
			count++;
		}
		w->head = last->next;
		if (w->head == NULL)
			w->tail = &w->head;
		last->next = NULL;
		w->queued -= count;
		w->jobs += count;
	}
	go_on = batch || !w->stopping;
	pthread_mutex_unlock(&w->lock);
	*ret = batch;
	return go_on;
}

static void count_commit(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->commits++;
	pthread_mutex_unlock(&w->lock);
}

static void set_failed(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->failed = true;
	pthread_mutex_unlock(&w->lock);
	if (w->config.on_failure)
		w->config.on_failure(w->config.ctx, store_error(w->config.conn));
}

static bool is_failure(enum store_status status)
{
	return status == STORE_FAILED || status == STORE_UNKNOWN;
}

/* All that happens in a transaction. *ret_is_hooks: it was a hook that did not succeed. */
static enum store_status run_jobs(struct writer *w, struct writer_job *jobs, bool *ret_is_hooks)
{
	const struct writer_hooks *hooks = &w->config.hooks;
	struct store_conn *c = w->config.conn;
	int64_t now_ms = w->config.now_ms(w->config.ctx);
	enum store_status status = store_begin(c);

	*ret_is_hooks = false;
	if (status == STORE_OK && hooks->begin) {
		status = hooks->begin(hooks->ctx, c, now_ms);
		*ret_is_hooks = status != STORE_OK;
	}
	for (struct writer_job *job = jobs; status == STORE_OK && job; job = job->next)
		status = job->run(job, c, now_ms);
	if (status == STORE_OK && hooks->before_commit) {
		status = hooks->before_commit(hooks->ctx, c, now_ms);
		*ret_is_hooks = status != STORE_OK;
	}
	return status;
}

static enum store_status try_transaction(struct writer *w, struct writer_job *jobs, bool *ret_is_hooks)
{
	const struct writer_hooks *hooks = &w->config.hooks;
	struct store_conn *c = w->config.conn;
	enum store_status status = run_jobs(w, jobs, ret_is_hooks);

	if (status != STORE_OK) {
		store_rollback(c);
		if (hooks->after)
			hooks->after(hooks->ctx, false);
		return status;
	}
	status = store_commit(c);
	if (status == STORE_OK)
		count_commit(w);
	if (hooks->after)
		hooks->after(hooks->ctx, status == STORE_OK);
	/* Trying again what could not be committed would turn a lost write into a reported one. */
	if (is_failure(status) || store_is_failed(c))
		set_failed(w);
	return status;
}

/* Runs the jobs of a list in one transaction. On STORE_OK all of them are durable, otherwise none of them happened; on
 * STORE_UNKNOWN nobody knows which of the two. */
static enum store_status run_transaction(struct writer *w, struct writer_job *jobs, int tries)
{
	enum store_status status;
	bool is_hooks;

	do
		status = try_transaction(w, jobs, &is_hooks);
	while (is_hooks && store_is_answer(status) && --tries > 0);
	/* What is due, or old, would be met again by every transaction. */
	return is_hooks && status == STORE_DAMAGED ? STORE_FAILED : status;
}

/* Tells when refusals begin, and when they are over. */
static void note_outcome(struct writer *w, enum store_status status)
{
	bool is_refused = status == STORE_FULL || status == STORE_BUSY;

	if (is_refused)
		w->refused_at_ms = w->config.now_ms(w->config.ctx);
	else if (status != STORE_OK || w->refusing == STORE_OK ||
		 w->config.now_ms(w->config.ctx) - w->refused_at_ms < WRITER_CALM_MS)
		return;
	if (w->refusing == status)
		return;
	w->refusing = status;
	if (w->config.on_refusal)
		w->config.on_refusal(w->config.ctx, status, is_refused ? store_error(w->config.conn) : "");
}

/* One job by itself, after the transaction it was in had to be rolled back. */
static void run_alone(struct writer *w, struct writer_job *job)
{
	struct writer_job *next = job->next;

	job->next = NULL;
	job->status = w->failed ? STORE_FAILED : run_transaction(w, job, WRITER_TRIES_ALONE);
	job->next = next;
	if (job->status == STORE_FAILED && !w->failed)
		set_failed(w);
}

static void run_batch(struct writer *w, struct writer_job *batch)
{
	enum store_status status = w->failed ? STORE_FAILED : run_transaction(w, batch, WRITER_TRIES);
	struct writer_job *job, *next;

	if (batch == NULL && status == STORE_FAILED && !w->failed)
		set_failed(w);
	if (batch == NULL)
		note_outcome(w, status);
	/* Each is told before the next runs: what one does may be the end of another. */
	for (job = batch; job; job = next) {
		next = job->next;
		job->status = status;
		if (status != STORE_OK && status != STORE_BUSY && !(w->failed && is_failure(status)))
			run_alone(w, job);
		note_outcome(w, job->status);
		job->done(job, job->status);
	}
}

/* A thread that wakes up takes the core from one that runs. The writer would do so for every job, and commit each
 * alone; as a batch thread it waits its turn where all cores are busy, and finds more to commit together. */
static void wait_turns(void)
{
#ifdef SCHED_BATCH
	const struct sched_param none = {0};

	/* Of this thread. Where somebody chose another kind of thread for the server, or it is refused, all stays. */
	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_BATCH, &none);
#endif
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	struct writer_job *batch;

	wait_turns();
	while (take_batch(w, &batch))
		run_batch(w, batch);
	return NULL;
}

void writer_step(struct writer *w)
{
	struct writer_job *batch;

	take_batch(w, &batch);
	run_batch(w, batch);
}

void writer_start(struct writer *w)
{
	w->has_thread = true;
	thread_start(&w->thread, writer_main, w);
}

struct writer *writer_new(const struct writer_config *config)
{
	struct writer *w = mem_zalloc(sizeof(*w));

	w->config = *config;
	w->tail = &w->head;
	pthread_mutex_init(&w->lock, NULL);
	cond_init(&w->wake);
	return w;
}

static bool submit(struct writer *w, struct writer_job *job, size_t max_queue)
{
	bool taken;

	job->next = NULL;
	pthread_mutex_lock(&w->lock);
	taken = w->queued < max_queue;
	if (taken) {
		*w->tail = job;
		w->tail = &job->next;
		w->queued++;
		if (w->queued == 1)
			pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return taken;
}

bool writer_submit(struct writer *w, struct writer_job *job)
{
	return submit(w, job, w->config.max_queue);
}

void writer_submit_always(struct writer *w, struct writer_job *job)
{
	submit(w, job, SIZE_MAX);
}

void writer_stop(struct writer *w)
{
	if (w == NULL || !w->has_thread)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->has_thread = false;
}

void writer_free(struct writer *w)
{
	if (w == NULL)
		return;
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void writer_stats(struct writer *w, struct writer_stats *ret)
{
	pthread_mutex_lock(&w->lock);
	*ret = (struct writer_stats){w->queued, w->jobs, w->commits, w->failed};
	pthread_mutex_unlock(&w->lock);
}
