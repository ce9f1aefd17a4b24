/* net/http.h: deadlines, clients that go away, streams. */
#include "http/fixture.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define HOLD "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"

static int start(void **state)
{
	struct fixture *f = malloc(sizeof(*f));

	assert_non_null(f);
	fixture_init(f);
	*state = f;
	return 0;
}

static int stop(void **state)
{
	assert_int_equal(fixture_stop(*state, PATIENCE_MS), 0);
	free(*state);
	return 0;
}

/* --- Deadlines ------------------------------------------------------------------------------- */

static void idle_connection_is_closed(void **state)
{
	struct fixture *f = *state;
	int fresh, used;

	f->config.limits.idle_timeout_ms = 50;
	fixture_start(f);
	fresh = client_open(f);
	used = client_open(f);
	client_say(used, GET "\r\n");
	assert_int_equal(client_status(used), 200);
	client_expect_end(fresh);
	client_expect_end(used);
	close(fresh);
	close(used);
}

/* Deadlines of earlier states are not taken for those of later ones. */
static void a_busy_connection_is_not_closed_as_idle(void **state)
{
	static const char request[] = "GET /timer?90 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
	struct fixture *f = *state;
	int fd;

	f->config.limits.idle_timeout_ms = f->config.limits.header_timeout_ms = f->config.limits.body_timeout_ms = 400;
	fixture_start(f);
	fd = client_open(f);
	for (int i = 0; i < 6; i++) {
		client_drip(fd, request, sizeof(request) - 1);
		assert_int_equal(client_status(fd), 200);
	}
	client_say(fd, "GET /timer?500 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(client_status(fd), 200);
	close(fd);
}

/* Sends a byte every few milliseconds until something comes back. Returns how long that took. */
static int64_t trickle(int fd, const char *first, char byte)
{
	int64_t start_ms = fixture_now_ms();
	struct pollfd p = {.fd = fd, .events = POLLIN};

	client_say(fd, first);
	while (poll(&p, 1, 5) == 0) {
		assert_true(fixture_now_ms() - start_ms < PATIENCE_MS);
		client_send(fd, &byte, 1);
	}
	return fixture_now_ms() - start_ms;
}

static void a_byte_now_and_then_does_not_hold_a_head_open(void **state)
{
	struct fixture *f = *state;
	struct reply r;
	int fd;

	f->config.limits.header_timeout_ms = 60;
	fixture_start(f);
	fd = client_open(f);
	assert_true(trickle(fd, GET "X: ", 'x') >= 59);
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 408);
	assert_true(reply_has(&r, "Connection: close"));
	reply_release(&r);
	client_expect_end(fd);
	close(fd);
}

static void a_byte_now_and_then_does_not_hold_a_body_open(void **state)
{
	struct fixture *f = *state;

	f->config.limits.body_timeout_ms = 60;
	fixture_start(f);
	for (int i = 0; i < 2; i++) {
		int fd = client_open(f);

		assert_true(trickle(fd, i ? GET "Transfer-Encoding: chunked\r\n\r\nfffff\r\n"
					  : GET "Content-Length: 100000\r\n\r\n", 'x') >= 59);
		assert_int_equal(client_status(fd), 408);
		client_expect_end(fd);
		close(fd);
	}
}

static int count_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	struct fixture *f = ctx;

	(void)req;
	(void)ret_body;
	fixture_add(f, &f->heads_seen);
	return 0;
}

static void a_reply_that_is_not_read_is_given_up(void **state)
{
	struct fixture *f = *state;
	int fd, small = 4096;
	struct buf b;

	f->config.limits.write_timeout_ms = 100;
	f->config.on_head = count_head;
	fixture_start(f);
	fd = client_socket();
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	client_connect(fd, f);
	client_say(fd, "GET /size?50000000 HTTP/1.1\r\nHost: a\r\n\r\n");
	fixture_await(f, &f->heads_seen, 1);
	fixture_await_counts(f, 0, 0);
	buf_init(&b, 60 << 20);
	client_read_all(fd, &b);
	assert_true(b.len < 50000000);
	buf_release(&b);
	close(fd);
}

static void a_reply_that_is_read_slowly_arrives_whole(void **state)
{
	enum { SIZE = 20000000 };
	struct fixture *f = *state;
	int64_t start_ms;
	size_t got = 0;
	char *chunk;
	int fd;

	f->config.limits.write_timeout_ms = 500;
	fixture_start(f);
	fd = client_open(f);
	chunk = malloc(SIZE);
	client_say(fd, "GET /size?20000000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	start_ms = fixture_now_ms();
	/* Takes longer than the timeout, in twenty steps that do not. */
	for (int i = 1; i <= 20; i++) {
		while (fixture_now_ms() - start_ms < 35 * i)
			poll(NULL, 0, 1);
		while (got < (size_t)i * (SIZE / 20)) {
			ssize_t n = client_read(fd, chunk, SIZE / 20);

			assert_true(n > 0);
			got += (size_t)n;
		}
	}
	for (ssize_t n; (n = client_read(fd, chunk, SIZE)) != 0; got += (size_t)n)
		assert_true(n > 0);
	assert_true(got > SIZE);
	free(chunk);
	close(fd);
}

static void a_requests_timer_is_called_once_and_not_early(void **state)
{
	struct fixture *f = *state;
	int64_t start_ms;
	struct reply r;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	for (int i = 1; i <= 3; i++) {
		start_ms = fixture_now_ms();
		client_say(fd, "GET /timer?40 HTTP/1.1\r\nHost: a\r\n\r\n");
		client_reply(fd, true, &r);
		assert_string_equal(r.body, "timer");
		reply_release(&r);
		assert_true(fixture_now_ms() - start_ms >= 40);
		assert_int_equal(f->timer_count, i);
	}
	close(fd);
}

static void never(struct http_req *req, void *arg)
{
	(void)req;
	(void)arg;
	abort();
}

static void move_timer(struct http_req *req, void *arg)
{
	http_req_set_timer(req, 60000, never, NULL);
	http_req_set_timer(req, 0, NULL, NULL);
	http_req_set_timer(req, 1, fixture_on_timer, arg);
}

static void set_timers(void *ctx, struct http_req *req)
{
	http_req_set_timer(req, 1, never, NULL);
	http_req_set_timer(req, 5, move_timer, ctx);
}

static void a_requests_timer_can_be_moved_and_cleared(void **state)
{
	struct fixture *f = *state;
	int fd;

	f->config.on_request = set_timers;
	fixture_start(f);
	fd = client_open(f);
	client_say(fd, GET "\r\n");
	assert_int_equal(client_status(fd), 200);
	close(fd);
}

static void waiting_costs_no_cpu(void **state)
{
	enum { CONNECTIONS = 50 };
	struct fixture *f = *state;
	int fds[CONNECTIONS], waiter;
	long before_wakeups;
	int64_t before_ms;

	fixture_start(f);
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = client_open(f);
		client_say(fds[i], i % 3 == 0 ? GET "\r\n" : i % 3 == 1 ? HOLD : GET "X");
		if (i % 3 == 0)
			assert_int_equal(client_status(fds[i]), 200);
	}
	fixture_await(f, &f->held_count, CONNECTIONS / 3);
	waiter = client_open(f);
	before_ms = fixture_cpu_ms();
	before_wakeups = fixture_wakeups();
	client_say(waiter, "GET /timer?300 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(client_status(waiter), 200);
	assert_true(fixture_cpu_ms() - before_ms < 60);
	/* A handful for this request; a tick of any kind would be many more. */
	assert_true(fixture_wakeups() - before_wakeups < 60);
	for (int i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
	close(waiter);
}

/* --- Gone ------------------------------------------------------------------------------------ */

static void the_application_hears_at_once_that_a_client_has_gone(void **state)
{
	struct fixture *f = *state;

	fixture_start(f);
	for (int i = 0; i < 9; i++) {
		int fd = client_open(f);

		client_say(fd, i % 2 ? HOLD : HOLD GET);
		fixture_await(f, &f->held_count, i + 1);
		if (i % 3 == 0)
			close(fd);
		else if (i % 3 == 1)
			client_reset(fd);
		else
			shutdown(fd, SHUT_WR);
		fixture_await(f, &f->gone_count, i + 1);
		if (i % 3 == 2) {
			client_expect_end(fd);
			close(fd);
		}
	}
	fixture_await_counts(f, 0, 0);
}

static void keep_silent(struct http_req *req, void *arg)
{
	struct fixture *f = arg;

	(void)req;
	fixture_add(f, &f->gone_count);
}

static void hold_without_reply(void *ctx, struct http_req *req)
{
	fixture_hold(ctx, req);
	http_req_on_gone(req, keep_silent, ctx);
}

struct late {
	struct fixture *f;
	struct http_req *req;
	int told;
};

static void told_late(struct http_req *req, void *arg)
{
	struct late *late = arg;

	assert(req == late->req);
	fixture_add(late->f, &late->told);
	http_reply(req, 200, NULL, NULL, NULL);
}

static void ask_late(void *arg)
{
	struct late *late = arg;

	assert(http_req_is_gone(late->req));
	http_req_on_gone(late->req, told_late, late);
	assert(late->told == 0);
}

static void who_asks_late_is_told_as_well(void **state)
{
	struct fixture *f = *state;
	struct late late = {.f = f};
	int fd;

	f->config.on_request = hold_without_reply;
	fixture_start(f);
	fd = client_open(f);
	client_say(fd, GET "\r\n");
	fixture_await(f, &f->held_count, 1);
	close(fd);
	fixture_await(f, &f->gone_count, 1);
	assert_int_equal(fixture_counts(f).requests_active, 1);
	late.req = f->held[0];
	http_post(f->server, http_req_thread(late.req), ask_late, &late);
	fixture_await(f, &late.told, 1);
}

static void the_reply_to_a_client_that_has_gone_goes_nowhere(void **state)
{
	struct fixture *f = *state;
	int fd;

	f->config.on_request = hold_without_reply;
	fixture_start(f);
	fd = client_open(f);
	client_say(fd, GET "\r\n");
	fixture_await(f, &f->held_count, 1);
	client_reset(fd);
	fixture_await(f, &f->gone_count, 1);
	fixture_release(f, 0);
}

static void a_reset_at_any_moment_is_survived(void **state)
{
	static const char *const stages[] = {
		"", "G", GET, GET "X: ", GET "Content-Length: 10\r\n\r\n", GET "Content-Length: 10\r\n\r\nabc",
		GET "Transfer-Encoding: chunked\r\n\r\n5\r\nab", "GET /size?3000000 HTTP/1.1\r\nHost: a\r\n\r\n",
		GET "Content-Length: 99999999\r\n\r\nabc", "bad\n", "GET /timer?1 HTTP/1.1\r\nHost: a\r\n\r\n", HOLD,
		GET "\r\n" GET "\r\n" GET "\r\n" HOLD GET "\r\n",
	};
	struct fixture *f = *state;

	fixture_start(f);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
			int fd = client_open(f);

			/* Held ones are few, because the fixture keeps a list. */
			if (round > 1 && strstr(stages[i], "/hold")) {
				close(fd);
				continue;
			}
			client_say(fd, stages[i]);
			if (round % 3 == 0)
				client_reset(fd);
			else
				close(fd);
		}
	}
}

static void bytes_behind_a_held_request_are_limited_and_do_not_spin(void **state)
{
	enum { SIZE = 8 << 20 };
	struct fixture *f = *state;
	char *filler = malloc(SIZE);
	int64_t before_ms;
	ssize_t sent = 0, n;
	int fd, waiter;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, HOLD GET "\r\n");
	fixture_await(f, &f->held_count, 1);
	memset(filler, 'x', SIZE);
	waiter = client_open(f);
	before_ms = fixture_cpu_ms();
	/* The kernel's buffers fill up, because the server does not read on. */
	while ((n = send(fd, filler, SIZE, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
		sent += n;
	assert_int_equal(errno, EAGAIN);
	client_say(waiter, "GET /timer?200 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(client_status(waiter), 200);
	assert_true(fixture_cpu_ms() - before_ms < 100);
	fixture_release(f, 0);
	assert_int_equal(client_status(fd), 200);
	/* The next request is read on, and then what follows is refused. */
	assert_int_equal(client_status(fd), 200);
	assert_int_equal(client_status(fd), 414);
	close(fd);
	close(waiter);
	free(filler);
}

/* --- Streams --------------------------------------------------------------------------------- */

static void stream_three(void *ctx, struct http_req *req)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";

	(void)ctx;
	http_stream_begin(req, 200, "text/event-stream", (const struct http_header[]){{"X-A", STR("b")}, {0}});
	http_stream_write(req, STR("one"));
	http_stream_write(req, STR(""));
	http_stream_write(req, (struct str){text, 36});
	http_stream_end(req);
}

static void streams_are_framed_for_each_kind_of_client(void **state)
{
	struct fixture *f = *state;
	struct reply r;
	struct buf b;
	int fd;

	f->config.on_request = stream_three;
	fixture_start(f);
	fd = client_open(f);
	client_say(fd, GET "\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n" GET "Connection: close\r\n\r\n");
	for (int i = 0; i < 3; i++) {
		static const char wanted[] = "3\r\none\r\n24\r\n0123456789abcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n";
		char got[sizeof(wanted)] = "";

		client_reply(fd, false, &r);
		assert_int_equal(r.status, 200);
		assert_true(reply_has(&r, "\r\nTransfer-Encoding: chunked\r\n"));
		assert_true(reply_has(&r, "\r\nX-A: b\r\n"));
		assert_false(reply_has(&r, "Content-Length"));
		reply_release(&r);
		for (size_t k = 0; i != 1 && k < sizeof(wanted) - 1; k++)
			assert_int_equal(client_read(fd, got + k, 1), 1);
		assert_string_equal(got, i == 1 ? "" : wanted);
	}
	client_expect_end(fd);
	close(fd);

	fd = client_open(f);
	client_say(fd, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	buf_init(&b, 10000);
	assert_true(client_read_all(fd, &b));
	assert_null(strstr(b.data, "chunked"));
	assert_non_null(strstr(b.data, "\r\nConnection: close\r\n"));
	assert_string_equal(b.data + b.len - 43, "\r\n\r\none0123456789abcdefghijklmnopqrstuvwxyz");
	buf_release(&b);
	close(fd);
}

/* Writes until the client has gone or the queue is long. */
static void stream_much(struct http_req *req, void *arg)
{
	static char kilobyte[1024];
	struct fixture *f = arg;
	size_t queued = 0;

	while (!http_req_is_gone(req) && queued < 1 << 20)
		queued = http_stream_write(req, (struct str){kilobyte, sizeof(kilobyte)});
	if (queued >= 1 << 20)
		fixture_add(f, &f->timer_count);
}

static void end_stream(struct http_req *req, void *arg)
{
	struct fixture *f = arg;

	http_stream_write(req, STR("late"));
	http_stream_end(req);
	fixture_add(f, &f->gone_count);
}

static void begin_stream(void *ctx, struct http_req *req)
{
	http_stream_begin(req, 200, "text/event-stream", NULL);
	http_req_on_gone(req, end_stream, ctx);
	fixture_add(ctx, &((struct fixture *)ctx)->held_count);
	if (str_is(http_req_path(req), "/much"))
		http_req_set_timer(req, 1, stream_much, ctx);
}

static void a_stream_tells_how_much_waits_and_that_the_client_went(void **state)
{
	struct fixture *f = *state;
	int fd;

	f->config.on_request = begin_stream;
	fixture_start(f);
	/* One that says nothing. */
	fd = client_open(f);
	client_say(fd, GET "\r\n");
	assert_int_equal(client_status(fd), 200);
	close(fd);
	fixture_await(f, &f->gone_count, 1);
	/* One with a queue that nobody reads. */
	fd = client_open(f);
	client_say(fd, "GET /much HTTP/1.1\r\nHost: a\r\n\r\n");
	fixture_await(f, &f->timer_count, 1);
	client_reset(fd);
	fixture_await(f, &f->gone_count, 2);
}

static void a_stream_that_is_not_read_is_given_up(void **state)
{
	struct fixture *f = *state;
	int fd;

	f->config.limits.write_timeout_ms = 50;
	f->config.on_request = begin_stream;
	fixture_start(f);
	fd = client_open(f);
	client_say(fd, "GET /much HTTP/1.1\r\nHost: a\r\n\r\n");
	fixture_await(f, &f->gone_count, 1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(idle_connection_is_closed, start, stop),
		cmocka_unit_test_setup_teardown(a_busy_connection_is_not_closed_as_idle, start, stop),
		cmocka_unit_test_setup_teardown(a_byte_now_and_then_does_not_hold_a_head_open, start, stop),
		cmocka_unit_test_setup_teardown(a_byte_now_and_then_does_not_hold_a_body_open, start, stop),
		cmocka_unit_test_setup_teardown(a_reply_that_is_not_read_is_given_up, start, stop),
		cmocka_unit_test_setup_teardown(a_reply_that_is_read_slowly_arrives_whole, start, stop),
		cmocka_unit_test_setup_teardown(a_requests_timer_is_called_once_and_not_early, start, stop),
		cmocka_unit_test_setup_teardown(a_requests_timer_can_be_moved_and_cleared, start, stop),
		cmocka_unit_test_setup_teardown(waiting_costs_no_cpu, start, stop),
		cmocka_unit_test_setup_teardown(the_application_hears_at_once_that_a_client_has_gone, start, stop),
		cmocka_unit_test_setup_teardown(who_asks_late_is_told_as_well, start, stop),
		cmocka_unit_test_setup_teardown(the_reply_to_a_client_that_has_gone_goes_nowhere, start, stop),
		cmocka_unit_test_setup_teardown(a_reset_at_any_moment_is_survived, start, stop),
		cmocka_unit_test_setup_teardown(bytes_behind_a_held_request_are_limited_and_do_not_spin, start, stop),
		cmocka_unit_test_setup_teardown(streams_are_framed_for_each_kind_of_client, start, stop),
		cmocka_unit_test_setup_teardown(a_stream_tells_how_much_waits_and_that_the_client_went, start, stop),
		cmocka_unit_test_setup_teardown(a_stream_that_is_not_read_is_given_up, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
