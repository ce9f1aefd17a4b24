/* Measures a queue server that others made: N clients, each on a connection of its own, each doing cycles of publish,
 * receive, acknowledge (peer.h).
 *
 *     peers --peer NAME [--clients N] [--seconds S] [--warmup S] [--bytes N] PORT
 *     peers --peer NAME --rate N [--clients N] [--seconds S] [--warmup S] [--bytes N] PORT
 *
 * One thread and epoll, because it shares the machine with the server it measures; its own CPU time a cycle is printed,
 * so that one can see what it took. A cycle's time is from before its publish is sent until its acknowledgement is
 * answered (or sent, where the protocol does not answer it). What ends within the warm-up is not counted. At the end
 * every client finishes its cycle, so that nothing is left in the queue. Prints one line of JSON. With --rate it is the
 * open loop of open_loop.c, with as many clients that send and as many that receive.
 */
#include "open_loop.h"
#include "peer.h"

#include "measure.h"
#include "scenario.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	EVENTS = 256,
	CLIENTS_MAX = 10000,
	BODY_BYTES_MAX = 60000,		/* beanstalkd takes no more by default */
	SILENCE_MS_MAX = 60000,		/* without any answer: something is stuck */
};

static const struct peer *const peers[] = {
	&peer_redis, &peer_rabbitmq, &peer_postgres, &peer_beanstalkd, &peer_nats, &peer_spine, NULL,
};

struct run {
	const struct peer *peer;
	uint16_t port;
	uint64_t client_count;
	double seconds;
	double warmup_s;
	double rate;			/* of the open loop; 0: cycles */
	size_t bytes;

	int epoll;
	struct buf payload;
	struct peer_client *clients;
	struct peer_client *done;	/* those that ended a cycle, to be looked at */
	uint64_t at_work;		/* clients that are in a cycle */
	uint64_t all_cycles;		/* with those that are not counted */
	int64_t count_from_ns;
	int64_t stop_ns;
	double cpu_from_us;		/* own CPU time so far, at count_from_ns; below 0 before that */
	double cpu_us;			/* own CPU time while it counted; below 0 before its end */
	struct measure cycles;
};

/* --- For the peers --- */

void peer_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "peers: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

void peer_cycle_done(struct peer_client *client)
{
	client->next_done = *client->done;
	*client->done = client;
}

void peer_want_write(struct peer_client *client, bool wanted)
{
	struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = client};

	if (epoll_ctl(client->epoll, EPOLL_CTL_MOD, client->fd, &event) != 0)
		peer_fail("epoll_ctl: %s", strerror(errno));
}

/* --- Counting --- */

static void count_cycle(struct run *r, int64_t began_ns, int64_t now_ns)
{
	r->all_cycles++;
	if (now_ns >= r->count_from_ns && now_ns < r->stop_ns)
		measure_add(&r->cycles, now_ns - began_ns);
}

static void count_cpu(struct run *r, int64_t now_ns)
{
	if (r->cpu_from_us < 0 && now_ns >= r->count_from_ns)
		r->cpu_from_us = measure_own_cpu_us();
	if (r->cpu_us < 0 && now_ns >= r->stop_ns)
		r->cpu_us = measure_own_cpu_us() - r->cpu_from_us;
}

static void report(struct run *r)
{
	const struct measure *m = &r->cycles;

	measure_sort(&r->cycles);
	printf("{\"peer\":\"%s\",\"clients\":%" PRIu64 ",\"cycles\":%zu,\"all_cycles\":%" PRIu64 ",\"rate\":%.1f,"
	       "\"p50_ms\":%.3f,\"p95_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"load_cpu_us\":%.2f}\n",
	       r->peer->name, r->client_count, m->count, r->all_cycles, (double)m->count / r->seconds,
	       measure_ms(m, 0.5), measure_ms(m, 0.95), measure_ms(m, 0.99), measure_ms(m, 1),
	       m->count ? r->cpu_us / (double)m->count : 0);
}

/* --- The run --- */

static void open_clients(struct run *r)
{
	r->peer->prepare(r->port);
	for (uint64_t i = 0; i < r->client_count; i++) {
		struct peer_client *c = &r->clients[i];
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};

		/* The number 0 is nobody's, so that what prepares the queue may use it. */
		*c = (struct peer_client){
			.number = i + 1, .port = r->port, .payload = buf_str(&r->payload), .epoll = r->epoll, .fd = -1,
			.done = &r->done, .before = i > 0 ? c - 1 : NULL,
		};
		r->peer->open(c);
		if (c->fd >= 0 && epoll_ctl(r->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0)
			peer_fail("epoll_ctl: %s", strerror(errno));
	}
}

static void begin_cycle(struct run *r, struct peer_client *c, int64_t now_ns)
{
	c->began_ns = now_ns;
	r->peer->begin(c);
}

static void end_cycles(struct run *r)
{
	int64_t now_ns = r->done ? clock_mono_ns() : 0;

	while (r->done) {
		struct peer_client *c = r->done;

		r->done = c->next_done;
		count_cycle(r, c->began_ns, now_ns);
		if (now_ns < r->stop_ns) {
			begin_cycle(r, c, now_ns);
		} else {
			/* At once, so that no server goes on giving messages to a client that has ended. */
			r->peer->close(c);
			r->at_work--;
		}
	}
}

static void run(struct run *r)
{
	struct epoll_event events[EVENTS];
	int64_t now_ns;

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->clients = mem_calloc(r->client_count, sizeof(*r->clients));
	open_clients(r);
	now_ns = clock_mono_ns();
	r->count_from_ns = now_ns + (int64_t)(r->warmup_s * 1e9);
	r->stop_ns = r->count_from_ns + (int64_t)(r->seconds * 1e9);
	r->at_work = r->client_count;
	for (uint64_t i = 0; i < r->client_count; i++)
		begin_cycle(r, &r->clients[i], clock_mono_ns());
	while (r->at_work > 0) {
		int n = epoll_wait(r->epoll, events, EVENTS, SILENCE_MS_MAX);

		if (n == 0)
			peer_fail("%" PRIu64 " clients wait, and nothing came for %d ms", r->at_work, SILENCE_MS_MAX);
		count_cpu(r, clock_mono_ns());
		for (int i = 0; i < n; i++) {
			r->peer->ready(events[i].data.ptr, events[i].events);
			end_cycles(r);
		}
	}
	count_cpu(r, clock_mono_ns());
	free(r->clients);
	close(r->epoll);
}

static int usage(void)
{
	fprintf(stderr, "usage: peers --peer NAME [--rate N] [--clients N] [--seconds S] [--warmup S] [--bytes N] "
		"PORT\n");
	for (const struct peer *const *p = peers; *p; p++)
		fprintf(stderr, "  %-12s %s\n", (*p)->name, (*p)->about);
	return 2;
}

static const struct peer *find_peer(const char *name)
{
	for (const struct peer *const *p = peers; *p; p++)
		if (strcmp((*p)->name, name) == 0)
			return *p;
	return NULL;
}

static bool parse_options(struct run *r, int argc, char **argv)
{
	static const struct option options[] = {
		{"peer", required_argument, NULL, 'p'}, {"clients", required_argument, NULL, 'c'},
		{"seconds", required_argument, NULL, 's'}, {"warmup", required_argument, NULL, 'w'},
		{"bytes", required_argument, NULL, 'b'}, {"rate", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			r->peer = find_peer(optarg);
		else if (c == 'c')
			r->client_count = strtoull(optarg, NULL, 10);
		else if (c == 's')
			r->seconds = strtod(optarg, NULL);
		else if (c == 'w')
			r->warmup_s = strtod(optarg, NULL);
		else if (c == 'b')
			r->bytes = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			r->rate = strtod(optarg, NULL);
		else
			return false;
	}
	r->port = optind == argc - 1 ? (uint16_t)atoi(argv[optind]) : 0;
	return r->peer && r->port && r->client_count > 0 && r->client_count <= CLIENTS_MAX && r->seconds > 0 &&
	       r->warmup_s >= 0 && r->rate >= 0 && r->bytes >= 64 && r->bytes <= BODY_BYTES_MAX &&
	       (r->rate > 0 ? r->peer->halves : r->peer != &peer_spine);
}

int main(int argc, char **argv)
{
	struct run r = {
		.client_count = 64, .seconds = 5, .warmup_s = 1, .bytes = 4096, .cpu_from_us = -1, .cpu_us = -1,
	};

	if (!parse_options(&r, argc, argv))
		return usage();
	if (r.rate > 0) {
		const struct open_loop_config config = {
			.peer = r.peer, .port = r.port, .rate = r.rate, .seconds = r.seconds, .warmup_s = r.warmup_s,
			.senders = r.client_count, .receivers = r.client_count, .bytes = r.bytes,
		};

		return open_loop(&config);
	}
	buf_init(&r.payload, BODY_BYTES_MAX * 2);
	scenario_put_text(&r.payload, 1, r.bytes);
	r.payload.len = r.bytes;
	run(&r);
	report(&r);
	measure_release(&r.cycles);
	buf_release(&r.payload);
	return 0;
}
