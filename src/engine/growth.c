#include "engine/growth.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

enum { EVERY_MS = 3600 * 1000, SAMPLES = 25, DAY_MS = 24 * 3600 * 1000 };

struct sample {
	int64_t at_ms;
	int64_t bytes;
};

struct growth {
	pthread_mutex_t lock;		/* guards the samples */
	struct sample samples[SAMPLES];	/* a ring; the oldest go */
	size_t count;			/* ever */
	int64_t next_ms;		/* the writer's thread's own */
};

struct growth *growth_new(void)
{
	struct growth *g = mem_zalloc(sizeof(*g));

	pthread_mutex_init(&g->lock, NULL);
	return g;
}

void growth_free(struct growth *g)
{
	if (g == NULL)
		return;
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void growth_note(struct growth *g, struct store_conn *c, int64_t now_ms)
{
	struct store_info info;

	/* (Sooner where the clock was set back.) */
	if (now_ms < g->next_ms && now_ms > g->next_ms - 2 * EVERY_MS)
		return;
	g->next_ms = now_ms + EVERY_MS;
	if (store_info(c, &info) != STORE_OK)
		return;
	pthread_mutex_lock(&g->lock);
	g->samples[g->count++ % SAMPLES] = (struct sample){now_ms, info.bytes};
	pthread_mutex_unlock(&g->lock);
}

/* The newest that is a day old; where none is, the oldest. */
void growth_since(struct growth *g, int64_t now_ms, int64_t *ret_bytes, int64_t *ret_at_ms)
{
	struct sample found = {0};
	size_t first;

	pthread_mutex_lock(&g->lock);
	first = g->count > SAMPLES ? g->count - SAMPLES : 0;
	for (size_t i = first; i < g->count; i++) {
		const struct sample *s = &g->samples[i % SAMPLES];

		if (i == first || s->at_ms <= now_ms - DAY_MS)
			found = *s;
	}
	pthread_mutex_unlock(&g->lock);
	*ret_bytes = found.bytes;
	*ret_at_ms = found.at_ms;
}
