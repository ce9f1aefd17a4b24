/* The server object. */
#include "net/http_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* --- New ------------------------------------------------------------------------------------- */

static void check_config(const struct http_config *config)
{
	const struct http_limits *l = &config->limits;

	assert(config->on_request && config->threads > 0);
	assert(l->max_connections > 0 && l->max_headers > 0 && l->max_uri_bytes > 0);
	/* Offsets into a head are 32 bits wide, and so is the size of a chunk. */
	assert(l->max_header_bytes > 0 && l->max_header_bytes < 1u << 28 && l->max_headers < 1u << 16);
	assert(l->max_uri_bytes < 1u << 28);
	assert(l->max_body_bytes > 0 && l->max_body_bytes < 1u << 31 && l->max_body_total_bytes > 0 &&
	       l->max_reply_total_bytes > 0);
	assert(l->header_timeout_ms > 0 && l->body_timeout_ms > 0 && l->idle_timeout_ms > 0 && l->write_timeout_ms > 0);
	(void)l;
}

struct http_server *http_server_new(const struct http_config *config, const char *address, int port,
				    char *ret_error, size_t error_size)
{
	struct http_server *server = mem_zalloc(sizeof(*server));
	int ready = 0, err = 0;

	check_config(config);
	server->config = *config;
	server->acceptor.fd = server->acceptor.spare_fd = -1;
	if (config->tls)
		server->tls_method = http_tls_method_new();
	server->loops = mem_calloc((size_t)config->threads, sizeof(*server->loops));
	if (!http_accept_listen(server, address, port, ret_error, error_size))
		goto fail;
	for (; ready < config->threads; ready++) {
		err = http_loop_init(&server->loops[ready], server, ready);
		if (err) {
			snprintf(ret_error, error_size, "cannot make an event loop: %s", uv_strerror(err));
			goto fail;
		}
	}
	uv_mutex_init(&server->lock);
	uv_cond_init(&server->changed);
	return server;

fail:
	while (ready > 0)
		http_loop_release(&server->loops[--ready]);
	http_accept_release(server);
	http_tls_method_free(server->tls_method);
	free(server->loops);
	free(server);
	return NULL;
}

int http_server_port(const struct http_server *server)
{
	return server->port;
}

/* Signals are for the thread that started us; and a write to a socket that the client has closed must not kill. What a
 * fault of the thread's own raises, and what profilers use, stays. */
static void block_signals(sigset_t *ret_before)
{
	static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
	sigset_t blocked;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		sigdelset(&blocked, kept[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, ret_before);
}

void http_server_start(struct http_server *server)
{
	sigset_t before;

	assert(!server->is_started);
	server->is_started = true;
	http_accept_start(server);
	block_signals(&before);
	for (int i = 0; i < server->config.threads; i++) {
		struct http_loop *loop = &server->loops[i];

		if (uv_thread_create(&loop->thread, http_loop_run, loop) != 0) {
			log_write(server->config.log, LOG_ERROR,
				  "cannot start a thread (out of memory, or too many threads); stopping");
			abort();
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- The end --------------------------------------------------------------------------------- */

static void drain_loop(void *arg)
{
	struct http_loop *loop = arg;
	struct http_server *server = loop->server;

	loop->is_draining = true;
	if (loop->index == 0)
		http_accept_stop(server);
	for (struct list *link = loop->conns.next, *next; link != &loop->conns; link = next) {
		next = link->next;
		http_conn_drain(LIST_ELEMENT(link, struct http_conn, link));
	}
	for (struct list *link = loop->reqs.next; link != &loop->reqs; link = link->next) {
		struct http_req *req = LIST_ELEMENT(link, struct http_req, link);

		if (req->timer_fn)
			http_timer_set(loop, &req->timer, 0);
	}
	uv_mutex_lock(&server->lock);
	server->loops_drained++;
	uv_cond_signal(&server->changed);
	uv_mutex_unlock(&server->lock);
}

void http_server_drain(struct http_server *server)
{
	if (atomic_exchange(&server->is_draining, true))
		return;
	for (int i = 0; i < server->config.threads; i++)
		http_post(server, i, drain_loop, &server->loops[i]);
}

bool http_server_is_draining(const struct http_server *server)
{
	return atomic_load(&server->is_draining);
}

/* Nothing is left; every loop has seen the drain, so that nothing new comes. */
static bool is_quiet(struct http_server *server)
{
	struct http_counts counts;

	http_server_counts(server, &counts);
	return counts.connections == 0 && counts.requests_active == 0 && atomic_load(&server->turned_away) == 0;
}

static void stop_loop(void *arg)
{
	struct http_loop *loop = arg;

	while (!list_is_empty(&loop->conns)) {
		struct http_conn *conn = LIST_ELEMENT(loop->conns.next, struct http_conn, link);

		/* What lingers has had its reply. */
		if (conn->state != HTTP_CONN_LINGER)
			atomic_fetch_add(&loop->server->cut, 1);
		http_conn_lose(conn);
	}
	http_loop_end(loop);
}

static void wait_until_quiet(struct http_server *server, int64_t timeout_ms)
{
	int64_t end_ms = http_now_ms() + timeout_ms;

	uv_mutex_lock(&server->lock);
	/* Without a limit: a loop that stops before the acceptor would not get the connections shared out to it. */
	while (server->loops_drained < server->config.threads)
		uv_cond_wait(&server->changed, &server->lock);
	while (!is_quiet(server)) {
		int64_t left_ms = end_ms - http_now_ms();

		if (left_ms <= 0)
			break;
		uv_cond_timedwait(&server->changed, &server->lock, (uint64_t)left_ms * 1000000);
	}
	uv_mutex_unlock(&server->lock);
}

size_t http_server_stop(struct http_server *server, int64_t timeout_ms)
{
	if (!server->is_started)
		return 0;
	http_server_drain(server);
	wait_until_quiet(server, timeout_ms);
	for (int i = 0; i < server->config.threads; i++)
		http_post(server, i, stop_loop, &server->loops[i]);
	for (int i = 0; i < server->config.threads; i++)
		uv_thread_join(&server->loops[i].thread);
	server->is_started = false;
	return atomic_load(&server->cut);
}

void http_server_free(struct http_server *server)
{
	if (server == NULL)
		return;
	assert(!server->is_started);
	for (int i = 0; i < server->config.threads; i++)
		http_loop_release(&server->loops[i]);
	http_accept_release(server);
	uv_cond_destroy(&server->changed);
	uv_mutex_destroy(&server->lock);
	http_tls_method_free(server->tls_method);
	free(server->loops);
	free(server);
}

/* --- Counts ---------------------------------------------------------------------------------- */

void http_server_counts(struct http_server *server, struct http_counts *ret)
{
	struct http_counts counts = {.connections = atomic_load(&server->connections)};

	for (int i = 0; i < server->config.threads; i++) {
		struct http_loop *loop = &server->loops[i];

		counts.requests_active += atomic_load(&loop->requests_active);
		counts.requests += atomic_load(&loop->requests);
		counts.refused += atomic_load(&loop->refused);
		counts.handshakes += atomic_load(&loop->handshakes);
		counts.handshakes_failed += atomic_load(&loop->handshakes_failed);
	}
	*ret = counts;
}
