/* What a receiver answers: ack, nack, need, progress, complete, reject. */
#include "api/describe/descriptions.h"
#include "api/describe/shapes.h"
#include "api/describe/write.h"
#include "api/lookup.h"
#include "api/http/routes.h"
#include "engine/delivery/need.h"

static void encode_need(struct call *call)
{
	struct need *n = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	lookup_put(call, &w, &n->lookup);
	json_key(&w, "handoff");
	shape_write_with(&shape_handoff, &n->settle.row, call, &w);
	call_end_reply(call, &w);
}

const struct route settle_routes[] = {
	{HTTP_POST, "/v1/handoffs/{}/ack", &settle_kind, &describe_ack, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/nack", &settle_kind, &describe_nack, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/reject", &settle_kind, &describe_reject, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/progress", &settle_kind, &describe_progress, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/complete", &settle_complete_kind, &describe_complete, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/need", &need_kind, &describe_need, NULL, encode_need},
	{0},
};
