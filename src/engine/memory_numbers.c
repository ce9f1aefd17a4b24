#include "engine/memory_numbers.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct counter {
	int64_t space;
	uint64_t next;		/* above all that were promised, and all that the store is known to have given */
};

/* Sorted by space; only those in which something was promised. */
struct memory_numbers {
	pthread_mutex_t lock;
	struct counter *counters;
	size_t count;
};

struct memory_numbers *memory_numbers_new(void)
{
	struct memory_numbers *n = mem_zalloc(sizeof(*n));

	pthread_mutex_init(&n->lock, NULL);
	return n;
}

void memory_numbers_free(struct memory_numbers *n)
{
	if (n == NULL)
		return;
	pthread_mutex_destroy(&n->lock);
	free(n->counters);
	free(n);
}

/* Position of the space, or where it belongs. */
static size_t place_of(const struct memory_numbers *n, int64_t space)
{
	size_t from = 0, to = n->count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (n->counters[mid].space < space)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* NULL where nothing was promised in the space. */
static struct counter *find(const struct memory_numbers *n, int64_t space)
{
	size_t at = place_of(n, space);

	return at < n->count && n->counters[at].space == space ? &n->counters[at] : NULL;
}

static struct counter *find_or_add(struct memory_numbers *n, int64_t space)
{
	size_t at = place_of(n, space);

	if (at < n->count && n->counters[at].space == space)
		return &n->counters[at];
	n->counters = mem_reallocarray(n->counters, n->count + 1, sizeof(*n->counters));
	memmove(&n->counters[at + 1], &n->counters[at], (n->count - at) * sizeof(*n->counters));
	n->counters[at] = (struct counter){.space = space};
	n->count++;
	return &n->counters[at];
}

enum store_status memory_numbers_promise(struct memory_numbers *n, struct store_conn *c, int64_t space, uint64_t *ret)
{
	uint64_t stored = 0;
	enum store_status status = store_memory_next(c, space, &stored);
	struct counter *counter;

	if (status != STORE_OK)
		return status;
	pthread_mutex_lock(&n->lock);
	counter = find_or_add(n, space);
	if (counter->next < stored)
		counter->next = stored;
	if (counter->next > MEMORY_NUM_MAX)
		status = STORE_EXISTS;
	else
		*ret = counter->next++;
	pthread_mutex_unlock(&n->lock);
	return status;
}

uint64_t memory_numbers_free_from(struct memory_numbers *n, int64_t space)
{
	const struct counter *counter;
	uint64_t next;

	pthread_mutex_lock(&n->lock);
	counter = find(n, space);
	next = counter && counter->next <= MEMORY_NUM_MAX ? counter->next : 0;
	pthread_mutex_unlock(&n->lock);
	return next;
}

void memory_numbers_given(struct memory_numbers *n, int64_t space, uint64_t num)
{
	struct counter *counter;

	pthread_mutex_lock(&n->lock);
	counter = find(n, space);
	if (counter && counter->next <= num)
		counter->next = num + 1;
	pthread_mutex_unlock(&n->lock);
}

void memory_numbers_forget(struct memory_numbers *n, int64_t space)
{
	size_t at;

	pthread_mutex_lock(&n->lock);
	at = place_of(n, space);
	if (at < n->count && n->counters[at].space == space) {
		n->count--;
		memmove(&n->counters[at], &n->counters[at + 1], (n->count - at) * sizeof(*n->counters));
	}
	pthread_mutex_unlock(&n->lock);
}
