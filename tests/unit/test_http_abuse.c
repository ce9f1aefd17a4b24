/* net/http.h: clients that abuse what HTTP allows. What a single request may not be is in test_http.c. */
#include "http/fixture.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

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
	struct fixture *f = *state;

	assert_int_equal(fixture_stop(f, PATIENCE_MS), 0);
	free(f);
	return 0;
}

/* --- What comes behind a request ------------------------------------------------------------- */

/* Each is sent behind a proper request and before another one, in one piece. */
static const struct {
	int status;
	const char *bytes;
} bad_seconds[] = {
	{400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
	{400, "GET / HTTP/1.1\nHost: a\n\n"},
	{400, "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, GET "X: a\r\n b: c\r\n\r\n"},
	{400, POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{400, POST "Content-Length: 3\r\nContent-Length: 30\r\n\r\nabc"},
	{400, POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"},
	{400, POST "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n"},
	{400, CHUNKED "3\r\nabcd\r\n0\r\n\r\n"},
	{400, CHUNKED "fffffffffffffffff\r\nabc"},
	{413, CHUNKED "7fffffff\r\nabc"},
	{413, POST "Content-Length: 9999999999\r\n\r\nabc"},
	{505, "GET / HTTP/3.0\r\nHost: a\r\n\r\n"},
	{505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
	{417, POST "Expect: something\r\nContent-Length: 3\r\n\r\nabc"},
	{400, "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "\x16\x03\x01\x02"},
};

static void a_bad_second_request_is_refused_and_a_third_not_read(void **state)
{
	struct fixture *f = *state;
	size_t count = sizeof(bad_seconds) / sizeof(bad_seconds[0]);

	fixture_start(f);
	for (size_t i = 0; i < count; i++) {
		int fd = client_open(f), status;
		struct buf all;

		buf_init(&all, 4096);
		buf_printf(&all, "%s%s%s", GET "\r\n", bad_seconds[i].bytes,
			   "GET /status?299 HTTP/1.1\r\nHost: a\r\n\r\n");
		client_send(fd, all.data, all.len);
		buf_release(&all);
		assert_int_equal(client_status(fd), 200);
		status = client_status(fd);
		if (status != bad_seconds[i].status)
			print_error("%d instead of %d for: %s\n", status, bad_seconds[i].status, bad_seconds[i].bytes);
		assert_int_equal(status, bad_seconds[i].status);
		client_expect_end(fd);
		close(fd);
	}
	assert_int_equal(fixture_counts(f).requests, count);
}

/* A body that looks like a request is a body. */
static void what_stands_in_a_body_is_no_request(void **state)
{
	static const char inner[] = "GET /status?299 HTTP/1.1\r\nHost: a\r\n\r\n";
	struct fixture *f = *state;
	struct reply r;
	struct buf all;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	buf_init(&all, 4096);
	buf_printf(&all, POST "Content-Length: %zu\r\n\r\n%s" CHUNKED "%zx\r\n%s\r\n0\r\n\r\n" GET "\r\n",
		   strlen(inner), inner, strlen(inner), inner);
	client_say(fd, all.data);
	buf_release(&all);
	for (int i = 0; i < 2; i++) {
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		assert_string_equal(r.body, inner);
		reply_release(&r);
	}
	assert_int_equal(client_status(fd), 200);
	close(fd);
	assert_int_equal(fixture_counts(f).requests, 3);
}

/* --- Chunks ---------------------------------------------------------------------------------- */

static void an_extension_on_every_byte_is_refused(void **state)
{
	struct fixture *f = *state;
	char chunk[300];
	int fd, sent = 0;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, CHUNKED);
	snprintf(chunk, sizeof(chunk), "1;%0200d\r\na\r\n", 0);
	/* 200 kB for a body of a kilobyte. */
	while (sent < 1000 && client_send(fd, chunk, strlen(chunk)))
		sent++;
	client_send(fd, "0\r\n\r\n", 5);
	assert_int_equal(client_status(fd), 400);
	close(fd);
	fd = client_open(f);
	client_say(fd, CHUNKED "5;a=b\r\nhello\r\n0;c\r\n\r\n");
	assert_int_equal(client_status(fd), 200);
	close(fd);
}

static void chunks_of_a_byte_are_taken(void **state)
{
	struct fixture *f = *state;
	struct reply r;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, CHUNKED);
	for (int i = 0; i < 5000; i++)
		client_say(fd, "1\r\na\r\n");
	client_say(fd, "0\r\n\r\n");
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.body_len, 5000);
	reply_release(&r);
	close(fd);
}

/* --- Bodies that nobody wants ---------------------------------------------------------------- */

static int refuse_all(void *ctx, struct http_req *req, struct buf *ret_body)
{
	(void)ctx;
	(void)req;
	buf_puts(ret_body, "{\"code\":\"no\"}");
	return 401;
}

/* No memory is taken for them: there would be none, and the answer would be 503. */
static void the_body_of_a_refused_head_is_not_kept(void **state)
{
	static const char *const heads[] = {
		POST "Content-Length: 1000000\r\n\r\n", CHUNKED "f4240\r\n", POST "Content-Length: 100\r\n\r\n",
		POST "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n",
	};
	struct fixture *f = *state;
	char *body = calloc(1, 1000000);
	struct reply r;

	f->config.on_head = refuse_all;
	f->config.limits.max_body_total_bytes = 1;
	fixture_start(f);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		int fd = client_open(f);

		client_say(fd, heads[i]);
		client_send(fd, body, 1000000);
		client_reply(fd, true, &r);	/* and no "100 Continue" before it */
		assert_int_equal(r.status, 401);
		assert_string_equal(r.body, "{\"code\":\"no\"}");
		reply_release(&r);
		close(fd);
	}
	free(body);
	fixture_await_counts(f, 0, 0);
	assert_int_equal(fixture_counts(f).requests, 0);
}

/* --- Expect ---------------------------------------------------------------------------------- */

static void who_is_told_to_continue_and_does_not_is_given_up(void **state)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct fixture *f = *state;
	char got[sizeof(go_on)] = "";
	int fds[50];

	f->config.limits.body_timeout_ms = 200;
	f->config.limits.max_body_total_bytes = 50 * 16384;
	fixture_start(f);
	for (int i = 0; i < 50; i++) {
		fds[i] = client_open(f);
		client_say(fds[i], POST "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n");
	}
	for (int i = 0; i < 50; i++) {
		for (size_t k = 0; k < sizeof(go_on) - 1; k++)
			assert_int_equal(client_read(fds[i], got + k, 1), 1);
		assert_string_equal(got, go_on);
		assert_int_equal(client_status(fds[i]), 408);
		close(fds[i]);
	}
	fixture_await_counts(f, 0, 0);
}

static void nobody_is_told_to_continue_with_what_will_be_refused(void **state)
{
	static const struct {
		int status;
		const char *bytes;
	} cases[] = {
		{413, POST "Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n"},
		{400, POST "Expect: 100-continue\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{417, POST "Expect: 100-continue, more\r\nContent-Length: 5\r\n\r\n"},
		{417, POST "Expect:\r\nContent-Length: 5\r\n\r\n"},
	};
	struct fixture *f = *state;

	fixture_start(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = client_open(f);

		client_say(fd, cases[i].bytes);
		assert_int_equal(client_status(fd), cases[i].status);
		client_expect_end(fd);
		close(fd);
	}
}

/* --- Many ------------------------------------------------------------------------------------ */

/* Half of a head on each; a good client is served among them. */
static void many_half_open_connections_hold_up_nobody(void **state)
{
	enum { MANY = 900 };
	struct rlimit before, high;
	struct fixture *f = *state;
	int fds[MANY], good;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	high = (struct rlimit){4096, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &high), 0);
	fixture_start(f);
	for (int i = 0; i < MANY; i++) {
		fds[i] = client_open(f);
		client_say(fds[i], i % 3 == 0 ? "G" : i % 3 == 1 ? GET "X: " : POST "Content-Length: 100000\r\n\r\na");
	}
	good = client_open(f);
	for (int i = 0; i < 200; i++) {
		client_say(good, GET "\r\n");
		assert_int_equal(client_status(good), 200);
	}
	close(good);
	for (int i = 0; i < MANY; i++) {
		if (i % 2)
			client_reset(fds[i]);
		else
			close(fds[i]);
	}
	fixture_await_counts(f, 0, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_bad_second_request_is_refused_and_a_third_not_read, start, stop),
		cmocka_unit_test_setup_teardown(what_stands_in_a_body_is_no_request, start, stop),
		cmocka_unit_test_setup_teardown(an_extension_on_every_byte_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(chunks_of_a_byte_are_taken, start, stop),
		cmocka_unit_test_setup_teardown(the_body_of_a_refused_head_is_not_kept, start, stop),
		cmocka_unit_test_setup_teardown(who_is_told_to_continue_and_does_not_is_given_up, start, stop),
		cmocka_unit_test_setup_teardown(nobody_is_told_to_continue_with_what_will_be_refused, start, stop),
		cmocka_unit_test_setup_teardown(many_half_open_connections_hold_up_nobody, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
