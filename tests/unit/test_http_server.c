/* net/http.h: posts, limits on connections, drain and stop. */
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

/* For tests that stop the server themselves. */
static int end(void **state)
{
	free(*state);
	return 0;
}

static int stop(void **state)
{
	assert_int_equal(fixture_stop(*state, PATIENCE_MS), 0);
	return end(state);
}

static int count_head(void *ctx, struct http_req *req, struct buf *ret_body)
{
	struct fixture *f = ctx;

	(void)req;
	(void)ret_body;
	fixture_add(f, &f->heads_seen);
	return 0;
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

/* --- Posts ----------------------------------------------------------------------------------- */

enum { POSTERS = 4, POSTS = 5000 };

struct poster {
	struct fixture *f;
	int next[POSTERS];	/* on the loop's thread */
	int done;
};

struct numbered {
	struct poster *poster;
	int thread;
	int number;
};

static void check_order(void *arg)
{
	struct numbered *n = arg;

	assert(n->poster->next[n->thread] == n->number);
	if (++n->poster->next[n->thread] == POSTS)
		fixture_add(n->poster->f, &n->poster->done);
	free(n);
}

static void *post_all(void *arg)
{
	struct numbered *first = arg;

	for (int i = 0; i < POSTS; i++) {
		struct numbered *n = malloc(sizeof(*n));

		*n = (struct numbered){first->poster, first->thread, i};
		http_post(first->poster->f->server, 1, check_order, n);
	}
	return NULL;
}

static void posts_of_one_thread_keep_their_order(void **state)
{
	struct numbered firsts[POSTERS];
	pthread_t threads[POSTERS];
	struct fixture *f = *state;
	struct poster poster = {.f = f};

	fixture_start(f);
	for (int i = 0; i < POSTERS; i++) {
		firsts[i] = (struct numbered){&poster, i, 0};
		assert_int_equal(pthread_create(&threads[i], NULL, post_all, &firsts[i]), 0);
	}
	for (int i = 0; i < POSTERS; i++)
		pthread_join(threads[i], NULL);
	fixture_await(f, &poster.done, POSTERS);
}

/* Replying to one request must not hand over the next from inside: the application may be busy with something. */
struct nested {
	struct fixture *f;
	bool is_replying;	/* on the loop's thread */
	int count;
};

static void reply_nested(void *arg)
{
	struct nested *nested = arg;

	nested->is_replying = true;
	http_reply(nested->f->held[0], 200, NULL, NULL, NULL);
	nested->is_replying = false;
}

static void note_nested(void *ctx, struct http_req *req)
{
	struct nested *nested = ctx;

	assert(!nested->is_replying);
	if (nested->count++ == 0) {
		nested->f->held[0] = req;
		fixture_add(nested->f, &nested->f->held_count);
	} else {
		http_reply(req, 201, NULL, NULL, NULL);
	}
}

static void thread_started_or_stopped(void *ctx, int thread)
{
	(void)ctx;
	(void)thread;
}

static void the_next_request_is_not_handed_over_from_inside_a_reply(void **state)
{
	struct fixture *f = *state;
	struct nested nested = {.f = f};
	char error[100];
	int fd;

	f->config.on_request = note_nested;
	f->config.on_thread_start = f->config.on_thread_stop = thread_started_or_stopped;
	f->config.threads = 1;
	f->config.ctx = &nested;
	f->server = http_server_new(&f->config, "127.0.0.1", 0, error, sizeof(error));
	http_server_start(f->server);
	fd = client_open(f);
	client_say(fd, GET "\r\n" GET "\r\n");
	fixture_await(f, &f->held_count, 1);
	http_post(f->server, 0, reply_nested, &nested);
	assert_int_equal(client_status(fd), 200);
	assert_int_equal(client_status(fd), 201);
	close(fd);
	http_server_stop(f->server, PATIENCE_MS);
	http_server_free(f->server);
}

/* --- Connections ----------------------------------------------------------------------------- */

static void connections_beyond_the_limit_are_told_so(void **state)
{
	enum { LIMIT = 5 };
	struct fixture *f = *state;
	int fds[LIMIT], more;

	f->config.limits.max_connections = LIMIT;
	fixture_start(f);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < LIMIT; i++) {
			fds[i] = client_open(f);
			client_say(fds[i], GET "\r\n");
			assert_int_equal(client_status(fds[i]), 200);
		}
		for (int i = 0; i < 10; i++) {
			struct reply r;

			more = client_open(f);
			client_say(more, GET "\r\n");
			client_reply(more, true, &r);
			assert_int_equal(r.status, 503);
			assert_true(reply_has(&r, "Retry-After"));
			assert_true(reply_has(&r, "Connection: close"));
			reply_release(&r);
			client_expect_end(more);
			close(more);
		}
		assert_int_equal(fixture_counts(f).connections, LIMIT);
		for (int i = 0; i < LIMIT; i++)
			close(fds[i]);
		fixture_await_counts(f, 0, 0);
	}
	assert_int_equal(fixture_counts(f).refused, 30);
}

/* More at once than those that linger: each has its answer, none a reset. */
static void a_flood_beyond_the_limit_is_told_so_to_the_last(void **state)
{
	enum { FLOOD = 3 * HTTP_TURNED_AWAY_MAX };
	struct rlimit before, high;
	struct fixture *f = *state;
	int held, fds[FLOOD];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	high = (struct rlimit){4 * FLOOD, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &high), 0);
	f->config.limits.max_connections = 1;
	fixture_start(f);
	held = client_open(f);
	client_say(held, GET "\r\n");
	assert_int_equal(client_status(held), 200);
	for (int i = 0; i < FLOOD; i++) {
		fds[i] = client_open(f);
		client_send(fds[i], GET "\r\n", strlen(GET "\r\n"));
	}
	for (int i = 0; i < FLOOD; i++) {
		struct reply r;

		client_reply(fds[i], true, &r);
		assert_int_equal(r.status, 503);
		assert_true(reply_has(&r, "Retry-After"));
		assert_non_null(strstr(r.body, "too_many_connections"));
		reply_release(&r);
	}
	client_say(held, GET "\r\n");
	assert_int_equal(client_status(held), 200);
	for (int i = 0; i < FLOOD; i++)
		close(fds[i]);
	close(held);
	fixture_await_counts(f, 0, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void without_a_descriptor_left_clients_are_told_so(void **state)
{
	struct rlimit before, low = {0};
	int fillers[64], count = 0, waiting[5], last, fd;
	struct fixture *f = *state;
	int64_t before_ms;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, GET "\r\n");
	assert_int_equal(client_status(fd), 200);
	for (int i = 0; i < 5; i++)
		waiting[i] = client_socket();
	last = dup(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low.rlim_cur = (rlim_t)last + 10;
	low.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	while (count < 64 && (fillers[count] = dup(fd)) >= 0)
		count++;
	assert_true(count < 64);
	assert_int_equal(errno, EMFILE);

	before_ms = fixture_cpu_ms();
	for (int i = 0; i < 5; i++) {
		client_connect(waiting[i], f);
		assert_int_equal(client_status(waiting[i]), 503);
	}
	/* The connections that it has go on, and nothing spins. */
	client_say(fd, "GET /timer?200 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(client_status(fd), 200);
	assert_true(fixture_cpu_ms() - before_ms < 100);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	while (count > 0)
		close(fillers[--count]);
	for (int i = 0; i < 5; i++)
		close(waiting[i]);
	close(last);
	waiting[0] = client_open(f);
	client_say(waiting[0], GET "\r\n");
	assert_int_equal(client_status(waiting[0]), 200);
	close(waiting[0]);
	close(fd);
}

static void without_even_a_spare_descriptor_clients_wait(void **state)
{
	struct rlimit before, none = {0};
	struct fixture *f = *state;
	int fd, waiting;
	int64_t before_ms;

	fixture_start(f);
	fd = client_open(f);
	client_say(fd, GET "\r\n");
	assert_int_equal(client_status(fd), 200);
	waiting = client_socket();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	/* As many as poll(2) is given here; all of them are taken. */
	none.rlim_cur = 1;
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	before_ms = fixture_cpu_ms();
	client_connect(waiting, f);
	client_say(waiting, GET "\r\n");
	client_say(fd, "GET /timer?300 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(client_status(fd), 200);
	assert_true(fixture_cpu_ms() - before_ms < 100);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(client_status(waiting), 200);
	close(waiting);
	close(fd);
}

static void answer_thread(void *ctx, struct http_req *req)
{
	(void)ctx;
	http_reply(req, 200 + http_req_thread(req), NULL, NULL, NULL);
}

static void connections_are_shared_out_evenly(void **state)
{
	struct fixture *f = *state;
	int fds[12], count[3] = {0};

	f->config.threads = 3;
	f->config.on_request = answer_thread;
	fixture_start(f);
	for (int i = 0; i < 12; i++) {
		fds[i] = client_open(f);
		client_say(fds[i], GET "\r\n");
		count[client_status(fds[i]) - 200]++;
	}
	for (int i = 0; i < 12; i++)
		close(fds[i]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(count[i], 4);
}

static void an_address_that_cannot_be_had_is_explained(void **state)
{
	struct fixture *f = *state;
	struct http_config config = f->config;
	char error[200], wanted[200];

	fixture_start(f);
	assert_null(http_server_new(&config, "127.0.0.1", http_server_port(f->server), error, sizeof(error)));
	snprintf(wanted, sizeof(wanted), "127.0.0.1:%d is in use by another program", http_server_port(f->server));
	assert_string_equal(error, wanted);
	assert_null(http_server_new(&config, "localhost", 0, error, sizeof(error)));
	assert_string_equal(error, "'localhost' is not a numeric IPv4 or IPv6 address");
	assert_null(http_server_new(&config, "192.0.2.1", 0, error, sizeof(error)));
	assert_string_equal(error, "192.0.2.1 is not an address of this machine");
	assert_null(http_server_new(&config, "127.0.0.1", 65536, error, sizeof(error)));
	http_server_free(NULL);
	/* One that is never started. */
	http_server_free(http_server_new(&config, "127.0.0.1", 0, error, sizeof(error)));
}

/* --- Drain and stop -------------------------------------------------------------------------- */

static void drain_lets_held_requests_finish_and_nothing_begin(void **state)
{
	struct fixture *f = *state;
	int idle, half, half_body, held, waiting, refused;
	struct sockaddr_in a = {.sin_family = AF_INET};
	struct reply r;

	fixture_start(f);
	idle = client_open(f);
	half = client_open(f);
	half_body = client_open(f);
	held = client_open(f);
	waiting = client_open(f);
	refused = client_socket();
	a.sin_port = htons((uint16_t)http_server_port(f->server));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	client_say(idle, GET "\r\n");
	assert_int_equal(client_status(idle), 200);
	/* What comes after the request in question is read before the drain, because it comes in one piece with it. */
	client_say(half, GET "\r\n" GET "X: ");
	assert_int_equal(client_status(half), 200);
	client_say(half_body, GET "\r\n" GET "Content-Length: 3\r\n\r\nab");
	assert_int_equal(client_status(half_body), 200);
	client_say(held, HOLD GET "\r\n");
	client_say(waiting, "GET /timer?60000 HTTP/1.1\r\nHost: a\r\n\r\n");
	fixture_await(f, &f->held_count, 1);
	fixture_await_counts(f, 5, 2);

	assert_false(http_server_is_draining(f->server));
	http_server_drain(f->server);
	http_server_drain(f->server);
	assert_true(http_server_is_draining(f->server));
	client_expect_end(idle);
	assert_int_equal(client_status(half), 503);
	client_expect_end(half);
	assert_int_equal(client_status(half_body), 503);
	client_expect_end(half_body);
	/* The timer of a waiting request is called at once. */
	client_reply(waiting, true, &r);
	assert_string_equal(r.body, "timer");
	assert_true(reply_has(&r, "Connection: close"));
	reply_release(&r);
	client_expect_end(waiting);
	assert_int_equal(connect(refused, (struct sockaddr *)&a, sizeof(a)), -1);
	/* The held one is still answered; the one behind it is not. */
	fixture_release(f, 0);
	client_reply(held, true, &r);
	assert_string_equal(r.body, "released");
	assert_true(reply_has(&r, "Connection: close"));
	reply_release(&r);
	client_expect_end(held);
	close(idle);
	close(half);
	close(half_body);
	close(held);
	close(waiting);
	close(refused);
	assert_int_equal(fixture_stop(f, PATIENCE_MS), 0);
}

/* Replies after many turns of the loop. */
struct slow_reply {
	struct fixture *f;
	int turns_left;
};

static void reply_by_and_by(void *arg)
{
	struct slow_reply *slow = arg;
	struct http_req *req = slow->f->held[0];

	if (slow->turns_left-- > 0)
		http_post(slow->f->server, http_req_thread(req), reply_by_and_by, slow);
	else
		fixture_reply_post(req);
}

static void stop_waits_for_the_last_reply(void **state)
{
	struct fixture *f = *state;
	struct slow_reply slow = {f, 2000};
	int fd, idle;

	fixture_start(f);
	idle = client_open(f);
	fd = client_open(f);
	client_say(fd, HOLD);
	fixture_await(f, &f->held_count, 1);
	http_post(f->server, http_req_thread(f->held[0]), reply_by_and_by, &slow);
	assert_int_equal(http_server_stop(f->server, PATIENCE_MS), 0);
	assert_int_equal(client_status(fd), 200);
	http_server_free(f->server);
	close(fd);
	close(idle);
}

static void stop_cuts_what_does_not_end(void **state)
{
	struct fixture *f = *state;
	int held, forgotten, unread;

	f->config.on_head = count_head;
	fixture_start(f);
	held = client_open(f);
	unread = client_open(f);
	client_say(held, HOLD);
	client_say(unread, "GET /size?50000000 HTTP/1.1\r\nHost: a\r\n\r\n");
	fixture_await(f, &f->held_count, 1);
	fixture_await(f, &f->heads_seen, 2);
	fixture_await_counts(f, 2, 1);
	assert_int_equal(fixture_stop(f, 50), 2);
	assert_int_equal(f->gone_count, 1);
	close(held);
	close(unread);

	/* A request that is never answered is cut off, too, and its memory is given back. */
	fixture_init(f);
	f->config.on_request = hold_without_reply;
	fixture_start(f);
	forgotten = client_open(f);
	client_say(forgotten, GET "\r\n");
	fixture_await(f, &f->held_count, 1);
	assert_int_equal(fixture_stop(f, 0), 1);
	assert_int_equal(f->gone_count, 1);
	close(forgotten);
}

static void *keep_connecting(void *arg)
{
	struct fixture *f = arg;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(f->server))};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		char byte;

		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
			close(fd);
			return NULL;
		}
		client_send(fd, GET "\r\n", sizeof(GET "\r\n") - 1);
		fixture_add(f, &f->heads_seen);
		if (recv(fd, &byte, 1, 0) == 1)
			client_reset(fd);
		else
			close(fd);
	}
}

static void stop_in_the_middle_of_a_storm_of_connections(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[3];

	for (int round = 0; round < 5; round++) {
		fixture_init(f);
		fixture_start(f);
		for (int i = 0; i < 3; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, keep_connecting, f), 0);
		fixture_await(f, &f->heads_seen, 50);
		http_server_stop(f->server, round % 2 ? PATIENCE_MS : 0);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(fixture_counts(f).connections, 0);
		http_server_free(f->server);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(posts_of_one_thread_keep_their_order, start, stop),
		cmocka_unit_test_setup_teardown(the_next_request_is_not_handed_over_from_inside_a_reply, start, end),
		cmocka_unit_test_setup_teardown(connections_beyond_the_limit_are_told_so, start, stop),
		cmocka_unit_test_setup_teardown(a_flood_beyond_the_limit_is_told_so_to_the_last, start, stop),
		cmocka_unit_test_setup_teardown(without_a_descriptor_left_clients_are_told_so, start, stop),
		cmocka_unit_test_setup_teardown(without_even_a_spare_descriptor_clients_wait, start, stop),
		cmocka_unit_test_setup_teardown(connections_are_shared_out_evenly, start, stop),
		cmocka_unit_test_setup_teardown(an_address_that_cannot_be_had_is_explained, start, stop),
		cmocka_unit_test_setup_teardown(drain_lets_held_requests_finish_and_nothing_begin, start, end),
		cmocka_unit_test_setup_teardown(stop_waits_for_the_last_reply, start, end),
		cmocka_unit_test_setup_teardown(stop_cuts_what_does_not_end, start, end),
		cmocka_unit_test_setup_teardown(stop_in_the_middle_of_a_storm_of_connections, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
