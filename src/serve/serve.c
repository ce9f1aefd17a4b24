#include "serve/serve.h"

#include "api/http/front.h"
#include "api/http/guard.h"
#include "api/http/held.h"
#include "api/http/http_api.h"
#include "api/http/sessions.h"
#include "base/mem.h"
#include "engine/access/keyring.h"
#include "outbound/exporter.h"
#include "outbound/poster_url.h"
#include "outbound/webhook.h"
#include "outbound/webhook_url.h"
#include "serve/certificates.h"
#include "serve/exposure.h"
#include "serve/give_back.h"
#include "serve/listen_address.h"
#include "serve/node.h"
#include "serve/part.h"
#include "serve/sandbox.h"
#include "serve/server_clock.h"
#include "serve/server_file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HEADERS = 100 };

/* Everything that lives while the server does. */
struct server {
	const struct serve_config *config;
	bool is_misconfigured;
	struct log log;
	struct server_clock *clock;
	struct store_directory *directory;	/* NULL: the store is in it */
	char host[LISTEN_HOST_MAX];
	int port;
	char url[128];
	char fences[SANDBOX_FENCES_SIZE];
	struct tls *tls;		/* NULL: plain HTTP */
	char data_dir[PATH_MAX];	/* whole, for those who were started elsewhere */
	struct http_server *http;
	struct guard guard;
	struct clients clients;
	struct sessions *sessions;
	struct part_shared shared;
	struct part *part;		/* of the embedded server; NULL: */
	struct node *node;		/* a node of a cluster */
	struct front front;
	struct give_back *give_back;
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
		.ctx = &s->front,
		.on_request = http_api_on_request,
		.on_head = http_api_on_head,
		.on_refusal = http_api_on_refusal,
		.on_thread_start = http_api_on_thread_start,
		.on_thread_stop = http_api_on_thread_stop,
	};
}

/* --- Life --- */

/* What is asked for follows the URL as it stands: a scheme, a host, maybe a port, and nothing else. */
static bool is_base_url(const char *text)
{
	const char *host = strstr(text, "://");
	struct poster_url url;
	bool is_base = poster_url_parse(text, &url) && host && strpbrk(host + 3, "/?#@") == NULL &&
		       strcmp(url.host, "0.0.0.0") != 0 && strcmp(url.host, "[::]") != 0;

	poster_url_release(&url);
	return is_base;
}

/* An address that stands for all of a machine's leads the other nodes nowhere. */
static bool check_advertised(const struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;

	if (c->advertise && !is_base_url(c->advertise)) {
		buf_printf(error, "--advertise is \"%s\"; expected the URL by which the other nodes reach this one, "
			   "without a path, as in http://10.0.0.5:8788", c->advertise);
		return false;
	}
	if (!node_is_address(c->store) || c->advertise ||
	    (strcmp(s->host, "0.0.0.0") != 0 && strcmp(s->host, "::") != 0))
		return true;
	buf_puts(error, "--advertise is missing: the other nodes have to be told by which URL they reach this one");
	return false;
}

static bool check_store(const struct serve_config *c, struct buf *error)
{
	struct buf wrong;
	bool is_good;

	buf_init(&wrong, 2048);
	is_good = c->store == NULL || store_address_is_good(c->store, &wrong);
	if (!is_good)
		buf_printf(error, "--store: %.*s", STR_ARG(buf_str(&wrong)));
	buf_release(&wrong);
	return is_good;
}

/* What can be told to be wrong before anything is made. */
static bool check_config(struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;
	struct problem problem = {0};

	if (!check_store(c, error) || !listen_address_parse(c->listen, s->host, &s->port, error) ||
	    !guard_origins_are_valid("--allow-origin", str_of(c->allow_origins), error) ||
	    !guard_origins_are_valid("--public-url", str_of(c->public_urls), error) ||
	    !webhook_url_hosts_are_valid(str_of(c->webhook_hosts), error) ||
	    !certificates_check_authorities(c->ca_file, error) || !certificates_open(&c->tls, &s->tls, error) ||
	    (c->otlp_endpoint && !exporter_endpoint_is_valid(c->otlp_endpoint, error)) || !check_advertised(s, error))
		return false;
	if (c->alerts.webhook == NULL ||
	    webhook_url_check(str_of(c->webhook_hosts), str_of(c->alerts.webhook), &problem) == P_OK)
		return true;
	buf_printf(error, "--alert-webhook: %s", problem.detail);
	return false;
}

static const char *store_address(const struct serve_config *c)
{
	return c->store ? c->store : c->data_dir;
}

static void on_commit(void *clock)
{
	server_clock_keep(clock, false);
}

static bool open_part(struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;

	s->clock = server_clock_new(c->data_dir, &s->log, c->resets_clock);
	s->shared.clock = (struct part_clock){
		server_clock_now_ms, server_clock_begin, server_clock_offset_ms, on_commit, s->clock,
	};
	s->part = part_open(&s->shared, store_address(c), error);
	return s->part != NULL;
}

static bool open_http(struct server *s, struct buf *error)
{
	struct http_config http = http_config(s);
	char why[256] = "";

	raise_descriptor_limit(s);
	s->http = http_server_new(&http, s->host, s->port, why, sizeof(why));
	if (s->http == NULL) {
		buf_puts(error, why);
		return false;
	}
	s->port = http_server_port(s->http);
	format_url(s, s->url, sizeof(s->url));
	return true;
}

/* On the writer's thread, or that of a call: a key or a session has ended, or a key is needed from now on. */
static void on_key_end(void *ctx)
{
	held_look(((struct api *)ctx)->held);
}

/* What is not of one part, as far as it is known before the store is open. */
static void begin_shared(struct server *s)
{
	const struct serve_config *c = s->config;

	clients_init(&s->clients);
	s->shared = (struct part_shared){
		.config = c, .log = &s->log, .guard = &s->guard, .clients = &s->clients,
		.data_dir = c->data_dir, .url = s->url, .cache_bytes = (size_t)c->cache_bytes,
	};
}

static void set_shared(struct server *s)
{
	const struct serve_config *c = s->config;

	s->guard = (struct guard){
		.origins = str_of(c->allow_origins), .is_strict = c->strict_origins,
		.public_urls = str_of(c->public_urls), .is_tls = s->tls != NULL,
		.is_beyond = !listen_address_is_loopback(s->host),
	};
	s->shared.data_dir = realpath(c->data_dir, s->data_dir) ? s->data_dir : c->data_dir;
	s->shared.sessions = s->sessions = sessions_new();
	s->shared.http = s->http;
}

/* What is open stays open: the store, the address. Threads are made afterwards, and are behind the fences, too. */
static void enter_sandbox(struct server *s)
{
	const struct serve_config *c = s->config;
	struct sandbox_config config = {
		.data_dir = c->data_dir, .files = {c->tls.cert, c->tls.key, c->tls.client_ca, c->ca_file},
		.store = c->store,
	};

	if (c->no_sandbox)
		snprintf(s->fences, sizeof(s->fences), "none");
	else
		sandbox_enter(&config, &s->log, s->fences);
}

/* One store, which has all spaces. */
static bool open_embedded(struct server *s, struct buf *error)
{
	if (!open_part(s, error))
		return false;
	s->is_misconfigured = !check_exposure(s, keyring_needs_key(s->part->api.engine->keyring), error);
	if (s->is_misconfigured || !open_http(s, error))
		return false;
	set_shared(s);
	s->front.own = &s->part->api;
	if (!part_make(s->part, error))
		return false;
	keyring_tell(s->part->api.engine->keyring, on_key_end, &s->part->api);
	sessions_tell(s->sessions, on_key_end, &s->part->api);
	return true;
}

/* The address first: the others are told it. */
static bool open_node(struct server *s, struct buf *error)
{
	const struct serve_config *c = s->config;
	struct node_config node = {.address = c->store, .shared = &s->shared};

	if (!open_http(s, error))
		return false;
	set_shared(s);
	node.url = c->advertise ? c->advertise : s->url;
	s->node = node_open(&node, error);
	if (s->node == NULL)
		return false;
	s->is_misconfigured = !check_exposure(s, keyring_needs_key(s->shared.keyring), error);
	if (s->is_misconfigured || !node_make(s->node, error))
		return false;
	s->front = (struct front){node_own_api(s->node), node_front(s->node)};
	return true;
}

static bool start(struct server *s, struct buf *error)
{
	/* A store that is not there yet has no keys: nothing is made where that is the reason to refuse. */
	s->is_misconfigured = !check_config(s, error) ||
			      (store_is_missing(store_address(s->config)) && !check_exposure(s, false, error));
	if (s->is_misconfigured)
		return false;
	if (s->config->store && (s->directory = store_directory_take(s->config->data_dir, error)) == NULL)
		return false;
	begin_shared(s);
	if (node_is_address(s->config->store) ? !open_node(s, error) : !open_embedded(s, error))
		return false;
	enter_sandbox(s);
	if (s->node)
		node_start(s->node);
	else
		part_start(s->part);
	http_server_start(s->http);
	s->give_back = give_back_start();
	server_file_write(s->config->data_dir, s->url, &s->log);
	s->is_started = true;
	return true;
}

/* No new work; what was accepted is committed and answered; then everything goes in the reverse order of its making. */
static void stop(struct server *s)
{
	size_t cut = 0;

	if (s->part) {
		part_drain(s->part);
		part_drain_posts(s->part, s->config->drain_timeout_ms);
	} else if (s->node) {
		node_leave(s->node, s->config->drain_timeout_ms);
	}
	if (s->http)
		http_server_drain(s->http);
	/* Its row goes, by which the others know to end what waits there for it: after the last that was passed on. */
	if (s->node)
		node_stop(s->node);
	if (s->is_started) {
		cut = http_server_stop(s->http, s->config->drain_timeout_ms);
		server_file_remove(s->config->data_dir);
	}
	give_back_stop(s->give_back);
	if (s->part)
		part_stop(s->part);
	sessions_free(s->sessions);
	http_server_free(s->http);
	tls_free(s->tls);
	s->has_failed = s->part && atomic_load(&s->part->api.engine->failed);
	part_free(s->part);
	node_free(s->node);
	if (s->is_started && s->clock)
		server_clock_keep(s->clock, true);
	server_clock_free(s->clock);
	store_directory_free(s->directory);
	if (cut)
		log_write(&s->log, LOG_WARN, "connections were cut", LOG_INT("connections", cut));
}

/* The commands look for the server here unless they are told otherwise (cli/shared_options.c). */
#define USUAL_URL "http://127.0.0.1:8788"

static void say_what_to_do(const struct server *s)
{
	const char *program = s->config->program;
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
	       "  %s store 'The gateway answers 429 with Retry-After.' --tag gateway\n"
	       "  %s search gateway\n"
	       "  %s demo\n\n"
	       "and %s/ in a browser.\n\n", url, address, program, program, program, url);
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
