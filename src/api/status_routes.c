/* Health, readiness, status. */
#include "api/feed.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "outbound/exporter.h"

#include <unistd.h>

static enum problem_code read_nothing(struct call *call, struct store_conn *c)
{
	(void)call;
	(void)c;
	return P_OK;
}

static void put_status(struct call *call, const char *status, const char *reason)
{
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "status", status);
	if (reason)
		json_member_cstr(&w, "reason", reason);
	json_end_object(&w);
}

static void encode_health(struct call *call)
{
	put_status(call, "ok", NULL);
}

static void encode_ready(struct call *call)
{
	const char *reason = NULL;

	if (atomic_load(&call->api->engine->failed))
		reason = "store_failed";
	else if (atomic_load(&call->api->engine->draining))
		reason = "draining";
	call->status = reason ? 503 : 200;
	put_status(call, reason ? "not ready" : "ready", reason);
}

struct status {
	struct store_info store;
	int64_t memories;
};

static enum problem_code read_status(struct call *call, struct store_conn *c)
{
	struct status *s = arena_zalloc(call->op->arena, sizeof(*s));
	enum store_status status = store_info(c, &s->store);

	call->output = s;
	if (status == STORE_OK && call->op->space)
		status = store_space_count(c, call->op->space, &s->memories);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

/* Without the address: it may hold more than everybody should know. */
static void put_traces(struct call *call, struct json_writer *w)
{
	struct exporter_counts counts;

	if (call->api->exporter == NULL) {
		json_member_null(w, "traces");
		return;
	}
	exporter_counts(call->api->exporter, &counts);
	json_key(w, "traces");
	json_begin_object(w);
	json_member_int(w, "exported", (int64_t)counts.exported);
	json_member_int(w, "dropped", (int64_t)counts.dropped);
	json_key(w, "dropped_by");
	json_begin_object(w);
	for (int reason = 0; reason < EXPORTER_DROP_COUNT; reason++)
		json_member_int(w, exporter_drop_name((enum exporter_drop)reason), (int64_t)counts.dropped_by[reason]);
	json_end_object(w);
	json_member_int(w, "failed_posts", (int64_t)counts.failed_posts);
	json_end_object(w);
}

static void put_server(struct call *call, struct json_writer *w)
{
	struct http_counts http;
	struct writer_stats writer;

	http_server_counts(call->api->http, &http);
	writer_stats(call->api->engine->writer, &writer);
	json_key(w, "http");
	json_begin_object(w);
	json_member_int(w, "connections", (int64_t)http.connections);
	json_member_int(w, "requests", (int64_t)http.requests);
	json_member_int(w, "requests_active", (int64_t)http.requests_active);
	json_member_int(w, "refused", (int64_t)http.refused);
	json_end_object(w);
	json_key(w, "writer");
	json_begin_object(w);
	json_member_int(w, "queued", (int64_t)writer.queued);
	json_member_int(w, "writes", (int64_t)writer.jobs);
	json_member_int(w, "commits", (int64_t)writer.commits);
	json_end_object(w);
	json_key(w, "events");
	json_begin_object(w);
	json_member_int(w, "streams", (int64_t)feed_count(call->api->feed));
	json_end_object(w);
	put_traces(call, w);
}

static void encode_status(struct call *call)
{
	struct status *s = call->output;
	bool failed = atomic_load(&call->api->engine->failed);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "version", SPINE_VERSION);
	json_member_cstr(&w, "status",
			 failed                              ? "store_failed"
			 : atomic_load(&call->api->engine->draining) ? "draining"
							     : "ready");
	json_member_int(&w, "pid", (int64_t)getpid());
	json_member_time(&w, "started_at", call->api->started_at_ms);
	json_member_int(&w, "uptime_s", (call->op->now_ms - call->api->started_at_ms) / 1000);
	json_member_str(&w, "space", call->op->space_name);
	json_member_int(&w, "memories", s->memories);
	json_key(&w, "store");
	json_begin_object(&w);
	json_member_cstr(&w, "engine", s->store.engine);
	json_member_int(&w, "schema", s->store.schema);
	json_member_int(&w, "bytes", s->store.bytes);
	json_member_cstr(&w, "data", call->api->data_dir);
	json_end_object(&w);
	put_server(call, &w);
	call_end_reply(call, &w);
}

const struct route status_routes[] = {
	{HTTP_GET, "/healthz", ROUTE_NO_SPACE, .read = read_nothing, .encode = encode_health},
	{HTTP_GET, "/readyz", ROUTE_NO_SPACE, .read = read_nothing, .encode = encode_ready},
	{HTTP_GET, "/v1/status", 0, .read = read_status, .encode = encode_status},
	{0},
};
