#include "engine/indexer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>

struct request {
	struct request *next;
	int64_t space;
	indexer_fn *fn;
	void *arg;
};

struct indexer {
	struct recall *recall;
	struct spaces *spaces;
	const char *data_dir;
	const struct log *log;
	pthread_t thread;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	struct request *head;
	struct request **tail;
	bool stopping;
};

static struct request *take(struct indexer *x)
{
	struct request *r;

	pthread_mutex_lock(&x->lock);
	while (x->head == NULL && !x->stopping)
		pthread_cond_wait(&x->wake, &x->lock);
	r = x->head;
	if (r) {
		x->head = r->next;
		if (x->head == NULL)
			x->tail = &x->head;
	}
	pthread_mutex_unlock(&x->lock);
	return r;
}

static void build(struct indexer *x, const struct request *r)
{
	int64_t start_ns = clock_mono_ns();
	struct store_conn *c;
	enum store_status status = STORE_OK;
	struct buf error;
	size_t count = 0;

	buf_init(&error, 4096);
	c = store_open(x->data_dir, STORE_READ, &error);
	if (c)
		status = recall_build(x->recall, c, r->space, &count);
	/* Who asked may have read the space before it was removed. Where it goes after this look, its index goes with
	 * it. */
	if (spaces_is_gone(x->spaces, r->space))
		recall_forget(x->recall, r->space);
	if (c && status != STORE_OK)
		buf_puts(&error, store_error(c));
	if (error.len)
		log_write(x->log, LOG_ERROR, "the index could not be built", LOG_INT("space", r->space),
			  LOG_SLICE("error", buf_str(&error)));
	else
		log_write(x->log, LOG_INFO, "index built", LOG_INT("space", r->space), LOG_INT("memories", count),
			  LOG_INT("ms", (clock_mono_ns() - start_ns) / 1000000));
	store_close(c);
	r->fn(r->arg, status, buf_str(&error).p);
	buf_release(&error);
}

static void *indexer_main(void *arg)
{
	struct indexer *x = arg;
	struct request *r;

	while ((r = take(x)) != NULL) {
		if (recall_is_ready(x->recall, r->space))
			r->fn(r->arg, STORE_OK, NULL);
		else
			build(x, r);
		free(r);
	}
	return NULL;
}

struct indexer *indexer_start(struct recall *recall, struct spaces *spaces, const char *data_dir,
			      const struct log *log)
{
	struct indexer *x = mem_zalloc(sizeof(*x));

	x->recall = recall;
	x->spaces = spaces;
	x->data_dir = data_dir;
	x->log = log;
	x->tail = &x->head;
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->wake, NULL);
	thread_start(&x->thread, indexer_main, x);
	return x;
}

void indexer_request(struct indexer *x, int64_t space, indexer_fn *fn, void *arg)
{
	struct request *r = mem_alloc(sizeof(*r));

	*r = (struct request){NULL, space, fn, arg};
	pthread_mutex_lock(&x->lock);
	*x->tail = r;
	x->tail = &r->next;
	pthread_cond_signal(&x->wake);
	pthread_mutex_unlock(&x->lock);
}

void indexer_stop(struct indexer *x)
{
	if (x == NULL)
		return;
	pthread_mutex_lock(&x->lock);
	x->stopping = true;
	pthread_cond_signal(&x->wake);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	pthread_cond_destroy(&x->wake);
	pthread_mutex_destroy(&x->lock);
	free(x);
}
