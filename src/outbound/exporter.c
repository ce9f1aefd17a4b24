#include "outbound/exporter.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json.h"
#include "core/envelope/unpack.h"
#include "core/watch/event.h"
#include "core/watch/span.h"
#include "outbound/poster_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
	BATCH_EVENTS = 512,
	WINDOW_EVENTS = 8192,		/* how far one read goes to find some */
	HISTORY_MAX = 4096,		/* more than attempts and fallbacks can make of a handoff */
	BODY_MAX_BYTES = 64 << 20,
	ANSWER_DEPTH = 16,
	POST_TIMEOUT_MS = 10000,
	FLUSH_MS = 2000,		/* for the last of it, when the server stops */
	RETRY_MAX_MS = 30000,
};

#define MS INT64_C(1000000)		/* in nanoseconds */

/* Some events, and how many spans are made of them. */
struct batch {
	size_t spans;
	int64_t until;			/* with it these events are done with */
	bool has_more;			/* there are more events behind it */
};

struct exporter {
	struct follower follower;
	const struct log *log;
	char *url;
	char *origin;			/* for the log */
	char instance[2 * SPAN_ID_SIZE + 1];
	int64_t interval_ms;
	int64_t behind_max;
	_Atomic uint64_t exported;
	_Atomic uint64_t dropped[EXPORTER_DROP_COUNT];
	_Atomic uint64_t failed_posts;
	/* The followers' thread's. */
	int64_t cursor;			/* the events up to here are done with */
	struct retention_hold *hold;	/* those behind it are not pruned; NULL: nobody asks */
	int64_t pause_until_ns;		/* spans gather, or the collector is left alone; 0: it waits for events */
	int64_t flush_until_ns;		/* 0: the server runs */
	int64_t retry_ms;		/* 0: the last post went well */
	struct post *post;		/* NULL: nothing is being posted */
	struct batch batch;		/* that is being posted */
	bool is_last_try;		/* it began when the server was stopping */
	bool has_given_up;		/* the last try has failed */
	struct event_row *history;
};

static struct store_conn *reader(const struct exporter *x)
{
	return x->follower.of->reader;
}

static void move_to(struct exporter *x, int64_t id)
{
	x->cursor = id;
	if (x->hold)
		atomic_store(&x->hold->done_with, id);
}

/* --- From events to spans --- */

/* What the events of a batch have in common, read once. */
struct reading {
	struct exporter *x;
	struct arena *arena;
	uint64_t envelope_num;
	int64_t envelope_space;
	bool has_envelope;
	bool is_inherited;
	struct envelope envelope;
	uint8_t root_digest[32];
};

static bool is_same(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

static bool read_skeleton(struct reading *r, int64_t space, uint64_t num, struct envelope *ret)
{
	struct envelope_row row;
	struct problem problem = {0};

	return store_envelope_get(reader(r->x), space, num, r->arena, &row) == STORE_OK &&
	       unpack_skeleton(&row, r->arena, ret, &problem) == P_OK;
}

/* Events of one envelope come close together: the last one is kept. */
static bool find_envelope(struct reading *r, int64_t space, uint64_t num)
{
	struct envelope parent, root;

	if (r->has_envelope && r->envelope_num == num && r->envelope_space == space)
		return true;
	r->has_envelope = false;
	if (!read_skeleton(r, space, num, &r->envelope))
		return false;
	memcpy(r->root_digest, r->envelope.digest, sizeof(r->root_digest));
	r->is_inherited = r->envelope.parent && read_skeleton(r, space, r->envelope.parent, &parent) &&
			  is_same(parent.traceparent, r->envelope.traceparent);
	/* Only a chain that nobody has named a trace for needs its root. */
	if (r->envelope.traceparent.p == NULL && r->envelope.root != num &&
	    read_skeleton(r, space, r->envelope.root, &root))
		memcpy(r->root_digest, root.digest, sizeof(r->root_digest));
	r->envelope_num = num;
	r->envelope_space = space;
	r->has_envelope = true;
	return true;
}

static bool span_of(struct reading *r, const struct event_row *event, struct span *ret)
{
	struct exporter *x = r->x;
	struct span_source source = {
		.event = event, .envelope = &r->envelope, .root_digest = r->root_digest, .input_tokens = -1,
	};
	struct result_row result;

	if (event->envelope == 0 || !find_envelope(r, event->space, event->envelope))
		return false;
	source.is_inherited = r->is_inherited;
	source.space_name = r->envelope.space;
	if (event->handoff) {
		struct event_filter filter = {.space = event->space, .handoff = event->handoff,
					      .kinds = span_history_kinds()};

		if (store_event_page(reader(x), &filter, 0, event->number, HISTORY_MAX, r->arena, x->history,
				     &source.history_count) != STORE_OK)
			return false;
		source.history = x->history;
	}
	if ((event->kind == EVENT_ACKED || event->kind == EVENT_COMPLETED) &&
	    store_result_get(reader(x), event->space, event->handoff, r->arena, &result) == STORE_OK)
		source.input_tokens = result.input_tokens;
	return span_of_event(&source, r->arena, ret);
}

/* --- A batch --- */

/* Reads the next events, and writes their spans. False where the store cannot be read. */
static bool gather(struct exporter *x, struct batch *ret, struct buf *body)
{
	struct event_filter filter = {.kinds = span_kinds()};
	struct arena arena;
	struct reading *r;
	struct event_row *rows;
	struct span *spans;
	bool has_snapshot, ok;
	int64_t last = 0;
	size_t count = 0;

	arena_init(&arena);
	r = arena_zalloc(&arena, sizeof(*r));
	r->x = x;
	r->arena = &arena;
	rows = arena_calloc(&arena, BATCH_EVENTS, sizeof(*rows));
	spans = arena_calloc(&arena, BATCH_EVENTS, sizeof(*spans));
	has_snapshot = store_snapshot_begin(reader(x));
	ok = store_event_last(reader(x), 0, &last) == STORE_OK;
	*ret = (struct batch){.until = last - x->cursor > WINDOW_EVENTS ? x->cursor + WINDOW_EVENTS : last};
	ok = ok && store_event_page(reader(x), &filter, x->cursor, ret->until, BATCH_EVENTS, &arena, rows,
				    &count) == STORE_OK;
	if (ok && count == BATCH_EVENTS)
		ret->until = rows[count - 1].id;
	ret->has_more = ret->until < last;
	for (size_t i = 0; ok && i < count; i++)
		ret->spans += span_of(r, &rows[i], &spans[ret->spans]);
	if (has_snapshot)
		store_snapshot_end(reader(x));
	if (ok && ret->spans)
		span_write_otlp(spans, ret->spans, str_of(x->instance), body);
	arena_release(&arena);
	return ok;
}

/* Goes some way towards the event without sending what lies before; returns how many spans that would have been. */
static uint64_t skip_towards(struct exporter *x, int64_t until, enum exporter_drop reason)
{
	struct event_filter filter = {.kinds = span_kinds()};
	struct arena arena;
	struct event_row *rows;
	size_t count = 0;

	arena_init(&arena);
	rows = arena_calloc(&arena, BATCH_EVENTS, sizeof(*rows));
	if (until - x->cursor > WINDOW_EVENTS)
		until = x->cursor + WINDOW_EVENTS;
	if (store_event_page(reader(x), &filter, x->cursor, until, BATCH_EVENTS, &arena, rows, &count) != STORE_OK)
		count = 0;
	move_to(x, count == BATCH_EVENTS ? rows[count - 1].id : until);
	arena_release(&arena);
	atomic_fetch_add(&x->dropped[reason], count);
	return count;
}

/* What lies too far back is not sent any more. A long way back is gone in many steps: others need the thread, too.
 * False where there is nothing to drop. */
static bool drop_oldest(struct exporter *x)
{
	int64_t last = 0;

	if (store_event_last(reader(x), 0, &last) != STORE_OK || last - x->cursor <= x->behind_max)
		return false;
	skip_towards(x, last - x->behind_max, EXPORTER_BEHIND);
	return true;
}

/* Nor is what was not taken when the server stops: the next one begins with what happens then. */
static void drop_rest(struct exporter *x)
{
	int64_t last = 0;
	uint64_t dropped = 0;

	if (store_event_last(reader(x), 0, &last) != STORE_OK)
		return;
	while (x->cursor < last)
		dropped += skip_towards(x, last, EXPORTER_STOPPED);
	if (dropped)
		log_write(x->log, LOG_WARN, "spans were not exported before the server stopped",
			  LOG_INT("spans", (int64_t)dropped), LOG_STR("endpoint", x->origin));
}

/* --- Posting --- */

enum outcome { OUTCOME_TAKEN, OUTCOME_REFUSED, OUTCOME_LATER };

/* By OTLP: these answers, and none at all, ask for another try; other failures are final. */
static enum outcome outcome_of(const struct post_outcome *o)
{
	if (o->failure == NULL)
		return OUTCOME_TAKEN;
	return o->status == 0 || o->status == 429 || o->status == 502 || o->status == 503 || o->status == 504
		       ? OUTCOME_LATER : OUTCOME_REFUSED;
}

/* "partialSuccess":{"rejectedSpans":"3"}; a number of 64 bits is a string in OTLP's JSON, but both are to be
 * understood. */
static uint64_t rejected_spans(struct str text, size_t spans)
{
	const struct json *count;
	struct json_error error;
	struct arena arena;
	struct json answer;
	uint64_t rejected = 0;

	arena_init(&arena);
	if (json_parse(text, ANSWER_DEPTH, &arena, &answer, &error)) {
		count = json_get(json_get(&answer, "partialSuccess"), "rejectedSpans");
		if (count && count->type == JSON_INT && count->i > 0)
			rejected = (uint64_t)count->i;
		else if (count && count->type == JSON_STRING)
			str_to_u64(count->s, &rejected);
	}
	arena_release(&arena);
	return rejected < spans ? rejected : spans;
}

static void count_taken(struct exporter *x, const struct post_outcome *o)
{
	uint64_t rejected = rejected_spans(o->body, x->batch.spans);

	atomic_fetch_add(&x->exported, x->batch.spans - rejected);
	atomic_fetch_add(&x->dropped[EXPORTER_REJECTED], rejected);
	if (x->retry_ms)
		log_write(x->log, LOG_INFO, "spans are exported again", LOG_STR("endpoint", x->origin));
	x->retry_ms = 0;
}

static void count_failed(struct exporter *x, const struct post_outcome *o, enum outcome outcome)
{
	atomic_fetch_add(&x->failed_posts, 1);
	/* Once for a row of them. */
	if (x->retry_ms == 0)
		log_write(x->log, LOG_WARN, "spans cannot be exported", LOG_STR("endpoint", x->origin),
			  LOG_STR("error", o->failure));
	x->retry_ms = follower_backoff_ms(outcome == OUTCOME_LATER ? x->retry_ms : 0, RETRY_MAX_MS);
	if (outcome == OUTCOME_REFUSED)
		atomic_fetch_add(&x->dropped[EXPORTER_REFUSED], x->batch.spans);
}

/* What is tried again is read again, so that what has come meanwhile may push it out. */
static void posted(void *ctx, const struct post_outcome *o)
{
	struct exporter *x = ctx;
	enum outcome outcome = outcome_of(o);

	x->post = NULL;
	if (outcome == OUTCOME_TAKEN)
		count_taken(x, o);
	else
		count_failed(x, o, outcome);
	if (outcome == OUTCOME_LATER) {
		x->has_given_up = x->is_last_try;
		x->pause_until_ns = clock_mono_ns() + x->retry_ms * MS;
	} else {
		move_to(x, x->batch.until);
		if (!x->batch.has_more)
			x->pause_until_ns = 0;
	}
	follower_rouse(&x->follower);
}

/* One step, so that others have their turn: drops some of the oldest, or posts the next batch. Where no span is in it
 * there is nothing to post, and only the cursor moves. */
static void go_on(struct exporter *x)
{
	struct buf body;

	if (drop_oldest(x))
		return;
	buf_init(&body, BODY_MAX_BYTES);
	if (!gather(x, &x->batch, &body)) {
		x->pause_until_ns = 0;
	} else if (x->batch.spans) {
		x->is_last_try = atomic_load(&x->follower.is_stopping);
		x->post = poster_post(x->follower.of->poster, &(struct post_request){
			.url = x->url, .timeout_ms = POST_TIMEOUT_MS, .done = posted, .ctx = x,
		}, &body);
	} else {
		move_to(x, x->batch.until);
		if (!x->batch.has_more)
			x->pause_until_ns = 0;
	}
	buf_release(&body);
}

/* --- As a follower --- */

/* The server stops: what is left is sent once, as long as there is time. */
static int64_t flush(struct exporter *x, int64_t now_ns)
{
	if (x->flush_until_ns == 0) {
		x->flush_until_ns = now_ns + FLUSH_MS * MS;
		x->pause_until_ns = 1;	/* look for the last of it in any case */
	}
	if (x->post && now_ns >= x->flush_until_ns) {
		poster_cancel(x->post);
		x->is_last_try = true;
		posted(x, &(struct post_outcome){.failure = "no answer before the server stopped"});
	}
	if (x->post)
		return x->flush_until_ns;
	if (x->pause_until_ns && now_ns < x->flush_until_ns && !x->has_given_up) {
		go_on(x);
		return x->post ? x->flush_until_ns : now_ns;
	}
	drop_rest(x);
	return FOLLOWER_DONE;
}

static int64_t look(struct follower *f, int64_t now_ns)
{
	struct exporter *x = LIST_ELEMENT(f, struct exporter, follower);

	if (atomic_load(&f->is_stopping))
		return flush(x, now_ns);
	if (x->post)
		return FOLLOWER_BUSY;
	/* It was woken: spans gather for a while. */
	if (x->pause_until_ns == 0)
		x->pause_until_ns = now_ns + x->interval_ms * MS;
	if (x->pause_until_ns <= now_ns)
		go_on(x);
	if (x->post)
		return FOLLOWER_BUSY;
	return x->pause_until_ns ? x->pause_until_ns : FOLLOWER_WHEN_WOKEN;
}

/* --- Life --- */

/* The whole address: with "/v1/traces" where the path does not end so. Owned; NULL with a sentence where it is none. */
static char *read_endpoint(const char *endpoint, struct buf *error)
{
	static const char path_end[] = "/v1/traces";
	char *url = NULL;
	struct poster_url parts;
	struct buf path;

	buf_init(&path, 8192);
	if (poster_url_parse(endpoint, &parts)) {
		buf_puts(&path, parts.path);
		if (!str_has_suffix(buf_str(&path), str_of(path_end))) {
			if (path.len && path.data[path.len - 1] == '/')
				path.len--;
			buf_puts(&path, path_end);
		}
		url = poster_url_with_path(&parts, buf_str(&path).p);
	}
	if (url == NULL)
		/* Not shown: it may hold a password. */
		buf_puts(error, "the endpoint for traces (--otlp-endpoint) is no address of a collector; expected one "
			 "such as http://127.0.0.1:4318");
	buf_release(&path);
	poster_url_release(&parts);
	return url;
}

bool exporter_endpoint_is_valid(const char *endpoint, struct buf *error)
{
	char *url = read_endpoint(endpoint, error);

	free(url);
	return url != NULL;
}

static void choose_instance(struct exporter *x)
{
	uint8_t random[SPAN_ID_SIZE] = {0};

	if (getentropy(random, sizeof(random)) != 0)
		memset(random, 0, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(x->instance + 2 * i, 3, "%02x", random[i]);
}

struct exporter *exporter_new(const struct exporter_config *config, struct buf *error)
{
	char *url = read_endpoint(config->endpoint, error);
	int64_t cursor = 0;
	struct exporter *x;

	if (url == NULL)
		return NULL;
	/* Before anything is written, so that nothing is missed. */
	if (store_event_last(config->followers->reader, 0, &cursor) != STORE_OK) {
		buf_printf(error, "cannot read the events: %s", store_error(config->followers->reader));
		free(url);
		return NULL;
	}
	x = mem_zalloc(sizeof(*x));
	x->url = url;
	x->origin = poster_url_origin(url);
	x->hold = config->hold;
	move_to(x, cursor);
	x->interval_ms = config->interval_ms;
	x->behind_max = config->behind_max;
	x->log = config->log;
	x->history = mem_calloc(HISTORY_MAX, sizeof(*x->history));
	choose_instance(x);
	follower_init(&x->follower, config->followers, look);
	return x;
}

void exporter_wake(struct exporter *x)
{
	if (x)
		follower_wake(&x->follower);
}

void exporter_stop(struct exporter *x)
{
	if (x == NULL)
		return;
	follower_stop(&x->follower);
	follower_wait(&x->follower);
	free(x->history);
	free(x->url);
	free(x->origin);
	free(x);
}

void exporter_counts(struct exporter *x, struct exporter_counts *ret)
{
	*ret = (struct exporter_counts){0};
	if (x == NULL)
		return;
	ret->exported = atomic_load(&x->exported);
	ret->failed_posts = atomic_load(&x->failed_posts);
	for (int reason = 0; reason < EXPORTER_DROP_COUNT; reason++) {
		ret->dropped_by[reason] = atomic_load(&x->dropped[reason]);
		ret->dropped += ret->dropped_by[reason];
	}
}

const char *exporter_drop_name(enum exporter_drop reason)
{
	static const char *const names[] = {
#define EXPORTER_DROP_NAME(reason, name) [EXPORTER_##reason] = name,
		EXPORTER_DROPS(EXPORTER_DROP_NAME)
#undef EXPORTER_DROP_NAME
	};

	return names[reason];
}
