#include "store/writer.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

enum { WRITER_BATCH_MAX = 256 };

struct writer {
	struct writer_config config;
	pthread_t thread;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	struct writer_job *head;
	struct writer_job **tail;
	size_t queued;
	bool stopping;
	bool failed;
	uint64_t jobs;
	uint64_t commits;
};

/* Takes up to WRITER_BATCH_MAX jobs off the queue, in order; waits for one. NULL when it is time to stop. */
static struct writer_job *take_batch(struct writer *w)
{
	struct writer_job *batch, *last;
	size_t count = 1;

	pthread_mutex_lock(&w->lock);
	while (w->head == NULL && !w->stopping)
		pthread_cond_wait(&w->wake, &w->lock);
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
	pthread_mutex_unlock(&w->lock);
	return batch;
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

/* Runs the jobs of a list in one transaction. On STORE_OK all of them are durable, otherwise none of them happened. */
static enum store_status run_transaction(struct writer *w, struct writer_job *jobs)
{
	struct store_conn *c = w->config.conn;
	int64_t now_ms = w->config.now_ms();
	enum store_status status = store_begin(c);

	for (struct writer_job *job = jobs; status == STORE_OK && job; job = job->next)
		status = job->run(job, c, now_ms);
	if (status != STORE_OK) {
		store_rollback(c);
		return status;
	}
	status = store_commit(c);
	if (status == STORE_OK)
		count_commit(w);
	/* Trying again what could not be committed would turn a lost write into a reported one. */
	if (status == STORE_FAILED || store_is_failed(c))
		set_failed(w);
	return status;
}

/* One job by itself, after the transaction it was in had to be rolled back. */
static void run_alone(struct writer *w, struct writer_job *job)
{
	struct writer_job *next = job->next;

	job->next = NULL;
	job->status = w->failed ? STORE_FAILED : run_transaction(w, job);
	job->next = next;
	if (job->status == STORE_FAILED && !w->failed)
		set_failed(w);
}

static void run_batch(struct writer *w, struct writer_job *batch)
{
	enum store_status status = w->failed ? STORE_FAILED : run_transaction(w, batch);
	struct writer_job *job, *next;

	if (status == STORE_OK || w->failed) {
		for (job = batch; job; job = job->next)
			job->status = status;
	} else {
		for (job = batch; job; job = job->next)
			run_alone(w, job);
	}
	for (job = batch; job; job = next) {
		next = job->next;
		job->done(job, job->status);
	}
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	struct writer_job *batch;

	while ((batch = take_batch(w)) != NULL)
		run_batch(w, batch);
	return NULL;
}

struct writer *writer_start(const struct writer_config *config)
{
	struct writer *w = mem_zalloc(sizeof(*w));

	w->config = *config;
	w->tail = &w->head;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	if (pthread_create(&w->thread, NULL, writer_main, w) != 0)
		abort();
	return w;
}

bool writer_submit(struct writer *w, struct writer_job *job)
{
	bool taken;

	job->next = NULL;
	pthread_mutex_lock(&w->lock);
	taken = w->queued < w->config.max_queue;
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

void writer_stop(struct writer *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
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
