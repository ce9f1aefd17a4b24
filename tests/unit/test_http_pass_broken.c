/* net/http_pass.h: servers and clients that go, refuse, fall silent or stop. */
#include "http/passing.h"

#ifdef __linux__
#include <linux/filter.h>
#endif

/* --- Who goes ------------------------------------------------------------------------------------ */

static void test_the_other_server_sees_the_client_go(void **state)
{
	struct world *w = *state;
	int waiting = client_open(&w->front), streaming = client_open(&w->front);
	struct reply r;

	ask(waiting, "GET", "/hold", "", STR(""));
	ask(streaming, "GET", "/quiet", "", STR(""));
	client_reply(streaming, false, &r);
	reply_release(&r);
	fixture_await(&w->back, &w->back.held_count, 2);
	close(waiting);
	fixture_await(&w->back, &w->back.gone_count, 1);
	client_reset(streaming);
	fixture_await(&w->back, &w->back.gone_count, 2);
	fixture_await(&w->front, &w->over, 2);
	assert_int_equal(w->failed, 0);
	assert_int_equal(w->over_whole, 0);
	fixture_await_counts(&w->front, 0, 0);
}

static void test_who_refuses_connections_has_not_run_it(void **state)
{
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd = client_open(&w->front);

	close(p.fd);
	for (int i = 0; i < 3; i++) {
		ask(fd, "POST", "/", "", STR("x"));
		expect_failure(w, fd, "not run", "refused");
	}
	close(fd);
}

static void test_who_takes_no_connection_has_failed_after_a_second(void **state)
{
	struct world *w = *state;
	int fd = client_open(&w->front), fillers[64], count = 0;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct peer p = peer_open(w);
	int64_t start_ms;

	/* Its queue of connections is full. */
	listen(p.fd, 0);
	a.sin_port = htons((uint16_t)p.port);
	while (count < 64) {
		struct pollfd poller = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), .events = POLLOUT};

		fillers[count++] = poller.fd;
		connect(poller.fd, (struct sockaddr *)&a, sizeof(a));
		if (poll(&poller, 1, 300) == 0)
			break;
	}
	start_ms = fixture_now_ms();
	ask(fd, "POST", "/", "", STR("x"));
	expect_failure(w, fd, "not run", "cannot connect");
	assert_in_range(fixture_now_ms() - start_ms, HTTP_PASS_CONNECT_MS - 100, PATIENCE_MS / 2);
	while (count > 0)
		close(fillers[--count]);
	close(p.fd);
	close(fd);
}

/* Its machine is there no more: nothing is said, not even that a packet has come. */
static void fall_silent(int fd)
{
#ifdef __linux__
	struct sock_filter drop_all = {.code = BPF_RET | BPF_K, .k = 0};
	struct sock_fprog program = {.len = 1, .filter = &drop_all};

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
#else
	(void)fd;
	skip();
#endif
}

static void test_who_falls_silent_has_failed_after_seconds(void **state)
{
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd = client_open(&w->front), peer;
	int64_t start_ms = fixture_now_ms();
	char seen[4096];

	ask(fd, "GET", "/", "", STR(""));
	peer = peer_accept(&p);
	peer_read(peer, seen, sizeof(seen));
	fall_silent(peer);
	expect_failure(w, fd, "maybe", "broke off");
	assert_in_range(fixture_now_ms() - start_ms, HTTP_PASS_SILENCE_MS / 2, PATIENCE_MS);
	close(peer);
	close(p.fd);
	close(fd);
}

/* What comes of an answer before its end. */
static void break_off(struct world *w, const struct peer *p, const char *answer, int fd)
{
	char seen[4096];
	int peer;

	(void)w;
	ask(fd, "POST", "/", "", STR("x"));
	peer = peer_accept(p);
	peer_read(peer, seen, sizeof(seen));
	client_say(peer, answer);
	close(peer);
}

static void test_half_an_answer_is_never_taken_for_a_whole_one(void **state)
{
	static const char *const streams[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nsome",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	};
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd;

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct reply r;
		struct buf b;

		fd = client_open(&w->front);
		break_off(w, &p, streams[i], fd);
		client_reply(fd, false, &r);
		assert_int_equal(r.status, 200);
		buf_init(&b, 1000);
		if (i == 0)
			assert_true(read_to_end(fd) <= 4);
		else
			assert_false(read_chunks(fd, &b));
		buf_release(&b);
		reply_release(&r);
		close(fd);
	}
	/* Where nothing has reached the client there is a better answer. */
	fd = client_open(&w->front);
	break_off(w, &p, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome", fd);
	expect_failure(w, fd, "maybe", "broke off");
	close(fd);
	close(p.fd);
}

/* The length that a head says beside its chunks means nothing (RFC 9112, 6.3). */
static void test_an_answer_in_chunks_is_as_long_as_its_chunks(void **state)
{
	static const char *const answers[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n4\r\nsome\r\n0\r\n\r\n",
	};
	struct world *w = *state;
	struct peer p = peer_open(w);

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		int fd = client_open(&w->front);
		struct reply r;
		struct buf b;

		buf_init(&b, 1000);
		break_off(w, &p, answers[i], fd);
		client_reply(fd, false, &r);
		assert_int_equal(r.status, 200);
		assert_false(reply_has(&r, "Content-Length"));
		assert_true(read_chunks(fd, &b));
		assert_string_equal(buf_str(&b).p, "some");
		buf_release(&b);
		reply_release(&r);
		close(fd);
	}
	close(p.fd);
}

/* Whoever answers so cannot take this server down with it. */
static void test_an_answer_of_another_length_than_it_says_ends_alone(void **state)
{
	static const char *const answers[] = {
		"HTTP/1.1 103 Early\r\nTransfer-Encoding: chunked\r\n\r\n"
		"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n4\r\nsome\r\n0\r\n\r\n",
		"HTTP/1.1 103 Early\r\nContent-Length: 4\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome",
		"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nContent-Length: 4\r\n\r\nsome",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 100000\r\n\r\nsome",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nHTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
		"4\r\nsome\r\n0\r\n\r\n",
	};
	struct world *w = *state;
	struct peer p = peer_open(w);

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		int fd = client_open(&w->front);
		struct reply r;

		break_off(w, &p, answers[i], fd);
		client_reply(fd, false, &r);
		if (r.status == 200)
			assert_true(read_to_end(fd) < 100000);
		else
			assert_int_equal(r.status, 503);
		reply_release(&r);
		close(fd);
	}
	close(p.fd);
}

/* HTTP/1.0 knows the end of a body by the end of the connection. */
static void test_an_old_client_sees_a_reset(void **state)
{
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd = client_open(&w->front), peer;
	struct buf got;
	char seen[4096];

	client_say(fd, "GET / HTTP/1.0\r\n\r\n");
	peer = peer_accept(&p);
	peer_read(peer, seen, sizeof(seen));
	client_say(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n");
	close(peer);
	buf_init(&got, 10000);
	assert_false(client_read_all(fd, &got));
	buf_release(&got);
	close(fd);
	close(p.fd);
}

/* libcurl would send it again, on a new connection. */
static void test_a_request_is_sent_once_where_a_kept_connection_ends(void **state)
{
	static const char *const methods[] = {"POST", "GET"};
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd = client_open(&w->front);

	for (size_t i = 0; i < 2; i++) {
		char seen[4096];
		struct reply r;
		int peer;

		ask(fd, "POST", "/first", "", STR("x"));
		peer = peer_accept(&p);
		peer_read(peer, seen, sizeof(seen));
		client_say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		reply_release(&r);
		/* The second request comes on the same connection, is read, and the peer dies. */
		ask(fd, methods[i], "/second", "", STR("x"));
		peer_read(peer, seen, sizeof(seen));
		assert_non_null(strstr(seen, "/second"));
		close(peer);
		expect_failure(w, fd, "maybe", "closed the connection");
		assert_false(peer_has_another(&p, 200));
	}
	close(fd);
	close(p.fd);
}

/* Such a connection is not used: whether it is seen in time or not, the request is carried out at most once. */
static void test_a_kept_connection_that_was_closed_is_not_used(void **state)
{
	struct world *w = *state;
	struct peer p = peer_open(w);
	int fd = client_open(&w->front), kept[16];
	char seen[4096];
	struct reply r;

	for (int i = 0; i < 16; i++) {
		ask(fd, "POST", "/", "", STR("x"));
		kept[i] = peer_accept(&p);
		peer_read(kept[i], seen, sizeof(seen));
		client_say(kept[i], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
		close(kept[i]);
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		reply_release(&r);
	}
	close(fd);
	close(p.fd);
}

/* Whatever has come of an answer, and whichever way they go: nothing stays, on either server. */
static void test_clients_that_come_and_go_leave_nothing(void **state)
{
	static const char *const targets[] = {"/echo", "/size?300000", "/chunks?300", "/quiet", "/events", "/size?9"};
	struct world *w = *state;
	char *bytes = pattern(100000), chunk[20000];
	unsigned int seed = 7;
	int fds[32];

	memset(fds, -1, sizeof(fds));
	for (int i = 0; i < 2000; i++) {
		int *fd = &fds[rand_r(&seed) % 32], dice = rand_r(&seed) % 10;

		if (*fd < 0) {
			*fd = client_open(&w->front);
			ask(*fd, "POST", targets[dice % 6], "", (struct str){bytes, dice < 5 ? 100000 : 10});
		} else if (dice < 6) {
			recv(*fd, chunk, sizeof(chunk), MSG_DONTWAIT);
		} else {
			if (dice < 8)
				client_reset(*fd);
			else
				close(*fd);
			*fd = -1;
		}
	}
	for (int i = 0; i < 32; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	fixture_await_counts(&w->front, 0, 0);
	while (fixture_counts(&w->back).requests_active > 0)
		sched_yield();
	assert_int_equal(w->failed, 0);
	free(bytes);
}

/* --- Cutting, drain ------------------------------------------------------------------------------ */

static void cut(void *arg)
{
	struct world *w = arg;

	http_pass_cut(w->pass[0], w->url, "its lease is over");
	assert(http_pass_active(w->pass[0]) == 0);
}

static void test_all_that_waits_for_a_server_can_be_given_up(void **state)
{
	struct world *w = *state;
	int waiting = client_open(&w->front), streaming = client_open(&w->front);
	struct reply r;

	ask(waiting, "GET", "/hold", "", STR(""));
	ask(streaming, "GET", "/quiet", "", STR(""));
	client_reply(streaming, false, &r);
	reply_release(&r);
	fixture_await(&w->back, &w->back.held_count, 2);
	http_post(w->front.server, 0, cut, w);
	expect_failure(w, waiting, "maybe", "its lease is over");
	read_to_end(streaming);
	fixture_await(&w->back, &w->back.gone_count, 2);
	close(waiting);
	close(streaming);
}

static void test_a_drain_ends_what_waits_and_streams(void **state)
{
	struct world *w = *state;
	int waiting = client_open(&w->front), streaming = client_open(&w->front);
	struct reply r;
	struct buf b;

	ask(waiting, "GET", "/hold", "", STR(""));
	ask(streaming, "GET", "/quiet", "", STR(""));
	client_reply(streaming, false, &r);
	reply_release(&r);
	fixture_await(&w->back, &w->back.held_count, 2);
	http_server_drain(w->front.server);
	expect_failure(w, waiting, "maybe", "stopping");
	buf_init(&b, 10000);
	assert_true(read_chunks(streaming, &b));
	assert_memory_equal(b.data, ": hello\n\n", 9);
	buf_release(&b);
	fixture_await(&w->back, &w->back.gone_count, 2);
	close(waiting);
	close(streaming);
	assert_int_equal(fixture_stop(&w->front, PATIENCE_MS), 0);
	assert_int_equal(fixture_stop(&w->back, PATIENCE_MS), 0);
}

static void test_a_drain_lets_a_short_request_end(void **state)
{
	struct world *w = *state;
	int fd = client_open(&w->front), other = client_open(&w->front);
	struct reply r;

	w->drain_ms = 500;
	ask(fd, "GET", "/hold", "", STR(""));
	fixture_await(&w->back, &w->back.held_count, 1);
	ask(other, "GET", "/hold", "", STR(""));
	fixture_await(&w->back, &w->back.held_count, 2);
	http_server_drain(w->front.server);
	fixture_release(&w->back, 0);
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "released");
	reply_release(&r);
	expect_failure(w, other, "maybe", "stopping");
	fixture_await(&w->front, &w->failed_drained, 1);
	close(fd);
	close(other);
	assert_int_equal(fixture_stop(&w->front, PATIENCE_MS), 0);
	assert_int_equal(fixture_stop(&w->back, PATIENCE_MS), 0);
}

/* What is answered as a stream of events has its end in it; who only listens is waited for a moment. */
static void test_a_drain_leaves_a_stream_to_the_other_server(void **state)
{
	struct world *w = *state;
	int asking = client_open(&w->front), listening = client_open(&w->front);
	struct reply r;
	struct buf b;

	w->drain_ms = PATIENCE_MS;
	ask(asking, "POST", "/last", "", STR(""));
	client_reply(asking, false, &r);
	reply_release(&r);
	ask(listening, "GET", "/quiet", "", STR(""));
	client_reply(listening, false, &r);
	reply_release(&r);
	fixture_await(&w->back, &w->back.held_count, 2);
	http_server_drain(w->front.server);
	buf_init(&b, 10000);
	assert_true(read_chunks(listening, &b));
	fixture_await(&w->back, &w->back.gone_count, 1);
	buf_clear(&b);
	http_server_drain(w->back.server);
	assert_true(read_chunks(asking, &b));
	assert_string_equal(buf_str(&b).p, ": hello\n\n: the last\n\n");
	buf_release(&b);
	close(asking);
	close(listening);
	assert_int_equal(w->back.gone_count, 1);
	assert_int_equal(fixture_stop(&w->front, PATIENCE_MS), 0);
	assert_int_equal(fixture_stop(&w->back, PATIENCE_MS), 0);
}

static void test_a_server_that_drains_ends_its_long_polls_and_so_do_we(void **state)
{
	struct world *w = *state;
	int fd = client_open(&w->front);
	struct reply r;

	ask(fd, "GET", "/timer?60000", "", STR(""));
	while (fixture_counts(&w->back).requests_active == 0)
		sched_yield();
	http_server_drain(w->back.server);
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "timer");
	reply_release(&r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_other_server_sees_the_client_go),
		TEST(test_who_refuses_connections_has_not_run_it),
		TEST(test_who_takes_no_connection_has_failed_after_a_second),
		TEST(test_who_falls_silent_has_failed_after_seconds),
		TEST(test_half_an_answer_is_never_taken_for_a_whole_one),
		TEST(test_an_answer_in_chunks_is_as_long_as_its_chunks),
		TEST(test_an_answer_of_another_length_than_it_says_ends_alone),
		TEST(test_an_old_client_sees_a_reset),
		TEST_ONE(test_a_request_is_sent_once_where_a_kept_connection_ends),
		TEST_ONE(test_a_kept_connection_that_was_closed_is_not_used),
		TEST(test_clients_that_come_and_go_leave_nothing),
		TEST_ONE(test_all_that_waits_for_a_server_can_be_given_up),
		TEST_DRAIN(test_a_drain_ends_what_waits_and_streams),
		TEST_DRAIN(test_a_drain_lets_a_short_request_end),
		TEST_DRAIN(test_a_drain_leaves_a_stream_to_the_other_server),
		TEST(test_a_server_that_drains_ends_its_long_polls_and_so_do_we),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
