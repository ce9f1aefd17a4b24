/* net/http_pass.h: what is asked and answered goes on whole, however large, and no faster than its client takes it. */
#include "http/passing.h"

/* --- Bodies ------------------------------------------------------------------------------------- */

static void test_bodies_of_all_sizes_go_both_ways(void **state)
{
	static const size_t sizes[] = {0, 1, 4096, HTTP_PASS_WHOLE_BYTES, HTTP_PASS_WHOLE_BYTES + 1, LARGE};
	struct world *w = *state;
	char *bytes = pattern(LARGE);
	int fd = client_open(&w->front);

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct reply r;

			ask(fd, "POST", "/echo", "", (struct str){bytes, sizes[i]});
			client_reply(fd, true, &r);
			assert_int_equal(r.status, 200);
			assert_true(reply_has(&r, "\r\nContent-Length: "));
			assert_true(reply_has(&r, "\r\nContent-Type: text/plain\r\n"));
			assert_int_equal(r.body_len, sizes[i]);
			assert_memory_equal(r.body, bytes, sizes[i]);
			reply_release(&r);
		}
	fixture_await(&w->front, &w->over_whole, 12);
	close(fd);
	free(bytes);
}

static void test_chunks_arrive_whole_and_the_connection_goes_on(void **state)
{
	struct world *w = *state;
	int fd = client_open(&w->front);

	for (int count = 0; count <= 2000; count = count * 10 + 2) {
		struct reply r;
		struct buf b;
		char target[32];

		snprintf(target, sizeof(target), "/chunks?%d", count);
		buf_init(&b, 64 << 20);
		ask(fd, "GET", target, "", STR(""));
		client_reply(fd, false, &r);
		assert_int_equal(r.status, 200);
		assert_true(reply_has(&r, "\r\nTransfer-Encoding: chunked\r\n"));
		assert_true(read_chunks(fd, &b));
		assert_int_equal(b.len, count * 1024);
		for (int i = 0; i < count; i++)
			assert_int_equal(b.data[i * 1024 + 512], 'a' + i % 26);
		buf_release(&b);
		reply_release(&r);
	}
	close(fd);
}

static void test_answers_without_a_body(void **state)
{
	struct world *w = *state;
	int fd = client_open(&w->front);
	struct reply r;

	ask(fd, "HEAD", "/size?100000", "", STR(""));
	client_reply(fd, false, &r);
	assert_int_equal(r.status, 200);
	assert_true(reply_has(&r, "\r\nContent-Length: 100000\r\n"));
	reply_release(&r);
	ask(fd, "HEAD", "/chunks?3", "", STR(""));
	client_reply(fd, false, &r);
	assert_int_equal(r.status, 200);
	reply_release(&r);
	ask(fd, "DELETE", "/nothing", "", STR(""));
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 204);
	assert_false(reply_has(&r, "Content-Length"));
	/* This server's word goes before the other's. */
	assert_true(reply_has(&r, "\r\nX-Front: yes\r\n") && reply_has(&r, "\r\nX-One: 1\r\n"));
	assert_false(reply_has(&r, "X-Front: no"));
	reply_release(&r);
	ask(fd, "GET", "/status?304", "", STR(""));
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 304);
	reply_release(&r);
	ask(fd, "GET", "/status?422", "", STR(""));
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 422);
	assert_string_equal(r.body, "status");
	reply_release(&r);
	close(fd);
}

/* The first of them refuses, and the number of its socket is free again at once. */
static void test_a_name_with_two_addresses(void **state)
{
	struct world *w = *state;

	snprintf(w->url, sizeof(w->url), "http://localhost:%d", http_server_port(w->back.server));
	for (int i = 0; i < 20; i++) {
		int fd = client_open(&w->front);
		struct reply r;

		ask(fd, "POST", "/echo", "", STR("hi"));
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		assert_string_equal(r.body, "hi");
		reply_release(&r);
		close(fd);
	}
}

/* --- Headers ------------------------------------------------------------------------------------- */

static void test_headers_that_are_passed_and_those_that_are_not(void **state)
{
	static const char *const passed[] = {
		"PATCH /a%20b/../c?x=%C3%BC&y HTTP/1.1\r\n", "\r\nx-one: 1, 2\r\n", "\r\ncontent-type: a/b\r\n",
		"\r\nX-Extra: more\r\n", "\r\nX-Two: forced\r\n", "\r\nX-Empty:\r\n", "\r\nx-none:\r\n",
		"\r\nContent-Length: 5\r\n", "\r\nif-match: \"a\"\r\n", "\r\n\r\nhello",
	};
	static const char *const dropped[] = {
		"authorization", "secret", "keep-alive", "x-hop", "te:", "proxy-", "front", "x-two: mine", "expect",
		"accept", "user-agent", "upgrade", "x-front",
	};
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd = client_open(&w->front), peer;
	char seen[4096];
	struct reply r;

	ask(fd, "PATCH", "/a%20b/../c?x=%C3%BC&y",
	    "X-One: 1\r\nX-One: 2\r\nX-Two: mine\r\nX-None:\r\nContent-Type: a/b\r\nAuthorization: secret\r\n"
	    "Connection: keep-alive, X-Hop\r\nKeep-Alive: 5\r\nX-Hop: 1\r\nTE: trailers\r\nProxy-Authorization: x\r\n"
	    "If-Match: \"a\"\r\nUpgrade: b\r\nExpect: 100-continue\r\n", STR("hello"));
	peer = peer_accept(&p);
	peer_read(peer, seen, sizeof(seen));
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (!strstr(seen, passed[i]))
			fail_msg("%s is not in\n%s", passed[i], seen);
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		if (strcasestr(seen, dropped[i]))
			fail_msg("%s is in\n%s", dropped[i], seen);
	client_say(peer, "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n"
		   "Date: yesterday\r\nConnection: keep-alive, X-Gone\r\nX-Gone: 1\r\nKeep-Alive: 7\r\nX-Stays: a b\r\n"
		   "X-Gone-Too: 1\r\nConnection: X-Other\r\nConnection: X-Gone-Too\r\n"
		   "Set-Cookie: a\r\nSet-Cookie: b\r\nX-FRONT: no\r\nX-Blank:\r\n\r\nok");
	client_reply(fd, true, &r);
	if (r.status == 100) {	/* this server's own */
		reply_release(&r);
		client_reply(fd, true, &r);
	}
	assert_int_equal(r.status, 201);
	assert_string_equal(r.body, "ok");
	assert_true(reply_has(&r, "\r\nX-Stays: a b\r\n") && reply_has(&r, "\r\nX-Front: yes\r\n"));
	assert_true(reply_has(&r, "\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n") && reply_has(&r, "\r\nX-Blank: \r\n"));
	assert_false(reply_has(&r, "yesterday") || reply_has(&r, "X-Gone") || reply_has(&r, "Keep-Alive") ||
		     reply_has(&r, "X-Early") || reply_has(&r, "X-FRONT"));
	reply_release(&r);
	close(peer);
	close(p.fd);
	close(fd);
}

static void test_an_answer_that_is_no_http_is_a_failure(void **state)
{
	static const char *const answers[] = {
		"nonsense\r\n\r\n", "HTTP/1.1 700 What\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n", "",
		"HTTP/1.1 200 OK\r\nX\rb: a\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX a: b\r\nContent-Length: 0\r\n\r\n",
	};
	struct world *w = *state;
	struct peer p = peer_open(w);

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		int fd = client_open(&w->front), peer;
		char seen[4096];
		struct reply r;

		ask(fd, "POST", "/", "", STR("x"));
		peer = peer_accept(&p);
		peer_read(peer, seen, sizeof(seen));
		client_say(peer, answers[i]);
		close(peer);
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 503);
		assert_string_equal(r.body, "maybe");
		reply_release(&r);
		close(fd);
	}
	close(p.fd);
}

/* --- Streams ------------------------------------------------------------------------------------- */

static size_t waiting_for_clients(struct fixture *f)
{
	return atomic_load(&f->server->reply_bytes);
}

static void small_window(int fd)
{
	int size = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

/* Until nothing more is written by the other server for a while: it waits. Returns how many KiB it wrote. */
static int await_standstill(struct world *w)
{
	int64_t start_ms = fixture_now_ms(), since_ms = start_ms;
	int before = -1, now;

	while (fixture_now_ms() - since_ms < 300) {
		usleep(10000);
		pthread_mutex_lock(&w->back.lock);
		now = w->wrote_kib;
		pthread_mutex_unlock(&w->back.lock);
		if (now != before)
			since_ms = fixture_now_ms();
		before = now;
		assert_true(fixture_now_ms() - start_ms < PATIENCE_MS);
		/* Both kernels' buffers and ours; without back-pressure it never ends. */
		assert_true(now < 64 * 1024);
	}
	assert_true(before > 0);
	return before;
}

static void test_a_stream_is_read_no_faster_than_its_client_takes_it(void **state)
{
	struct world *w = *state;
	int fd = client_socket(), wrote;
	char chunk[65536];
	size_t total = 0;
	struct reply r;

	small_window(fd);
	client_connect(fd, &w->front);
	ask(fd, "GET", "/events", "", STR(""));
	client_reply(fd, false, &r);
	assert_int_equal(r.status, 200);
	assert_true(reply_has(&r, "\r\nContent-Type: text/event-stream\r\n"));
	wrote = await_standstill(w);
	assert_in_range(waiting_for_clients(&w->front), 1, HTTP_PASS_AHEAD_BYTES + 65536);
	/* It goes on once the client reads, for more than all buffers together have. */
	while (total < (size_t)wrote * 1024 + (8 << 20)) {
		ssize_t n = client_read(fd, chunk, sizeof(chunk));

		assert_true(n > 0);
		total += (size_t)n;
	}
	close(fd);
	fixture_await(&w->back, &w->back.gone_count, 1);
	reply_release(&r);
}

static int start_narrow(void **state)
{
	struct world *w;

	make(state);
	w = *state;
	w->front.config.limits.max_reply_total_bytes = 50000;
	fixture_start(&w->back);
	fixture_start(&w->front);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d", http_server_port(w->back.server));
	return 0;
}

static void test_clients_leave_no_more_than_the_limit(void **state)
{
	struct world *w = *state;
	int fd = client_socket();
	struct reply r;

	small_window(fd);
	client_connect(fd, &w->front);
	ask(fd, "GET", "/events", "", STR(""));
	client_reply(fd, false, &r);
	reply_release(&r);
	await_standstill(w);
	/* One more piece of libcurl's. */
	assert_in_range(waiting_for_clients(&w->front), 1, 50000 + 32768);
	close(fd);
}

static void test_a_large_answer_waits_for_its_client_and_is_whole(void **state)
{
	struct world *w = *state;
	int fd = client_socket();
	int64_t start_ms = fixture_now_ms();
	struct reply r;

	small_window(fd);
	client_connect(fd, &w->front);
	ask(fd, "GET", "/size?30000000", "", STR(""));
	while (waiting_for_clients(&w->front) < HTTP_PASS_AHEAD_BYTES)
		assert_true(fixture_now_ms() - start_ms < PATIENCE_MS);
	client_reply(fd, true, &r);
	assert_int_equal(r.body_len, 30000000);
	assert_true(waiting_for_clients(&w->front) <= HTTP_PASS_AHEAD_BYTES + 65536);
	for (size_t i = 0; i < r.body_len; i++)
		if (r.body[i] != 'x')
			fail_msg("a wrong byte at %zu", i);
	reply_release(&r);
	/* The connection is at its right place. */
	ask(fd, "POST", "/echo", "", STR("hi"));
	client_reply(fd, true, &r);
	assert_string_equal(r.body, "hi");
	reply_release(&r);
	close(fd);
}

/* --- Many ----------------------------------------------------------------------------------------- */

static void test_two_hundred_long_polls_at_once(void **state)
{
	enum { POLLS = 200 };
	struct world *w = *state;
	int fds[POLLS], fd;
	struct reply r;

	for (int i = 0; i < POLLS; i++) {
		fds[i] = client_open(&w->front);
		ask(fds[i], "GET", "/timer?60000", "", STR(""));
	}
	while (fixture_counts(&w->back).requests_active < POLLS)
		sched_yield();
	/* Others are served meanwhile. */
	fd = client_open(&w->front);
	for (int i = 0; i < 100; i++) {
		ask(fd, "POST", "/echo", "", STR("hi"));
		client_reply(fd, true, &r);
		assert_string_equal(r.body, "hi");
		reply_release(&r);
	}
	http_server_drain(w->back.server);
	for (int i = 0; i < POLLS; i++) {
		assert_int_equal(client_status(fds[i]), 200);
		close(fds[i]);
	}
	close(fd);
}

/* Not by HEAD alone, whose answer is a stream otherwise. */
static void test_an_answer_that_says_that_nothing_was_done_is_not_given_on(void **state)
{
	static const char *const methods[] = {"GET", "POST", "HEAD"};
	struct world *w = *state;
	int fd = client_open(&w->front);
	struct reply r;

	for (int i = 0; i < 3; i++) {
		ask(fd, methods[i], "/undone", "", STR(""));
		client_reply(fd, i < 2, &r);
		assert_int_equal(r.status, 503);
		assert_false(reply_has(&r, "Undone"));
		if (i < 2)
			assert_string_equal(r.body, "not run");
		reply_release(&r);
		fixture_await(&w->front, &w->failed, i + 1);
		assert_int_equal(w->failed_undone, i + 1);
		assert_string_equal(w->why, "not mine");
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bodies_of_all_sizes_go_both_ways),
		TEST(test_chunks_arrive_whole_and_the_connection_goes_on),
		TEST(test_answers_without_a_body),
		TEST(test_a_name_with_two_addresses),
		TEST(test_headers_that_are_passed_and_those_that_are_not),
		TEST(test_an_answer_that_is_no_http_is_a_failure),
		TEST(test_a_stream_is_read_no_faster_than_its_client_takes_it),
		cmocka_unit_test_setup_teardown(test_clients_leave_no_more_than_the_limit, start_narrow, stop),
		TEST(test_a_large_answer_waits_for_its_client_and_is_whole),
		TEST(test_two_hundred_long_polls_at_once),
		TEST(test_an_answer_that_says_that_nothing_was_done_is_not_given_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
