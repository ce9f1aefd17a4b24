/* The nodes of a cluster, and who owns what. */
#include "api/describe/descriptions.h"
#include "api/http/cluster_front.h"
#include "api/http/http_call.h"
#include "api/routes.h"
#include "codec/json_member.h"

#define ONLY_NODE "server"

/* As this request has reached it. */
static void put_url(struct call *call, struct json_writer *w)
{
	const struct http_req *req = http_call_of(call)->req;
	const char *scheme = http_req_is_secure(req) ? "https" : "http";
	struct str host = http_req_header(req, "host");

	json_member_str(w, "url", arena_printf(call->op->arena, "%s://%.*s", scheme, STR_ARG(host)));
}

static void put_only_node(struct call *call, struct json_writer *w)
{
	json_member_cstr(w, "node", ONLY_NODE);
	json_member_int(w, "seen_ms_ago", 0);
	json_key(w, "nodes");
	json_begin_array(w);
	json_begin_object(w);
	json_member_cstr(w, "id", ONLY_NODE);
	put_url(call, w);
	json_member_cstr(w, "version", SPINE_VERSION);
	json_member_cstr(w, "state", "live");
	json_member_int(w, "lease_left_ms", 0);
	json_member_int(w, "clock_offset_ms", engine_clock_offset_ms(call->op->engine));
	json_member_int(w, "shards", 0);
	json_member_null(w, "same_url_as");
	json_end_object(w);
	json_end_array(w);
	json_key(w, "shards");
	json_begin_array(w);
	json_end_array(w);
	json_key(w, "standbys");
	json_begin_array(w);
	json_end_array(w);
}

static void encode_cluster(struct call *call)
{
	const struct cluster_node_api *node = call->api->node;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	if (node)
		node->put(node->ctx, &w);
	else
		put_only_node(call, &w);
	json_end_object(&w);
}

const struct route cluster_routes[] = {
	{HTTP_GET, "/v1/cluster", &nothing_kind, &describe_cluster, NULL, encode_cluster},
	{0},
};
