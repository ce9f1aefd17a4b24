/* Messages arrive at a constant rate, as the users of a server send them: they do not wait for one another. The n-th is
 * due n/rate seconds after the start. A free sender publishes it then; where all of them still wait for an answer, or
 * this program is late, it goes out later, but its time counts from when it was due. So a server that stands still for
 * a moment is charged for all that should have been sent meanwhile.
 *
 *     delivered    from when it was due to the receiver having it; receivers wait before, and ack what they get
 *     safe         from when it was due to the sender having the server's word that it is safe
 */
#include "open_loop.h"

#include "measure.h"
#include "scenario.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
	EVENTS = 256,
	DIGITS = 12,
	START_MS = 200,		/* receivers come to wait meanwhile */
	SILENCE_S_MAX = 15,	/* what has not come that long after the last was due is lost */
	LATE_MS = 1,		/* a message that goes out so long after it was due went out late */
};

static const char tag[] = "note-";

struct open_loop {
	const struct open_loop_config *config;
	int epoll;
	struct peer_client *clients;	/* senders, then receivers */
	struct buf *payloads;		/* of each sender */
	struct peer_client **free;	/* senders that wait for nothing */
	uint64_t free_count;
	struct peer_client *done;	/* senders whose message is safe, to be looked at */

	int64_t start_ns;
	uint64_t total;
	uint64_t warmup;		/* of them are not counted */
	uint64_t sent;
	uint64_t safe;
	uint64_t received;
	uint64_t twice;
	uint64_t late;
	bool *came;
	struct measure delivered;
	struct measure confirmed;
};

static int64_t due_ns(const struct open_loop *l, uint64_t number)
{
	return l->start_ns + (int64_t)((double)number * 1e9 / l->config->rate);
}

/* --- Messages --- */

static void put_number(struct buf *payload, uint64_t number)
{
	for (int i = DIGITS - 1; i >= 0; i--, number /= 10)
		payload->data[sizeof(tag) - 1 + (size_t)i] = (char)('0' + number % 10);
}

void peer_received(struct peer_client *client, struct str body)
{
	struct open_loop *l = client->loop;
	int64_t now_ns = clock_mono_ns();
	const char *at = memmem(body.p, body.n, tag, sizeof(tag) - 1);
	char digits[DIGITS + 1] = "";
	uint64_t number;

	if (at == NULL || (size_t)(body.p + body.n - at) < sizeof(tag) - 1 + DIGITS)
		peer_fail("a message without its number");
	memcpy(digits, at + sizeof(tag) - 1, DIGITS);
	number = strtoull(digits, NULL, 10);
	if (number >= l->total)
		peer_fail("a message of the number %s", digits);
	if (l->came[number]) {
		l->twice++;
		return;
	}
	l->came[number] = true;
	l->received++;
	if (number >= l->warmup)
		measure_add(&l->delivered, now_ns - due_ns(l, number));
}

static void send_due(struct open_loop *l)
{
	int64_t now_ns = clock_mono_ns();

	while (l->sent < l->total && l->free_count > 0 && due_ns(l, l->sent) <= now_ns) {
		struct peer_client *c = l->free[--l->free_count];

		c->began_ns = due_ns(l, l->sent);
		if (l->sent >= l->warmup && now_ns - c->began_ns > INT64_C(1000000) * LATE_MS)
			l->late++;
		put_number(&l->payloads[c - l->clients], l->sent++);
		l->config->peer->begin(c);
		now_ns = clock_mono_ns();
	}
}

static void take_safe(struct open_loop *l)
{
	int64_t now_ns = l->done ? clock_mono_ns() : 0;

	while (l->done) {
		struct peer_client *c = l->done;

		l->done = c->next_done;
		l->free[l->free_count++] = c;
		l->safe++;
		if (c->began_ns >= due_ns(l, l->warmup))
			measure_add(&l->confirmed, now_ns - c->began_ns);
	}
}

/* --- The run --- */

static void open_client(struct open_loop *l, uint64_t i)
{
	const struct open_loop_config *config = l->config;
	struct peer_client *c = &l->clients[i];
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
	bool sends = i < config->senders;

	/* Those that send and those that receive share no connection. */
	*c = (struct peer_client){
		.number = i + 1, .role = sends ? PEER_SENDS : PEER_RECEIVES, .port = config->port, .epoll = l->epoll,
		.fd = -1, .done = &l->done, .before = i != 0 && i != config->senders ? c - 1 : NULL, .loop = l,
		.payload = buf_str(&l->payloads[sends ? i : 0]),
	};
	config->peer->open(c);
	if (c->fd >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0)
		peer_fail("epoll_ctl: %s", strerror(errno));
}

static void open_clients(struct open_loop *l)
{
	const struct open_loop_config *config = l->config;

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->clients = mem_calloc(config->senders + config->receivers, sizeof(*l->clients));
	l->payloads = mem_calloc(config->senders, sizeof(*l->payloads));
	l->free = mem_calloc(config->senders, sizeof(struct peer_client *));
	config->peer->prepare(config->port);
	for (uint64_t i = 0; i < config->senders; i++) {
		buf_init(&l->payloads[i], config->bytes * 2 + 1024);
		scenario_put_text(&l->payloads[i], UINT64_C(100000000000), config->bytes);
		l->payloads[i].len = config->bytes;
	}
	for (uint64_t i = 0; i < config->senders + config->receivers; i++)
		open_client(l, i);
	for (uint64_t i = 0; i < config->senders; i++)
		l->free[l->free_count++] = &l->clients[i];
	for (uint64_t i = 0; i < config->receivers; i++)
		config->peer->begin(&l->clients[config->senders + i]);
}

/* Until the next one is due, or something happens. */
static void wait_events(struct open_loop *l)
{
	struct epoll_event events[EVENTS];
	int64_t left_ns = INT64_C(1000000000);
	struct timespec timeout;
	int n;

	if (l->sent < l->total && l->free_count > 0)
		left_ns = due_ns(l, l->sent) - clock_mono_ns();
	if (left_ns < 0)
		left_ns = 0;
	timeout = (struct timespec){.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
	n = epoll_pwait2(l->epoll, events, EVENTS, &timeout, NULL);
	for (int i = 0; i < n; i++)
		l->config->peer->ready(events[i].data.ptr, events[i].events);
}

static void run(struct open_loop *l)
{
	int64_t stop_ns;

	l->start_ns = clock_mono_ns() + INT64_C(1000000) * START_MS;
	stop_ns = due_ns(l, l->total) + INT64_C(1000000000) * SILENCE_S_MAX;
	while ((l->received < l->total || l->safe < l->total) && clock_mono_ns() < stop_ns) {
		send_due(l);
		wait_events(l);
		take_safe(l);
	}
}

static void report(struct open_loop *l)
{
	const struct open_loop_config *config = l->config;
	const struct measure *d = &l->delivered, *s = &l->confirmed;

	measure_sort(&l->delivered);
	measure_sort(&l->confirmed);
	printf("{\"peer\":\"%s\",\"rate\":%.0f,\"seconds\":%.0f,\"messages\":%zu,\"lost\":%" PRIu64
	       ",\"twice\":%" PRIu64 ",\"late\":%" PRIu64 ",\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"p999_ms\":%.3f,"
	       "\"max_ms\":%.3f,\"safe_p50_ms\":%.3f,\"safe_p99_ms\":%.3f,\"load_cpu_us\":%.1f}\n",
	       config->peer->name, config->rate, config->seconds, d->count, l->total - l->received, l->twice, l->late,
	       measure_ms(d, 0.5), measure_ms(d, 0.99), measure_ms(d, 0.999), measure_ms(d, 1), measure_ms(s, 0.5),
	       measure_ms(s, 0.99), measure_own_cpu_us() / (double)l->total);
}

int open_loop(const struct open_loop_config *config)
{
	struct open_loop l = {
		.config = config,
		.total = (uint64_t)(config->rate * (config->warmup_s + config->seconds)),
		.warmup = (uint64_t)(config->rate * config->warmup_s),
	};

	l.came = mem_calloc(l.total, sizeof(*l.came));
	open_clients(&l);
	run(&l);
	report(&l);
	/* The connections end with the program: what waits at their other ends has nothing left to receive. */
	for (uint64_t i = 0; i < config->senders; i++)
		buf_release(&l.payloads[i]);
	free(l.payloads);
	free(l.clients);
	free(l.free);
	free(l.came);
	measure_release(&l.delivered);
	measure_release(&l.confirmed);
	close(l.epoll);
	return l.received < l.total || l.safe < l.total ? 1 : 0;
}
