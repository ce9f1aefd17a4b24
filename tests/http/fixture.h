/* A server in the test's own process, and a client of plain sockets, for the tests of net/http.h.
 *
 * Waiting is done in poll(2) and on condition variables, up to PATIENCE_MS: a test that hangs fails, and one that
 * passes takes no longer than the server does. On the server's threads it is assert() that checks.
 */
#ifndef SPINE_TESTS_HTTP_FIXTURE_H
#define SPINE_TESTS_HTTP_FIXTURE_H

#include "net/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 20000 };

/* --- The server's side ------------------------------------------------------------------------ */

/* What a test sees and steers of the requests to /hold. */
struct fixture {
	struct http_config config;
	struct http_server *server;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by lock. */
	struct http_req *held[64];
	int held_count;			/* ever */
	int gone_count;
	int timer_count;
	int threads_started;
	int threads_stopped;
	int heads_seen;
};

static inline int64_t fixture_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static inline int64_t fixture_cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* How often a thread of this process has gone to sleep. */
static inline long fixture_wakeups(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static inline void fixture_add(struct fixture *f, int *count)
{
	pthread_mutex_lock(&f->lock);
	++*count;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

static inline void fixture_await(struct fixture *f, const int *count, int wanted)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_MS / 1000;
	pthread_mutex_lock(&f->lock);
	while (*count < wanted)
		if (pthread_cond_timedwait(&f->changed, &f->lock, &until) == ETIMEDOUT)
			break;
	assert_true(*count >= wanted);
	pthread_mutex_unlock(&f->lock);
}

static inline void fixture_put_header(struct buf *b, struct http_req *req, const char *name)
{
	struct str value = http_req_header(req, name);

	if (value.p)
		buf_printf(b, "%s=%.*s\n", name, STR_ARG(value));
}

static inline void fixture_describe(struct http_req *req, struct buf *b)
{
	static const char *const names[] = {"host", "x-one", "x-two", "cookie", "content-type"};
	struct str method = http_req_method_name(req), path = http_req_path(req), query = http_req_query(req);

	buf_printf(b, "%.*s|%.*s|%.*s\n", STR_ARG(method), STR_ARG(path), STR_ARG(query));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_put_header(b, req, names[i]);
	buf_printf(b, "body=%zu\n", http_req_body(req).n);
}

static inline void fixture_on_gone(struct http_req *req, void *arg)
{
	struct fixture *f = arg;

	assert(http_req_is_gone(req));
	http_reply(req, 200, NULL, NULL, NULL);
	fixture_add(f, &f->gone_count);
}

static inline void fixture_on_timer(struct http_req *req, void *arg)
{
	struct fixture *f = arg;
	struct buf body;

	fixture_add(f, &f->timer_count);
	buf_init(&body, 100);
	buf_puts(&body, "timer");
	http_reply(req, 200, "text/plain", NULL, &body);
}

static inline void fixture_hold(struct fixture *f, struct http_req *req)
{
	http_req_on_gone(req, fixture_on_gone, f);
	pthread_mutex_lock(&f->lock);
	assert(f->held_count < 64);
	f->held[f->held_count++] = req;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* "/size?100": a body of a hundred bytes. */
static inline void fixture_fill(struct buf *b, struct str query)
{
	uint64_t size = 0;
	char *at;

	if (!str_to_u64(query, &size) || size == 0 || size > 100000000)
		return;
	at = buf_reserve(b, size);
	memset(at, 'x', size);
	buf_commit(b, size);
}

static inline void fixture_on_request(void *ctx, struct http_req *req)
{
	struct str path = http_req_path(req), query = http_req_query(req);
	struct fixture *f = ctx;
	uint64_t number = 200;
	struct buf body;

	buf_init(&body, 256 << 20);
	if (str_is(path, "/hold")) {
		fixture_hold(f, req);
		return;
	}
	if (str_is(path, "/timer")) {
		str_to_u64(query, &number);
		http_req_set_timer(req, (int64_t)number, fixture_on_timer, f);
		return;
	}
	if (str_is(path, "/size"))
		fixture_fill(&body, query);
	else if (str_is(path, "/echo"))
		buf_put(&body, http_req_body(req));
	else if (str_is(path, "/status"))
		str_to_u64(query, &number);
	else
		fixture_describe(req, &body);
	if (str_is(path, "/status"))
		buf_puts(&body, "status");
	http_reply(req, (int)number, "text/plain", NULL, &body);
}

static inline void fixture_thread_start(void *ctx, int thread)
{
	struct fixture *f = ctx;

	(void)thread;
	fixture_add(f, &f->threads_started);
}

static inline void fixture_thread_stop(void *ctx, int thread)
{
	struct fixture *f = ctx;

	(void)thread;
	fixture_add(f, &f->threads_stopped);
}

/* Then change f->config where needed, then fixture_start. */
static inline void fixture_init(struct fixture *f)
{
	*f = (struct fixture){.config = {
		.limits = {
			.max_connections = 1000, .max_header_bytes = 8192, .max_headers = 20, .max_uri_bytes = 1000,
			.max_body_bytes = 1 << 20, .max_body_total_bytes = 64 << 20,
			.max_reply_total_bytes = 256 << 20, .header_timeout_ms = 10000,
			.body_timeout_ms = 10000, .idle_timeout_ms = 20000, .write_timeout_ms = 10000,
		},
		.threads = 2,
		.on_request = fixture_on_request,
		.on_thread_start = fixture_thread_start,
		.on_thread_stop = fixture_thread_stop,
	}};
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
}

static inline void fixture_start(struct fixture *f)
{
	char error[256] = "";

	f->config.ctx = f;
	f->server = http_server_new(&f->config, "127.0.0.1", 0, error, sizeof(error));
	assert_string_equal(error, "");
	assert_non_null(f->server);
	http_server_start(f->server);
}

/* Returns how many connections were cut. */
static inline size_t fixture_stop(struct fixture *f, int64_t timeout_ms)
{
	size_t cut = http_server_stop(f->server, timeout_ms);

	assert_int_equal(f->threads_started, f->config.threads);
	assert_int_equal(f->threads_stopped, f->config.threads);
	http_server_free(f->server);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	return cut;
}

static inline void fixture_reply_post(void *arg)
{
	struct http_req *req = arg;
	struct buf body;

	buf_init(&body, 100);
	buf_puts(&body, "released");
	http_reply(req, 200, "text/plain", NULL, &body);
}

/* Answers the index-th request to /hold. */
static inline void fixture_release(struct fixture *f, int index)
{
	fixture_await(f, &f->held_count, index + 1);
	http_post(f->server, http_req_thread(f->held[index]), fixture_reply_post, f->held[index]);
}

static inline struct http_counts fixture_counts(struct fixture *f)
{
	struct http_counts counts;

	http_server_counts(f->server, &counts);
	return counts;
}

/* Waits until so many connections are open, or requests are in the application's hands. */
static inline void fixture_await_counts(struct fixture *f, size_t connections, size_t requests_active)
{
	int64_t start_ms = fixture_now_ms();
	struct http_counts counts = fixture_counts(f);

	while (counts.connections != connections || counts.requests_active != requests_active) {
		assert_true(fixture_now_ms() - start_ms < PATIENCE_MS);
		sched_yield();
		counts = fixture_counts(f);
	}
}

/* --- The client's side ------------------------------------------------------------------------ */

static inline int client_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	assert_true(fd >= 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static inline void client_connect(int fd, const struct fixture *f)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(f->server))};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
}

static inline int client_open(const struct fixture *f)
{
	int fd = client_socket();

	client_connect(fd, f);
	return fd;
}

/* False where the server does not take it any more. */
static inline bool client_send(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static inline void client_say(int fd, const char *text)
{
	assert_true(client_send(fd, text, strlen(text)));
}

/* One byte each, as a packet of its own where the kernel lets it. */
static inline void client_drip(int fd, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!client_send(fd, data + i, 1))
			return;
}

/* Bytes read, 0 at the end, -1 on a reset. */
static inline ssize_t client_read(int fd, void *ret, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	return recv(fd, ret, size, 0);
}

/* Everything until the end. False where it was a reset. */
static inline bool client_read_all(int fd, struct buf *b)
{
	char chunk[4096];
	ssize_t n;

	while ((n = client_read(fd, chunk, sizeof(chunk))) > 0)
		buf_append(b, chunk, (size_t)n);
	return n == 0;
}

struct reply {
	int status;		/* 0: the connection ended before a reply, -1: it was reset */
	char head[4096];
	char *body;		/* owned, terminated */
	size_t body_len;
};

static inline void reply_release(struct reply *r)
{
	free(r->body);
}

static inline bool reply_has(const struct reply *r, const char *line)
{
	return strstr(r->head, line) != NULL;
}

/* Exactly one reply; bytes after it stay in the socket. has_body false: a reply to a HEAD. */
static inline void client_reply(int fd, bool has_body, struct reply *r)
{
	const char *length;
	size_t len = 0, got = 0;

	*r = (struct reply){0};
	while (len < 4 || memcmp(r->head + len - 4, "\r\n\r\n", 4) != 0) {
		ssize_t n = client_read(fd, r->head + len, 1);

		assert_true(len + 1 < sizeof(r->head));
		if (n <= 0) {
			assert_int_equal(len, 0);
			r->status = (int)n;
			return;
		}
		len++;
	}
	r->head[len] = '\0';
	assert_int_equal(strncmp(r->head, "HTTP/1.1 ", 9), 0);
	r->status = atoi(r->head + 9);
	length = strstr(r->head, "\r\nContent-Length: ");
	r->body_len = length && has_body ? (size_t)atol(length + 18) : 0;
	r->body = malloc(r->body_len + 1);
	assert_non_null(r->body);
	while (got < r->body_len) {
		ssize_t n = client_read(fd, r->body + got, r->body_len - got);

		assert_true(n > 0);
		got += (size_t)n;
	}
	r->body[got] = '\0';
}

static inline int client_status(int fd)
{
	struct reply r;

	client_reply(fd, true, &r);
	reply_release(&r);
	return r.status;
}

/* The connection has been closed in order: no reset, no further byte. */
static inline void client_expect_end(int fd)
{
	char c;

	assert_int_equal(client_read(fd, &c, 1), 0);
}

static inline void client_reset(int fd)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
}

#endif
