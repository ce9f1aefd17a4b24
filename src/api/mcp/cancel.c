#include "api/mcp/cancel.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct cancelling {
	pthread_mutex_t lock;
	struct list waiting;		/* calls; each is put in and taken out by its own thread */
};

struct cancelling *cancel_new(void)
{
	struct cancelling *c = mem_zalloc(sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	list_init(&c->waiting);
	return c;
}

void cancel_free(struct cancelling *c)
{
	if (c)
		pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Without a session nobody knows whose number it is. */
void cancel_add(struct mcp_call *m)
{
	struct cancelling *c = m->mcp->cancelling;

	if (m->session.p == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	list_init(&m->waiting);
	list_add(&c->waiting, &m->waiting);
	pthread_mutex_unlock(&c->lock);
}

void cancel_remove(struct mcp_call *m)
{
	struct cancelling *c = m->mcp->cancelling;

	if (m->session.p == NULL || m->waiting.next == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	list_remove(&m->waiting);
	pthread_mutex_unlock(&c->lock);
}

/* With the lock held. */
static struct mcp_call *find(struct cancelling *c, struct str session, uint64_t key, const struct json *id)
{
	for (struct list *l = c->waiting.next; l != &c->waiting; l = l->next) {
		struct mcp_call *m = LIST_ELEMENT(l, struct mcp_call, waiting);

		if (str_eq(m->session, session) && mcp_key(m) == key && json_equal(m->id, id))
			return m;
	}
	return NULL;
}

struct cancellation {
	struct mcp *mcp;
	struct arena arena;
	struct str session;
	uint64_t key;			/* of who cancels */
	struct json id;
};

/* On the thread of the call, which may be over by now. */
static void cancel(void *arg)
{
	struct cancellation *asked = arg;
	struct mcp_call *m;

	pthread_mutex_lock(&asked->mcp->cancelling->lock);
	m = find(asked->mcp->cancelling, asked->session, asked->key, &asked->id);
	pthread_mutex_unlock(&asked->mcp->cancelling->lock);
	if (m)
		engine_nudge(m->call.op);
	arena_release(&asked->arena);
	free(asked);
}

static struct cancellation *copy(const struct mcp_call *m, const struct json *id)
{
	struct cancellation *asked = mem_zalloc(sizeof(*asked));

	asked->mcp = m->mcp;
	arena_init(&asked->arena);
	asked->session = arena_str(&asked->arena, m->session);
	asked->key = mcp_key(m);
	asked->id = *id;
	if (id->type == JSON_STRING)
		asked->id.s = arena_str(&asked->arena, id->s);
	return asked;
}

void cancel_asked(struct mcp_call *m)
{
	const struct json *id = json_get(m->params, "requestId");
	struct mcp_call *waiting = NULL;
	int thread = 0;

	if (!str_is(m->method, "notifications/cancelled") || m->session.p == NULL || id == NULL ||
	    (id->type != JSON_STRING && id->type != JSON_INT))
		return;
	pthread_mutex_lock(&m->mcp->cancelling->lock);
	waiting = find(m->mcp->cancelling, m->session, mcp_key(m), id);
	thread = waiting ? http_req_thread(waiting->req) : 0;
	pthread_mutex_unlock(&m->mcp->cancelling->lock);
	if (waiting)
		http_post(m->call.api->http, thread, cancel, copy(m, id));
}
