#include "serve/part.h"

#include "api/http/feed.h"
#include "api/http/held.h"
#include "api/mcp/mcp.h"
#include "api/taken_json.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/access/keyring.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"
#include "net/http.h"
#include "net/http.h"
#include "outbound/alert_post.h"
#include "outbound/exporter.h"
#include "outbound/webhook.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The token cache takes 16 MB when it is full, and nothing before it is used. */
enum { TOKEN_CACHE_ENTRIES = 1 << 20 };

/* --- The engine --- */

static uint64_t random_seed(void)
{
	uint64_t seed = 0;

	if (getentropy(&seed, sizeof(seed)) != 0)
		seed = (uint64_t)clock_mono_ns();
	return seed;
}

static struct alert_rules alert_rules(const struct serve_config *c)
{
	const struct serve_alerts *a = &c->alerts;
	struct alert_rules rules = alert_rules_default, *r = &rules;

	for (int i = 0; i < STATS_WINDOWS; i++)
		if (strcmp(a->window, stats_window_name((enum stats_window)i)) == 0)
			r->window = (enum stats_window)i;
	r->min_samples = a->min_samples;
	r->completeness_low = (double)a->completeness_low / 10000;
	r->completeness_critical = (double)a->completeness_critical / 10000;
	r->failure_rate_warning = (double)a->failure_rate_warning / 10000;
	r->failure_rate_critical = (double)a->failure_rate_critical / 10000;
	r->latency_p99_ms = (double)a->latency_p99_ms;
	r->pinned_share = (double)a->pinned_share / 10000;
	r->low_share = (double)a->low_share / 10000;
	r->hop_factor = (double)a->hop_factor / 10000;
	return rules;
}

struct part *part_open(const struct part_shared *shared, const char *address, struct buf *error)
{
	const struct serve_config *c = shared->config;
	struct part *p = mem_zalloc(sizeof(*p));
	struct engine_config config = {
		.log = shared->log, .key_ttl_ms = c->idempotency_ttl_s * 1000,
		.queue_timeout_ms = c->queue_timeout_ms, .breaker_open_ms = c->breaker_open_ms,
		.max_queue = (size_t)c->max_queue, .cache_bytes = shared->cache_bytes,
		.token_entries = TOKEN_CACHE_ENTRIES, .seed = random_seed(), .rules = alert_rules(c),
		.quota = c->quota,
		.keep = {c->keep_events_ms, c->keep_handoffs_ms, c->keep_idle_ms},
		.keyring = shared->keyring, .spread = shared->spread,
		.begin_clock = shared->clock.begin, .now_ms = shared->clock.now_ms,
		.clock_offset_ms = shared->clock.offset_ms, .ctx = shared->clock.ctx,
	};

	p->shared = shared;
	p->address = mem_strndup(address, strlen(address));
	config.data_dir = p->address;
	p->api.engine = engine_open(&config, error);
	if (p->api.engine)
		return p;
	part_free(p);
	return NULL;
}

/* --- What answers --- */

static void set_api(struct part *p)
{
	const struct part_shared *shared = p->shared;
	const struct serve_config *c = shared->config;
	struct api *api = &p->api;

	api->http = shared->http;
	api->limits = (struct api_limits){(int)c->max_json_depth, (size_t)c->max_batch, c->heartbeat_ms};
	api->guard = shared->guard;
	api->log = shared->log;
	api->data_dir = shared->data_dir;
	api->started_at_ms = shared->started_at_ms ? shared->started_at_ms : engine_now_ms(api->engine);
	api->clients = shared->clients;
	api->sessions = shared->sessions;
	api->threads = c->http_threads;
	api->node = shared->node;
	api->lease_until_ns = shared->lease_until_ns;
	api->readers = mem_calloc((size_t)c->http_threads, sizeof(*api->readers));
	api->feed = feed_new(api, c->http_threads);
	api->held = held_new(api, c->http_threads);
	api->mcp = mcp_new(api, c->http_threads);
}

/* --- What tells others, after each commit --- */

/* On the writer's thread. */
static void on_commit(void *ctx, const int64_t *agents, size_t count)
{
	struct part *p = ctx;
	const struct part_clock *clock = &p->shared->clock;

	feed_wake(p->api.feed);
	mcp_wake(p->api.mcp, agents, count);
	for (size_t i = 0; i < count; i++)
		webhook_wake(p->api.webhook, agents[i]);
	exporter_wake(p->api.exporter);
	if (clock->committed)
		clock->committed(clock->ctx);
}

static enum problem_code check_webhook(void *ctx, struct str url, struct problem *problem)
{
	return webhook_check(ctx, url, problem);
}

static void set_webhook(void *ctx, const struct agent_place *agent, bool has_webhook)
{
	webhook_set(ctx, agent, has_webhook);
}

static void on_alerts(void *ctx)
{
	alert_post_wake(ctx);
}

static void make_alert_post(struct part *p)
{
	const struct serve_config *c = p->shared->config;

	if (c->alerts.webhook == NULL)
		return;
	p->api.alert_post = alert_post_new(&(struct alert_post_config){
		.followers = p->followers, .log = p->shared->log, .url = c->alerts.webhook,
		.server_url = p->shared->url,
	});
	watch_tell(p->api.engine->watch, on_alerts, p->api.alert_post);
}

static bool make_followers(struct part *p, struct buf *error)
{
	const struct serve_config *c = p->shared->config;
	struct api *api = &p->api;

	p->followers = followers_new(p->address, c->ca_file, error);
	if (p->followers == NULL)
		return false;
	api->webhook = webhook_new(&(struct webhook_config){
		.followers = p->followers, .log = p->shared->log, .recall = api->engine->recall,
		.hosts = str_of(c->webhook_hosts), .timeout_ms = c->webhook_timeout_ms, .step = waiting_step,
		.engine = api->engine, .waiting = api->engine->waiting, .put = taken_json_put_posted, .ctx = api,
	}, error);
	if (api->webhook == NULL)
		return false;
	api->engine->webhooks = (struct engine_webhooks){check_webhook, set_webhook, api->webhook};
	make_alert_post(p);
	if (c->otlp_endpoint)
		api->exporter = exporter_new(&(struct exporter_config){
			.followers = p->followers, .log = p->shared->log, .endpoint = c->otlp_endpoint,
			.interval_ms = c->otlp_interval_ms, .behind_max = c->otlp_behind,
			.hold = &p->exporter_hold,
		}, error);
	if (api->exporter)
		retention_hold(api->engine->retention, &p->exporter_hold);
	p->listener = (struct listener){.committed = on_commit, .ctx = p};
	engine_listen(api->engine, &p->listener);
	return c->otlp_endpoint == NULL || api->exporter;
}

/* --- Life --- */

bool part_make(struct part *p, struct buf *error)
{
	set_api(p);
	return make_followers(p, error);
}

void part_start(struct part *p)
{
	engine_start(p->api.engine);
	followers_start(p->followers, p->api.engine->writer);
	p->is_started = true;
}

void part_drain(struct part *p)
{
	engine_drain(p->api.engine);
}

void part_drain_posts(struct part *p, int64_t timeout_ms)
{
	if (p->api.webhook)
		webhook_drain(p->api.webhook, timeout_ms);
}

void part_stop(struct part *p)
{
	struct api *api = &p->api;

	webhook_stop(api->webhook);
	watch_stop(api->engine->watch);
	alert_post_stop(api->alert_post);
	engine_stop(api->engine);
	alert_post_free(api->alert_post);
	webhook_free(api->webhook);
	exporter_stop(api->exporter);
	followers_free(p->followers);
	api->alert_post = NULL;
	api->webhook = NULL;
	api->exporter = NULL;
	p->followers = NULL;
}

void part_free(struct part *p)
{
	struct api *api;

	if (p == NULL)
		return;
	api = &p->api;
	feed_free(api->feed);
	mcp_free(api->mcp);
	held_free(api->held);
	for (int i = 0; api->readers && i < api->threads; i++)
		engine_reader_close(api->readers[i]);
	free(api->readers);
	engine_free(api->engine);
	free(p->address);
	free(p);
}

/* --- While the server runs --- */

void part_end_held(struct part *p)
{
	held_end(p->api.held);
}

/* All threads come here once: what they were about to do with the part is done. */
struct leaving {
	struct api *api;
	pthread_mutex_t lock;
	pthread_cond_t left;
	int count;
};

struct leaving_thread {
	struct leaving *leaving;
	int thread;
};

static void leave_thread(void *arg)
{
	const struct leaving_thread *t = arg;
	struct leaving *l = t->leaving;

	api_reader_close(l->api, t->thread);
	pthread_mutex_lock(&l->lock);
	l->count--;
	pthread_cond_signal(&l->left);
	pthread_mutex_unlock(&l->lock);
}

void part_leave_threads(struct part *p)
{
	struct leaving l = {.api = &p->api, .count = p->api.threads};
	struct leaving_thread *threads = mem_calloc((size_t)l.count, sizeof(*threads));

	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.left, NULL);
	for (int i = 0; i < p->api.threads; i++) {
		threads[i] = (struct leaving_thread){&l, i};
		http_post(p->api.http, i, leave_thread, &threads[i]);
	}
	pthread_mutex_lock(&l.lock);
	while (l.count > 0)
		pthread_cond_wait(&l.left, &l.lock);
	pthread_mutex_unlock(&l.lock);
	pthread_cond_destroy(&l.left);
	pthread_mutex_destroy(&l.lock);
	free(threads);
}
