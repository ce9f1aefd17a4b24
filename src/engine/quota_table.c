/* What is known of the spaces: an entry for each that was asked for, by its id, until it is removed. */
#include "base/mem.h"
#include "engine/quota_internal.h"
#include "engine/spaces.h"

#include <stdlib.h>

struct quota *quota_new(const struct space_quota *server, struct spaces *spaces)
{
	struct quota *q = mem_zalloc(sizeof(*q));

	q->server = *server;
	q->spaces = spaces;
	pthread_mutex_init(&q->lock, NULL);
	return q;
}

void quota_free(struct quota *q)
{
	if (q == NULL)
		return;
	for (size_t i = 0; i < q->count; i++)
		free(q->entries[i]);
	free(q->entries);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* Where the entry of the space is, or belongs. The lock is held, also below. */
static size_t place_of(const struct quota *q, int64_t space)
{
	size_t from = 0, to = q->count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (q->entries[mid]->space < space)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

struct quota_entry *quota_find(const struct quota *q, int64_t space)
{
	size_t at = place_of(q, space);

	return at < q->count && q->entries[at]->space == space ? q->entries[at] : NULL;
}

/* Who still reads a space as it was before it was removed must not bring its entry back: nobody would take it away. */
struct quota_entry *quota_entry(struct quota *q, int64_t space)
{
	size_t at = place_of(q, space);

	if (at < q->count && q->entries[at]->space == space)
		return q->entries[at];
	if (spaces_is_gone(q->spaces, space))
		return NULL;
	q->entries = mem_reallocarray(q->entries, q->count + 1, sizeof(struct quota_entry *));
	memmove(q->entries + at + 1, q->entries + at, (q->count - at) * sizeof(struct quota_entry *));
	q->count++;
	q->entries[at] = mem_zalloc(sizeof(struct quota_entry));
	q->entries[at]->space = space;
	return q->entries[at];
}

void quota_forget(struct quota *q, int64_t space)
{
	struct quota_entry *e;

	pthread_mutex_lock(&q->lock);
	e = quota_entry(q, space);
	if (e) {
		e->is_known = e->has_marks = false;
		e->changes++;
	}
	pthread_mutex_unlock(&q->lock);
}

void quota_remove(struct quota *q, int64_t space)
{
	struct quota_entry *e;
	size_t at;

	pthread_mutex_lock(&q->lock);
	at = place_of(q, space);
	e = quota_find(q, space);
	if (e) {
		q->count--;
		memmove(q->entries + at, q->entries + at + 1, (q->count - at) * sizeof(struct quota_entry *));
		free(e);
	}
	pthread_mutex_unlock(&q->lock);
}

/* Who waited in a space that was removed is not counted any more. */
void quota_count_waiting(struct quota *q, int64_t space, int more)
{
	struct quota_entry *e;

	pthread_mutex_lock(&q->lock);
	e = more > 0 ? quota_entry(q, space) : quota_find(q, space);
	if (e)
		e->waiting += more;
	pthread_mutex_unlock(&q->lock);
}

int64_t quota_waiting(struct quota *q, int64_t space)
{
	const struct quota_entry *e;
	int64_t waiting;

	pthread_mutex_lock(&q->lock);
	e = quota_find(q, space);
	waiting = e ? e->waiting : 0;
	pthread_mutex_unlock(&q->lock);
	return waiting;
}

static bool has_limit(const struct quota_entry *e)
{
	for (int kind = 0; e->is_known && kind < QUOTA_KINDS; kind++)
		if (e->limit[kind])
			return true;
	return false;
}

size_t quota_limited(struct quota *q, struct arena *arena, int64_t **ret)
{
	size_t count = 0;

	pthread_mutex_lock(&q->lock);
	*ret = arena_calloc(arena, q->count + 1, sizeof(**ret));
	for (size_t i = 0; i < q->count; i++)
		if (has_limit(q->entries[i]))
			(*ret)[count++] = q->entries[i]->space;
	pthread_mutex_unlock(&q->lock);
	return count;
}

void quota_refusals(struct quota *q, int64_t space, int64_t ret[QUOTA_KINDS])
{
	const struct quota_entry *e;

	pthread_mutex_lock(&q->lock);
	e = quota_find(q, space);
	for (int kind = 0; kind < QUOTA_KINDS; kind++)
		ret[kind] = e ? e->refusals[kind] : 0;
	pthread_mutex_unlock(&q->lock);
}
