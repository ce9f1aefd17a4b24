#include "serve/serve.h"

#include "api/api.h"
#include "api/http/feed.h"
#include "api/http/guard.h"
#include "api/http/held.h"
#include "api/http/http_api.h"
#include "api/http/sessions.h"
#include "api/mcp/mcp.h"
#include "api/taken_json.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/access/keyring.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"
#include "outbound/alert_post.h"
#include "outbound/exporter.h"
#include "outbound/webhook.h"
#include "outbound/webhook_url.h"
#include "serve/certificates.h"
#include "serve/exposure.h"
#include "serve/give_back.h"
#include "serve/listen_address.h"
#include "serve/sandbox.h"
#include "serve/server_clock.h"
#include "serve/server_file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The token cache takes 16 MB when it is full, and nothing before it is used. */
enum { MAX_HEADERS = 100, TOKEN_CACHE_ENTRIES = 1 << 20 };

/* Everything that lives while the server does. */
struct server {
	const struct serve_config *config;
	bool is_misconfigured;
	struct log log;
	struct server_clock *clock;
	char host[LISTEN_HOST_MAX];
	int port;
	char url[128];
	char fences[SANDBOX_FENCES_SIZE];
	struct tls *tls;		/* NULL: plain HTTP */
	char data_dir[PATH_MAX];	/* whole, for those who were started elsewhere */
	struct api api;
	struct guard guard;
	struct followers *followers;
	struct give_back *give_back;
	struct retention_hold exporter_hold;
	struct listener listener;
	bool is_started;
	bool has_failed;		/* the store has */
};

/* --- Address --- */

static bool check_exposure(const struct server *s, bool has_keys, struct buf *error)
{
	return exposure_is_allowed(s->config, s->host, s->tls != NULL, has_keys, error);
}

static void format_url(const struct server *s, char *ret, size_t size)
{
	bool v6 = strchr(s->host, ':') != NULL;
	const char *scheme = s->tls ? "https" : "http";

	snprintf(ret, size, "%s://%s%s%s:%d", scheme, v6 ? "[" : "", s->host, v6 ? "]" : "", s->port);
}

/* --- Parts --- */

/* A connection takes a descriptor; the system's usual limit is lower than ours. */
static void raise_descriptor_limit(struct server *s)
{
	struct rlimit limit;
	rlim_t others = HTTP_TURNED_AWAY_MAX + 64, wanted = (rlim_t)s->config->max_connections + others;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
		log_write(&s->log, LOG_WARN, "fewer connections than configured: the system's limit on open files is "
			  "lower", LOG_INT("max_connections", wanted - others), LOG_INT("open_files", limit.rlim_cur));
}

static struct http_config http_config(struct server *s)
{
	const struct serve_config *c = s->config;

	return (struct http_config){
		.limits = {
			.max_connections = (size_t)c->max_connections,
			.max_header_bytes = (size_t)c->max_header_bytes,
			.max_headers = MAX_HEADERS,
			.max_uri_bytes = (size_t)c->max_uri_bytes,
			.max_body_bytes = (size_t)c->max_body_bytes,
			.max_body_total_bytes = (size_t)c->max_body_total_bytes,
			.max_reply_total_bytes = (size_t)c->max_reply_total_bytes,
			.header_timeout_ms = c->header_timeout_ms,
			.body_timeout_ms = c->body_timeout_ms,
			.idle_timeout_ms = c->idle_timeout_ms,
			.write_timeout_ms = c->write_timeout_ms,
		},
		.threads = c->http_threads,
		.log = &s->log,
		.tls = s->tls,
		.ctx = &s->api,
		.on_request = http_api_on_request,
		.on_head = http_api_on_head,
		.on_refusal = http_api_on_refusal,
		.on_thread_start = http_api_on_thread_start,
		.on_thread_stop = http_api_on_thread_stop,
	};
}

/* --- Life --- */

static uint64_t random_seed(void)
{
	uint64_t seed = 0;

	if (getentropy(&seed, sizeof(seed)) != 0)
		seed = (uint64_t)clock_mono_ns();
	return seed;
}

static struct alert_rules alert_rules(const struct server *s)
{
	const struct serve_alerts *a = &s->config->alerts;
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

/* What can be told to be wrong before anything is made. */
static bool check_config(struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;
	struct problem problem = {0};

	if (!listen_address_parse(c->listen, s->host, &s->port, error) ||
	    !guard_origins_are_valid("--allow-origin", str_of(c->allow_origins), error) ||
	    !guard_origins_are_valid("--public-url", str_of(c->public_urls), error) ||
	    !webhook_url_hosts_are_valid(str_of(c->webhook_hosts), error) ||
	    !certificates_check_authorities(c->ca_file, error) || !certificates_open(&c->tls, &s->tls, error) ||
	    (c->otlp_endpoint && !exporter_endpoint_is_valid(c->otlp_endpoint, error)))
		return false;
	if (c->alerts.webhook == NULL ||
	    webhook_url_check(str_of(c->webhook_hosts), str_of(c->alerts.webhook), &problem) == P_OK)
		return true;
	buf_printf(error, "--alert-webhook: %s", problem.detail);
	return false;
}

static struct engine *open_engine(struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;
	struct engine_config config = {
		.data_dir = c->data_dir, .log = &s->log, .key_ttl_ms = c->idempotency_ttl_s * 1000,
		.queue_timeout_ms = c->queue_timeout_ms, .breaker_open_ms = c->breaker_open_ms,
		.max_queue = (size_t)c->max_queue, .cache_bytes = (size_t)c->cache_bytes,
		.token_entries = TOKEN_CACHE_ENTRIES, .seed = random_seed(), .rules = alert_rules(s),
		.quota = c->quota,
		.keep = {c->keep_events_ms, c->keep_handoffs_ms, c->keep_idle_ms},
		.begin_clock = server_clock_begin, .now_ms = server_clock_now_ms,
		.clock_offset_ms = server_clock_offset_ms,
	};

	config.ctx = s->clock = server_clock_new(c->data_dir, &s->log, c->resets_clock);
	return engine_open(&config, error);
}

static bool open_http(struct server *s, struct buf *error)
{
	struct http_config http = http_config(s);
	char why[256] = "";

	raise_descriptor_limit(s);
	s->api.http = http_server_new(&http, s->host, s->port, why, sizeof(why));
	if (s->api.http == NULL) {
		buf_puts(error, why);
		return false;
	}
	s->port = http_server_port(s->api.http);
	format_url(s, s->url, sizeof(s->url));
	return true;
}

/* On the writer's thread: a key has ended, or one is needed from now on. */
static void on_key_end(void *ctx)
{
	held_look(((struct api *)ctx)->held);
}

static void set_api(struct server *s)
{
	const struct serve_config *c = s->config;
	struct api *api = &s->api;

	api->limits = (struct api_limits){(int)c->max_json_depth, (size_t)c->max_batch, c->heartbeat_ms};
	s->guard = (struct guard){
		.origins = str_of(c->allow_origins), .is_strict = c->strict_origins,
		.public_urls = str_of(c->public_urls), .is_tls = s->tls != NULL,
		.is_beyond = !listen_address_is_loopback(s->host),
	};
	api->guard = &s->guard;
	api->log = &s->log;
	api->data_dir = realpath(c->data_dir, s->data_dir) ? s->data_dir : c->data_dir;
	api->started_at_ms = engine_now_ms(api->engine);
	clients_init(&api->clients);
	api->readers = mem_calloc((size_t)c->http_threads, sizeof(*api->readers));
	api->feed = feed_new(api, c->http_threads);
	api->held = held_new(api, c->http_threads);
	api->sessions = sessions_new();
	keyring_tell(api->engine->keyring, on_key_end, api);
	api->mcp = mcp_new(api, c->http_threads);
}

/* --- What tells others, after each commit --- */

/* On the writer's thread. */
static void on_commit(void *ctx, const int64_t *agents, size_t count)
{
	struct server *s = ctx;

	feed_wake(s->api.feed);
	mcp_wake(s->api.mcp, agents, count);
	for (size_t i = 0; i < count; i++)
		webhook_wake(s->api.webhook, agents[i]);
	exporter_wake(s->api.exporter);
	server_clock_keep(s->clock, false);
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

static void make_alert_post(struct server *s)
{
	if (s->config->alerts.webhook == NULL)
		return;
	s->api.alert_post = alert_post_new(&(struct alert_post_config){
		.followers = s->followers, .log = &s->log, .url = s->config->alerts.webhook, .server_url = s->url,
	});
	watch_tell(s->api.engine->watch, on_alerts, s->api.alert_post);
}

static bool make_followers(struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;
	struct api *api = &s->api;

	s->followers = followers_new(c->data_dir, c->ca_file, error);
	if (s->followers == NULL)
		return false;
	api->webhook = webhook_new(&(struct webhook_config){
		.followers = s->followers, .log = &s->log, .recall = api->engine->recall,
		.hosts = str_of(c->webhook_hosts), .timeout_ms = c->webhook_timeout_ms, .step = waiting_step,
		.engine = api->engine, .waiting = api->engine->waiting, .put = taken_json_put_posted, .ctx = api,
	}, error);
	if (api->webhook == NULL)
		return false;
	api->engine->webhooks = (struct engine_webhooks){check_webhook, set_webhook, api->webhook};
	make_alert_post(s);
	if (c->otlp_endpoint)
		api->exporter = exporter_new(&(struct exporter_config){
			.followers = s->followers, .log = &s->log, .endpoint = c->otlp_endpoint,
			.interval_ms = c->otlp_interval_ms, .behind_max = c->otlp_behind,
			.hold = &s->exporter_hold,
		}, error);
	if (api->exporter)
		retention_hold(api->engine->retention, &s->exporter_hold);
	s->listener = (struct listener){.committed = on_commit, .ctx = s};
	engine_listen(api->engine, &s->listener);
	return c->otlp_endpoint == NULL || api->exporter;
}

/* What is open stays open: the store, the address. Threads are made afterwards, and are behind the fences, too. */
static void enter_sandbox(struct server *s)
{
	const struct serve_config *c = s->config;
	struct sandbox_config config = {
		.data_dir = c->data_dir, .files = {c->tls.cert, c->tls.key, c->tls.client_ca, c->ca_file},
	};

	if (c->no_sandbox)
		snprintf(s->fences, sizeof(s->fences), "none");
	else
		sandbox_enter(&config, &s->log, s->fences);
}

static bool start(struct server *s, struct buf *error)
{
	/* A store that is not there yet has no keys: nothing is made where that is the reason to refuse. */
	s->is_misconfigured = !check_config(s, error) ||
			      (store_is_missing(s->config->data_dir) && !check_exposure(s, false, error));
	if (s->is_misconfigured)
		return false;
	s->api.engine = open_engine(s, error);
	if (s->api.engine == NULL)
		return false;
	s->is_misconfigured = !check_exposure(s, keyring_needs_key(s->api.engine->keyring), error);
	if (s->is_misconfigured || !open_http(s, error))
		return false;
	set_api(s);
	if (!make_followers(s, error))
		return false;
	enter_sandbox(s);
	engine_start(s->api.engine);
	followers_start(s->followers, s->api.engine->writer);
	http_server_start(s->api.http);
	s->give_back = give_back_start();
	server_file_write(s->config->data_dir, s->url, &s->log);
	s->is_started = true;
	return true;
}

/* No new work; what was accepted is committed and answered; then everything goes in the reverse order of its making. */
static void stop(struct server *s)
{
	struct api *api = &s->api;
	size_t cut = 0;

	if (api->engine)
		engine_drain(api->engine);
	if (api->webhook)
		webhook_drain(api->webhook, s->config->drain_timeout_ms);
	if (api->http)
		http_server_drain(api->http);
	if (s->is_started) {
		cut = http_server_stop(api->http, s->config->drain_timeout_ms);
		server_file_remove(s->config->data_dir);
	}
	give_back_stop(s->give_back);
	webhook_stop(api->webhook);
	if (api->engine)
		watch_stop(api->engine->watch);
	alert_post_stop(api->alert_post);
	engine_stop(api->engine);
	alert_post_free(api->alert_post);
	webhook_free(api->webhook);
	exporter_stop(api->exporter);
	followers_free(s->followers);
	feed_free(api->feed);
	mcp_free(api->mcp);
	held_free(api->held);
	sessions_free(api->sessions);
	http_server_free(api->http);
	tls_free(s->tls);
	free(api->readers);
	s->has_failed = api->engine && atomic_load(&api->engine->failed);
	engine_free(api->engine);
	if (s->is_started)
		server_clock_keep(s->clock, true);
	server_clock_free(s->clock);
	if (cut)
		log_write(&s->log, LOG_WARN, "connections were cut", LOG_INT("connections", cut));
}

/* The commands look for the server here unless they are told otherwise (cli/shared_options.c). */
#define USUAL_URL "http://127.0.0.1:8788"

static void say_what_to_do(const struct server *s)
{
	char url[128], address[160] = "";

	format_url(s, url, sizeof(url));
	log_write(&s->log, LOG_INFO, "serving", LOG_STR("url", url), LOG_STR("data", s->config->data_dir),
		  LOG_STR("version", SPINE_VERSION), LOG_STR("fences", s->fences));
	if (s->tls)
		certificates_say(s->tls, &s->log);
	if (s->config->quiet)
		return;
	if (strcmp(url, USUAL_URL) != 0)
		snprintf(address, sizeof(address), "  export SPINE_URL=%s\n", url);
	printf("\nMemory Spine serves on %s; Ctrl-C stops it. In another terminal:\n\n"
	       "%s"
	       "  build/spine store 'The gateway answers 429 with Retry-After.' --tag gateway\n"
	       "  build/spine search gateway\n"
	       "  build/spine demo\n\n"
	       "and %s/ in a browser.\n\n", url, address, url);
	fflush(stdout);
}

/* Until SIGTERM or SIGINT. With HTTPS, SIGHUP has the certificate read again. */
static void wait_for_the_end(struct server *s, const sigset_t *signals)
{
	int number = 0;

	while (sigwait(signals, &number) != 0 || number == SIGHUP)
		if (number == SIGHUP)
			certificates_reload(s->tls, &s->log);
	log_write(&s->log, LOG_INFO, "draining", LOG_STR("signal", number == SIGTERM ? "SIGTERM" : "SIGINT"));
}

int serve_run(const struct serve_config *config)
{
	struct server *s = mem_zalloc(sizeof(*s));
	struct buf error;
	sigset_t signals;
	int code = 1;

	buf_init(&error, 8192);
	s->config = config;
	log_init(&s->log, STDERR_FILENO, config->log_level, config->log_format);
	/* Blocked before any thread is made, so that only sigwait below sees them. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	if (config->tls.cert)
		sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a write beyond the limit on the size of a file fails, and is refused */
	umask(0077);
	if (start(s, &error)) {
		say_what_to_do(s);
		wait_for_the_end(s, &signals);
		code = 0;
	} else {
		fprintf(stderr, "spine: %s\n", error.data);
		code = s->is_misconfigured ? 2 : 1;
	}
	stop(s);
	if (code == 0 && s->has_failed)
		code = 3;
	if (code == 0)
		log_write(&s->log, LOG_INFO, "stopped");
	buf_release(&error);
	free(s);
	return code;
}
