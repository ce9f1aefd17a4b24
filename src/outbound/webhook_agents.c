/* Which agents have a webhook, and for which of them there may be something to post. */
#include "outbound/webhook_internal.h"

#include "base/hash.h"
#include "base/mem.h"
#include "core/delivery/agent.h"
#include "outbound/webhook_url.h"

#include <stdlib.h>

enum { PAGE = 256 };

/* --- What is pending --- */

void webhook_add_pending(struct webhook *w, struct webhook_target *t)
{
	pthread_mutex_lock(&w->lock);
	if (list_is_empty(&t->pending))
		list_add(&w->pending, &t->pending);
	pthread_mutex_unlock(&w->lock);
}

struct webhook_target *webhook_next_pending(struct webhook *w)
{
	struct webhook_target *found = NULL;

	if (w->under_way == WEBHOOK_ALL_MAX)
		return NULL;
	pthread_mutex_lock(&w->lock);
	for (struct list *link = w->pending.next; found == NULL && link != &w->pending; link = link->next) {
		struct webhook_target *t = LIST_ELEMENT(link, struct webhook_target, pending);

		if (!t->is_taking && t->under_way < WEBHOOK_AGENT_MAX)
			found = t;
	}
	if (found)
		list_remove(&found->pending);
	pthread_mutex_unlock(&w->lock);
	return found;
}

/* --- The agents --- */

static struct list *bucket_of(struct webhook *w, int64_t agent)
{
	return &w->buckets[hash_bytes(&agent, sizeof(agent), 0) % WEBHOOK_BUCKETS];
}

static struct webhook_target *find(struct webhook *w, int64_t agent)
{
	struct list *bucket = bucket_of(w, agent);

	for (struct list *link = bucket->next; link != bucket; link = link->next) {
		struct webhook_target *t = LIST_ELEMENT(link, struct webhook_target, same);

		if (t->agent == agent)
			return t;
	}
	return NULL;
}

/* A target stays until the end: the thread may be at work for it. */
static struct webhook_target *add(struct webhook *w, const struct agent_place *agent)
{
	struct webhook_target *t = mem_zalloc(sizeof(*t));

	t->agent = agent->id;
	t->space = agent->space;
	t->name = mem_strndup(agent->name.p, agent->name.n);
	t->space_name = mem_strndup(agent->space_name.p, agent->space_name.n);
	list_init(&t->same);
	list_init(&t->pending);
	list_add(bucket_of(w, agent->id), &t->same);
	return t;
}

void webhook_set(struct webhook *w, const struct agent_place *agent, bool has_webhook)
{
	struct webhook_target *t = find(w, agent->id);

	if (t == NULL && !has_webhook)
		return;
	if (t == NULL)
		t = add(w, agent);
	atomic_store(&t->is_on, has_webhook);
	if (!has_webhook) {
		pthread_mutex_lock(&w->lock);
		list_remove(&t->pending);
		pthread_mutex_unlock(&w->lock);
		return;
	}
	/* There may be something from the time when it had none. */
	webhook_add_pending(w, t);
	follower_wake(&w->follower);
}

void webhook_wake(struct webhook *w, int64_t agent)
{
	struct webhook_target *t = w ? find(w, agent) : NULL;

	if (t == NULL || !atomic_load(&t->is_on))
		return;
	webhook_add_pending(w, t);
	follower_wake(&w->follower);
}

/* --- From the store --- */

/* One that was registered when --webhook-hosts was another is told of in the log, and every handoff says why it
 * failed. */
static void add_stored(struct webhook *w, const struct agent_place *place, struct arena *arena)
{
	struct agent agent = {0};
	struct problem problem = {0};
	struct json settings;
	struct json_error error;
	struct webhook_target *t;

	if (!json_parse(place->settings, JSON_DEPTH_MAX, arena, &settings, &error) ||
	    agent_settings(&settings, &agent, &problem) != P_OK || agent.webhook.p == NULL)
		return;
	if (webhook_url_check(w->config.hosts, agent.webhook, &problem) != P_OK)
		log_write(w->config.log, LOG_WARN, "an agent's webhook cannot be posted to",
			  LOG_SLICE("agent", place->name), LOG_SLICE("space", place->space_name),
			  LOG_STR("reason", problem.detail));
	t = add(w, place);
	atomic_store(&t->is_on, true);
	t->may_have_left = true;
	list_add(&w->pending, &t->pending);
}

/* The text stands in the settings, which are in canonical form, where there is a webhook. Whether it is the agent's own
 * is seen when they are read. */
enum store_status webhook_add_stored(struct webhook *w, struct store_conn *c)
{
	struct agent_place *page = mem_calloc(PAGE, sizeof(*page));
	enum store_status status = STORE_OK;
	size_t count = PAGE;
	int64_t after = 0;
	struct arena arena;

	arena_init(&arena);
	while (status == STORE_OK && count == PAGE) {
		status = store_agents_holding(c, STR("\"webhook\":\""), after, PAGE, &arena, page, &count);
		for (size_t i = 0; status == STORE_OK && i < count; i++) {
			add_stored(w, &page[i], &arena);
			after = page[i].id;
		}
		arena_release(&arena);
	}
	free(page);
	return status;
}

void webhook_free_agents(struct webhook *w)
{
	for (int i = 0; i < WEBHOOK_BUCKETS; i++) {
		while (!list_is_empty(&w->buckets[i])) {
			struct webhook_target *t = LIST_ELEMENT(w->buckets[i].next, struct webhook_target, same);

			list_remove(&t->same);
			free(t->name);
			free(t->space_name);
			free(t);
		}
	}
}
