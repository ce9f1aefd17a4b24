/* net/http.h: replies that are held back. */
#include "http/fixture.h"

#define LATER "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
#define NOW "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
#define STREAM "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"
#define REFUSED "GET /refused HTTP/1.1\r\nHost: a\r\n\r\n"

/* SHORT_MS is waited for. LONG_MS is not: where it were, the test would fail by PATIENCE_MS. */
enum { SHORT_MS = 60, LONG_MS = 60000, FREE = 3 };

struct paced {
	struct fixture fixture;		/* first: it is the server's ctx */
	_Atomic int64_t delay_ms;
};

static void on_request(void *ctx, struct http_req *req)
{
	struct paced *p = ctx;
	struct buf body;

	if (!str_is(http_req_path(req), "/now"))
		http_req_hold_reply(req, p->delay_ms);
	if (str_is(http_req_path(req), "/stream")) {
		http_stream_begin(req, 200, "text/plain", NULL);
		http_stream_write(req, STR("one"));
		http_stream_write(req, STR("two"));
		http_stream_end(req);
		return;
	}
	buf_init(&body, 100);
	buf_puts(&body, "said");
	http_reply(req, 429, "text/plain", NULL, &body);
}

static int on_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	struct paced *p = ctx;

	if (!str_is(http_req_path(req), "/refused"))
		return 0;
	if (http_req_refusals(req) >= FREE)
		http_req_hold_reply(req, p->delay_ms);
	buf_puts(ret_body, "no");
	return 401;
}

static int start(void **state)
{
	struct paced *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	fixture_init(&p->fixture);
	p->fixture.config.on_request = on_request;
	p->fixture.config.on_head = on_head;
	p->delay_ms = SHORT_MS;
	fixture_start(&p->fixture);
	*state = p;
	return 0;
}

static int stop(void **state)
{
	assert_int_equal(fixture_stop(*state, PATIENCE_MS), 0);
	free(*state);
	return 0;
}

static void await_held(struct paced *p, size_t count)
{
	int64_t start_ms = fixture_now_ms();

	while (http_server_held(p->fixture.server) != count) {
		assert_true(fixture_now_ms() - start_ms < PATIENCE_MS);
		sched_yield();
	}
}

static void a_reply_is_held_back_and_the_requests_behind_it_wait(void **state)
{
	struct paced *p = *state;
	int64_t start_ms = fixture_now_ms();
	int fd = client_open(&p->fixture);

	client_say(fd, LATER LATER NOW);
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(client_status(fd), 429);
		assert_true(fixture_now_ms() - start_ms >= i * SHORT_MS - 1);
	}
	assert_int_equal(client_status(fd), 429);
	assert_int_equal(http_server_held(p->fixture.server), 0);
	close(fd);
}

static void other_connections_do_not_wait(void **state)
{
	struct paced *p = *state;
	int held = client_open(&p->fixture), fd = client_open(&p->fixture);

	p->delay_ms = LONG_MS;
	client_say(held, LATER);
	await_held(p, 1);
	for (int i = 0; i < 10; i++) {
		client_say(fd, NOW);
		assert_int_equal(client_status(fd), 429);
	}
	assert_int_equal(http_server_held(p->fixture.server), 1);
	close(fd);
	client_reset(held);
	await_held(p, 0);
}

/* The request has ended: nothing of it is kept but its reply. */
static void what_is_held_back_is_no_request_any_more(void **state)
{
	struct paced *p = *state;
	int fd = client_open(&p->fixture);

	p->delay_ms = LONG_MS;
	client_say(fd, LATER);
	await_held(p, 1);
	fixture_await_counts(&p->fixture, 1, 0);
	client_reset(fd);
	fixture_await_counts(&p->fixture, 0, 0);
	await_held(p, 0);
}

static void a_drain_lets_it_go_at_once(void **state)
{
	struct paced *p = *state;
	int fds[20];

	p->delay_ms = LONG_MS;
	for (int i = 0; i < 20; i++) {
		fds[i] = client_open(&p->fixture);
		client_say(fds[i], i % 2 ? LATER : STREAM);
	}
	await_held(p, 20);
	http_server_drain(p->fixture.server);
	for (int i = 0; i < 20; i++) {
		char text[1024];

		assert_true(client_read(fds[i], text, sizeof(text)) > 0);
		close(fds[i]);
	}
}

static void the_end_of_a_stream_is_held_back(void **state)
{
	struct paced *p = *state;
	int64_t start_ms = fixture_now_ms();
	int fd = client_open(&p->fixture);
	struct buf text;

	buf_init(&text, 4096);
	client_say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	assert_true(client_read_all(fd, &text));
	assert_true(fixture_now_ms() - start_ms >= SHORT_MS - 1);
	buf_putc(&text, '\0');
	assert_non_null(strstr(text.data, "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
	buf_release(&text);
	close(fd);
}

static void refusals_are_counted_until_a_request_is_let_in(void **state)
{
	struct paced *p = *state;
	int fd = client_open(&p->fixture);

	for (int round = 0; round < 2; round++) {
		int64_t start_ms;

		for (int i = 0; i < FREE; i++) {
			client_say(fd, REFUSED);
			assert_int_equal(client_status(fd), 401);
		}
		start_ms = fixture_now_ms();
		client_say(fd, REFUSED);
		assert_int_equal(client_status(fd), 401);
		assert_true(fixture_now_ms() - start_ms >= SHORT_MS - 1);
		p->delay_ms = LONG_MS;	/* if it were held back now, the test would not go on */
		client_say(fd, NOW);
		assert_int_equal(client_status(fd), 429);
		client_say(fd, REFUSED);
		assert_int_equal(client_status(fd), 401);
		client_say(fd, NOW);
		assert_int_equal(client_status(fd), 429);
		p->delay_ms = SHORT_MS;
	}
	close(fd);
}

/* More than is read behind a request: reading stops, and goes on. */
static void many_requests_behind_one_another_are_all_answered(void **state)
{
	struct paced *p = *state;
	int fd = client_open(&p->fixture);
	struct buf requests;

	p->delay_ms = 1;
	buf_init(&requests, 1 << 20);
	for (int i = 0; i < 2000; i++)
		buf_puts(&requests, i % 100 ? NOW : LATER);
	assert_true(requests.len > 2 * 16384);
	assert_true(client_send(fd, requests.data, requests.len));
	for (int i = 0; i < 2000; i++)
		assert_int_equal(client_status(fd), 429);
	buf_release(&requests);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reply_is_held_back_and_the_requests_behind_it_wait, start, stop),
		cmocka_unit_test_setup_teardown(other_connections_do_not_wait, start, stop),
		cmocka_unit_test_setup_teardown(what_is_held_back_is_no_request_any_more, start, stop),
		cmocka_unit_test_setup_teardown(a_drain_lets_it_go_at_once, start, stop),
		cmocka_unit_test_setup_teardown(the_end_of_a_stream_is_held_back, start, stop),
		cmocka_unit_test_setup_teardown(refusals_are_counted_until_a_request_is_let_in, start, stop),
		cmocka_unit_test_setup_teardown(many_requests_behind_one_another_are_all_answered, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
