#include "store/postgres/postgres_pool.h"

#include "base/cond.h"
#include "base/mem.h"
#include "store/postgres/postgres_group.h"

#include <stdlib.h>

/* How long somebody waits for a session that others use. */
enum { TAKE_MAX_MS = 5000 };

struct postgres_pool {
	struct postgres_pool *next;
	size_t users;			/* these two: under the lock of the list */
	char *url;
	struct postgres_group group;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t given;
	struct postgres_session *idle;	/* the one that was used last is first */
	size_t count;			/* of the idle, the taken, and those that are being opened */
	bool is_silent;
};

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static struct postgres_pool *pools;

static struct postgres_pool *pool_new(const char *url)
{
	struct postgres_pool *p = mem_zalloc(sizeof(*p));
	size_t size = strlen(url) + 1;

	p->url = mem_alloc(size);
	memcpy(p->url, url, size);
	pthread_mutex_init(&p->lock, NULL);
	cond_init(&p->given);
	postgres_group_init(&p->group);
	return p;
}

struct postgres_pool *postgres_pool_use(const char *url)
{
	struct postgres_pool *p;

	pthread_mutex_lock(&pools_lock);
	for (p = pools; p && strcmp(p->url, url) != 0;)
		p = p->next;
	if (p == NULL) {
		p = pool_new(url);
		p->next = pools;
		pools = p;
	}
	p->users++;
	pthread_mutex_unlock(&pools_lock);
	return p;
}

static void close_all(struct postgres_session *s)
{
	while (s) {
		struct postgres_session *next = s->next;

		postgres_session_close(s);
		s = next;
	}
}

static void pool_free(struct postgres_pool *p)
{
	close_all(p->idle);
	postgres_group_release(&p->group);
	pthread_cond_destroy(&p->given);
	pthread_mutex_destroy(&p->lock);
	free(p->url);
	free(p);
}

void postgres_pool_release(struct postgres_pool *p)
{
	struct postgres_pool **at = &pools;
	bool is_last;

	if (p == NULL)
		return;
	pthread_mutex_lock(&pools_lock);
	is_last = --p->users == 0;
	if (is_last) {
		while (*at != p)
			at = &(*at)->next;
		*at = p->next;
	}
	pthread_mutex_unlock(&pools_lock);
	if (is_last)
		pool_free(p);
}

/* There is one less, and room for another. */
static void uncount(struct postgres_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->count--;
	pthread_cond_signal(&p->given);
	pthread_mutex_unlock(&p->lock);
}

static struct postgres_session *open_one(struct postgres_pool *p, struct buf *error)
{
	struct postgres_session *s = postgres_session_open(p->url, error);

	if (s && !PQenterPipelineMode(s->db)) {
		postgres_session_close(s);
		s = NULL;
	}
	if (s == NULL)
		uncount(p);
	return s;
}

struct postgres_session *postgres_pool_take(struct postgres_pool *p, struct buf *error)
{
	int64_t until_ns = clock_mono_ns() + TAKE_MAX_MS * INT64_C(1000000);
	struct postgres_session *s;
	bool is_room, is_silent;

	pthread_mutex_lock(&p->lock);
	while (p->idle == NULL && p->count == POSTGRES_POOL_MAX && !p->is_silent)
		if (!cond_wait_until(&p->given, &p->lock, until_ns))
			break;
	is_silent = p->is_silent;
	s = is_silent ? NULL : p->idle;
	if (s)
		p->idle = s->next;
	is_room = s == NULL && !is_silent && p->count < POSTGRES_POOL_MAX;
	p->count += is_room;
	pthread_mutex_unlock(&p->lock);
	if (s)
		return s;
	if (is_room)
		return open_one(p, error);
	buf_puts(error, is_silent ? "PostgreSQL does not answer" : "all sessions of PostgreSQL are busy");
	return NULL;
}

void postgres_pool_give(struct postgres_pool *p, struct postgres_session *s)
{
	if (s->is_stale) {
		postgres_pool_drop(p, s);
		return;
	}
	pthread_mutex_lock(&p->lock);
	s->next = p->idle;
	p->idle = s;
	pthread_cond_signal(&p->given);
	pthread_mutex_unlock(&p->lock);
}

void postgres_pool_drop(struct postgres_pool *p, struct postgres_session *s)
{
	pthread_mutex_lock(&p->lock);
	s->next = p->idle;
	for (struct postgres_session *at = s; at; at = at->next)
		p->count--;
	p->idle = NULL;
	pthread_cond_broadcast(&p->given);
	pthread_mutex_unlock(&p->lock);
	close_all(s);
}

void postgres_pool_set_silent(struct postgres_pool *p, bool is_silent)
{
	pthread_mutex_lock(&p->lock);
	p->is_silent = is_silent;
	if (is_silent)
		pthread_cond_broadcast(&p->given);
	pthread_mutex_unlock(&p->lock);
}

bool postgres_pool_is_silent(struct postgres_pool *p)
{
	bool is_silent;

	pthread_mutex_lock(&p->lock);
	is_silent = p->is_silent;
	pthread_mutex_unlock(&p->lock);
	return is_silent;
}

struct postgres_group *postgres_pool_group(struct postgres_pool *p)
{
	return &p->group;
}

size_t postgres_pool_count(struct postgres_pool *p)
{
	size_t count;

	pthread_mutex_lock(&p->lock);
	count = p->count;
	pthread_mutex_unlock(&p->lock);
	return count;
}
