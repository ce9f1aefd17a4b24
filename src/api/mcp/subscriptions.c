#include "api/mcp/subscriptions.h"

#include "base/mem.h"
#include "core/delivery/agent.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUBSCRIPTIONS_MAX = 1024, SPACE_MAX = 64 };

struct subscription {
	char of[SUBSCRIPTION_OF_MAX];
	char uri[SUBSCRIPTION_URI_MAX], space[SPACE_MAX + 1], agent[AGENT_NAME_MAX + 1];
	int64_t id;			/* of the agent; 0: nobody knows it yet */
	int64_t space_id;
};

struct subscriptions {
	struct api *api;
	pthread_mutex_t lock;
	struct subscription *all;
	size_t count, next;		/* next: the one that goes where there is no room */
};

struct subscriptions *subscriptions_new(struct api *api)
{
	struct subscriptions *s = mem_zalloc(sizeof(*s));

	s->api = api;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void subscriptions_free(struct subscriptions *s)
{
	if (s == NULL)
		return;
	free(s->all);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void subscriptions_remove(struct subscriptions *s, const char *of, struct str uri)
{
	size_t kept = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->all[i].of, of) != 0 || (uri.p && !str_is(uri, s->all[i].uri)))
			s->all[kept++] = s->all[i];
	s->count = kept;
	pthread_mutex_unlock(&s->lock);
}

/* With the lock held. */
static struct subscription *room(struct subscriptions *s)
{
	if (s->all == NULL)
		s->all = mem_calloc(SUBSCRIPTIONS_MAX, sizeof(*s->all));
	if (s->count < SUBSCRIPTIONS_MAX)
		return &s->all[s->count++];
	return &s->all[s->next++ % SUBSCRIPTIONS_MAX];
}

void subscriptions_add(struct subscriptions *s, const char *of, struct str uri, struct str space, struct str agent)
{
	struct subscription *one;

	subscriptions_remove(s, of, uri);
	pthread_mutex_lock(&s->lock);
	one = room(s);
	one->id = 0;
	snprintf(one->of, sizeof(one->of), "%s", of);
	snprintf(one->uri, sizeof(one->uri), "%.*s", STR_ARG(uri));
	snprintf(one->space, sizeof(one->space), "%.*s", STR_ARG(space));
	snprintf(one->agent, sizeof(one->agent), "%.*s", STR_ARG(agent));
	pthread_mutex_unlock(&s->lock);
}

/* An agent that nobody knew may have come into being since. */
static int64_t id_of(struct subscriptions *s, struct subscription *one, struct store_conn *conn)
{
	struct spaces *spaces = s->api->engine->spaces;

	/* A space that was deleted may be made again, under the same name. */
	if (one->id && spaces_is_gone(spaces, one->space_id))
		one->id = 0;
	if (one->id == 0 && spaces_find(spaces, conn, str_of(one->space), &one->space_id) == STORE_OK)
		store_agent_id(conn, one->space_id, str_of(one->agent), false, 0, &one->id);
	return one->id;
}

static bool is_among(int64_t id, const int64_t *ids, size_t count)
{
	for (size_t i = 0; id && i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

void subscriptions_find(struct subscriptions *s, struct store_conn *conn, const int64_t *agents, size_t count,
			void (*fn)(void *ctx, const char *of, const char *uri), void *ctx)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->count; i++)
		if (is_among(id_of(s, &s->all[i], conn), agents, count))
			fn(ctx, s->all[i].of, s->all[i].uri);
	pthread_mutex_unlock(&s->lock);
}
