/* Health, readiness, status. */
#include "api/http/cluster_front.h"
#include "api/http/feed.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/damage.h"
#include "engine/watch/status_get.h"
#include "outbound/exporter.h"

#include <unistd.h>

/* Why the server is not ready; NULL: it is. */
static const char *trouble(const struct api *api)
{
	if (atomic_load(&api->engine->failed))
		return "store_failed";
	if (atomic_load(&api->engine->draining))
		return "draining";
	if (damage_count(api->engine->damage))
		return "store_damaged";
	return api->node ? api->node->trouble(api->node->ctx) : NULL;
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
	const char *reason = trouble(call->api);

	call->status = reason ? 503 : 200;
	put_status(call, reason ? "not ready" : "ready", reason);
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

static void put_clients(struct call *call, struct json_writer *w)
{
	struct client_seen seen[CLIENTS_MAX];
	size_t count = clients_read(call->api->clients, seen);

	json_key(w, "clients");
	json_begin_array(w);
	for (size_t i = 0; i < count; i++) {
		struct str version = {seen[i].name, seen[i].length}, name = str_cut(&version, '/');

		json_begin_object(w);
		json_member_str(w, "name", name);
		json_member_str(w, "version", version);
		json_member_time(w, "last_seen_at", seen[i].at_ms);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_server(struct call *call, struct json_writer *w, const struct writer_stats *writer)
{
	struct http_counts http;

	http_server_counts(call->api->http, &http);
	json_key(w, "http");
	json_begin_object(w);
	json_member_int(w, "connections", (int64_t)http.connections);
	json_member_int(w, "requests", (int64_t)http.requests);
	json_member_int(w, "requests_active", (int64_t)http.requests_active);
	json_member_int(w, "refused", (int64_t)http.refused);
	json_end_object(w);
	json_key(w, "writer");
	json_begin_object(w);
	json_member_int(w, "queued", (int64_t)writer->queued);
	json_member_int(w, "writes", (int64_t)writer->jobs);
	json_member_int(w, "commits", (int64_t)writer->commits);
	json_end_object(w);
	json_key(w, "events");
	json_begin_object(w);
	json_member_int(w, "streams", (int64_t)feed_count(call->api->feed));
	json_end_object(w);
	put_traces(call, w);
	put_clients(call, w);
}

static void put_keep(struct json_writer *w, const char *name, int64_t keep_ms)
{
	json_key(w, name);
	if (keep_ms)
		json_put_double(w, (double)keep_ms / 1000);
	else
		json_put_null(w);
}

static void put_retention(struct json_writer *w, const struct status_get *s)
{
	json_key(w, "retention");
	json_begin_object(w);
	put_keep(w, "handoffs_s", s->keeps.handoffs_ms);
	put_keep(w, "events_s", s->keeps.events_ms);
	json_member_int(w, "handoffs_kept", s->handoffs);
	json_member_int(w, "handoffs_pruned", s->handoffs_pruned);
	json_end_object(w);
}

/* What is of the process and of all spaces: not for a key of one. */
static void put_process(struct call *call, struct json_writer *w)
{
	json_member_int(w, "pid", (int64_t)getpid());
	json_member_int(w, "clock_offset_ms", engine_clock_offset_ms(call->op->engine));
}

static void put_store(struct call *call, struct json_writer *w)
{
	const struct status_get *s = call_op(call);

	json_key(w, "store");
	json_begin_object(w);
	json_member_cstr(w, "engine", s->store.engine);
	json_member_int(w, "schema", s->store.schema);
	json_member_int(w, "bytes", s->store.bytes);
	json_member_cstr(w, "data", call->api->data_dir);
	json_key(w, "growth");
	json_begin_object(w);
	json_member_int(w, "bytes", s->grown_bytes);
	json_member_time(w, "since", s->grown_since_ms ? s->grown_since_ms : call->api->started_at_ms);
	json_end_object(w);
	json_end_object(w);
}

static void encode_status(struct call *call)
{
	struct status_get *s = call_op(call);
	const char *reason = trouble(call->api);
	bool is_of_all = access_is_of_all(call->op->access);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "version", SPINE_VERSION);
	json_member_cstr(&w, "status", reason ? reason : "ready");
	json_member_time(&w, "started_at", call->api->started_at_ms);
	json_member_int(&w, "uptime_s", (call->op->now_ms - call->api->started_at_ms) / 1000);
	if (is_of_all)
		put_process(call, &w);
	json_member_str(&w, "space", call->op->space_name);
	json_member_int(&w, "memories", s->memories);
	if (is_of_all)
		put_store(call, &w);
	put_retention(&w, s);
	if (is_of_all)
		put_server(call, &w, &s->writer);
	call_end_reply(call, &w);
}

const struct route status_routes[] = {
	{HTTP_GET, "/healthz", &nothing_kind, &describe_health, NULL, encode_health},
	{HTTP_GET, "/readyz", &nothing_kind, &describe_readiness, NULL, encode_ready},
	{HTTP_GET, "/v1/status", &status_get_kind, &describe_status, NULL, encode_status},
	{0},
};
