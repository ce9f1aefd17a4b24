/* Open dashboards, as a server sees them, without browsers.
 *
 *     dashboards [--count N] [--spread S] PORT
 *
 * N people look at the overview of the space "default", in which something has happened and nothing is parked. Each
 * holds an event stream and reads four things again when something has happened to them, as dashboard/src/live.ts and
 * resource.ts do it, at their pace and with the headers that a browser sends.
 *
 *     opening -> seed -> live -> busy -> seed …
 *
 * is the state machine of live.ts: a page that hears more than BUSY_EVENTS in a second hangs up, looks BUSY_POLLS
 * times, and listens again. What is left out is what the server does not notice, drawing, and the page's own files. One
 * thread and epoll, connections that stay open.
 *
 * Opens them over S seconds, prints the line "open" when all of them have listened once, and goes on until its standard
 * input ends; then it prints one line of JSON. Whoever starts it looks at its CPU time.
 */
#include "link.h"
#include "measure.h"
#include "scenario.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of live.ts. */
enum { BUSY_EVENTS = 300, BUSY_POLL_MS = 2000, BUSY_POLLS = 6, RETRY_MS = 500, SEED_EVENTS = 200 };
/* Of resource.ts: at most a tenth of the time is spent reading. */
enum { READING_SHARE_INVERSE = 10, GAP_MAX_MS = 10000 };
enum { COUNT_MAX = 2000, EVENTS = 256, LINKS_A_DASHBOARD = 5, TOPICS_MAX = 3, TEXT_BYTES_MAX = 16 << 20 };

#define MS_NS INT64_C(1000000)
#define TYPE_PREFIX "\"type\":\"com.memoryspine."
/* What Chromium sends with a fetch of the page. */
#define BROWSER \
	"Connection: keep-alive\r\nPragma: no-cache\r\nCache-Control: no-cache\r\nSpine-Space: default\r\n" \
	"sec-ch-ua-platform: \"Linux\"\r\nsec-ch-ua: \"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"\r\n" \
	"sec-ch-ua-mobile: ?0\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n" \
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " \
	"Safari/537.36\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n"

/* What the overview shows of the server. */
struct resource {
	const char *path;
	const char *topics[TOPICS_MAX];	/* beginnings of the kinds of events that change it */
	int gap_ms;			/* between two readings at least */
	int every_ms;			/* read again after that time in any case; 0: not */
	int users;			/* parts of the page that want it read when something has happened */
};

static const struct resource resources[] = {
	{"/v1/stats?window=5m", {"handoff.", "envelope.", "breaker."}, 1500, 5000, 1},
	{"/v1/alerts?state=all&page_size=100", {"alert."}, 600, 0, 1},
	{"/v1/stats?window=1m", {"handoff."}, 1500, 0, 2},
	{"/v1/agents?page_size=500", {"handoff.", "breaker.", "agent."}, 2000, 15000, 1},
};

enum { RESOURCES = sizeof(resources) / sizeof(resources[0]), ALL = (1 << RESOURCES) - 1 };

/* What is read only when the page is opened: whether there is anything at all, and again when it is known that there
 * is. */
static const char *const opening[] = {
	"/v1/status", "/v1/agents?page_size=1", "/v1/tasks?page_size=1",
	"/v1/status", "/v1/agents?page_size=1", "/v1/tasks?page_size=1",
};

enum { OPENINGS = sizeof(opening) / sizeof(opening[0]) };

struct source {
	struct link link;
	bool is_reading;
	bool is_wanted;			/* once more, after the reading */
	int64_t began_ns;
	int64_t may_at_ns;
	int64_t read_at_ns;		/* 0: no timer */
	int64_t every_at_ns;
};

enum state {
	STATE_NEW,
	STATE_OPENING,
	STATE_SEED_END,		/* asks where the history ends */
	STATE_SEED_PAGE,	/* and for the last of it */
	STATE_ASKED,		/* for the stream */
	STATE_LIVE,
	STATE_BUSY,
	STATE_LOST,
};

struct dashboard {
	enum state state;
	bool was_live;
	size_t opened;			/* of `opening` */
	uint64_t last_id;
	struct link stream;
	struct buf text;		/* of the stream, without its chunks */
	size_t chunk_left;
	int64_t heard_second;
	unsigned heard;			/* in it */
	int polls;
	int64_t act_at_ns;		/* when the state ends by itself; 0: never */
	struct source sources[RESOURCES];
};

struct dashboards {
	uint16_t port;
	uint64_t count;
	double spread_s;

	int epoll;
	struct dashboard *each;
	int64_t due_ns;			/* no timer ends before */
	uint64_t live;			/* have been live once */
	struct measure reads;
	uint64_t events, hangups, lost, failed;
};

static void set_timer(struct dashboards *p, int64_t *timer_ns, int64_t at_ns)
{
	*timer_ns = at_ns;
	if (at_ns < p->due_ns)
		p->due_ns = at_ns;
}

static void put_get(struct link *l, const char *path, const char *headers)
{
	buf_clear(&l->out);
	buf_clear(&l->in);
	scenario_put_request(&l->out, "GET", path, headers, STR(""));
	link_send(l);
}

/* --- Readings: resource.ts --- */

static void read_source(struct dashboards *p, struct dashboard *d, struct source *s)
{
	s->read_at_ns = 0;
	s->is_reading = true;
	s->began_ns = clock_mono_ns();
	if (!s->link.is_open)
		link_open(&s->link, p->epoll, p->port, d);
	put_get(&s->link, resources[s - d->sources].path, BROWSER "Accept: */*\r\n");
}

static void want(struct dashboards *p, struct dashboard *d, struct source *s)
{
	if (s->is_reading)
		s->is_wanted = true;
	else if (clock_mono_ns() >= s->may_at_ns)
		read_source(p, d, s);
	else if (s->read_at_ns == 0)
		set_timer(p, &s->read_at_ns, s->may_at_ns);
}

/* Something has happened to the sources of the mask. */
static void tell(struct dashboards *p, struct dashboard *d, unsigned mask)
{
	for (size_t i = 0; i < RESOURCES; i++)
		for (int user = 0; mask & 1U << i && user < resources[i].users; user++)
			want(p, d, &d->sources[i]);
}

static void on_source(struct dashboards *p, struct dashboard *d, struct source *s)
{
	int64_t gap_ns = resources[s - d->sources].gap_ms * MS_NS, now_ns, slow_ns;
	enum link_read read = link_read(&s->link);
	struct str body;
	int status;

	if (read == LINK_ENDED) {
		/* It was not used for long. A browser makes a new one, too. */
		link_close(&s->link);
		if (s->is_reading)
			read_source(p, d, s);
		return;
	}
	if (read == LINK_NOTHING || !s->is_reading || !link_reply(&s->link, &status, &body))
		return;
	now_ns = clock_mono_ns();
	p->failed += status != 200;
	measure_add(&p->reads, now_ns - s->began_ns);
	buf_clear(&s->link.in);
	slow_ns = (now_ns - s->began_ns) * READING_SHARE_INVERSE;
	if (slow_ns > GAP_MAX_MS * MS_NS)
		slow_ns = GAP_MAX_MS * MS_NS;
	s->may_at_ns = now_ns + (slow_ns > gap_ns ? slow_ns : gap_ns);
	s->is_reading = false;
	if (s->is_wanted) {
		s->is_wanted = false;
		want(p, d, s);
	}
}

/* --- The stream: live.ts --- */

/* The request of the state. */
static void ask(struct dashboard *d)
{
	char path[128], headers[sizeof(BROWSER) + 128];

	if (d->state == STATE_OPENING) {
		put_get(&d->stream, opening[d->opened], BROWSER "Accept: */*\r\n");
	} else if (d->state == STATE_SEED_END) {
		put_get(&d->stream, "/v1/events?after=9007199254740991&limit=1",
			BROWSER "Accept: application/json\r\n");
	} else if (d->state == STATE_SEED_PAGE) {
		snprintf(path, sizeof(path), "/v1/events?after=%" PRIu64 "&limit=%d",
			 d->last_id > SEED_EVENTS ? d->last_id - SEED_EVENTS : 0, SEED_EVENTS);
		put_get(&d->stream, path, BROWSER "Accept: application/json\r\n");
	} else {
		snprintf(headers, sizeof(headers),
			 BROWSER "Accept: text/event-stream\r\nLast-Event-ID: %" PRIu64 "\r\n", d->last_id);
		put_get(&d->stream, "/v1/events", headers);
	}
}

static void connect_stream(struct dashboards *p, struct dashboard *d, enum state state)
{
	link_close(&d->stream);
	link_open(&d->stream, p->epoll, p->port, d);
	buf_clear(&d->text);
	d->chunk_left = 0;
	d->act_at_ns = 0;
	d->state = state;
	ask(d);
}

static void lose(struct dashboards *p, struct dashboard *d)
{
	p->lost++;
	link_close(&d->stream);
	d->state = STATE_LOST;
	set_timer(p, &d->act_at_ns, clock_mono_ns() + RETRY_MS * MS_NS);
}

static void be_busy(struct dashboards *p, struct dashboard *d)
{
	link_close(&d->stream);
	d->state = STATE_BUSY;
	tell(p, d, ALL);
	set_timer(p, &d->act_at_ns, clock_mono_ns() + BUSY_POLL_MS * MS_NS);
}

static void be_live(struct dashboards *p, struct dashboard *d)
{
	d->state = STATE_LIVE;
	if (!d->was_live) {
		d->was_live = true;
		p->live++;
		if (p->live == p->count) {
			puts("open");
			fflush(stdout);
		}
	}
	tell(p, d, ALL);
}

/* A reply before the stream. */
static void on_answer(struct dashboards *p, struct dashboard *d)
{
	const char *next;
	struct str body;
	int status;

	if (!link_reply(&d->stream, &status, &body))
		return;
	if (status != 200) {
		p->failed++;
		lose(p, d);
		return;
	}
	if (d->state == STATE_OPENING) {
		if (++d->opened == OPENINGS)
			d->state = STATE_SEED_END;
	} else {
		next = memmem(body.p, body.n, "\"next\":", 7);
		d->last_id = next ? strtoull(next + 7, NULL, 10) : 0;
		d->state = d->state == STATE_SEED_END ? STATE_SEED_PAGE : STATE_ASKED;
	}
	ask(d);
}

/* Which sources the event changes; 0 where the block is none, but a heartbeat. */
static unsigned parse_event(struct dashboard *d, struct str block, bool *ret_is_event)
{
	const char *data = memmem(block.p, block.n, "data:", 5), *type;
	unsigned mask = 0;

	if (block.n > 4 && memcmp(block.p, "id: ", 4) == 0)
		d->last_id = strtoull(block.p + 4, NULL, 10);
	type = data ? memmem(data, block.n - (size_t)(data - block.p), TYPE_PREFIX, sizeof(TYPE_PREFIX) - 1) : NULL;
	*ret_is_event = type != NULL;
	if (type == NULL)
		return 0;
	/* What the buffer ends with is a NUL, so that no comparison runs beyond it. */
	type += sizeof(TYPE_PREFIX) - 1;
	for (size_t i = 0; i < RESOURCES; i++)
		for (int t = 0; t < TOPICS_MAX && resources[i].topics[t]; t++)
			if (strncmp(type, resources[i].topics[t], strlen(resources[i].topics[t])) == 0)
				mask |= 1U << i;
	return mask;
}

static void on_text(struct dashboards *p, struct dashboard *d)
{
	int64_t second = clock_wall_ms() / 1000;
	struct str rest = buf_str(&d->text);
	unsigned mask = 0, events = 0;
	const char *end;

	while (rest.n && (end = memmem(rest.p, rest.n, "\n\n", 2)) != NULL) {
		size_t len = (size_t)(end - rest.p);
		bool is_event;

		mask |= parse_event(d, (struct str){rest.p, len}, &is_event);
		events += is_event;
		rest = str_sub(rest, len + 2, rest.n);
	}
	buf_consume(&d->text, d->text.len - rest.n);
	p->events += events;
	d->heard = second == d->heard_second ? d->heard + events : events;
	d->heard_second = second;
	if (mask)
		tell(p, d, mask);
	if (d->heard > BUSY_EVENTS) {
		p->hangups++;
		d->polls = BUSY_POLLS;
		be_busy(p, d);
	}
}

/* Moves what has come from the chunks to d->text. False where they end, or are none. */
static bool take_chunks(struct dashboard *d)
{
	struct str in = buf_str(&d->stream.in);
	bool is_well = true;

	while (in.n > 0 && is_well) {
		const char *end;

		if (d->chunk_left > 0) {
			size_t n = in.n < d->chunk_left ? in.n : d->chunk_left;
			/* The line end behind it is counted with the chunk. */
			size_t end_bytes = d->chunk_left - n < 2 ? 2 - (d->chunk_left - n) : 0;

			buf_append(&d->text, in.p, n > end_bytes ? n - end_bytes : 0);
			d->chunk_left -= n;
			in = str_sub(in, n, in.n);
			continue;
		}
		end = memmem(in.p, in.n, "\r\n", 2);
		if (end == NULL)
			break;
		d->chunk_left = strtoull(in.p, NULL, 16);
		is_well = d->chunk_left > 0;
		d->chunk_left += 2;
		in = str_sub(in, (size_t)(end - in.p) + 2, in.n);
	}
	buf_consume(&d->stream.in, d->stream.in.len - in.n);
	return is_well && !buf_overflowed(&d->text);
}

static void on_stream(struct dashboards *p, struct dashboard *d)
{
	enum link_read read = link_read(&d->stream);
	const char *end;

	if (read == LINK_ENDED)
		lose(p, d);
	if (read != LINK_CAME)
		return;
	if (d->state < STATE_ASKED) {
		on_answer(p, d);
		return;
	}
	if (d->state == STATE_ASKED) {
		end = memmem(d->stream.in.data, d->stream.in.len, "\r\n\r\n", 4);
		if (end == NULL)
			return;
		if (atoi(d->stream.in.data + 9) != 200) {
			p->failed++;
			lose(p, d);
			return;
		}
		buf_consume(&d->stream.in, (size_t)(end - d->stream.in.data) + 4);
		be_live(p, d);
	}
	if (take_chunks(d))
		on_text(p, d);
	else
		lose(p, d);
}

/* --- Time --- */

static void open_dashboard(struct dashboards *p, struct dashboard *d)
{
	int64_t now_ns = clock_mono_ns();

	connect_stream(p, d, STATE_OPENING);
	for (size_t i = 0; i < RESOURCES; i++) {
		read_source(p, d, &d->sources[i]);
		if (resources[i].every_ms)
			set_timer(p, &d->sources[i].every_at_ns, now_ns + resources[i].every_ms * MS_NS);
	}
}

static void act(struct dashboards *p, struct dashboard *d)
{
	d->act_at_ns = 0;
	if (d->state == STATE_NEW)
		open_dashboard(p, d);
	else if (d->state == STATE_BUSY && --d->polls > 0)
		be_busy(p, d);
	else if (d->state == STATE_BUSY)
		connect_stream(p, d, STATE_SEED_END);
	else if (d->state == STATE_LOST)
		connect_stream(p, d, d->was_live ? STATE_ASKED : STATE_SEED_END);
}

/* Does what is due, and finds when the next is. */
static void run_timers(struct dashboards *p, int64_t now_ns)
{
	if (now_ns < p->due_ns)
		return;
	p->due_ns = INT64_MAX;
	for (uint64_t i = 0; i < p->count; i++) {
		struct dashboard *d = &p->each[i];

		if (d->act_at_ns && d->act_at_ns <= now_ns)
			act(p, d);
		for (size_t k = 0; k < RESOURCES; k++) {
			struct source *s = &d->sources[k];

			if (s->read_at_ns && s->read_at_ns <= now_ns)
				read_source(p, d, s);
			if (s->every_at_ns && s->every_at_ns <= now_ns) {
				s->every_at_ns += resources[k].every_ms * MS_NS;
				want(p, d, s);
			}
			if (s->read_at_ns && s->read_at_ns < p->due_ns)
				p->due_ns = s->read_at_ns;
			if (s->every_at_ns && s->every_at_ns < p->due_ns)
				p->due_ns = s->every_at_ns;
		}
		if (d->act_at_ns && d->act_at_ns < p->due_ns)
			p->due_ns = d->act_at_ns;
	}
}

static int ms_left(const struct dashboards *p)
{
	int64_t left_ns = p->due_ns - clock_mono_ns();

	if (p->due_ns == INT64_MAX)
		return -1;
	return left_ns > 0 ? (int)(left_ns / MS_NS + 1) : 0;
}

/* --- The run --- */

static void on_ready(struct dashboards *p, const struct epoll_event *event)
{
	struct link *link = event->data.ptr;
	struct dashboard *d = link->owner;

	/* It may have been closed because of what another one said. */
	if (!link->is_open)
		return;
	if (event->events & EPOLLOUT)
		link_writable(link);
	if (link == &d->stream)
		on_stream(p, d);
	else
		on_source(p, d, &d->sources[((char *)link - (char *)d->sources) / (ptrdiff_t)sizeof(d->sources[0])]);
}

static void run(struct dashboards *p)
{
	struct epoll_event events[EVENTS], input = {.events = EPOLLIN, .data.ptr = NULL};
	int64_t now_ns = clock_mono_ns();
	bool is_ended = false;

	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0) {
		fprintf(stderr, "dashboards: standard input must be a pipe or a terminal: it says when to end\n");
		exit(1);
	}
	p->each = mem_calloc(p->count, sizeof(*p->each));
	for (uint64_t i = 0; i < p->count; i++) {
		buf_init(&p->each[i].text, TEXT_BYTES_MAX);
		set_timer(p, &p->each[i].act_at_ns,
			  now_ns + 1 + (int64_t)(p->spread_s * 1e9 * (double)i / (double)p->count));
	}
	while (!is_ended) {
		int n = epoll_wait(p->epoll, events, EVENTS, ms_left(p));
		char byte;

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				on_ready(p, &events[i]);
			else
				is_ended = read(STDIN_FILENO, &byte, 1) <= 0;
		}
		run_timers(p, clock_mono_ns());
	}
	for (uint64_t i = 0; i < p->count; i++) {
		link_close(&p->each[i].stream);
		buf_release(&p->each[i].text);
		for (size_t k = 0; k < RESOURCES; k++)
			link_close(&p->each[i].sources[k].link);
	}
	free(p->each);
	close(p->epoll);
}

/* Every dashboard has some connections. */
static bool allow_descriptors(uint64_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > count * LINKS_A_DASHBOARD + 16;
}

static bool parse_options(struct dashboards *p, int argc, char **argv)
{
	static const struct option options[] = {
		{"count", required_argument, NULL, 'c'}, {"spread", required_argument, NULL, 's'}, {NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			p->count = strtoull(optarg, NULL, 10);
		else if (c == 's')
			p->spread_s = strtod(optarg, NULL);
		else
			return false;
	}
	p->port = optind == argc - 1 ? (uint16_t)atoi(argv[optind]) : 0;
	return p->port && p->count > 0 && p->count <= COUNT_MAX && p->spread_s >= 0;
}

int main(int argc, char **argv)
{
	struct dashboards p = {.count = 100, .spread_s = 5, .due_ns = INT64_MAX};

	if (!parse_options(&p, argc, argv)) {
		fprintf(stderr, "usage: dashboards [--count N] [--spread S] PORT\n");
		return 2;
	}
	if (!allow_descriptors(p.count)) {
		fprintf(stderr, "dashboards: this machine does not allow so many open files\n");
		return 1;
	}
	run(&p);
	measure_sort(&p.reads);
	printf("{\"dashboards\":%" PRIu64 ",\"live\":%" PRIu64 ",\"events\":%" PRIu64 ",\"hangups\":%" PRIu64 ","
	       "\"lost\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"reads\":%zu,\"read_p50_ms\":%.3f,\"read_p99_ms\":%.3f}\n",
	       p.count, p.live, p.events, p.hangups, p.lost, p.failed, p.reads.count, measure_ms(&p.reads, 0.5),
	       measure_ms(&p.reads, 0.99));
	measure_release(&p.reads);
	return p.failed ? 1 : 0;
}
