#include "serve/give_back.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

/* To look costs a tenth of a millisecond. */
enum { LOOK_EVERY_S = 2 };

struct give_back {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_stopping;	/* guarded by lock */
};

static void *give_back_main(void *arg)
{
	struct give_back *g = arg;

	pthread_mutex_lock(&g->lock);
	while (!g->is_stopping) {
		int64_t until_ns = clock_mono_ns() + LOOK_EVERY_S * 1000000000LL;

		while (!g->is_stopping && cond_wait_until(&g->wake, &g->lock, until_ns))
			;
		pthread_mutex_unlock(&g->lock);
		mem_give_back();
		pthread_mutex_lock(&g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

struct give_back *give_back_start(void)
{
	struct give_back *g = mem_zalloc(sizeof(*g));

	pthread_mutex_init(&g->lock, NULL);
	cond_init(&g->wake);
	if (pthread_create(&g->thread, NULL, give_back_main, g) != 0)
		abort();
	return g;
}

void give_back_stop(struct give_back *g)
{
	if (g == NULL)
		return;
	pthread_mutex_lock(&g->lock);
	g->is_stopping = true;
	pthread_cond_signal(&g->wake);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	pthread_cond_destroy(&g->wake);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
