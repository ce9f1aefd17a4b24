/* How long a handoff takes to a receiver that waits for it.
 *
 *     pairs [--pairs N] [--rounds N] [--warmup N] [--bytes N] [--every-ms N] [--seed N] PORT
 *
 * N pairs of a sender and a receiver, each pair with an agent of its own, two connections a pair. A round: all
 * receivers ask for work and wait; when the server holds all of their calls, all senders publish at once; every
 * receiver acks what it was given. For each handoff two times are taken, both when this program has read the last byte:
 *
 *     after     from the sender having its answer, which leaves after the commit, to the receiver having the handoff;
 *               0 where the receiver had it first
 *     whole     from the first byte of the publish to the receiver having the handoff
 *
 * Requests are written before a round begins, and answers are looked at when it is over, so that only sends and reads
 * are between the times; but those of all pairs are, as it is one thread. --every-ms lets a round begin no sooner than
 * so long after the one before. Prints one line of JSON.
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
#include <time.h>
#include <unistd.h>

enum {
	PAIRS_MAX = 10000,
	EVENTS = 256,
	WAIT_S = 60,
	HELD_MAX_MS = 30000,
	ROUND_MAX_MS = 90000,
	AGENT_SIZE = 32,
	STILL_POLLS = 2,
};

struct end {
	struct link link;
	bool is_done;		/* its reply is whole */
	int status;
	int64_t began_ns;
	int64_t ended_ns;
};

struct pair {
	char agent[AGENT_SIZE];
	struct end sender;
	struct end receiver;
};

struct pairs {
	uint16_t port;
	uint64_t count;
	uint64_t rounds;
	uint64_t warmup;
	uint64_t every_ms;
	uint64_t seed;
	size_t bytes;

	int epoll;
	struct pair *each;
	struct end watcher;	/* asks the server how many calls it holds */
	size_t open;		/* replies that have not come */
	struct buf scratch;
	struct measure after;
	struct measure whole;
	uint64_t first;		/* handoffs that were there before the sender's answer */
};

static void fail(const char *what, int status)
{
	fprintf(stderr, "pairs: %s (status %d)\n", what, status);
	exit(1);
}

/* --- Replies --- */

static void send_request(struct pairs *p, struct end *e)
{
	buf_clear(&e->link.in);
	e->is_done = false;
	p->open++;
	e->began_ns = clock_mono_ns();
	link_send(&e->link);
}

static void on_readable(struct pairs *p, struct end *e)
{
	enum link_read read = link_read(&e->link);
	int64_t now_ns = clock_mono_ns();
	struct str body;

	if (read == LINK_ENDED)
		fail("the server closed a connection", 0);
	if (read == LINK_NOTHING || e->is_done || !link_reply(&e->link, &e->status, &body))
		return;
	e->is_done = true;
	e->ended_ns = now_ns;
	p->open--;
}

/* Until no more than `left` replies are missing. */
static void wait_replies(struct pairs *p, size_t left)
{
	int64_t stop_ns = clock_mono_ns() + INT64_C(1000000) * ROUND_MAX_MS;
	struct epoll_event events[EVENTS];

	while (p->open > left) {
		int n = epoll_wait(p->epoll, events, EVENTS, 1000);

		for (int i = 0; i < n; i++) {
			struct link *link = events[i].data.ptr;

			if (events[i].events & EPOLLOUT)
				link_writable(link);
			if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
				on_readable(p, link->owner);
		}
		if (clock_mono_ns() > stop_ns)
			fail("replies are missing", 0);
	}
}

/* --- A round --- */

static uint64_t number_member(struct str json, const char *name)
{
	const char *at = memmem(json.p, json.n, name, strlen(name));

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* How many calls the server holds, event streams and this question apart; UINT64_MAX while it writes. */
static uint64_t calls_held(struct pairs *p)
{
	struct str text;

	buf_clear(&p->watcher.link.out);
	scenario_put_request(&p->watcher.link.out, "GET", "/v1/status", "", STR(""));
	send_request(p, &p->watcher);
	wait_replies(p, p->count);
	text = buf_str(&p->watcher.link.in);
	if (p->watcher.status != 200)
		fail("no status", p->watcher.status);
	if (number_member(text, "\"writer\":{\"queued\":") > 0)
		return UINT64_MAX;
	return number_member(text, "\"requests_active\":") - number_member(text, "\"streams\":") - 1;
}

/* Until every receiver's call is held and nothing is being written: they wait. Asked twice, because a commit that is
 * under way is not in the queue any more. */
static void wait_held(struct pairs *p)
{
	int64_t stop_ns = clock_mono_ns() + INT64_C(1000000) * HELD_MAX_MS;
	int still = 0;

	while (still < STILL_POLLS) {
		still = calls_held(p) == p->count ? still + 1 : 0;
		if (clock_mono_ns() > stop_ns)
			fail("the receivers do not come to wait, or others do", 0);
	}
}

static void ask(struct pairs *p)
{
	for (uint64_t i = 0; i < p->count; i++) {
		struct end *e = &p->each[i].receiver;

		buf_clear(&e->link.out);
		scenario_put_receive(&e->link.out, &p->scratch, p->each[i].agent, WAIT_S);
		send_request(p, e);
	}
}

static void prepare_publish(struct pairs *p, uint64_t round)
{
	for (uint64_t i = 0; i < p->count; i++) {
		struct buf *out = &p->each[i].sender.link.out;
		uint64_t number = (p->seed * UINT64_C(1000000) + round) * UINT64_C(1000000) + i;

		buf_clear(out);
		scenario_put_publish(out, &p->scratch, p->each[i].agent, number, p->bytes);
	}
}

static void count_round(struct pairs *p)
{
	for (uint64_t i = 0; i < p->count; i++) {
		const struct end *s = &p->each[i].sender, *r = &p->each[i].receiver;
		int64_t after_ns = r->ended_ns - s->ended_ns;

		p->first += after_ns <= 0;
		measure_add(&p->after, after_ns > 0 ? after_ns : 0);
		measure_add(&p->whole, r->ended_ns - s->began_ns);
	}
}

static void ack(struct pairs *p)
{
	char lease[SCENARIO_LEASE_SIZE];

	for (uint64_t i = 0; i < p->count; i++) {
		struct end *s = &p->each[i].sender, *r = &p->each[i].receiver;

		if (s->status != 202)
			fail("not published", s->status);
		if (r->status != 200 || !scenario_take_lease(buf_str(&r->link.in), lease))
			fail("not received", r->status);
		buf_clear(&r->link.out);
		scenario_put_ack(&r->link.out, &p->scratch, lease);
		send_request(p, r);
	}
	wait_replies(p, 0);
	for (uint64_t i = 0; i < p->count; i++)
		if (p->each[i].receiver.status != 200)
			fail("not acked", p->each[i].receiver.status);
}

static void rest_until(int64_t at_ns)
{
	struct timespec at = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
		;
}

static void play_round(struct pairs *p, uint64_t round)
{
	int64_t began_ns = clock_mono_ns();

	ask(p);
	prepare_publish(p, round);
	wait_held(p);
	for (uint64_t i = 0; i < p->count; i++)
		send_request(p, &p->each[i].sender);
	wait_replies(p, 0);
	if (round >= p->warmup)
		count_round(p);
	ack(p);
	if (p->every_ms)
		rest_until(began_ns + (int64_t)p->every_ms * 1000000);
}

/* --- The run --- */

static void run(struct pairs *p)
{
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->each = mem_calloc(p->count, sizeof(*p->each));
	buf_init(&p->scratch, LINK_MESSAGE_BYTES_MAX);
	link_open(&p->watcher.link, p->epoll, p->port, &p->watcher);
	for (uint64_t i = 0; i < p->count; i++) {
		struct pair *pair = &p->each[i];

		snprintf(pair->agent, sizeof(pair->agent), "pair-%" PRIu64, i);
		link_open(&pair->sender.link, p->epoll, p->port, &pair->sender);
		link_open(&pair->receiver.link, p->epoll, p->port, &pair->receiver);
	}
	for (uint64_t round = 0; round < p->warmup + p->rounds; round++)
		play_round(p, round);
	for (uint64_t i = 0; i < p->count; i++) {
		link_close(&p->each[i].sender.link);
		link_close(&p->each[i].receiver.link);
	}
	link_close(&p->watcher.link);
	free(p->each);
	buf_release(&p->scratch);
	close(p->epoll);
}

static void report(struct pairs *p)
{
	measure_sort(&p->after);
	measure_sort(&p->whole);
	printf("{\"pairs\":%" PRIu64 ",\"rounds\":%" PRIu64 ",\"handoffs\":%zu,\"first_share\":%.4f,"
	       "\"after_p50_ms\":%.3f,\"after_p99_ms\":%.3f,\"after_max_ms\":%.3f,"
	       "\"whole_p50_ms\":%.3f,\"whole_p99_ms\":%.3f,\"whole_max_ms\":%.3f,\"own_cpu_us\":%.1f}\n",
	       p->count, p->rounds, p->after.count, (double)p->first / (double)p->after.count,
	       measure_ms(&p->after, 0.5), measure_ms(&p->after, 0.99), measure_ms(&p->after, 1),
	       measure_ms(&p->whole, 0.5), measure_ms(&p->whole, 0.99), measure_ms(&p->whole, 1),
	       measure_own_cpu_us() / (double)(p->count * (p->warmup + p->rounds)));
}

static bool parse_options(struct pairs *p, int argc, char **argv)
{
	static const struct option options[] = {
		{"pairs", required_argument, NULL, 'p'}, {"rounds", required_argument, NULL, 'n'},
		{"warmup", required_argument, NULL, 'w'}, {"bytes", required_argument, NULL, 'b'},
		{"every-ms", required_argument, NULL, 'e'}, {"seed", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint64_t value = c == '?' ? 0 : strtoull(optarg, NULL, 10);

		if (c == 'p')
			p->count = value;
		else if (c == 'n')
			p->rounds = value;
		else if (c == 'w')
			p->warmup = value;
		else if (c == 'b')
			p->bytes = value;
		else if (c == 'e')
			p->every_ms = value;
		else if (c == 'r')
			p->seed = value;
		else
			return false;
	}
	p->port = optind == argc - 1 ? (uint16_t)atoi(argv[optind]) : 0;
	return p->port && p->count > 0 && p->count <= PAIRS_MAX && p->rounds > 0;
}

int main(int argc, char **argv)
{
	struct pairs p = {.count = 64, .rounds = 200, .warmup = 20, .bytes = 4096, .seed = 1};

	if (!parse_options(&p, argc, argv)) {
		fprintf(stderr, "usage: pairs [--pairs N] [--rounds N] [--warmup N] [--bytes N] [--every-ms N] "
			"[--seed N] PORT\n");
		return 2;
	}
	run(&p);
	report(&p);
	measure_release(&p.after);
	measure_release(&p.whole);
	return 0;
}
