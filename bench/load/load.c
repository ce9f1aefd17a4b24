/* Load generator: N clients, each on a connection of its own that is kept open, each waiting for its answer before it
 * asks again.
 *
 *     load [--scenario NAME] [--connections N] [--seconds S] [--warmup S] [--bytes N] [--seed N] [--filled DIR]
 *          [--json] PORT
 *
 * One thread and epoll, because it shares the machine with the server it measures; its own CPU time per cycle is
 * printed, so that one can see what it took. What a client does is a scenario (scenario.h). Times are from the first
 * byte sent to the last one received of a cycle; what ends within the warm-up is not counted.
 */
#include "scenario.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	MESSAGE_BYTES_MAX = 64 << 20,
	READ_BYTES = 64 << 10,
	EVENTS = 256,
	SAMPLES_FIRST = 1 << 16,
	CONNECTIONS_MAX = 20000,
};

struct client {
	int fd;
	struct scenario_client own;
	struct buf out;		/* the request under way */
	size_t sent;
	struct buf in;
	int64_t began_ns;	/* the cycle */
};

struct load {
	const struct scenario *scenario;
	struct scenario_config config;
	uint16_t port;
	uint64_t connections;
	double seconds;
	double warmup_s;
	bool json;

	int epoll;
	struct client *clients;
	int64_t count_from_ns;
	int64_t stop_ns;
	uint32_t *samples_us;
	size_t sample_count;
	size_t sample_cap;
	uint64_t failed;
	int last_failure;
};

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- Counting --- */

static void count_cycle(struct load *l, int64_t began_ns, int64_t now_ns)
{
	int64_t us = (now_ns - began_ns) / 1000;

	if (now_ns < l->count_from_ns)
		return;
	if (l->sample_count == l->sample_cap) {
		l->sample_cap = l->sample_cap ? l->sample_cap * 2 : SAMPLES_FIRST;
		l->samples_us = mem_reallocarray(l->samples_us, l->sample_cap, sizeof(*l->samples_us));
	}
	l->samples_us[l->sample_count++] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static int compare_samples(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The samples are sorted. */
static double percentile_ms(const struct load *l, double part)
{
	size_t at = (size_t)(part * (double)l->sample_count);

	if (l->sample_count == 0)
		return 0;
	return l->samples_us[at < l->sample_count ? at : l->sample_count - 1] / 1000.0;
}

/* --- A client --- */

static void send_rest(struct load *l, struct client *c)
{
	while (c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);
		bool wait = n < 0 && errno == EAGAIN;
		struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};

		if (wait && epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &event) == 0)
			return;
		if (n < 0)
			die("send");
		c->sent += (size_t)n;
	}
}

static void send_request(struct load *l, struct client *c)
{
	buf_clear(&c->out);
	c->sent = 0;
	l->scenario->request(&c->own, &c->out);
	if (buf_overflowed(&c->out) || buf_overflowed(&c->own.scratch)) {
		fprintf(stderr, "load: a request is larger than %d bytes\n", MESSAGE_BYTES_MAX);
		exit(1);
	}
	send_rest(l, c);
}

static void take_reply(struct load *l, struct client *c, int status, struct str body)
{
	enum scenario_step step = l->scenario->reply(&c->own, status, body);
	int64_t now_ns = clock_mono_ns();

	if (step == SCENARIO_DONE)
		count_cycle(l, c->began_ns, now_ns);
	if (step == SCENARIO_FAILED) {
		l->failed++;
		l->last_failure = status;
	}
	if (step != SCENARIO_NEXT)
		c->began_ns = now_ns;
}

/* The value of Content-Length in a head; 0 where there is none. */
static size_t content_length(const char *head, size_t len)
{
	static const char name[] = "\r\ncontent-length:";
	uint64_t value;

	for (size_t i = 0; i + sizeof(name) - 1 < len; i++) {
		struct str rest;

		if (head[i] != '\r' || strncasecmp(head + i, name, sizeof(name) - 1) != 0)
			continue;
		rest = (struct str){head + i + sizeof(name) - 1, len - i - (sizeof(name) - 1)};
		return str_to_u64(str_trim(str_cut(&rest, '\r')), &value) ? value : 0;
	}
	return 0;
}

/* Takes a whole reply from the front of c->in. False where more must come. */
static bool parse_reply(struct load *l, struct client *c)
{
	const char *end = c->in.len ? memmem(c->in.data, c->in.len, "\r\n\r\n", 4) : NULL;
	size_t head, body;

	if (end == NULL)
		return false;
	head = (size_t)(end - c->in.data) + 4;
	body = content_length(c->in.data, head);
	if (c->in.len < head + body)
		return false;
	if (c->in.len > head + body || head < 15) {
		fprintf(stderr, "load: bytes after the reply\n");
		exit(1);
	}
	take_reply(l, c, atoi(c->in.data + 9), (struct str){c->in.data + head, body});
	buf_clear(&c->in);
	return true;
}

static void on_readable(struct load *l, struct client *c)
{
	char *room = buf_reserve(&c->in, READ_BYTES);
	ssize_t n = room ? recv(c->fd, room, READ_BYTES, 0) : -1;

	if (n < 0 && room && errno == EAGAIN)
		return;
	if (n <= 0) {
		fprintf(stderr, "load: the server closed a connection\n");
		exit(1);
	}
	buf_commit(&c->in, (size_t)n);
	if (parse_reply(l, c) && clock_mono_ns() < l->stop_ns)
		send_request(l, c);
}

static void on_writable(struct load *l, struct client *c)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};

	if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &event) != 0)
		die("epoll_ctl");
	send_rest(l, c);
}

static void client_open(struct load *l, struct client *c, uint64_t number)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(l->port)};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
	int one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->own = (struct scenario_client){.config = &l->config, .number = number};
	buf_init(&c->own.scratch, MESSAGE_BYTES_MAX);
	buf_init(&c->out, MESSAGE_BYTES_MAX);
	buf_init(&c->in, MESSAGE_BYTES_MAX);
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("connect");
	if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
		die("setsockopt");
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0)
		die("epoll_ctl");
}

static void client_close(struct client *c)
{
	close(c->fd);
	buf_release(&c->own.scratch);
	buf_release(&c->out);
	buf_release(&c->in);
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
			if (events[i].events & EPOLLOUT)
				on_writable(l, events[i].data.ptr);
			if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
				on_readable(l, events[i].data.ptr);
		}
	}
	for (uint64_t i = 0; i < l->connections; i++)
		client_close(&l->clients[i]);
	free(l->clients);
	close(l->epoll);
}

/* The generator's own CPU time a cycle. */
static double own_cpu_us(const struct load *l)
{
	struct rusage usage;
	double total_us;

	getrusage(RUSAGE_SELF, &usage);
	total_us = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
		   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return l->sample_count ? total_us * l->seconds / (l->seconds + l->warmup_s) / (double)l->sample_count : 0;
}

static void report(struct load *l)
{
	double cpu_us = own_cpu_us(l), rate = (double)l->sample_count / l->seconds;

	qsort(l->samples_us, l->sample_count, sizeof(*l->samples_us), compare_samples);
	if (l->json)
		printf("{\"scenario\":\"%s\",\"connections\":%" PRIu64 ",\"cycles\":%zu,\"failed\":%" PRIu64 ","
		       "\"rate\":%.1f,\"p50_ms\":%.3f,\"p95_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,"
		       "\"load_cpu_us\":%.2f}\n",
		       l->scenario->name, l->connections, l->sample_count, l->failed, rate, percentile_ms(l, 0.5),
		       percentile_ms(l, 0.95), percentile_ms(l, 0.99), percentile_ms(l, 1), cpu_us);
	else
		printf("%s, %" PRIu64 " connections: %zu cycles, %" PRIu64 " failed, %.0f/s, "
		       "p50 %.2f ms, p95 %.2f ms, p99 %.2f ms, max %.1f ms; %.1f us CPU a cycle here\n",
		       l->scenario->name, l->connections, l->sample_count, l->failed, rate, percentile_ms(l, 0.5),
		       percentile_ms(l, 0.95), percentile_ms(l, 0.99), percentile_ms(l, 1), cpu_us);
	if (l->failed)
		fprintf(stderr, "load: the last failure was answered with %d\n", l->last_failure);
}

static int usage(void)
{
	struct buf list;

	buf_init(&list, 1 << 16);
	scenario_list(&list);
	fprintf(stderr, "usage: load [--scenario NAME] [--connections N] [--seconds S] [--warmup S] [--bytes N] "
		"[--seed N] [--filled DIR] [--json] PORT\nscenarios:\n%s", buf_str(&list).p);
	buf_release(&list);
	return 2;
}

static bool parse_options(struct load *l, int argc, char **argv)
{
	static const struct option options[] = {
		{"scenario", required_argument, NULL, 'n'}, {"connections", required_argument, NULL, 'c'},
		{"seconds", required_argument, NULL, 's'}, {"warmup", required_argument, NULL, 'w'},
		{"bytes", required_argument, NULL, 'b'}, {"seed", required_argument, NULL, 'r'},
		{"filled", required_argument, NULL, 'f'}, {"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0},
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
		else if (c == 'j')
			l->json = true;
		else
			return false;
	}
	l->port = optind == argc - 1 ? (uint16_t)atoi(argv[optind]) : 0;
	return l->scenario && l->port && l->connections > 0 && l->connections <= CONNECTIONS_MAX && l->seconds > 0 &&
	       l->warmup_s >= 0;
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
	free(l.samples_us);
	return l.failed ? 1 : 0;
}
