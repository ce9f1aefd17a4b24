#include "outbound/exporter.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json.h"
#include "core/watch/event.h"
#include "core/watch/span.h"
#include "core/envelope/unpack.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
	BATCH_EVENTS = 512,
	WINDOW_EVENTS = 8192,		/* how far one read goes to find some */
	HISTORY_MAX = 4096,		/* more than attempts and fallbacks can make of a handoff */
	BODY_MAX_BYTES = 64 << 20,
	ANSWER_MAX_BYTES = 64 << 10,
	ANSWER_DEPTH = 16,
	POST_TIMEOUT_MS = 10000,
	FLUSH_MS = 2000,		/* for the last of it, when the server stops */
	RETRY_FIRST_MS = 1000,
	RETRY_MAX_MS = 30000,
	IDLE_MS = 3600 * 1000,
};

struct exporter {
	char *url;
	char instance[2 * SPAN_ID_SIZE + 1];
	int64_t interval_ms;
	int64_t behind_max;
	char *data_dir;
	const struct log *log;
	pthread_t thread;
	CURLM *multi;			/* its wake-up is ours, too */
	atomic_bool is_woken;
	atomic_bool is_stopping;
	_Atomic uint64_t exported;
	_Atomic uint64_t dropped[EXPORTER_DROP_COUNT];
	_Atomic uint64_t failed_posts;
	/* The thread's own. */
	CURL *curl;
	struct curl_slist *headers;
	struct store_conn *conn;
	int64_t after;			/* the events up to here are done with */
	int64_t flush_until_ns;		/* 0: the server runs */
	int64_t retry_ms;		/* 0: the last post went well */
	struct event_row *history;
	struct buf answer;
	char error[CURL_ERROR_SIZE];	/* libcurl's words */
};

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

	return store_envelope_get(r->x->conn, space, num, r->arena, &row) == STORE_OK &&
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

		if (store_event_page(x->conn, &filter, 0, event->id, HISTORY_MAX, r->arena, x->history,
				     &source.history_count) != STORE_OK)
			return false;
		source.history = x->history;
	}
	if ((event->kind == EVENT_ACKED || event->kind == EVENT_COMPLETED) &&
	    store_result_get(x->conn, event->space, event->handoff, r->arena, &result) == STORE_OK)
		source.input_tokens = result.input_tokens;
	return span_of_event(&source, r->arena, ret);
}

/* --- A batch --- */

struct export {
	struct buf body;
	size_t spans;
	int64_t until;		/* with it these events are done with */
	bool has_more;
};

static bool gather(struct exporter *x, struct export *ret)
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
	has_snapshot = store_snapshot_begin(x->conn);
	ok = store_event_last(x->conn, &last) == STORE_OK;
	ret->until = last - x->after > WINDOW_EVENTS ? x->after + WINDOW_EVENTS : last;
	ok = ok && store_event_page(x->conn, &filter, x->after, ret->until, BATCH_EVENTS, &arena, rows,
				    &count) == STORE_OK;
	if (ok && count == BATCH_EVENTS)
		ret->until = rows[count - 1].id;
	ret->has_more = ret->until < last;
	for (size_t i = 0; ok && i < count; i++)
		ret->spans += span_of(r, &rows[i], &spans[ret->spans]);
	if (has_snapshot)
		store_snapshot_end(x->conn);
	if (ok && ret->spans)
		span_write_otlp(spans, ret->spans, str_of(x->instance), &ret->body);
	arena_release(&arena);
	return ok;
}

/* Goes on behind the event without sending what lies before; returns how many spans that would have been. */
static uint64_t skip_until(struct exporter *x, int64_t until, enum exporter_drop reason)
{
	struct event_filter filter = {.kinds = span_kinds()};
	struct event_row *rows = mem_calloc(BATCH_EVENTS, sizeof(*rows));
	struct arena arena;
	uint64_t skipped = 0;
	size_t count;

	while (x->after < until) {
		arena_init(&arena);
		count = 0;
		if (store_event_page(x->conn, &filter, x->after, until, BATCH_EVENTS, &arena, rows, &count) != STORE_OK)
			count = 0;
		skipped += count;
		x->after = count == BATCH_EVENTS ? rows[count - 1].id : until;
		arena_release(&arena);
	}
	free(rows);
	atomic_fetch_add(&x->dropped[reason], skipped);
	return skipped;
}

/* What lies too far back is not sent any more. */
static void drop_oldest(struct exporter *x)
{
	int64_t last = 0;

	if (store_event_last(x->conn, &last) == STORE_OK && last - x->after > x->behind_max)
		skip_until(x, last - x->behind_max, EXPORTER_BEHIND);
}

/* Nor is what was not taken when the server stops: the next one begins with what happens then. */
static void drop_rest(struct exporter *x)
{
	int64_t last = 0;
	uint64_t dropped;

	if (store_event_last(x->conn, &last) != STORE_OK || x->after >= last)
		return;
	dropped = skip_until(x, last, EXPORTER_STOPPED);
	if (dropped)
		log_write(x->log, LOG_WARN, "spans were not exported before the server stopped",
			  LOG_INT("spans", (int64_t)dropped), LOG_STR("endpoint", x->url));
}

/* --- Posting --- */

static size_t on_answer(char *data, size_t size, size_t count, void *arg)
{
	struct exporter *x = arg;

	/* What is too much of it is not of interest. */
	buf_append(&x->answer, data, size * count);
	return size * count;
}

/* Both for waiting: a wake-up, or the server's end, cuts it short. */
static void sleep_ms(struct exporter *x, int64_t ms)
{
	curl_multi_poll(x->multi, NULL, 0, (int)ms, NULL);
}

static int64_t time_left_ms(struct exporter *x, int64_t deadline_ns)
{
	if (atomic_load(&x->is_stopping) && x->flush_until_ns == 0)
		x->flush_until_ns = clock_mono_ns() + FLUSH_MS * INT64_C(1000000);
	if (x->flush_until_ns && x->flush_until_ns < deadline_ns)
		deadline_ns = x->flush_until_ns;
	return (deadline_ns - clock_mono_ns()) / 1000000;
}

static CURLcode transfer(struct exporter *x)
{
	int64_t deadline_ns = clock_mono_ns() + POST_TIMEOUT_MS * INT64_C(1000000);
	CURLcode code = CURLE_OPERATION_TIMEDOUT;
	const struct CURLMsg *message;
	int running = 1, left;

	curl_multi_add_handle(x->multi, x->curl);
	while (running && time_left_ms(x, deadline_ns) > 0) {
		curl_multi_perform(x->multi, &running);
		if (running)
			curl_multi_poll(x->multi, NULL, 0, (int)time_left_ms(x, deadline_ns) + 1, NULL);
	}
	while ((message = curl_multi_info_read(x->multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE)
			code = message->data.result;
	curl_multi_remove_handle(x->multi, x->curl);
	return code;
}

enum outcome { OUTCOME_TAKEN, OUTCOME_REFUSED, OUTCOME_LATER };

/* By OTLP: these answers ask for another try, and other failures are final. */
static enum outcome outcome_of(CURLcode code, long status)
{
	if (code != CURLE_OK)
		return OUTCOME_LATER;
	if (status / 100 == 2)
		return OUTCOME_TAKEN;
	return status == 429 || status == 502 || status == 503 || status == 504 ? OUTCOME_LATER : OUTCOME_REFUSED;
}

static enum outcome post(struct exporter *x, const struct buf *body, struct buf *ret_why)
{
	long status = 0;
	CURLcode code;

	buf_clear(&x->answer);
	x->error[0] = '\0';
	curl_easy_setopt(x->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
	curl_easy_setopt(x->curl, CURLOPT_POSTFIELDS, body->data);
	code = transfer(x);
	curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK)
		buf_puts(ret_why, x->error[0] ? x->error : curl_easy_strerror(code));
	else if (status / 100 != 2)
		buf_printf(ret_why, "HTTP %ld", status);
	return outcome_of(code, status);
}

/* "partialSuccess":{"rejectedSpans":"3"}; a number of 64 bits is a string in OTLP's JSON, but both are to be
 * understood. */
static uint64_t rejected_spans(const struct exporter *x, size_t spans)
{
	const struct json *count;
	struct json_error error;
	struct arena arena;
	struct json answer;
	uint64_t rejected = 0;

	arena_init(&arena);
	if (json_parse(buf_str(&x->answer), ANSWER_DEPTH, &arena, &answer, &error)) {
		count = json_get(json_get(&answer, "partialSuccess"), "rejectedSpans");
		if (count && count->type == JSON_INT && count->i > 0)
			rejected = (uint64_t)count->i;
		else if (count && count->type == JSON_STRING)
			str_to_u64(count->s, &rejected);
	}
	arena_release(&arena);
	return rejected < spans ? rejected : spans;
}

/* --- The thread --- */

static void tell_failure(struct exporter *x, const struct buf *why)
{
	atomic_fetch_add(&x->failed_posts, 1);
	/* Once for a row of them. */
	if (x->retry_ms == 0)
		log_write(x->log, LOG_WARN, "spans cannot be exported", LOG_STR("endpoint", x->url),
			  LOG_SLICE("error", buf_str(why)));
}

static void wait_to_retry(struct exporter *x)
{
	int64_t until_ns;

	x->retry_ms = x->retry_ms ? 2 * x->retry_ms : RETRY_FIRST_MS;
	if (x->retry_ms > RETRY_MAX_MS)
		x->retry_ms = RETRY_MAX_MS;
	until_ns = clock_mono_ns() + x->retry_ms * INT64_C(1000000);
	while (!atomic_load(&x->is_stopping) && clock_mono_ns() < until_ns)
		sleep_ms(x, (until_ns - clock_mono_ns()) / 1000000 + 1);
}

/* Sends a batch until it is taken, refused, or too old. False where the server stops and there is no time left. */
static bool send_batch(struct exporter *x, const struct export *e)
{
	enum outcome outcome;
	uint64_t rejected;
	struct buf why;

	buf_init(&why, 4096);
	outcome = post(x, &e->body, &why);
	if (outcome == OUTCOME_TAKEN) {
		rejected = rejected_spans(x, e->spans);
		atomic_fetch_add(&x->exported, e->spans - rejected);
		atomic_fetch_add(&x->dropped[EXPORTER_REJECTED], rejected);
		if (x->retry_ms)
			log_write(x->log, LOG_INFO, "spans are exported again", LOG_STR("endpoint", x->url));
		x->retry_ms = 0;
		x->after = e->until;
	} else {
		tell_failure(x, &why);
	}
	if (outcome == OUTCOME_REFUSED) {
		atomic_fetch_add(&x->dropped[EXPORTER_REFUSED], e->spans);
		x->retry_ms = RETRY_FIRST_MS;	/* told */
		x->after = e->until;
	}
	buf_release(&why);
	return outcome != OUTCOME_LATER || !atomic_load(&x->is_stopping);
}

/* All that there is. */
static void export_all(struct exporter *x)
{
	struct export e;
	bool go_on = true;

	while (go_on) {
		int64_t before;

		e = (struct export){0};
		buf_init(&e.body, BODY_MAX_BYTES);
		drop_oldest(x);
		before = x->after;
		go_on = gather(x, &e);
		if (go_on && e.spans == 0)
			x->after = e.until;
		else if (go_on)
			go_on = send_batch(x, &e);
		/* It is still there: it is read again, so that what has come meanwhile may push it out. */
		if (go_on && e.spans && x->after == before)
			wait_to_retry(x);
		else
			go_on = go_on && e.has_more;
		buf_release(&e.body);
	}
}

static void open_store(struct exporter *x)
{
	struct buf error;

	buf_init(&error, 4096);
	x->conn = store_open(x->data_dir, STORE_READ, &error);
	if (x->conn == NULL || store_event_last(x->conn, &x->after) != STORE_OK) {
		log_write(x->log, LOG_ERROR, "no spans are exported: the store cannot be read",
			  LOG_SLICE("error", buf_str(&error)));
		store_close(x->conn);
		x->conn = NULL;
	}
	buf_release(&error);
}

static void gather_for_a_while(struct exporter *x)
{
	int64_t until_ns = clock_mono_ns() + x->interval_ms * INT64_C(1000000);

	while (!atomic_load(&x->is_stopping) && clock_mono_ns() < until_ns)
		sleep_ms(x, (until_ns - clock_mono_ns()) / 1000000 + 1);
}

static void *exporter_main(void *arg)
{
	struct exporter *x = arg;

	while (x->conn && !atomic_load(&x->is_stopping)) {
		if (!atomic_load(&x->is_woken)) {
			sleep_ms(x, IDLE_MS);
			continue;
		}
		gather_for_a_while(x);
		/* What is committed from here on wakes again. */
		atomic_store(&x->is_woken, false);
		export_all(x);
	}
	/* What was committed last. */
	if (x->conn) {
		export_all(x);
		drop_rest(x);
	}
	return NULL;
}

/* --- Life --- */

/* A whole URL with a host; "/v1/traces" where the path does not end so. NULL where it is not one. */
static char *read_endpoint(const char *endpoint)
{
	static const char path_end[] = "/v1/traces";
	CURLU *parts = curl_url();
	char *scheme = NULL, *path = NULL, *whole = NULL, *url = NULL;
	struct buf full;

	buf_init(&full, 8192);
	if (parts == NULL || curl_url_set(parts, CURLUPART_URL, endpoint, 0) != CURLUE_OK)
		goto out;
	curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
	if (scheme == NULL || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		goto out;
	if (curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
	    !str_has_suffix(str_of(path), str_of(path_end))) {
		buf_printf(&full, "%.*s%s", (int)(strlen(path) - (path[strlen(path) - 1] == '/')), path, path_end);
		curl_url_set(parts, CURLUPART_PATH, buf_str(&full).p, 0);
	}
	if (curl_url_get(parts, CURLUPART_URL, &whole, 0) == CURLUE_OK)
		url = mem_strdup(whole);
out:
	buf_release(&full);
	curl_free(scheme);
	curl_free(path);
	curl_free(whole);
	curl_url_cleanup(parts);
	return url;
}

static void set_options(struct exporter *x)
{
	x->headers = curl_slist_append(x->headers, "Content-Type: application/json");
	x->headers = curl_slist_append(x->headers, "Expect:");
	curl_easy_setopt(x->curl, CURLOPT_URL, x->url);
	curl_easy_setopt(x->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(x->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(x->curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(x->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(x->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(x->curl, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION);
	curl_easy_setopt(x->curl, CURLOPT_HTTPHEADER, x->headers);
	curl_easy_setopt(x->curl, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(x->curl, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(x->curl, CURLOPT_ERRORBUFFER, x->error);
}

static char *check_endpoint(const char *endpoint, struct buf *error)
{
	char *url = NULL;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		url = read_endpoint(endpoint);
	if (url == NULL)
		buf_printf(error, "the endpoint for traces is \"%.200s\"; expected the address of a collector, such as "
			   "http://127.0.0.1:4318", endpoint);
	return url;
}

bool exporter_endpoint_is_valid(const char *endpoint, struct buf *error)
{
	char *url = check_endpoint(endpoint, error);

	free(url);
	return url != NULL;
}

struct exporter *exporter_start(const struct exporter_config *config, struct buf *error)
{
	struct exporter *x;
	uint8_t random[SPAN_ID_SIZE] = {0};
	char *url = check_endpoint(config->endpoint, error);

	if (url == NULL)
		return NULL;
	x = mem_zalloc(sizeof(*x));
	x->url = url;
	x->interval_ms = config->interval_ms;
	x->behind_max = config->behind_max;
	x->data_dir = mem_strdup(config->data_dir);
	x->log = config->log;
	x->history = mem_calloc(HISTORY_MAX, sizeof(*x->history));
	buf_init(&x->answer, ANSWER_MAX_BYTES);
	if (getentropy(random, sizeof(random)) != 0)
		memset(random, 0, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(x->instance + 2 * i, 3, "%02x", random[i]);
	x->multi = curl_multi_init();
	x->curl = curl_easy_init();
	if (x->multi == NULL || x->curl == NULL)
		abort();	/* out of memory */
	set_options(x);
	if (config->ca_file) {
		curl_easy_setopt(x->curl, CURLOPT_CAINFO, config->ca_file);
		curl_easy_setopt(x->curl, CURLOPT_CAPATH, NULL);
	}
	/* Before anything is written, so that nothing is missed. */
	open_store(x);
	if (pthread_create(&x->thread, NULL, exporter_main, x) != 0)
		abort();
	return x;
}

void exporter_wake(struct exporter *x)
{
	if (x && !atomic_load(&x->is_woken) && !atomic_exchange(&x->is_woken, true))
		curl_multi_wakeup(x->multi);
}

void exporter_stop(struct exporter *x)
{
	if (x == NULL)
		return;
	atomic_store(&x->is_stopping, true);
	curl_multi_wakeup(x->multi);
	pthread_join(x->thread, NULL);
	store_close(x->conn);
	curl_easy_cleanup(x->curl);
	curl_multi_cleanup(x->multi);
	curl_slist_free_all(x->headers);
	curl_global_cleanup();
	buf_release(&x->answer);
	free(x->history);
	free(x->data_dir);
	free(x->url);
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
