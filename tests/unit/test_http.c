/* net/http.h: which requests are let in, how they are read, and how replies are framed. */
#include "http/fixture.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"

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

/* --- Refused --------------------------------------------------------------------------------- */

struct refused {
	int status;
	const char *bytes;
	size_t len;
};

#define REFUSED(status, bytes) {status, bytes, sizeof(bytes) - 1}

static const struct refused refused[] = {
	/* The request line. */
	REFUSED(400, "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, " GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET / x HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET /\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET / http/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET / RTSP/1.0\r\nHost: a\r\n\r\n"),
	REFUSED(505, "GET / HTTP/0.9\r\nHost: a\r\n\r\n"),
	REFUSED(505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
	REFUSED(505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
	REFUSED(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	REFUSED(501, "FROB / HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(501, "get / HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(501, "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
	/* The target. */
	REFUSED(400, "GET x HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET /\xc3\xbc HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n"),
	REFUSED(400, "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
	/* Lines and bytes. */
	REFUSED(400, "GET / HTTP/1.1\nHost: a\n\n"),
	REFUSED(400, "GET / HTTP/1.1\r\nHost: a\n\r\n"),
	REFUSED(400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
	REFUSED(400, "GET / HTTP/1.1\rHost: a\r\n\r\n"),
	REFUSED(400, GET "X: a\rb\r\n\r\n"),
	REFUSED(400, GET "X: a\r\r\n\r\n"),
	REFUSED(400, GET "X: a\0b\r\n\r\n"),
	REFUSED(400, GET "X\0: a\r\n\r\n"),
	REFUSED(400, GET "X: a\x01\r\n\r\n"),
	REFUSED(400, GET "X: a\x7f\r\n\r\n"),
	REFUSED(400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
	/* Header lines. */
	REFUSED(400, GET "X: a\r\n b\r\n\r\n"),
	REFUSED(400, GET "X: a\r\n\tb\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
	REFUSED(400, GET "X : a\r\n\r\n"),
	REFUSED(400, GET "X\t: a\r\n\r\n"),
	REFUSED(400, GET "X y: a\r\n\r\n"),
	REFUSED(400, GET "X\r\n\r\n"),
	REFUSED(400, GET ": a\r\n\r\n"),
	REFUSED(400, GET "X(): a\r\n\r\n"),
	REFUSED(400, GET "X\xc3\xbc: a\r\n\r\n"),
	/* Host. */
	REFUSED(400, "GET / HTTP/1.1\r\n\r\n"),
	REFUSED(400, GET "Host: a\r\n\r\n"),
	REFUSED(400, GET "hOST: b\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"),
	REFUSED(400, "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"),
	/* Sent twice. */
	REFUSED(400, GET "Content-Type: a\r\nContent-Type: a\r\n\r\n"),
	REFUSED(400, GET "Origin: a\r\nOrigin: a\r\n\r\n"),
	REFUSED(400, GET "If-Match: a\r\nIf-Match: a\r\n\r\n"),
	REFUSED(400, GET "Idempotency-Key: a\r\nX: y\r\nidempotency-key: b\r\n\r\n"),
	REFUSED(400, GET "Authorization: a\r\nAuthorization: b\r\n\r\n"),
	/* Framing. */
	REFUSED(400, POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 5, 5\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: +5\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: -1\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 5 5\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 0x5\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 5.0\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length:\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 05\r\n\r\nhello"),
	REFUSED(400, POST "Content-Length: 18446744073709551616\r\n\r\n"),
	REFUSED(400, POST "Content-Length: 99999999999999999999999\r\n\r\n"),
	REFUSED(413, POST "Content-Length: 18446744073709551615\r\n\r\n"),
	REFUSED(413, POST "Content-Length: 1048577\r\n\r\n"),
	REFUSED(400, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
	REFUSED(501, POST "Transfer-Encoding: gzip\r\n\r\n"),
	REFUSED(501, POST "Transfer-Encoding: identity\r\n\r\n"),
	REFUSED(501, POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
	REFUSED(501, POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
	REFUSED(501, POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"),
	REFUSED(501, POST "Transfer-Encoding:\r\n\r\n0\r\n\r\n"),
	REFUSED(400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	/* Chunks. */
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5\rhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhellos\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n100000000\r\nhello"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n100000005\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n5;a\x01\r\nhello\r\n0\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n\r\n"),
	REFUSED(400, POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\n"),
	REFUSED(413, POST "Transfer-Encoding: chunked\r\n\r\n100001\r\nhello"),
	REFUSED(413, POST "Transfer-Encoding: chunked\r\n\r\nffffffff\r\nhello"),
	/* Expect. */
	REFUSED(417, POST "Expect: 200-ok\r\nContent-Length: 5\r\n\r\nhello"),
	REFUSED(400, POST "Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"),
};

enum { REFUSED_COUNT = sizeof(refused) / sizeof(refused[0]) };

static void expect_refused(struct fixture *f, const struct refused *case_, bool by_byte)
{
	int fd = client_open(f);
	struct reply r;

	if (by_byte)
		client_drip(fd, case_->bytes, case_->len);
	else
		assert_true(client_send(fd, case_->bytes, case_->len));
	client_reply(fd, true, &r);
	if (r.status != case_->status)
		print_error("%d instead of %d for: %s\n", r.status, case_->status, case_->bytes);
	assert_int_equal(r.status, case_->status);
	assert_true(reply_has(&r, "\r\nConnection: close\r\n"));
	assert_true(reply_has(&r, "\r\nContent-Type: application/problem+json\r\n"));
	assert_non_null(strstr(r.body, "\"code\":\""));
	/* Closed in order, not by a reset, and nothing of the rest was taken for another request. */
	client_expect_end(fd);
	reply_release(&r);
	close(fd);
}

static void ambiguous_requests_are_refused(void **state)
{
	struct fixture *f = *state;

	fixture_start(f);
	for (int i = 0; i < REFUSED_COUNT; i++)
		expect_refused(f, &refused[i], false);
	assert_int_equal(fixture_counts(f).refused, REFUSED_COUNT);
	assert_int_equal(fixture_counts(f).requests, 0);
}

static void ambiguous_requests_are_refused_byte_by_byte(void **state)
{
	struct fixture *f = *state;

	fixture_start(f);
	for (int i = 0; i < REFUSED_COUNT; i++)
		expect_refused(f, &refused[i], true);
	assert_int_equal(fixture_counts(f).requests, 0);
}

/* --- Let in ---------------------------------------------------------------------------------- */

static const struct {
	const char *request;
	const char *body;
} accepted[] = {
	{GET "\r\n", "GET|/|\nhost=a\nbody=0\n"},
	{"\r\n" GET "\r\n", "GET|/|\nhost=a\nbody=0\n"},
	{"GET /a/b%20c?d=e?f HTTP/1.1\r\nHost: a:80\r\n\r\n", "GET|/a/b%20c|d=e?f\nhost=a:80\nbody=0\n"},
	{"GET http://A:1/b?c HTTP/1.1\r\nHost: a:1\r\n\r\n", "GET|/b|c\nhost=a:1\nbody=0\n"},
	{"GET http://a?c HTTP/1.1\r\nHost: a\r\n\r\n", "GET|/|c\nhost=a\nbody=0\n"},
	{"GET HTTP://[::1]:80 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET|/|\nhost=[::1]:80\nbody=0\n"},
	{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS|*|\nhost=a\nbody=0\n"},
	{"PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n", "PROPFIND|/|\nhost=a\nbody=0\n"},
	{GET "X-One:  \t a b \t \r\nx-TWO:\r\n\r\n", "GET|/|\nhost=a\nx-one=a b\nx-two=\nbody=0\n"},
	{GET "X-One: 1\r\nX-Two: a\r\nx-one: 2\r\nX-ONE:\r\nX-Two: b\r\nX-One: 3\r\n\r\n",
	 "GET|/|\nhost=a\nx-one=1, 2, , 3\nx-two=a, b\nbody=0\n"},
	{GET "X-One: \xc3\xbc\xff\r\n\r\n", "GET|/|\nhost=a\nx-one=\xc3\xbc\xff\nbody=0\n"},
	{GET "Content-Length: 3\r\n\r\nabc", "GET|/|\nhost=a\nbody=3\n"},
	{"DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	 "DELETE|/|\nhost=a\nbody=3\n"},
	{POST "Content-Length: 0\r\n\r\n", ""},
	{POST "\r\n", ""},
	{POST "Content-Length: 5\r\n\r\nhello", "hello"},
	{POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00000006;a=\"b\"\r\n world\r\n0;x\r\n\r\n",
	 "hello world"},
	{POST "Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
	{GET "Upgrade: h2c, websocket\r\nConnection: Upgrade\r\n\r\n", "GET|/|\nhost=a\nbody=0\n"},
	{POST "Upgrade: x\r\nConnection: Upgrade\r\nContent-Length: 5\r\n\r\nhello", "hello"},
};

static void expect_accepted(int fd, const char *body)
{
	struct reply r;

	client_reply(fd, true, &r);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, body);
	assert_false(reply_has(&r, "Connection"));
	assert_false(reply_has(&r, "Server"));
	assert_true(reply_has(&r, " GMT\r\n"));
	reply_release(&r);
}

static void proper_requests_are_answered_on_one_connection(void **state)
{
	struct fixture *f = *state;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
		client_say(fd, accepted[i].request);
		expect_accepted(fd, accepted[i].body);
	}
	for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
		client_drip(fd, accepted[i].request, strlen(accepted[i].request));
		expect_accepted(fd, accepted[i].body);
	}
	close(fd);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	enum { REQUESTS = 3000 };
	struct fixture *f = *state;
	struct buf all;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	buf_init(&all, 16 << 20);
	/* Some answer at once, some by and by, some bring a body. */
	for (int i = 0; i < REQUESTS; i++) {
		if (i % 100 == 50)
			buf_printf(&all, "GET /timer?1 HTTP/1.1\r\nHost: a\r\n\r\n");
		else if (i % 3 == 0)
			buf_printf(&all, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n%04d", i);
		else if (i % 3 == 1)
			buf_printf(&all, POST "Transfer-Encoding: chunked\r\n\r\n4\r\n%04d\r\n0\r\n\r\n", i);
		else
			buf_printf(&all, "GET /%04d HTTP/1.1\r\nHost: a\r\n\r\n", i);
	}
	assert_true(client_send(fd, all.data, all.len));
	for (int i = 0; i < REQUESTS; i++) {
		char wanted[64];
		struct reply r;

		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		snprintf(wanted, sizeof(wanted), i % 3 == 2 ? "GET|/%04d|\nhost=a\nbody=0\n" : "%04d", i);
		assert_string_equal(r.body, i % 100 == 50 ? "timer" : wanted);
		reply_release(&r);
	}
	assert_int_equal(fixture_counts(f).requests, REQUESTS);
	buf_release(&all);
	close(fd);
}

/* --- Closing --------------------------------------------------------------------------------- */

static void connection_closes_when_the_client_wants_it(void **state)
{
	static const struct {
		const char *request;
		const char *says;	/* NULL: stays open and says nothing */
		bool stays;
	} cases[] = {
		{GET "Connection: close\r\n\r\n", "Connection: close", false},
		{GET "Connection: x, CLOSE\r\nConnection: keep-alive\r\n\r\n", "Connection: close", false},
		{"GET / HTTP/1.0\r\n\r\n", "Connection: close", false},
		{"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "Connection: keep-alive", true},
		{GET "Connection: keep-alive\r\n\r\n", NULL, true},
	};
	struct fixture *f = *state;

	fixture_start(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = client_open(f);
		struct reply r;

		client_say(fd, cases[i].request);
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		if (cases[i].says)
			assert_true(reply_has(&r, cases[i].says));
		else
			assert_false(reply_has(&r, "Connection"));
		reply_release(&r);
		if (cases[i].stays) {
			client_say(fd, GET "Connection: close\r\n\r\n");
			assert_int_equal(client_status(fd), 200);
		}
		client_expect_end(fd);
		close(fd);
	}
}

static void a_client_that_half_closes_gets_the_reply_under_way(void **state)
{
	struct fixture *f = *state;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, "GET /size?30000000 HTTP/1.1\r\nHost: a\r\n\r\n");
	shutdown(fd, SHUT_WR);
	assert_int_equal(client_status(fd), 200);
	client_expect_end(fd);
	close(fd);
}

static void replies_without_a_body_have_none(void **state)
{
	struct fixture *f = *state;
	struct reply r;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, "HEAD /size?100 HTTP/1.1\r\nHost: a\r\n\r\n");
	client_reply(fd, false, &r);
	assert_int_equal(r.status, 200);
	assert_true(reply_has(&r, "\r\nContent-Length: 100\r\n"));
	reply_release(&r);
	client_say(fd, "GET /status?204 HTTP/1.1\r\nHost: a\r\n\r\n");
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 204);
	assert_false(reply_has(&r, "Content-Length"));
	reply_release(&r);
	client_say(fd, "GET /status?304 HTTP/1.1\r\nHost: a\r\n\r\n");
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 304);
	assert_false(reply_has(&r, "Content-Length"));
	reply_release(&r);
	/* Nothing was left in between. */
	client_say(fd, "GET /status?404 HTTP/1.1\r\nHost: a\r\n\r\n");
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 404);
	assert_string_equal(r.body, "status");
	assert_int_equal(strncmp(r.head, "HTTP/1.1 404 Not Found\r\n", 24), 0);
	reply_release(&r);
	close(fd);
}

static int refuse_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	struct fixture *f = ctx;

	fixture_add(f, &f->heads_seen);
	assert(http_req_body(req).n == 0);
	if (http_req_header(req, "x-one").p == NULL)
		return 0;
	buf_puts(ret_body, "{\"code\":\"no\"}");
	return 403;
}

static void refusal_by_the_application_comes_before_the_body(void **state)
{
	struct fixture *f = *state;
	struct reply r;
	int fd;

	f->config.on_head = refuse_head;
	fixture_start(f);
	fd = client_open(f);
	/* No body, or one that is here: the connection goes on. */
	client_say(fd, GET "X-One: 1\r\n\r\n");
	assert_int_equal(client_status(fd), 403);
	client_say(fd, POST "X-One: 1\r\nContent-Length: 5\r\n\r\nhello" POST "Content-Length: 2\r\n\r\nhi");
	assert_int_equal(client_status(fd), 403);
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "hi");
	reply_release(&r);
	/* A body that is not here is not waited for. */
	client_say(fd, POST "X-One: 1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 403);
	assert_string_equal(r.body, "{\"code\":\"no\"}");
	assert_true(reply_has(&r, "Connection: close"));
	reply_release(&r);
	client_expect_end(fd);
	close(fd);
	assert_int_equal(f->heads_seen, 4);
	assert_int_equal(fixture_counts(f).requests, 1);
	assert_int_equal(fixture_counts(f).refused, 3);
}

static void expecting_client_is_told_to_continue(void **state)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct fixture *f = *state;
	char got[sizeof(go_on)] = "";
	int fd;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, POST "Expect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
	for (size_t i = 0; i < sizeof(go_on) - 1; i++)
		assert_int_equal(client_read(fd, got + i, 1), 1);
	assert_string_equal(got, go_on);
	client_say(fd, "hello");
	expect_accepted(fd, "hello");
	/* Where there is nothing to wait for, nothing is said. */
	client_say(fd, POST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
	expect_accepted(fd, "hello");
	client_say(fd, POST "Expect: 100-continue\r\n\r\n");
	expect_accepted(fd, "");
	close(fd);
}

/* --- Sizes ----------------------------------------------------------------------------------- */

static void say_body(int fd, struct buf *b, size_t len)
{
	buf_clear(b);
	buf_printf(b, POST "Content-Length: %zu\r\n\r\n", len);
	for (size_t i = 0; i < len; i++)
		buf_putc(b, (char)('a' + i % 23));
	assert_true(client_send(fd, b->data, b->len));
}

static void bodies_of_all_sizes_come_back_whole(void **state)
{
	static const size_t sizes[] = {1, 4095, 4096, 4097, 16383, 16384, 65535, 65536, 65537, 131073, 1 << 20};
	struct fixture *f = *state;
	struct reply r;
	struct buf b;
	int fd;

	fixture_start(f);
	fd = client_open(f);
	buf_init(&b, 16 << 20);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		say_body(fd, &b, sizes[i]);
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 200);
		assert_int_equal(r.body_len, sizes[i]);
		assert_memory_equal(r.body, b.data + b.len - sizes[i], sizes[i]);
		reply_release(&r);
	}
	/* The same in chunks of all sizes. */
	buf_clear(&b);
	buf_puts(&b, POST "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 1; i <= 1000; i++)
		buf_printf(&b, "%x\r\n%0*d\r\n", (unsigned int)i, i, i % 10);
	buf_puts(&b, "0\r\n\r\n");
	assert_true(client_send(fd, b.data, b.len));
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.body_len, 500500);
	reply_release(&r);
	buf_release(&b);
	close(fd);
}

/* A client that sends all of a body that is too large, and only then reads, must find the refusal and no reset. */
static void refusal_of_a_large_body_reaches_a_client_still_sending(void **state)
{
	enum { SIZE = 12 << 20 };
	struct fixture *f = *state;
	char *body = calloc(1, SIZE);
	struct reply r;
	char head[128];

	fixture_start(f);
	for (int i = 0; i < 3; i++) {
		int fd = client_open(f);

		if (i < 2)
			snprintf(head, sizeof(head), POST "Content-Length: %d\r\n\r\n", SIZE);
		else
			snprintf(head, sizeof(head), POST "Transfer-Encoding: chunked\r\n\r\n%x\r\n", SIZE);
		client_say(fd, head);
		assert_true(client_send(fd, body, SIZE));
		client_reply(fd, true, &r);
		assert_int_equal(r.status, 413);
		assert_non_null(strstr(r.body, "body_too_large"));
		reply_release(&r);
		client_expect_end(fd);
		close(fd);
	}
	free(body);
}

static void large_heads_are_refused(void **state)
{
	static const struct {
		const char *start;
		char filler;
		size_t count;
		int status;
	} cases[] = {
		{"GET /", 'x', 1100, 414},	{"GET /", 'x', 1 << 20, 414},	{"", 'X', 1 << 20, 414},
		{GET "X: ", 'x', 8200, 431},	{GET "X: ", 'x', 1 << 20, 431}, {GET, 'x', 1 << 20, 431},
		{GET "X:", ' ', 1 << 20, 431},
	};
	struct fixture *f = *state;
	struct buf b;

	fixture_start(f);
	buf_init(&b, 16 << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = client_open(f);

		buf_clear(&b);
		buf_puts(&b, cases[i].start);
		for (size_t k = 0; k < cases[i].count; k++)
			buf_putc(&b, cases[i].filler);
		assert_true(client_send(fd, b.data, b.len));
		assert_int_equal(client_status(fd), cases[i].status);
		client_expect_end(fd);
		close(fd);
	}
	buf_release(&b);
}

/* n bytes of target, or n bytes of head, or n header fields: exactly. */
static int status_of_exact(struct fixture *f, const char *kind, size_t n)
{
	int fd = client_open(f), status;
	struct buf b;

	buf_init(&b, 1 << 20);
	if (strcmp(kind, "uri") == 0) {
		buf_puts(&b, "GET /");
		while (b.len < n + 4)
			buf_putc(&b, 'x');
		buf_puts(&b, " HTTP/1.1\r\nHost: a\r\n\r\n");
	} else if (strcmp(kind, "head") == 0) {
		buf_puts(&b, GET "X: ");
		while (b.len < n - 4)
			buf_putc(&b, 'x');
		buf_puts(&b, "\r\n\r\n");
	} else {
		buf_puts(&b, GET);
		for (size_t i = 1; i < n; i++)
			buf_printf(&b, "X-%zu: 1\r\n", i);
		buf_puts(&b, "\r\n");
	}
	assert_true(client_send(fd, b.data, b.len));
	status = client_status(fd);
	buf_release(&b);
	close(fd);
	return status;
}

static void limits_of_the_head_are_exact(void **state)
{
	struct fixture *f = *state;

	fixture_start(f);
	assert_int_equal(status_of_exact(f, "uri", 1000), 200);
	assert_int_equal(status_of_exact(f, "uri", 1001), 414);
	assert_int_equal(status_of_exact(f, "head", 8192), 200);
	assert_int_equal(status_of_exact(f, "head", 8193), 431);
	assert_int_equal(status_of_exact(f, "count", 20), 200);
	assert_int_equal(status_of_exact(f, "count", 21), 431);
}

static void bodies_of_all_connections_together_are_limited(void **state)
{
	struct fixture *f = *state;
	int holder, fd;
	struct reply r;
	struct buf b;

	f->config.limits.max_body_total_bytes = 200000;
	fixture_start(f);
	buf_init(&b, 16 << 20);
	/* A held request keeps its body. */
	holder = client_open(f);
	buf_printf(&b, "POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 150000\r\n\r\n%0150000d", 0);
	assert_true(client_send(holder, b.data, b.len));
	fixture_await(f, &f->held_count, 1);
	fd = client_open(f);
	say_body(fd, &b, 60000);
	client_reply(fd, true, &r);
	assert_int_equal(r.status, 503);
	assert_true(reply_has(&r, "\r\nRetry-After: 1\r\n"));
	reply_release(&r);
	client_expect_end(fd);
	close(fd);
	fixture_release(f, 0);
	assert_int_equal(client_status(holder), 200);
	close(holder);
	fd = client_open(f);
	say_body(fd, &b, 60000);
	assert_int_equal(client_status(fd), 200);
	close(fd);
	buf_release(&b);
}

/* --- Small things ---------------------------------------------------------------------------- */

static void answer_decoded(void *ctx, struct http_req *req)
{
	struct str path, query;
	struct buf body;

	(void)ctx;
	buf_init(&body, 1000);
	if (http_decode_path(req, http_req_path(req), &path))
		buf_printf(&body, "%.*s", STR_ARG(path));
	else
		buf_puts(&body, "bad");
	buf_putc(&body, '|');
	if (http_decode_query(req, http_req_query(req), &query))
		buf_printf(&body, "%.*s", STR_ARG(query));
	else
		buf_puts(&body, "bad");
	http_reply(req, 200, NULL, (const struct http_header[]){{"X-A", STR("b")}, {"ETag", STR("\"1\"")}, {0}}, &body);
}

static void escapes_are_decoded_or_refused(void **state)
{
	static const struct {
		const char *target;
		const char *decoded;
	} cases[] = {
		{"/a%20b+c?a%20b+c", "/a b+c|a b c"}, {"/%C3%bC?%26%3d", "/\xc3\xbc|&="}, {"/%2F%25", "//%|"},
		{"/%?%", "bad|bad"},		      {"/%4?%4", "bad|bad"},		  {"/%zz?%1z", "bad|bad"},
		{"/%00?%00", "bad|bad"},	      {"/%ff?%C3", "bad|bad"},		  {"/%ed%a0%80?x", "bad|x"},
	};
	struct fixture *f = *state;
	char request[256];
	struct reply r;
	int fd;

	f->config.on_request = answer_decoded;
	fixture_start(f);
	fd = client_open(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", cases[i].target);
		client_say(fd, request);
		client_reply(fd, true, &r);
		assert_string_equal(r.body, cases[i].decoded);
		assert_true(reply_has(&r, "\r\nX-A: b\r\nETag: \"1\"\r\n"));
		assert_false(reply_has(&r, "Content-Type"));
		reply_release(&r);
	}
	close(fd);
}

static void own_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body)
{
	(void)ctx;
	(void)detail;
	buf_printf(ret_body, "%d %s", status, code);
}

static void refusals_carry_the_applications_words(void **state)
{
	struct fixture *f = *state;
	struct reply r;
	int fd;

	f->config.on_refusal = own_refusal;
	fixture_start(f);
	fd = client_open(f);
	client_say(fd, "GET / HTTP/1.1\r\n\r\n");
	client_reply(fd, true, &r);
	assert_string_equal(r.body, "400 missing_host");
	reply_release(&r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ambiguous_requests_are_refused, start, stop),
		cmocka_unit_test_setup_teardown(ambiguous_requests_are_refused_byte_by_byte, start, stop),
		cmocka_unit_test_setup_teardown(proper_requests_are_answered_on_one_connection, start, stop),
		cmocka_unit_test_setup_teardown(pipelined_requests_are_answered_in_order, start, stop),
		cmocka_unit_test_setup_teardown(connection_closes_when_the_client_wants_it, start, stop),
		cmocka_unit_test_setup_teardown(a_client_that_half_closes_gets_the_reply_under_way, start, stop),
		cmocka_unit_test_setup_teardown(replies_without_a_body_have_none, start, stop),
		cmocka_unit_test_setup_teardown(refusal_by_the_application_comes_before_the_body, start, stop),
		cmocka_unit_test_setup_teardown(expecting_client_is_told_to_continue, start, stop),
		cmocka_unit_test_setup_teardown(bodies_of_all_sizes_come_back_whole, start, stop),
		cmocka_unit_test_setup_teardown(refusal_of_a_large_body_reaches_a_client_still_sending, start, stop),
		cmocka_unit_test_setup_teardown(large_heads_are_refused, start, stop),
		cmocka_unit_test_setup_teardown(limits_of_the_head_are_exact, start, stop),
		cmocka_unit_test_setup_teardown(bodies_of_all_connections_together_are_limited, start, stop),
		cmocka_unit_test_setup_teardown(escapes_are_decoded_or_refused, start, stop),
		cmocka_unit_test_setup_teardown(refusals_carry_the_applications_words, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
