#include "outbound/alert_post.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json_member.h"
#include "core/watch/alerts.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 64, BODY_MAX = 1 << 20, ANSWER_TIMEOUT_MS = 10000, RETRY_MIN_MS = 1000, RETRY_MAX_MS = 5 * 60 * 1000 };

struct alert_post {
	struct api *api;
	const char *url;
	const char *server_url;
	_Atomic uint64_t sent, failed;
	atomic_bool is_stopping;
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	bool is_wanted;
	bool job_is_done;
	/* The own thread's. */
	struct store_conn *reader;
	CURL *curl;
};

/* --- The body --- */

static void put_labels(struct json_writer *w, const struct alert_row *row, struct str space)
{
	enum alert_kind kind;

	json_begin_object(w);
	json_member_str(w, "alertname", row->name);
	if (row->agent.p)
		json_member_str(w, "agent", row->agent);
	json_member_cstr(w, "page", alert_kind_find(row->name, &kind) && alert_kind_pages(kind) ? "true" : "false");
	json_member_cstr(w, "severity", alert_severity_name(row->severity));
	json_member_str(w, "space", space);
	json_end_object(w);
}

static void put_alert(struct json_writer *w, const struct alert_row *row, struct str space, const char *server_url)
{
	char text[64];

	json_begin_object(w);
	json_member_cstr(w, "status", row->resolved_at_ms ? "resolved" : "firing");
	json_key(w, "labels");
	put_labels(w, row, space);
	json_key(w, "annotations");
	json_begin_object(w);
	json_member_str(w, "summary", row->summary);
	snprintf(text, sizeof(text), "al-%lld", (long long)row->id);
	json_member_cstr(w, "id", text);
	snprintf(text, sizeof(text), "%.6g", row->value);
	json_member_cstr(w, "value", text);
	snprintf(text, sizeof(text), "%.6g", row->threshold);
	json_member_cstr(w, "threshold", text);
	json_end_object(w);
	json_member_time(w, "startsAt", row->since_ms);
	/* Alertmanager has this time for what has not ended. */
	if (row->resolved_at_ms)
		json_member_time(w, "endsAt", row->resolved_at_ms);
	else
		json_member_cstr(w, "endsAt", "0001-01-01T00:00:00Z");
	json_member_cstr(w, "generatorURL", server_url);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)row->id);
	json_member_cstr(w, "fingerprint", text);
	json_end_object(w);
}

void alert_post_body(const struct alert_row *rows, const struct str *space_names, size_t count, const char *server_url,
		     struct buf *out)
{
	struct json_writer w;
	bool firing = false;

	for (size_t i = 0; i < count; i++)
		firing = firing || rows[i].resolved_at_ms == 0;
	json_writer_init(&w, out);
	json_begin_object(&w);
	json_member_cstr(&w, "version", "4");
	json_member_cstr(&w, "groupKey", "{}:{}");
	json_member_int(&w, "truncatedAlerts", 0);
	json_member_cstr(&w, "status", firing ? "firing" : "resolved");
	json_member_cstr(&w, "receiver", "memory-spine");
	json_key(&w, "groupLabels");
	json_put_raw(&w, STR("{}"));
	json_key(&w, "commonLabels");
	if (count == 1)
		put_labels(&w, &rows[0], space_names[0]);
	else
		json_put_raw(&w, STR("{}"));
	json_key(&w, "commonAnnotations");
	json_put_raw(&w, STR("{}"));
	json_member_cstr(&w, "externalURL", server_url);
	json_key(&w, "alerts");
	json_begin_array(&w);
	for (size_t i = 0; i < count; i++)
		put_alert(&w, &rows[i], space_names[i], server_url);
	json_end_array(&w);
	json_end_object(&w);
}

/* --- Posting --- */

static size_t drop_answer(char *data, size_t size, size_t count, void *ctx)
{
	(void)data;
	(void)ctx;
	return size * count;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct alert_post *p = ctx;

	(void)a, (void)b, (void)c, (void)d;
	return atomic_load(&p->is_stopping);
}

enum outcome { TAKEN, REFUSED, LATER };

static enum outcome post(struct alert_post *p, const struct buf *body)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	char error[CURL_ERROR_SIZE] = "", text[24];
	enum outcome outcome;
	CURLcode result;
	long status = 0;

	if (headers == NULL)
		mem_exhausted(0);
	curl_easy_setopt(p->curl, CURLOPT_URL, p->url);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, body->data);
	curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE, (long)body->len);
	curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, error);
	result = curl_easy_perform(p->curl);
	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, NULL);
	curl_slist_free_all(headers);
	if (result == CURLE_OK && status >= 200 && status < 300)
		return TAKEN;
	outcome =
		result == CURLE_OK && status >= 300 && status < 500 && status != 408 && status != 429 ? REFUSED : LATER;
	atomic_fetch_add(&p->failed, 1);
	snprintf(text, sizeof(text), "HTTP %ld", status);
	if (!atomic_load(&p->is_stopping))
		log_write(p->api->log, LOG_WARN,
			  outcome == REFUSED ? "the alert webhook refused; it is not told again"
					     : "the alert webhook failed; it is tried again",
			  LOG_STR("url", p->url),
			  LOG_STR("error", result == CURLE_OK ? text
					   : error[0]         ? error
							      : curl_easy_strerror(result)));
	return outcome;
}

/* --- Marking, on the writer's thread --- */

struct marking {
	struct writer_job job;
	struct alert_post *p;
	struct arena arena;
	const struct alert_row *rows;
	size_t count;
};

/* What has changed since it was posted is still to be told. */
static bool is_same(const struct alert_row *a, const struct alert_row *b)
{
	return a->resolved_at_ms == b->resolved_at_ms && a->severity == b->severity;
}

static enum store_status marking_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct marking *m = (struct marking *)((char *)job - offsetof(struct marking, job));
	enum store_status status = STORE_OK;

	(void)now_ms;
	arena_release(&m->arena);
	for (size_t i = 0; status == STORE_OK && i < m->count; i++) {
		struct alert_row row;

		status = store_alert_get(c, m->rows[i].id, &m->arena, &row);
		if (status == STORE_NOT_FOUND) {
			status = STORE_OK;
			continue;
		}
		if (status != STORE_OK || !is_same(&row, &m->rows[i]))
			continue;
		row.is_untold = false;
		status = store_alert_put(c, &row);
	}
	return status;
}

static void marking_done(struct writer_job *job, enum store_status status)
{
	struct marking *m = (struct marking *)((char *)job - offsetof(struct marking, job));
	struct alert_post *p = m->p;

	(void)status;	/* where it failed, the receiver is told twice */
	pthread_mutex_lock(&p->lock);
	p->job_is_done = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

static void mark(struct alert_post *p, const struct alert_row *rows, size_t count)
{
	struct marking m = {.job = {.run = marking_run, .done = marking_done}, .p = p, .rows = rows, .count = count};

	arena_init(&m.arena);
	p->job_is_done = false;
	writer_submit_always(p->api->writer, &m.job);
	pthread_mutex_lock(&p->lock);
	while (!p->job_is_done)
		pthread_cond_wait(&p->wake, &p->lock);
	pthread_mutex_unlock(&p->lock);
	arena_release(&m.arena);
}

/* --- The thread --- */

/* Tells what is to be told. LATER: some of it is left. */
static enum outcome tell(struct alert_post *p)
{
	struct str names[BATCH];
	struct alert_row rows[BATCH];
	enum outcome outcome = TAKEN;
	struct arena arena;
	struct buf body;
	size_t count = 0;

	arena_init(&arena);
	buf_init(&body, BODY_MAX);
	if (store_alerts(p->reader, 0, ALERTS_UNTOLD, 0, BATCH, &arena, rows, &count) != STORE_OK)
		outcome = LATER;
	for (size_t i = 0; i < count; i++)
		if (store_space_name(p->reader, rows[i].space, &arena, &names[i]) != STORE_OK)
			names[i] = STR("");
	if (count) {
		alert_post_body(rows, names, count, p->server_url, &body);
		outcome = post(p, &body);
		if (outcome == TAKEN)
			atomic_fetch_add(&p->sent, count);
		if (outcome != LATER) {
			mark(p, rows, count);
			/* There may be more than one batch of it. */
			alert_post_wake(p);
		}
	}
	buf_release(&body);
	arena_release(&arena);
	return outcome;
}

/* Until there is something new to tell, or so long at most (0: for ever). False at the end. */
static bool wait_for(struct alert_post *p, int64_t ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	pthread_mutex_lock(&p->lock);
	while (!atomic_load(&p->is_stopping) && (ms || !p->is_wanted)) {
		if (ms == 0)
			pthread_cond_wait(&p->wake, &p->lock);
		else if (pthread_cond_timedwait(&p->wake, &p->lock, &until) != 0)
			break;
	}
	p->is_wanted = false;
	pthread_mutex_unlock(&p->lock);
	return !atomic_load(&p->is_stopping);
}

static void *post_main(void *arg)
{
	struct alert_post *p = arg;
	int64_t retry_ms = 0;
	struct buf error;

	buf_init(&error, 4096);
	p->reader = store_open(p->api->data_dir, STORE_READ, &error);
	if (p->reader == NULL)
		log_write(p->api->log, LOG_ERROR, "alerts are not posted: the store cannot be read",
			  LOG_SLICE("error", buf_str(&error)));
	buf_release(&error);
	/* The first look is at what a server before this one left. */
	p->is_wanted = true;
	while (p->reader && wait_for(p, retry_ms)) {
		if (tell(p) != LATER)
			retry_ms = 0;
		else
			retry_ms = retry_ms == 0                 ? RETRY_MIN_MS
				   : retry_ms * 2 < RETRY_MAX_MS ? retry_ms * 2
								 : RETRY_MAX_MS;
	}
	store_close(p->reader);
	return NULL;
}

/* --- Life --- */

struct alert_post *alert_post_new(struct api *api, const char *url, const char *server_url)
{
	struct alert_post *p = mem_zalloc(sizeof(*p));
	pthread_condattr_t monotonic;

	p->api = api;
	p->url = url;
	p->server_url = server_url;
	p->curl = curl_easy_init();
	if (p->curl == NULL)
		mem_exhausted(0);
	if (api->ca_file) {
		curl_easy_setopt(p->curl, CURLOPT_CAINFO, api->ca_file);
		curl_easy_setopt(p->curl, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(p->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_TIMEOUT_MS);
	curl_easy_setopt(p->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(p->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(p->curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(p->curl, CURLOPT_USERAGENT, "memory-spine/" SPINE_VERSION);
	curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, drop_answer);
	curl_easy_setopt(p->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(p->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(p->curl, CURLOPT_XFERINFODATA, p);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return p;
}

void alert_post_start(struct alert_post *p)
{
	if (pthread_create(&p->thread, NULL, post_main, p) != 0)
		abort();
	p->is_running = true;
}

void alert_post_wake(struct alert_post *p)
{
	pthread_mutex_lock(&p->lock);
	p->is_wanted = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void alert_post_stop(struct alert_post *p)
{
	if (p == NULL || !p->is_running)
		return;
	atomic_store(&p->is_stopping, true);
	alert_post_wake(p);
	pthread_join(p->thread, NULL);
	p->is_running = false;
}

void alert_post_free(struct alert_post *p)
{
	if (p == NULL)
		return;
	curl_easy_cleanup(p->curl);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void alert_post_counts(struct alert_post *p, uint64_t *ret_sent, uint64_t *ret_failed)
{
	*ret_sent = atomic_load(&p->sent);
	*ret_failed = atomic_load(&p->failed);
}
