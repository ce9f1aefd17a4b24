#include "engine/workers.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/thread.h"
#include "engine/op.h"

#include <pthread.h>
#include <stdlib.h>

/* Clients share lanes where their numbers do so by chance. 256 large requests that wait are minutes of work:
 * the last of them would not be waited for. */
enum { LANES = 1024, LANE_WAITING_MAX = 256 };

/* The work of a client, in the order of arrival. */
struct lane {
	struct list link;	/* of workers->lanes_waiting; alone where nothing waits */
	struct op *head;
	struct op **tail;
	size_t waiting;
	int running;
};

struct worker {
	struct workers *all;
	struct engine_reader *reader;
	pthread_t thread;
};

struct workers {
	struct worker *list;
	int count;
	int lane_running_max;
	size_t max;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	struct lane *lanes;
	struct list lanes_waiting;	/* the one whose turn it is first */
	size_t waiting;
	bool stopping;
};

/* The first of those whose turn it is that does not have its share of the threads already. */
static struct lane *next_lane(struct workers *w)
{
	for (struct list *link = w->lanes_waiting.next; link != &w->lanes_waiting; link = link->next) {
		struct lane *lane = LIST_ELEMENT(link, struct lane, link);

		if (lane->running < w->lane_running_max)
			return lane;
	}
	return NULL;
}

/* Takes the first of the lane, which then has to wait for the other lanes. */
static struct op *take_first(struct workers *w, struct lane *lane)
{
	struct op *op = lane->head;

	lane->head = op->aside.next;
	lane->waiting--;
	lane->running++;
	w->waiting--;
	list_remove(&lane->link);
	if (lane->head)
		list_add(&w->lanes_waiting, &lane->link);
	else
		lane->tail = &lane->head;
	return op;
}

/* NULL at the end. */
static struct op *take(struct workers *w, struct lane **ret_lane)
{
	struct lane *lane;
	struct op *op = NULL;

	pthread_mutex_lock(&w->lock);
	while ((lane = next_lane(w)) == NULL && !(w->stopping && w->waiting == 0))
		pthread_cond_wait(&w->wake, &w->lock);
	if (lane)
		op = take_first(w, lane);
	*ret_lane = lane;
	pthread_mutex_unlock(&w->lock);
	return op;
}

static void end(struct workers *w, struct lane *lane)
{
	pthread_mutex_lock(&w->lock);
	lane->running--;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

static void *worker_main(void *arg)
{
	struct worker *self = arg;
	struct lane *lane;
	struct op *op;

	while ((op = take(self->all, &lane)) != NULL) {
		op->aside.fn(op, self->reader);
		end(self->all, lane);
	}
	return NULL;
}

static void init_lanes(struct workers *w)
{
	w->lanes = mem_calloc(LANES, sizeof(*w->lanes));
	list_init(&w->lanes_waiting);
	for (int i = 0; i < LANES; i++) {
		list_init(&w->lanes[i].link);
		w->lanes[i].tail = &w->lanes[i].head;
	}
}

struct workers *workers_start(struct engine *e, int count, struct buf *error)
{
	struct workers *w = mem_zalloc(sizeof(*w));

	w->max = e->config.max_queue;
	w->lane_running_max = count > 1 ? count - 1 : 1;
	init_lanes(w);
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
	struct lane *lane = &w->lanes[op->client % LANES];
	bool has_room;

	op->aside.fn = fn;
	op->aside.next = NULL;
	pthread_mutex_lock(&w->lock);
	has_room = w->waiting < w->max && lane->waiting < LANE_WAITING_MAX;
	if (has_room) {
		*lane->tail = op;
		lane->tail = &op->aside.next;
		if (lane->waiting++ == 0)
			list_add(&w->lanes_waiting, &lane->link);
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
	free(w->lanes);
	free(w->list);
	free(w);
}
