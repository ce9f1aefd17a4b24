#include "outbound/follower.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

#include <assert.h>
#include <stdlib.h>

enum { RETRY_FIRST_MS = 1000 };

/* --- Errands --- */

/* On the writer's thread. */
static void errand_done(struct writer_job *job, enum store_status status)
{
	struct errand *e = LIST_ELEMENT(job, struct errand, job);
	struct followers *s = e->from->of;

	e->status = status;
	if (status == STORE_OK && e->committed)
		e->committed(e);
	pthread_mutex_lock(&s->lock);
	list_add(&s->back, &e->link);
	pthread_mutex_unlock(&s->lock);
	poster_wake(s->poster);
}

void errand_send(struct errand *e, struct follower *from,
		 enum store_status (*run)(struct writer_job *job, struct store_conn *c, int64_t now_ms),
		 void (*back)(struct errand *e))
{
	e->from = from;
	e->job.run = run;
	e->job.done = errand_done;
	e->back = back;
	list_init(&e->link);
	arena_init(&e->scratch);
	writer_submit_always(from->of->writer, &e->job);
}

static void welcome_back(struct followers *s)
{
	struct list *first;

	do {
		pthread_mutex_lock(&s->lock);
		first = list_is_empty(&s->back) ? NULL : s->back.next;
		if (first)
			list_remove(first);
		pthread_mutex_unlock(&s->lock);
		if (first) {
			struct errand *e = LIST_ELEMENT(first, struct errand, link);

			atomic_store(&e->from->is_roused, true);
			e->back(e);
		}
	} while (first);
}

/* --- The thread --- */

static bool is_due(struct follower *f, int64_t now_ns)
{
	bool is_roused = atomic_exchange(&f->is_roused, false);

	if (f->sleeps_until_ns == FOLLOWER_WHEN_WOKEN)
		return is_roused || atomic_load(&f->is_woken);
	return is_roused || f->sleeps_until_ns <= now_ns;
}

/* It may be freed from now on. */
static void say_done(struct followers *s, struct follower *f)
{
	assert(atomic_load(&f->is_stopping));
	list_remove(&f->link);
	pthread_mutex_lock(&s->lock);
	f->is_done = true;
	pthread_cond_broadcast(&s->done);
	pthread_mutex_unlock(&s->lock);
}

/* Returns when one of them has to look again. */
static int64_t look_all(struct followers *s, int64_t now_ns)
{
	int64_t until_ns = FOLLOWER_WHEN_WOKEN;

	for (struct list *link = s->all.next, *next; link != &s->all; link = next) {
		struct follower *f = LIST_ELEMENT(link, struct follower, link);

		next = link->next;
		if (is_due(f, now_ns)) {
			/* What is committed from here on wakes again. */
			atomic_store(&f->is_woken, false);
			f->sleeps_until_ns = f->look(f, now_ns);
		}
		if (f->sleeps_until_ns == FOLLOWER_DONE)
			say_done(s, f);
		else if (f->sleeps_until_ns < until_ns)
			until_ns = f->sleeps_until_ns;
	}
	return until_ns;
}

static void *followers_main(void *arg)
{
	struct followers *s = arg;

	while (!atomic_load(&s->is_stopping)) {
		welcome_back(s);
		poster_turn(s->poster, look_all(s, clock_mono_ns()));
	}
	return NULL;
}

/* --- One of them --- */

void follower_init(struct follower *f, struct followers *of, int64_t (*look)(struct follower *f, int64_t now_ns))
{
	*f = (struct follower){.of = of, .look = look, .is_woken = true, .sleeps_until_ns = FOLLOWER_WHEN_WOKEN};
	list_add(&of->all, &f->link);
}

void follower_wake(struct follower *f)
{
	if (!atomic_load(&f->is_woken) && !atomic_exchange(&f->is_woken, true))
		poster_wake(f->of->poster);
}

void follower_rouse(struct follower *f)
{
	atomic_store(&f->is_roused, true);
	poster_wake(f->of->poster);
}

void follower_stop(struct follower *f)
{
	atomic_store(&f->is_stopping, true);
	follower_rouse(f);
}

void follower_wait(struct follower *f)
{
	struct followers *s = f->of;

	/* The thread never ran: there is nothing to wait for. */
	if (!s->is_running) {
		list_remove(&f->link);
		return;
	}
	pthread_mutex_lock(&s->lock);
	while (!f->is_done)
		pthread_cond_wait(&s->done, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

int64_t follower_backoff_ms(int64_t last_ms, int64_t max_ms)
{
	int64_t next_ms = last_ms ? 2 * last_ms : RETRY_FIRST_MS;

	return next_ms < max_ms ? next_ms : max_ms;
}

/* --- All of them --- */

struct followers *followers_new(const char *data_dir, const char *ca_file, struct buf *error)
{
	struct followers *s = mem_zalloc(sizeof(*s));

	s->poster = poster_new(ca_file);
	list_init(&s->all);
	list_init(&s->back);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->done, NULL);
	s->reader = store_open(data_dir, STORE_READ, error);
	if (s->reader)
		return s;
	followers_free(s);
	return NULL;
}

void followers_start(struct followers *s, struct writer *writer)
{
	s->writer = writer;
	thread_start(&s->thread, followers_main, s);
	s->is_running = true;
}

void followers_free(struct followers *s)
{
	if (s == NULL)
		return;
	assert(list_is_empty(&s->all) && list_is_empty(&s->back));
	if (s->is_running) {
		atomic_store(&s->is_stopping, true);
		poster_wake(s->poster);
		pthread_join(s->thread, NULL);
	}
	store_close(s->reader);
	poster_free(s->poster);
	pthread_cond_destroy(&s->done);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
