/* For the tests of net/http_pass.h: two servers in this process, of which the front one passes on to the other what it
 * is asked; and peers of plain sockets, where the other one has to misbehave. */
#ifndef SPINE_TESTS_HTTP_PASSING_H
#define SPINE_TESTS_HTTP_PASSING_H

#include "http/fixture.h"
#include "net/http_internal.h"
#include "net/http_pass.h"

#include <string.h>

enum { LARGE = 5 << 20, PIECE = 64 * 1024 };

struct world {
	struct fixture back;		/* the other server */
	struct fixture front;		/* passes on */
	struct http_pass *pass[2];	/* of front's threads */
	struct http_pass_files files;
	char url[64];			/* where front passes to */
	int64_t drain_ms;
	int wrote_kib;			/* by /events of back; guarded by back.lock */
	/* Guarded by front.lock. */
	int failed, failed_early;	/* on_failed; of them, that may not have run, */
	int failed_drained;		/* that front has given up because it stops, */
	int failed_undone;		/* and of which back has said that it did nothing */
	int over, over_whole;
	int last_status;
	char why[256];
	int asked;
	int answer_status;
	char answer[256];
};

static inline struct world *world_of_front(void *ctx)
{
	return LIST_ELEMENT(ctx, struct world, front);
}

/* --- What the front server does -------------------------------------------------------------- */

static inline void on_failed(void *ctx, struct http_req *req, const struct http_pass_failure *why)
{
	struct world *w = ctx;
	struct buf body;

	pthread_mutex_lock(&w->front.lock);
	snprintf(w->why, sizeof(w->why), "%s", why->why);
	w->failed_early += !why->may_have_run;
	w->failed_drained += why->is_drained;
	w->failed_undone += why->is_undone;
	pthread_mutex_unlock(&w->front.lock);
	buf_init(&body, 100);
	buf_puts(&body, why->may_have_run ? "maybe" : "not run");
	http_reply(req, 503, "text/plain", NULL, &body);
	fixture_add(&w->front, &w->failed);
}

static inline void on_over(void *ctx, struct http_req *req, int status, bool is_whole)
{
	struct world *w = ctx;

	assert(http_req_path(req).n > 0);
	pthread_mutex_lock(&w->front.lock);
	w->last_status = status;
	w->over_whole += is_whole;
	pthread_mutex_unlock(&w->front.lock);
	fixture_add(&w->front, &w->over);
}

static inline void front_on_request(void *ctx, struct http_req *req)
{
	static const char *const drop[] = {"authorization", NULL};
	static const struct http_header mine[] = {{"X-Front", {"yes", 3}}, {0}};
	struct http_header extra[] = {{"X-Extra", STR("more")}, {"X-Two", STR("forced")}, {"X-Empty", STR("")}, {0}};
	struct world *w = world_of_front(ctx);
	struct http_pass_order order = {
		.url_base = w->url, .extra_headers = extra, .drop_headers = drop, .drain_ms = w->drain_ms,
		.on_failed = on_failed, .on_over = on_over, .undone_name = "X-Undone", .ctx = w,
	};

	http_req_add_headers(req, mine);
	http_pass_send(w->pass[http_req_thread(req)], req, &order);
}

static inline void front_on_start(void *ctx, int thread)
{
	struct world *w = world_of_front(ctx);

	w->pass[thread] = http_pass_new(w->front.server, thread, &w->files);
	fixture_thread_start(ctx, thread);
}

static inline void front_on_stop(void *ctx, int thread)
{
	struct world *w = world_of_front(ctx);

	http_pass_free(w->pass[thread]);
	fixture_thread_stop(ctx, thread);
}

/* --- What the other server does -------------------------------------------------------------- */

static inline struct str piece(char fill)
{
	static __thread char bytes[1024];

	memset(bytes, fill, sizeof(bytes));
	return (struct str){bytes, sizeof(bytes)};
}

/* "/chunks?10": so many KiB, each of a letter of its own. */
static inline void stream_chunks(struct http_req *req)
{
	uint64_t count = 0;

	str_to_u64(http_req_query(req), &count);
	http_stream_begin(req, 200, "text/plain", NULL);
	for (uint64_t i = 0; i < count; i++)
		http_stream_write(req, piece((char)('a' + i % 26)));
	http_stream_end(req);
}

/* "/events": as many as are taken, a KiB each. */
static inline void write_events(struct http_req *req, void *arg)
{
	struct world *w = arg;
	int wrote = 0;

	if (http_server_is_draining(w->back.server)) {
		http_stream_end(req);
		return;
	}
	for (; wrote < 64; wrote++)
		if (http_stream_write(req, piece('e')) > PIECE)
			break;
	pthread_mutex_lock(&w->back.lock);
	w->wrote_kib += wrote;
	pthread_mutex_unlock(&w->back.lock);
	http_req_set_timer(req, 1, write_events, w);
}

static inline void on_events_gone(struct http_req *req, void *arg)
{
	struct world *w = arg;

	http_stream_end(req);
	fixture_add(&w->back, &w->back.gone_count);
}

static inline void begin_events(struct world *w, struct http_req *req, bool is_busy)
{
	http_stream_begin(req, 200, "text/event-stream", NULL);
	http_stream_write(req, STR(": hello\n\n"));
	http_req_on_gone(req, on_events_gone, w);
	fixture_add(&w->back, &w->back.held_count);
	if (is_busy)
		http_req_set_timer(req, 1, write_events, w);
}

/* "/last": a stream that this server ends when it drains. */
static inline void end_events(struct http_req *req, void *arg)
{
	(void)arg;
	http_stream_write(req, STR(": the last\n\n"));
	http_stream_end(req);
}

static inline void begin_last(struct world *w, struct http_req *req)
{
	begin_events(w, req, false);
	http_req_set_timer(req, INT32_MAX, end_events, NULL);
}

static inline void back_on_request(void *ctx, struct http_req *req)
{
	static const struct http_header headers[] = {{"X-One", {"1", 1}}, {"X-Front", {"no", 2}}, {0}};
	static const struct http_header undone[] = {{"X-Undone", {"not mine", 8}}, {0}};
	struct world *w = LIST_ELEMENT(ctx, struct world, back);
	struct str path = http_req_path(req);

	if (str_is(path, "/chunks"))
		stream_chunks(req);
	else if (str_is(path, "/events") || str_is(path, "/quiet"))
		begin_events(w, req, str_is(path, "/events"));
	else if (str_is(path, "/last"))
		begin_last(w, req);
	else if (str_is(path, "/undone"))
		http_reply(req, 503, "text/plain", undone, NULL);
	else if (str_is(path, "/nothing"))
		http_reply(req, 204, NULL, headers, NULL);
	else
		fixture_on_request(ctx, req);
}

/* --- The world ---------------------------------------------------------------------------------- */

static inline int make(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	fixture_init(&w->back);
	fixture_init(&w->front);
	w->back.config.on_request = back_on_request;
	w->back.config.limits.max_body_bytes = w->front.config.limits.max_body_bytes = 2 * LARGE;
	w->back.config.limits.max_headers = w->front.config.limits.max_headers = 60;
	w->front.config.on_request = front_on_request;
	w->front.config.on_thread_start = front_on_start;
	w->front.config.on_thread_stop = front_on_stop;
	*state = w;
	return 0;
}

static inline int start(void **state)
{
	struct world *w;

	make(state);
	w = *state;
	fixture_start(&w->back);
	fixture_start(&w->front);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d", http_server_port(w->back.server));
	return 0;
}

static inline int stop(void **state)
{
	struct world *w = *state;

	fixture_stop(&w->front, PATIENCE_MS);
	fixture_stop(&w->back, PATIENCE_MS);
	free(w);
	return 0;
}

/* One thread, so that a kept connection is used again for sure. */
static inline int start_one(void **state)
{
	struct world *w;

	make(state);
	w = *state;
	w->front.config.threads = 1;
	fixture_start(&w->back);
	fixture_start(&w->front);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d", http_server_port(w->back.server));
	return 0;
}

static inline int drained(void **state)
{
	free(*state);
	return 0;
}

/* --- A peer of plain sockets ---------------------------------------------------------------------- */

struct peer {
	int fd;
	int port;
};

static inline struct peer peer_open(struct world *w)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct peer p = {.fd = socket(AF_INET, SOCK_STREAM, 0)};
	socklen_t len = sizeof(a);

	assert_int_equal(bind(p.fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(p.fd, 16), 0);
	assert_int_equal(getsockname(p.fd, (struct sockaddr *)&a, &len), 0);
	p.port = ntohs(a.sin_port);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d", p.port);
	return p;
}

static inline int peer_accept(const struct peer *p)
{
	struct pollfd poller = {.fd = p->fd, .events = POLLIN};

	assert_int_equal(poll(&poller, 1, PATIENCE_MS), 1);
	return accept(p->fd, NULL, NULL);
}

static inline bool peer_has_another(const struct peer *p, int wait_ms)
{
	struct pollfd poller = {.fd = p->fd, .events = POLLIN};

	return poll(&poller, 1, wait_ms) == 1;
}

/* A head, and the body that its Content-Length says. */
static inline void peer_read(int fd, char *ret, size_t size)
{
	size_t len = 0, wanted = SIZE_MAX;

	while (len < wanted) {
		ssize_t n = client_read(fd, ret + len, 1);
		const char *length;

		assert_int_equal(n, 1);
		ret[++len] = '\0';
		assert_true(len + 1 < size);
		if (wanted == SIZE_MAX && len >= 4 && memcmp(ret + len - 4, "\r\n\r\n", 4) == 0) {
			length = strstr(ret, "Content-Length: ");
			wanted = len + (length ? (size_t)atol(length + 16) : 0);
		}
	}
}

/* --- The client's side ---------------------------------------------------------------------------- */

static inline void ask(int fd, const char *method, const char *target, const char *headers, struct str body)
{
	char head[1024];

	snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: front\r\n%sContent-Length: %zu\r\n\r\n", method, target,
		 headers, body.n);
	client_say(fd, head);
	assert_true(client_send(fd, body.p, body.n));
}

static inline char *pattern(size_t len)
{
	char *bytes = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)('a' + (i / 7 + i / 4096) % 26);
	return bytes;
}

/* Until its last chunk; false where it breaks off. Appends the data. */
static inline bool read_chunks(int fd, struct buf *ret)
{
	char line[32];

	for (;;) {
		size_t len = 0, size;

		while (len < 2 || line[len - 1] != '\n') {
			assert_true(len < sizeof(line) - 1);
			if (client_read(fd, line + len, 1) <= 0)
				return false;
			line[++len] = '\0';
		}
		size = strtoul(line, NULL, 16);
		for (size_t got = 0; got < size + 2;) {
			char chunk[16384];
			size_t want = size + 2 - got < sizeof(chunk) ? size + 2 - got : sizeof(chunk);
			ssize_t n = client_read(fd, chunk, want);

			if (n <= 0)
				return false;
			if (got < size)
				buf_append(ret, chunk, got + (size_t)n <= size ? (size_t)n : size - got);
			got += (size_t)n;
		}
		if (size == 0)
			return true;
	}
}

/* The end of the connection, whether in order or by a reset. */
static inline size_t read_to_end(int fd)
{
	char chunk[16384];
	size_t total = 0;
	ssize_t n;

	while ((n = client_read(fd, chunk, sizeof(chunk))) > 0)
		total += (size_t)n;
	return total;
}

static inline void expect_failure(struct world *w, int fd, const char *body, const char *why)
{
	struct reply r;

	client_reply(fd, true, &r);
	assert_int_equal(r.status, 503);
	assert_string_equal(r.body, body);
	pthread_mutex_lock(&w->front.lock);
	if (!strstr(w->why, why))
		fail_msg("%s is not in \"%s\"", why, w->why);
	pthread_mutex_unlock(&w->front.lock);
	reply_release(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
#define TEST_ONE(name) cmocka_unit_test_setup_teardown(name, start_one, stop)
#define TEST_DRAIN(name) cmocka_unit_test_setup_teardown(name, start_one, drained)

#endif
