#include "engine/workers.h"

#include "base/mem.h"
#include "base/thread.h"
#include "engine/op.h"

#include <pthread.h>
#include <stdlib.h>

struct worker {
	struct workers *all;
	struct engine_reader *reader;
	pthread_t thread;
};

struct workers {
	struct worker *list;
	int count;
	size_t max;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	struct op *head;
	struct op **tail;
	size_t waiting;
	bool stopping;
};

static struct op *take(struct workers *w)
{
	struct op *op;

	pthread_mutex_lock(&w->lock);
	while (w->head == NULL && !w->stopping)
		pthread_cond_wait(&w->wake, &w->lock);
	op = w->head;
	if (op) {
		w->head = op->aside.next;
		w->waiting--;
		if (w->head == NULL)
			w->tail = &w->head;
	}
	pthread_mutex_unlock(&w->lock);
	return op;
}

static void *worker_main(void *arg)
{
	struct worker *self = arg;
	struct op *op;

	while ((op = take(self->all)) != NULL)
		op->aside.fn(op, self->reader);
	return NULL;
}

struct workers *workers_start(struct engine *e, int count, struct buf *error)
{
	struct workers *w = mem_zalloc(sizeof(*w));

	w->max = e->config.max_queue;
	w->tail = &w->head;
	w->list = mem_calloc((size_t)count, sizeof(*w->list));
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	while (w->count < count) {
		struct worker *one = &w->list[w->count];

		one->all = w;
		one->reader = engine_reader_open(e, error);
		if (one->reader == NULL) {
			workers_stop(w);
			return NULL;
		}
		thread_start(&one->thread, worker_main, one);
		w->count++;
	}
	return w;
}

bool workers_submit(struct workers *w, struct op *op, void (*fn)(struct op *op, struct engine_reader *reader))
{
	bool has_room;

	op->aside.fn = fn;
	op->aside.next = NULL;
	pthread_mutex_lock(&w->lock);
	has_room = w->waiting < w->max;
	if (has_room) {
		*w->tail = op;
		w->tail = &op->aside.next;
		w->waiting++;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return has_room;
}

void workers_stop(struct workers *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	for (int i = 0; i < w->count; i++) {
		pthread_join(w->list[i].thread, NULL);
		engine_reader_close(w->list[i].reader);
	}
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w->list);
	free(w);
}
