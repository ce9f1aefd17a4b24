#include "engine/damage.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct damage {
	const struct log *log;
	pthread_mutex_t lock;		/* guards what follows */
	char *seen[DAMAGE_MAX];		/* owned */
	size_t count;
};

struct damage *damage_new(const struct log *log)
{
	struct damage *d = mem_zalloc(sizeof(*d));

	d->log = log;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

void damage_free(struct damage *d)
{
	if (d == NULL)
		return;
	for (size_t i = 0; i < d->count; i++)
		free(d->seen[i]);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

bool damage_note(struct damage *d, const char *what)
{
	bool is_new;
	size_t i = 0;

	pthread_mutex_lock(&d->lock);
	while (i < d->count && strcmp(d->seen[i], what) != 0)
		i++;
	is_new = i == d->count && i < DAMAGE_MAX;
	if (is_new)
		d->seen[d->count++] = mem_strdup(what);
	pthread_mutex_unlock(&d->lock);
	if (is_new)
		log_write(d->log, LOG_ERROR, "the store is damaged: what is there is not shown, the rest is served; "
			  "run spine check, and restore a backup", LOG_STR("where", what));
	return is_new;
}

size_t damage_count(struct damage *d)
{
	size_t count;

	pthread_mutex_lock(&d->lock);
	count = d->count;
	pthread_mutex_unlock(&d->lock);
	return count;
}
