#include "api/http/feed.h"

#include "api/describe/write.h"
#include "api/event_json.h"
#include "api/http/entry.h"
#include "api/http/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/watch/event_list.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	BATCH_EVENTS = 256,
	BATCH_BYTES = 64 * 1024,	/* a batch ends with the event that passes it */
	BATCHES = 4,
	SHARE = 32,			/* one part of the time in so many, while something is being written */
	SHARE_QUIET = 4,		/* and when nothing was, for QUIET_MS */
	QUIET_MS = 100,
	BLOCKED_MS = 20,		/* until it is seen again whether slow clients have taken something */
};

#define ROUND_MAX_NS INT64_C(2000000)
#define MS_NS INT64_C(1000000)
#define EVENT_MAX_BYTES (8 << 20)

struct stream {
	struct list link;
	struct http_call *http;
	struct feed_thread *thread;
	int64_t after;			/* everything up to here was given, or is not wanted */
	int64_t seen;			/* of the whole history: there is nothing for it between `after` and here */
	int64_t gone_before;		/* of a stream of all that is kept: what was pruned when it began */
	uint64_t kinds;
	int64_t beat_at_ns;
};

/* What streams at one place are given. */
struct batch {
	int64_t space;
	int64_t after;
	uint64_t kinds;
	struct str party;		/* who sees only its own; p == NULL: everybody. Of a stream that is open */
	bool sees_keys;
	int64_t until;
	bool is_last;			/* that is the end of the space's history */
	int64_t pruned;			/* the highest number that was pruned */
	struct buf text;
};

struct feed_thread {
	struct feed *feed;
	int index;
	atomic_size_t open;
	atomic_bool is_woken;		/* a post or a timer will lead to a round */
	/* The HTTP thread's own. */
	struct list streams;		/* the one whose turn is next comes first */
	struct list over;		/* those that the round has ended */
	struct stream *carrier;		/* the one whose timer is set for the next round; NULL: none is */
	int64_t rest_until_ns;
	int64_t woken_at_ns;		/* by a commit, last */
	/* Of the round under way. */
	struct event_reading reading;
	int64_t last;			/* the end of the whole history */
	struct batch batches[BATCHES];
	size_t batch_count;
	struct event_row *rows;
};

struct feed {
	struct api *api;
	int threads;
	struct feed_thread each[];
};

struct feed *feed_new(struct api *api, int threads)
{
	struct feed *f = mem_zalloc(sizeof(*f) + (size_t)threads * sizeof(f->each[0]));

	f->api = api;
	f->threads = threads;
	for (int i = 0; i < threads; i++) {
		f->each[i].feed = f;
		f->each[i].index = i;
		list_init(&f->each[i].streams);
		list_init(&f->each[i].over);
	}
	return f;
}

static void release_room(struct feed_thread *t)
{
	for (int i = 0; i < BATCHES; i++)
		buf_release(&t->batches[i].text);
	free(t->rows);
	t->rows = NULL;
}

void feed_free(struct feed *f)
{
	for (int i = 0; f && i < f->threads; i++)
		release_room(&f->each[i]);
	free(f);
}

size_t feed_count(struct feed *f)
{
	size_t count = 0;

	for (int i = 0; i < f->threads; i++)
		count += atomic_load(&f->each[i].open);
	return count;
}

static int64_t next_beat_ns(const struct feed_thread *t)
{
	return clock_mono_ns() + t->feed->api->limits.heartbeat_ms * MS_NS;
}

/* --- Batches --- */

static void put_event(struct buf *out, const struct event_row *event, struct str space_name, struct arena *arena)
{
	struct json_writer w;

	buf_printf(out, "id: %lld\ndata: ", (long long)event->number);
	json_writer_init(&w, out);
	shape_write_with(&shape_cloud_event, event, &(struct event_place){space_name, arena}, &w);
	buf_puts(out, "\n\n");
}

static enum store_status fill(struct feed_thread *t, struct batch *b, const struct op *op)
{
	struct event_filter filter = {.space = b->space, .kinds = b->kinds};
	struct arena arena;
	size_t count = 0, i = 0;
	enum store_status status;
	int64_t last = 0;

	if (t->rows == NULL)
		t->rows = mem_calloc(BATCH_EVENTS, sizeof(*t->rows));
	arena_init(&arena);
	status = event_list_end_of(&t->reading, b->space, &b->pruned, &last);
	if (status == STORE_OK)
		status = event_list_behind(&t->reading, &filter, op->access, b->after, last, BATCH_EVENTS, &arena,
					   t->rows, &count, &b->until);
	while (status == STORE_OK && i < count && b->text.len < BATCH_BYTES)
		put_event(&b->text, &t->rows[i++], op->space_name, &arena);
	if (status == STORE_OK && i < count)
		b->until = t->rows[i - 1].number;
	b->is_last = b->until >= last;
	arena_release(&arena);
	return status;
}

/* The batch for a stream, made or found. NULL where the store does not give it. */
static const struct batch *batch_of(struct feed_thread *t, const struct stream *s)
{
	const struct op *op = s->http->call.op;
	struct str party = access_party(op->access);
	bool sees_keys = access_sees_keys(op->access);
	struct batch *b;

	for (size_t i = 0; i < BATCHES && i < t->batch_count; i++) {
		b = &t->batches[i];
		if (b->space == op->space && b->after == s->after && b->kinds == s->kinds && str_eq(b->party, party) &&
		    b->sees_keys == sees_keys)
			return b;
	}
	b = &t->batches[t->batch_count++ % BATCHES];
	buf_release(&b->text);
	buf_init(&b->text, BATCH_BYTES + EVENT_MAX_BYTES);
	b->space = op->space;
	b->after = s->after;
	b->kinds = s->kinds;
	b->party = party;
	b->sees_keys = sees_keys;
	if (fill(t, b, op) == STORE_OK && !buf_overflowed(&b->text))
		return b;
	b->space = -1;
	return NULL;
}

/* --- Rounds --- */

static void on_timer(struct http_req *req, void *arg);

static int64_t ms_until(int64_t at_ns)
{
	int64_t left_ns = at_ns - clock_mono_ns();

	return left_ns > 0 ? (left_ns + MS_NS - 1) / MS_NS : 1;
}

/* Has some stream's timer call for the next round, after the rest. */
static void arm(struct feed_thread *t)
{
	if (t->carrier || list_is_empty(&t->streams))
		return;
	t->carrier = LIST_ELEMENT(t->streams.next, struct stream, link);
	http_req_set_timer(t->carrier->http->req, ms_until(t->rest_until_ns), on_timer, t->carrier);
}

/* A space that does not exist has no events. */
static bool find_space(struct feed_thread *t, struct stream *s)
{
	struct op *op = s->http->call.op;

	return op->space || spaces_find(op->engine->spaces, t->reading.conn, op->space_name, &op->space) == STORE_OK;
}

/* SERVED_LAST: it has missed something, and ends. */
enum served { SERVED_ALL, SERVED_SOME, SERVED_NOT, SERVED_LAST };

static enum served serve(struct feed_thread *t, struct stream *s)
{
	const struct batch *b;

	if (s->seen >= t->last)
		return SERVED_ALL;
	if (!api_may_answer(t->feed->api))
		return SERVED_NOT;
	/* It has not taken what it was given before. */
	if (http_stream_write(s->http->req, STR("")) > 0)
		return SERVED_NOT;
	if (!find_space(t, s)) {
		s->seen = t->last;
		return SERVED_ALL;
	}
	b = batch_of(t, s);
	if (b == NULL)
		return SERVED_NOT;
	if (s->after == 0)
		s->gone_before = b->pruned;
	if (s->after < b->pruned && s->gone_before < b->pruned) {
		event_list_refuse_pruned(&s->http->call.op->problem, s->after, b->pruned);
		return SERVED_LAST;
	}
	if (b->text.len) {
		http_stream_write(s->http->req, buf_str(&b->text));
		s->beat_at_ns = next_beat_ns(t);
	}
	s->after = b->until;
	if (b->is_last)
		s->seen = t->last;
	/* One that is made again under the same name is followed. */
	if (b->is_last && spaces_is_gone(s->http->call.op->engine->spaces, s->http->call.op->space))
		s->http->call.op->space = 0;
	return b->is_last ? SERVED_ALL : SERVED_SOME;
}

static void run_round(struct feed_thread *t)
{
	int64_t began_ns = clock_mono_ns(), now_ns = began_ns;
	bool is_behind = false, is_blocked = false, is_quiet;
	size_t left = atomic_load(&t->open);

	/* What is committed from here on wakes again. */
	atomic_store(&t->is_woken, false);
	t->batch_count = 0;
	if (event_list_begin(api_reader(t->feed->api, t->index), &t->reading, &t->last) != STORE_OK)
		left = 0;
	for (; left > 0 && now_ns - began_ns < ROUND_MAX_NS; left--) {
		struct stream *s = LIST_ELEMENT(t->streams.next, struct stream, link);
		enum served served;

		list_remove(&s->link);
		list_add(&t->streams, &s->link);
		served = serve(t, s);
		is_behind |= served == SERVED_SOME;
		is_blocked |= served == SERVED_NOT;
		if (served == SERVED_LAST) {
			list_remove(&s->link);
			list_add(&t->over, &s->link);
		}
		now_ns = clock_mono_ns();
	}
	event_list_end(&t->reading);
	is_quiet = now_ns - t->woken_at_ns > QUIET_MS * MS_NS;
	t->rest_until_ns = now_ns + (now_ns - began_ns) * ((is_quiet ? SHARE_QUIET : SHARE) - 1);
	if (left > 0)
		is_behind = true;
	if (is_blocked && !is_behind && t->rest_until_ns < now_ns + BLOCKED_MS * MS_NS)
		t->rest_until_ns = now_ns + BLOCKED_MS * MS_NS;
	if (is_behind || is_blocked)
		arm(t);
}

/* Through a timer, not at once: the replies that the same commit has set free go first. */
static void on_wake(void *arg)
{
	struct feed_thread *t = arg;

	t->woken_at_ns = clock_mono_ns();
	if (list_is_empty(&t->streams))
		atomic_store(&t->is_woken, false);
	else
		arm(t);
}

void feed_wake(struct feed *f)
{
	for (int i = 0; f && i < f->threads; i++) {
		struct feed_thread *t = &f->each[i];

		if (atomic_load(&t->open) && !atomic_exchange(&t->is_woken, true))
			http_post(f->api->http, i, on_wake, t);
	}
}

/* --- A stream --- */

static void close_stream(struct stream *s)
{
	struct feed_thread *t = s->thread;

	list_remove(&s->link);
	atomic_fetch_sub(&t->open, 1);
	if (t->carrier == s) {
		t->carrier = NULL;
		arm(t);
	}
	if (list_is_empty(&t->streams))
		release_room(t);
	reply_send(s->http);
}

/* With its position, so that a client that wants only few of the events need not go through all of the others when it
 * comes back. */
static void beat(struct stream *s)
{
	char text[64];
	int n;

	if (http_stream_write(s->http->req, STR("")) == 0) {
		n = snprintf(text, sizeof(text), ": still here\nid: %lld\n\n", (long long)s->after);
		http_stream_write(s->http->req, (struct str){text, (size_t)n});
	}
	s->beat_at_ns = next_beat_ns(s->thread);
}

/* Returns whether that one was among them. */
static bool close_over(struct feed_thread *t, const struct stream *which)
{
	bool is_among = false;

	while (!list_is_empty(&t->over)) {
		struct stream *s = LIST_ELEMENT(t->over.next, struct stream, link);

		is_among |= s == which;
		close_stream(s);
	}
	return is_among;
}

static void on_timer(struct http_req *req, void *arg)
{
	struct stream *s = arg;
	struct feed_thread *t = s->thread;

	if (api_is_ending(t->feed->api)) {
		close_stream(s);
		return;
	}
	if (t->carrier == s) {
		t->carrier = NULL;
		run_round(t);
		if (close_over(t, s))
			return;
	}
	if (clock_mono_ns() >= s->beat_at_ns)
		beat(s);
	if (t->carrier != s)
		http_req_set_timer(req, ms_until(s->beat_at_ns), on_timer, s);
}

static void on_gone(struct http_req *req, void *arg)
{
	(void)req;
	close_stream(arg);
}

static void on_unwelcome(void *arg)
{
	struct stream *s = arg;
	struct op *op = s->http->call.op;

	if (!held_is_welcome(&s->http->held))
		entry_ended(&op->problem, op->access);
	close_stream(s);
}

void feed_open(struct http_call *http, int64_t after, uint64_t kinds)
{
	static const struct http_header headers[] = {
		{"Cache-Control", {"no-store", 8}}, {"X-Accel-Buffering", {"no", 2}}, {0},
	};
	struct feed_thread *t = &http->call.api->feed->each[http_req_thread(http->req)];
	struct stream *s = arena_zalloc(http->call.op->arena, sizeof(*s));
	char text[128];
	int n;

	*s = (struct stream){
		.http = http, .thread = t, .after = after, .kinds = kinds, .beat_at_ns = next_beat_ns(t),
	};
	http->is_stream = true;
	held_add(http->call.api, http->req, &http->held, http->call.op->access, on_unwelcome, s);
	http_stream_begin(http->req, 200, "text/event-stream", headers);
	n = snprintf(text, sizeof(text), ": events follow as they happen\nretry: 1000\nid: %lld\n\n", (long long)after);
	http_stream_write(http->req, (struct str){text, (size_t)n});
	list_init(&s->link);
	list_add(&t->streams, &s->link);
	atomic_fetch_add(&t->open, 1);
	http_req_on_gone(http->req, on_gone, s);
	http_req_set_timer(http->req, ms_until(s->beat_at_ns), on_timer, s);
	arm(t);
}
