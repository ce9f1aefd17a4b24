#include "outbound/alert_post.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json_member.h"
#include "core/watch/alert_url.h"
#include "core/watch/alerts.h"
#include "outbound/poster_url.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64, BODY_MAX = 1 << 20, ANSWER_TIMEOUT_MS = 10000, RETRY_MAX_MS = 5 * 60 * 1000 };

struct alert_post {
	struct follower follower;
	struct alert_post_config config;
	_Atomic uint64_t sent, failed;
	/* The followers' thread's. */
	int64_t retry_ms;		/* 0: the last time it went well */
	int64_t retry_at_ns;
	/* Of what is being told. */
	struct post *post;		/* NULL: nothing is being posted */
	bool is_marking;
	struct errand marking;
	struct arena arena;
	struct alert_row rows[BATCH];
	size_t count;
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
	struct arena arena;
	struct str page;
	char text[64];

	arena_init(&arena);
	page = arena_printf(&arena, "%s%.*s", server_url, STR_ARG(alert_url(row, space, &arena)));
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
	json_member_str(w, "url", page);
	json_end_object(w);
	json_member_time(w, "startsAt", row->since_ms);
	/* Alertmanager has this time for what has not ended. */
	if (row->resolved_at_ms)
		json_member_time(w, "endsAt", row->resolved_at_ms);
	else
		json_member_cstr(w, "endsAt", "0001-01-01T00:00:00Z");
	json_member_str(w, "generatorURL", page);
	arena_release(&arena);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)row->id);
	json_member_cstr(w, "fingerprint", text);
	json_end_object(w);
}

static void put_body(const struct alert_row *rows, const struct str *space_names, size_t count, const char *server_url,
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

/* --- Marking --- */

static void try_later(struct alert_post *p)
{
	p->retry_ms = follower_backoff_ms(p->retry_ms, RETRY_MAX_MS);
	p->retry_at_ns = clock_mono_ns() + p->retry_ms * INT64_C(1000000);
}

/* What has changed since it was posted is still to be told. */
static bool is_same(const struct alert_row *a, const struct alert_row *b)
{
	return a->resolved_at_ms == b->resolved_at_ms && a->severity == b->severity;
}

/* On the writer's thread. */
static enum store_status marking_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct alert_post *p = LIST_ELEMENT(job, struct alert_post, marking.job);
	enum store_status status = STORE_OK;

	(void)now_ms;
	arena_release(&p->marking.scratch);
	for (size_t i = 0; status == STORE_OK && i < p->count; i++) {
		struct alert_row row;

		status = store_alert_get(c, p->rows[i].id, &p->marking.scratch, &row);
		if (status == STORE_NOT_FOUND) {
			status = STORE_OK;
			continue;
		}
		if (status != STORE_OK || !is_same(&row, &p->rows[i]))
			continue;
		row.is_untold = false;
		status = store_alert_put(c, &row);
	}
	return status;
}

/* Where the store could not do it, the receiver is told twice, but not at once. */
static void marking_back(struct errand *e)
{
	struct alert_post *p = LIST_ELEMENT(e, struct alert_post, marking);

	arena_release(&e->scratch);
	p->is_marking = false;
	if (e->status == STORE_OK)
		p->retry_ms = 0;
	else
		try_later(p);
}

/* --- Posting --- */

enum outcome { TAKEN, REFUSED, LATER };

static enum outcome outcome_of(const struct post_outcome *o)
{
	if (o->failure == NULL)
		return TAKEN;
	return o->status >= 300 && o->status < 500 && o->status != 408 && o->status != 429 ? REFUSED : LATER;
}

static void say_failed(struct alert_post *p, const struct post_outcome *o, enum outcome outcome)
{
	char *origin = poster_url_origin(p->config.url);

	atomic_fetch_add(&p->failed, 1);
	log_write(p->config.log, LOG_WARN,
		  outcome == REFUSED ? "the alert webhook refused; it is not told again"
				     : "the alert webhook failed; it is tried again",
		  LOG_STR("url", origin), LOG_STR("error", o->failure));
	free(origin);
}

static void posted(void *ctx, const struct post_outcome *o)
{
	struct alert_post *p = ctx;
	enum outcome outcome = outcome_of(o);

	p->post = NULL;
	if (outcome == TAKEN)
		atomic_fetch_add(&p->sent, p->count);
	else
		say_failed(p, o, outcome);
	if (outcome == LATER) {
		try_later(p);
	} else {
		p->is_marking = true;
		errand_send(&p->marking, &p->follower, marking_run, marking_back);
	}
	follower_rouse(&p->follower);
}

/* Tells what is to be told, as many as fit into one post. */
static void tell(struct alert_post *p)
{
	struct followers *all = p->follower.of;
	struct str names[BATCH];
	struct buf body;

	arena_release(&p->arena);
	p->count = 0;
	if (store_alerts(all->reader, 0, ALERTS_UNTOLD, 0, BATCH, &p->arena, p->rows, &p->count) != STORE_OK) {
		try_later(p);
		return;
	}
	if (p->count == 0)
		return;
	for (size_t i = 0; i < p->count; i++)
		if (store_space_name(all->reader, p->rows[i].space, &p->arena, &names[i]) != STORE_OK)
			names[i] = STR("");
	buf_init(&body, BODY_MAX);
	put_body(p->rows, names, p->count, p->config.server_url, &body);
	p->post = poster_post(all->poster, &(struct post_request){
		.url = p->config.url, .timeout_ms = ANSWER_TIMEOUT_MS, .done = posted, .ctx = p,
	}, &body);
}

/* --- As a follower --- */

static int64_t look(struct follower *f, int64_t now_ns)
{
	struct alert_post *p = LIST_ELEMENT(f, struct alert_post, follower);

	if (atomic_load(&f->is_stopping)) {
		if (p->post)
			poster_cancel(p->post);
		p->post = NULL;
		return p->is_marking ? FOLLOWER_BUSY : FOLLOWER_DONE;
	}
	if (p->post == NULL && !p->is_marking && p->retry_at_ns <= now_ns)
		tell(p);
	if (p->post || p->is_marking)
		return FOLLOWER_BUSY;
	return p->retry_at_ns > now_ns ? p->retry_at_ns : FOLLOWER_WHEN_WOKEN;
}

/* --- Life --- */

struct alert_post *alert_post_new(const struct alert_post_config *config)
{
	struct alert_post *p = mem_zalloc(sizeof(*p));

	p->config = *config;
	arena_init(&p->arena);
	follower_init(&p->follower, config->followers, look);
	return p;
}

void alert_post_wake(struct alert_post *p)
{
	if (p)
		follower_wake(&p->follower);
}

void alert_post_stop(struct alert_post *p)
{
	if (p == NULL)
		return;
	follower_stop(&p->follower);
	follower_wait(&p->follower);
}

void alert_post_free(struct alert_post *p)
{
	if (p == NULL)
		return;
	arena_release(&p->arena);
	free(p);
}

void alert_post_counts(struct alert_post *p, uint64_t *ret_sent, uint64_t *ret_failed)
{
	*ret_sent = p ? atomic_load(&p->sent) : 0;
	*ret_failed = p ? atomic_load(&p->failed) : 0;
}
