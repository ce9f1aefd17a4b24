/* Who takes part in a run. */
#include "world_internal.h"

#include <assert.h>
#include <stdio.h>

/* One out of a few values. */
static int64_t one_of(struct world *w, const int64_t *values, size_t count)
{
	return values[random_below(&w->random, count)];
}

static void choose_settings(struct world *w, struct actor_agent *a, const struct actor_agent *first)
{
	static const int64_t timeouts[] = {0, 0, 1000, 3000, 10000, 20000}, attempts[] = {0, 0, 1, 2, 3, 5};
	static const int64_t queue_timeouts[] = {0, 0, 0, 30000, 120000};
	uint32_t count = (uint32_t)random_below(&w->random, WORLD_FALLBACKS + 1);

	a->cast.ack_timeout_ms = one_of(w, timeouts, 6);
	a->cast.max_attempts = one_of(w, attempts, 6);
	a->cast.queue_timeout_ms = one_of(w, queue_timeouts, 5);
	/* Anybody may be a fallback: itself, one that is named twice, one that nobody knows. */
	for (uint32_t i = 0; i < count; i++)
		a->names[i] = (struct json){.type = JSON_STRING, .s = first[random_below(&w->random,
				WORLD_AGENTS + WORLD_STRANGERS)].cast.name};
	a->fallbacks = (struct json){.type = JSON_ARRAY, .count = count, .items = a->names};
	a->cast.fallbacks = count ? &a->fallbacks : NULL;
}

static void register_agent(struct world *w, const struct actor_agent *a)
{
	struct agent_row row = {.name = a->cast.name};
	struct buf text;

	buf_init(&text, 4096);
	buf_puts(&text, "{");
	if (a->cast.ack_timeout_ms)
		buf_printf(&text, "\"ack_timeout_s\":%.3f,", (double)a->cast.ack_timeout_ms / 1000);
	if (a->cast.max_attempts)
		buf_printf(&text, "\"max_attempts\":%lld,", (long long)a->cast.max_attempts);
	if (a->cast.queue_timeout_ms)
		buf_printf(&text, "\"queue_timeout_s\":%.3f,", (double)a->cast.queue_timeout_ms / 1000);
	buf_puts(&text, "\"fallbacks\":[");
	for (uint32_t i = 0; i < a->fallbacks.count; i++)
		buf_printf(&text, "%s\"%.*s\"", i ? "," : "", STR_ARG(a->names[i].s));
	buf_puts(&text, "]}");
	row.settings = buf_str(&text);
	store_agent_put(w->store, a->cast.space, &row);
	buf_release(&text);
}

static void add_receiver(struct world *w, struct actor_agent *a, int64_t after_ms)
{
	struct receiver *r = &w->receivers[w->receiver_count++];

	assert(w->receiver_count <= WORLD_RECEIVERS);
	r->agent = a;
	r->name = arena_printf(&w->arena, "%.*s-%zu", STR_ARG(a->cast.name), w->receiver_count);
	world_later(w, after_ms, ERRAND_POLL, r);
}

/* Most are well, some come and go, some refuse, some are dead. */
static void choose_health(struct world *w, struct actor_agent *a, bool is_stranger)
{
	uint64_t dice = random_below(&w->random, 100);
	size_t receivers = dice < 10 || is_stranger ? 0 : 1 + random_below(&w->random, 3);

	a->is_sick = dice % 8 == 0;
	a->outage_ms = dice < 60 ? 0 : random_between(&w->random, 2000, 120000);
	if (a->outage_ms)
		world_later(w, random_between(&w->random, 0, a->outage_ms), ERRAND_OUTAGE, a);
	for (size_t i = 0; i < receivers; i++)
		add_receiver(w, a, random_between(&w->random, 0, 2000));
}

void setup_cast(struct world *w)
{
	size_t per_space = WORLD_AGENTS + WORLD_STRANGERS;

	for (size_t i = 0; i < WORLD_NAMES; i++) {
		size_t n = i % per_space;

		w->agents[i] = (struct actor_agent){.cast = {.space = (int64_t)(i / per_space) + 1}};
		/* The same names in each space, so that a mix-up of spaces shows. */
		w->agents[i].cast.name = n < WORLD_AGENTS
						 ? arena_printf(&w->arena, "agent%zu", n + 1)
						 : arena_printf(&w->arena, "stranger%zu", n + 1 - WORLD_AGENTS);
	}
	store_begin(w->store);
	for (size_t i = 0; i < WORLD_SPACES; i++) {
		int64_t id;

		store_space_create(w->store, host_space(w->host, (int64_t)i + 1), w->now_ms, &id);
		assert(id == (int64_t)i + 1);
	}
	for (size_t i = 0; i < WORLD_NAMES; i++) {
		bool is_stranger = i % per_space >= WORLD_AGENTS;

		if (!is_stranger) {
			choose_settings(w, &w->agents[i], &w->agents[i / per_space * per_space]);
			register_agent(w, &w->agents[i]);
		}
		choose_health(w, &w->agents[i], is_stranger);
		w->cast_agents[i] = w->agents[i].cast;
	}
	store_commit(w->store);
	w->cast = (struct cast){w->cast_agents, WORLD_NAMES};
}

void setup_calm(struct world *w)
{
	w->is_calm = true;
	host_calm(w->host);
	for (size_t i = 0; i < WORLD_NAMES; i++) {
		w->agents[i].out_until_ms = 0;
		w->agents[i].outage_ms = 0;
		add_receiver(w, &w->agents[i], 0);
	}
}
