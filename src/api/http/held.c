#include "api/http/held.h"

#include "api/http/cluster_front.h"
#include "api/http/entry.h"
#include "base/mem.h"
#include "net/http.h"

#include <stdlib.h>

struct held_thread {
	struct held_all *all;
	struct list list;		/* the thread's own */
};

struct held_all {
	struct api *api;
	int threads;
	struct held_thread each[];
};

struct held_all *held_new(struct api *api, int threads)
{
	struct held_all *all = mem_zalloc(sizeof(*all) + (size_t)threads * sizeof(all->each[0]));

	all->api = api;
	all->threads = threads;
	for (int i = 0; i < threads; i++) {
		all->each[i].all = all;
		list_init(&all->each[i].list);
	}
	return all;
}

void held_free(struct held_all *all)
{
	free(all);
}

/* The node that it came through stops. */
static bool is_cut(const struct held *one)
{
	return one->passed_by.p && one->api->node->has_left(one->api->node->ctx, one->passed_by);
}

static void look(void *arg);

void held_add(struct api *api, struct http_req *req, struct held *one, const struct access *access,
	      void (*end)(void *arg), void *arg)
{
	const struct entry *entry = http_req_kept(req);
	struct held_thread *t = &api->held->each[http_req_thread(req)];

	if (one->link.next)
		return;
	*one = (struct held){.api = api, .access = access, .end = end, .arg = arg};
	if (entry && entry->is_passed)
		one->passed_by = entry->passed_by;
	list_init(&one->link);
	list_add(&t->list, &one->link);
	/* It was on its way when that was told. */
	if (is_cut(one))
		http_post(api->http, http_req_thread(req), look, t);
}

void held_remove(struct held *one)
{
	if (one->link.next == NULL)
		return;
	list_remove(&one->link);
	one->link.next = NULL;
}

bool held_is_welcome(const struct held *one)
{
	return one->api == NULL || entry_is_welcome(one->api, one->access);
}

void held_nudge(const struct held *one, struct op *op)
{
	if (is_cut(one))
		engine_cut(op);
	else
		engine_nudge(op);
}

static bool is_over(const struct held *one)
{
	return !held_is_welcome(one) || is_cut(one);
}

/* On the HTTP thread. The end of one may be the end of others: so they are taken out first. */
static void end_those(struct held_thread *t, bool is_all)
{
	struct list over, *next;

	list_init(&over);
	for (struct list *at = t->list.next; at != &t->list; at = next) {
		next = at->next;
		if (!is_all && !is_over(LIST_ELEMENT(at, struct held, link)))
			continue;
		list_remove(at);
		list_add(&over, at);
	}
	while (!list_is_empty(&over)) {
		struct held *one = LIST_ELEMENT(over.next, struct held, link);

		held_remove(one);
		one->end(one->arg);
	}
}

static void look(void *arg)
{
	end_those(arg, false);
}

static void end_all(void *arg)
{
	end_those(arg, true);
}

void held_end(struct held_all *all)
{
	for (int i = 0; all && i < all->threads; i++)
		http_post(all->api->http, i, end_all, &all->each[i]);
}

void held_look(struct held_all *all)
{
	for (int i = 0; all && i < all->threads; i++)
		http_post(all->api->http, i, look, &all->each[i]);
}
