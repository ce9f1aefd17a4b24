/* Load generator: N clients, each on a connection of its own that is kept open, each waiting for its answer before it
 * asks again.
 *
 *     load [--scenario NAME] [--connections N] [--seconds S] [--warmup S] [--bytes N] [--seed N] [--filled DIR]
 *          [--forget] [--spaces N] [--json] PORT[,PORT...]
 *
 * One thread and epoll, because it shares the machine with the server it measures; its own CPU time per cycle is
 * printed, so that one can see what it took. With --spaces the clients are spread over so many spaces, and with several
 * ports over these servers. What a client does is a scenario (scenario.h). Times are from the first
 * byte sent to the last one received of a cycle; what ends within the warm-up is not counted.
 */
#include "link.h"
#include "measure.h"
#include "scenario.h"

#include "base/clock.h"
#include "base/mem.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 256, CONNECTIONS_MAX = 20000, PORTS_MAX = 16 };

struct client {
	struct link link;
	struct scenario_client own;
	int64_t began_ns;	/* the cycle */
};

struct load {
	const struct scenario *scenario;
	struct scenario_config config;
	uint16_t ports[PORTS_MAX];
	size_t port_count;
	uint64_t spaces;		/* 0: the default one */
	uint64_t connections;
	double seconds;
	double warmup_s;
	bool json;

	int epoll;
	struct client *clients;
	int64_t count_from_ns;
	int64_t stop_ns;
	struct measure cycles;
	uint64_t failed;
	int last_failure;
};

/* --- A client --- */

/* Behind the first line of the request. */
static void put_space(const struct load *l, struct client *c)
{
	struct buf *out = &c->own.scratch;
	struct str request = buf_str(&c->link.out), first = request;

	buf_clear(out);
	first.n = str_find(request, '\n') + 1;
	buf_put(out, first);
	buf_printf(out, "Spine-Space: load-%" PRIu64 "\r\n", c->own.number % l->spaces);
	buf_put(out, str_sub(request, first.n, request.n));
}

static void send_request(struct load *l, struct client *c)
{
	buf_clear(&c->link.out);
	l->scenario->request(&c->own, &c->link.out);
	if (l->spaces) {
		put_space(l, c);
		buf_clear(&c->link.out);
		buf_put(&c->link.out, buf_str(&c->own.scratch));
	}
	if (buf_overflowed(&c->own.scratch)) {
		fprintf(stderr, "load: a request is larger than %d bytes\n", LINK_MESSAGE_BYTES_MAX);
		exit(1);
	}
	link_send(&c->link);
}

static void take_reply(struct load *l, struct client *c, int status, struct str body)
{
	enum scenario_step step = l->scenario->reply(&c->own, status, body);
	int64_t now_ns = clock_mono_ns();

	if (step == SCENARIO_DONE && now_ns >= l->count_from_ns)
		measure_add(&l->cycles, now_ns - c->began_ns);
	if (step == SCENARIO_FAILED) {
		l->failed++;
		l->last_failure = status;
	}
	if (step != SCENARIO_NEXT)
		c->began_ns = now_ns;
}

static void on_readable(struct load *l, struct client *c)
{
	enum link_read read = link_read(&c->link);
	struct str body;
	int status;

	if (read == LINK_ENDED) {
		fprintf(stderr, "load: the server closed a connection\n");
		exit(1);
	}
	if (read == LINK_NOTHING || !link_reply(&c->link, &status, &body))
		return;
	take_reply(l, c, status, body);
	buf_clear(&c->link.in);
	if (clock_mono_ns() < l->stop_ns)
		send_request(l, c);
}

static void client_open(struct load *l, struct client *c, uint64_t number)
{
	c->own = (struct scenario_client){.config = &l->config, .number = number};
	buf_init(&c->own.scratch, LINK_MESSAGE_BYTES_MAX);
	link_open(&c->link, l->epoll, l->ports[number / (l->spaces ? l->spaces : 1) % l->port_count], c);
}

static void client_close(struct client *c)
{
	link_close(&c->link);
	buf_release(&c->own.scratch);
}

/* --- The run --- */

static void run(struct load *l)
{
	struct epoll_event events[EVENTS];
	int64_t now_ns;

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->clients = mem_calloc(l->connections, sizeof(*l->clients));
	for (uint64_t i = 0; i < l->connections; i++)
		client_open(l, &l->clients[i], i);
	now_ns = clock_mono_ns();
	l->count_from_ns = now_ns + (int64_t)(l->warmup_s * 1e9);
	l->stop_ns = l->count_from_ns + (int64_t)(l->seconds * 1e9);
	for (uint64_t i = 0; i < l->connections; i++) {
		l->clients[i].began_ns = now_ns;
		send_request(l, &l->clients[i]);
	}
	while (clock_mono_ns() < l->stop_ns) {
		int n = epoll_wait(l->epoll, events, EVENTS, 100);

		for (int i = 0; i < n; i++) {
			struct link *link = events[i].data.ptr;

			if (events[i].events & EPOLLOUT)
				link_writable(link);
			if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
				on_readable(l, link->owner);
		}
	}
	for (uint64_t i = 0; i < l->connections; i++)
		client_close(&l->clients[i]);
	free(l->clients);
	close(l->epoll);
}

static void report(struct load *l)
{
	const struct measure *m = &l->cycles;
	double counted = l->seconds / (l->seconds + l->warmup_s), rate = (double)m->count / l->seconds;
	double cpu_us = measure_own_cpu_us() * counted / (double)(m->count ? m->count : 1);

	measure_sort(&l->cycles);
	if (l->json)
		printf("{\"scenario\":\"%s\",\"connections\":%" PRIu64 ",\"cycles\":%zu,\"failed\":%" PRIu64 ","
		       "\"rate\":%.1f,\"p50_ms\":%.3f,\"p95_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,"
		       "\"load_cpu_us\":%.2f}\n",
		       l->scenario->name, l->connections, m->count, l->failed, rate, measure_ms(m, 0.5),
		       measure_ms(m, 0.95), measure_ms(m, 0.99), measure_ms(m, 1), cpu_us);
	else
		printf("%s, %" PRIu64 " connections: %zu cycles, %" PRIu64 " failed, %.0f/s, "
		       "p50 %.2f ms, p95 %.2f ms, p99 %.2f ms, max %.1f ms; %.1f us CPU a cycle here\n",
		       l->scenario->name, l->connections, m->count, l->failed, rate, measure_ms(m, 0.5),
		       measure_ms(m, 0.95), measure_ms(m, 0.99), measure_ms(m, 1), cpu_us);
	if (l->failed)
		fprintf(stderr, "load: the last failure was answered with %d\n", l->last_failure);
}

static int usage(void)
{
	struct buf list;

	buf_init(&list, 1 << 16);
	scenario_list(&list);
	fprintf(stderr, "usage: load [--scenario NAME] [--connections N] [--seconds S] [--warmup S] [--bytes N] "
		"[--seed N] [--filled DIR] [--forget] [--spaces N] [--json] PORT[,PORT...]\nscenarios:\n%s",
		buf_str(&list).p);
	buf_release(&list);
	return 2;
}

static bool parse_ports(struct load *l, char *list)
{
	char *rest = list, *word;

	while ((word = strsep(&rest, ",")) && l->port_count < PORTS_MAX) {
		l->ports[l->port_count] = (uint16_t)atoi(word);
		if (l->ports[l->port_count++] == 0)
			return false;
	}
	return word == NULL;
}

static bool parse_options(struct load *l, int argc, char **argv)
{
	static const struct option options[] = {
		{"scenario", required_argument, NULL, 'n'}, {"connections", required_argument, NULL, 'c'},
		{"seconds", required_argument, NULL, 's'}, {"warmup", required_argument, NULL, 'w'},
		{"bytes", required_argument, NULL, 'b'}, {"seed", required_argument, NULL, 'r'},
		{"filled", required_argument, NULL, 'f'}, {"forget", no_argument, NULL, 'g'},
		{"spaces", required_argument, NULL, 'p'}, {"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'n')
			l->scenario = scenario_find(optarg);
		else if (c == 'c')
			l->connections = strtoull(optarg, NULL, 10);
		else if (c == 's')
			l->seconds = strtod(optarg, NULL);
		else if (c == 'w')
			l->warmup_s = strtod(optarg, NULL);
		else if (c == 'b')
			l->config.bytes = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			l->config.seed = strtoull(optarg, NULL, 10);
		else if (c == 'f')
			l->config.filled = optarg;
		else if (c == 'g')
			l->config.forgets = true;
		else if (c == 'p')
			l->spaces = strtoull(optarg, NULL, 10);
		else if (c == 'j')
			l->json = true;
		else
			return false;
	}
	l->config.clients = l->connections;
	return optind == argc - 1 && parse_ports(l, argv[optind]) && l->scenario && l->connections > 0 &&
	       l->connections <= CONNECTIONS_MAX && l->seconds > 0 && l->warmup_s >= 0;
}

int main(int argc, char **argv)
{
	struct load l = {
		.scenario = &scenario_store, .config = {.bytes = 300, .seed = 1}, .connections = 64, .seconds = 5,
		.warmup_s = 1,
	};

	if (!parse_options(&l, argc, argv))
		return usage();
	if (l.scenario->prepare && !l.scenario->prepare(&l.config))
		return 1;
	run(&l);
	report(&l);
	measure_release(&l.cycles);
	return l.failed ? 1 : 0;
}
