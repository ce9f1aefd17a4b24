/* net/http.h: replies of bytes that are shared, and what strangers may have waiting. */
#include "http/fixture.h"

#include "base/mem.h"

/* TOTAL is room for 4 MB of everybody else; a part of it is the strangers'. */
enum { SHARED_BYTES = 8 << 20, OWN_BYTES = 60000, LARGE_BYTES = 500000, TOTAL = 1 << 20, STRANGERS = 40, EACH = 20 };

struct scene {
	struct fixture fixture;		/* first: it is the server's ctx */
	char *shared;
};

static void on_request(void *ctx, struct http_req *req)
{
	struct scene *s = ctx;
	struct str path = http_req_path(req);
	struct buf body;

	buf_init(&body, SHARED_BYTES);
	if (str_is(path, "/shared") || str_is(path, "/stranger/shared")) {
		buf_share(&body, (struct str){s->shared, SHARED_BYTES});
	} else {
		size_t len = str_is(path, "/large") ? LARGE_BYTES : OWN_BYTES;

		memset(buf_reserve(&body, len), 'o', len);
		buf_commit(&body, len);
	}
	http_reply(req, 200, "text/plain", NULL, &body);
}

static int on_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	(void)ctx;
	(void)ret_body;
	http_req_set_stranger(req, str_has_prefix(http_req_path(req), STR("/stranger")));
	return 0;
}

static int start(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->shared = mem_alloc(SHARED_BYTES);
	for (size_t i = 0; i < SHARED_BYTES; i++)
		s->shared[i] = (char)('a' + i % 23);
	fixture_init(&s->fixture);
	s->fixture.config.on_request = on_request;
	s->fixture.config.on_head = on_head;
	s->fixture.config.limits.max_reply_total_bytes = TOTAL;
	s->fixture.config.limits.write_timeout_ms = 10 * PATIENCE_MS;
	fixture_start(&s->fixture);
	*state = s;
	return 0;
}

static int stop(void **state)
{
	struct scene *s = *state;

	assert_int_equal(fixture_stop(*state, PATIENCE_MS), 0);
	free(s->shared);
	free(s);
	return 0;
}

/* Asks so often, and does not read. */
static void ask(const struct scene *s, const char *path, int times, int *ret_fd)
{
	struct buf text;

	*ret_fd = client_open(&s->fixture);
	buf_init(&text, 65536);
	for (int i = 0; i < times; i++)
		buf_printf(&text, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
	client_say(*ret_fd, text.data);
	buf_release(&text);
}

static void shared_bytes_reach_who_reads_slowly_and_stay_for_the_next(void **state)
{
	struct scene *s = *state;

	for (int round = 0; round < 2; round++) {
		int fd = client_open(&s->fixture);
		struct buf text;

		buf_init(&text, 2 * SHARED_BYTES);
		client_say(fd, "GET /shared HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
		fixture_await_counts(&s->fixture, 1, 0);
		assert_true(client_read_all(fd, &text));
		assert_true(text.len > SHARED_BYTES);
		assert_memory_equal(text.data + text.len - SHARED_BYTES, s->shared, SHARED_BYTES);
		buf_release(&text);
		close(fd);
		fixture_await_counts(&s->fixture, 0, 0);
	}
}

/* 40 times 8 MB would be far above the total. */
static void what_is_shared_takes_no_room(void **state)
{
	struct scene *s = *state;
	int fds[STRANGERS], fd;

	for (int i = 0; i < STRANGERS; i++)
		ask(s, i % 2 ? "/stranger/shared" : "/shared", 1, &fds[i]);
	fixture_await_counts(&s->fixture, STRANGERS, 0);
	ask(s, "/large", 1, &fd);
	assert_int_equal(client_status(fd), 200);
	close(fd);
	for (int i = 0; i < STRANGERS; i++)
		client_reset(fds[i]);
}

/* All of them have asked, and those that are left have room. */
static bool is_within_budget(const struct scene *s)
{
	struct http_counts counts;

	http_server_counts(s->fixture.server, &counts);
	return counts.requests >= STRANGERS && counts.connections <= TOTAL / 4 / OWN_BYTES;
}

static void strangers_beyond_their_part_are_closed_and_leave_room_for_others(void **state)
{
	struct scene *s = *state;
	int64_t start_ms = fixture_now_ms();
	int fds[STRANGERS], fd;

	for (int i = 0; i < STRANGERS; i++)
		ask(s, "/stranger/own", EACH, &fds[i]);
	while (!is_within_budget(s)) {
		assert_true(fixture_now_ms() - start_ms < PATIENCE_MS);
		sched_yield();
	}
	ask(s, "/large", 1, &fd);
	assert_int_equal(client_status(fd), 200);
	close(fd);
	for (int i = 0; i < STRANGERS; i++)
		client_reset(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shared_bytes_reach_who_reads_slowly_and_stay_for_the_next, start, stop),
		cmocka_unit_test_setup_teardown(what_is_shared_takes_no_room, start, stop),
		cmocka_unit_test_setup_teardown(strangers_beyond_their_part_are_closed_and_leave_room_for_others, start,
						stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
