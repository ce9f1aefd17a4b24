#include "engine/envelope_numbers.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct counter {
	char *name;
	size_t len;
	uint64_t next;
};

/* Sorted by name: spaces are few, and are asked for far more often than made. */
struct envelope_numbers {
	pthread_mutex_t lock;
	struct counter *counters;
	size_t count;
};

struct envelope_numbers *envelope_numbers_new(void)
{
	struct envelope_numbers *n = mem_zalloc(sizeof(*n));

	pthread_mutex_init(&n->lock, NULL);
	return n;
}

void envelope_numbers_free(struct envelope_numbers *n)
{
	if (n == NULL)
		return;
	for (size_t i = 0; i < n->count; i++)
		free(n->counters[i].name);
	pthread_mutex_destroy(&n->lock);
	free(n->counters);
	free(n);
}

/* Position of the name, or where it belongs. */
static size_t find(const struct envelope_numbers *n, struct str name, bool *ret_found)
{
	size_t from = 0, to = n->count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int order = str_cmp((struct str){n->counters[mid].name, n->counters[mid].len}, name);

		if (order == 0) {
			*ret_found = true;
			return mid;
		}
		if (order < 0)
			from = mid + 1;
		else
			to = mid;
	}
	*ret_found = false;
	return from;
}

static void insert(struct envelope_numbers *n, size_t at, struct str name, uint64_t next)
{
	n->counters = mem_reallocarray(n->counters, n->count + 1, sizeof(*n->counters));
	memmove(&n->counters[at + 1], &n->counters[at], (n->count - at) * sizeof(*n->counters));
	n->counters[at] = (struct counter){mem_strndup(name.p, name.n), name.n, next};
	n->count++;
}

static enum store_status look_up(struct envelope_numbers *n, struct store_conn *c, struct str space_name, int64_t space,
				 unsigned take, uint64_t *ret)
{
	enum store_status status = STORE_OK;
	uint64_t last = 0;
	bool found;
	size_t at;

	pthread_mutex_lock(&n->lock);
	at = find(n, space_name, &found);
	if (!found && space == 0 && take == 0) {
		/* Who only looks makes no space, so its name would be remembered for ever. */
		pthread_mutex_unlock(&n->lock);
		*ret = 1;
		return STORE_OK;
	}
	if (!found) {
		/* Nobody has a number of this space in hand yet, so what the store has is all there is. */
		if (space)
			status = store_envelope_last(c, space, &last);
		if (status == STORE_OK)
			insert(n, at, space_name, last + 1);
	}
	if (status == STORE_OK && n->counters[at].next > MEMORY_NUM_MAX)
		status = STORE_EXISTS;
	if (status == STORE_OK) {
		*ret = n->counters[at].next;
		n->counters[at].next += take;
	}
	pthread_mutex_unlock(&n->lock);
	return status;
}

enum store_status envelope_numbers_next(struct envelope_numbers *n, struct store_conn *c, struct str space_name,
					    int64_t space, uint64_t *ret)
{
	return look_up(n, c, space_name, space, 1, ret);
}

enum store_status envelope_numbers_peek(struct envelope_numbers *n, struct store_conn *c, struct str space_name,
					    int64_t space, uint64_t *ret)
{
	return look_up(n, c, space_name, space, 0, ret);
}

void envelope_numbers_forget(struct envelope_numbers *n, struct str space_name)
{
	bool found;
	size_t at;

	pthread_mutex_lock(&n->lock);
	at = find(n, space_name, &found);
	if (found) {
		free(n->counters[at].name);
		n->count--;
		memmove(&n->counters[at], &n->counters[at + 1], (n->count - at) * sizeof(*n->counters));
	}
	pthread_mutex_unlock(&n->lock);
}
