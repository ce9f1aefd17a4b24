/* Delivering envelopes, and looking at handoffs. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/traceparent.h"
#include "api/translate.h"
#include "engine/handoff_get.h"
#include "engine/handoff_list.h"
#include "engine/send.h"

/* Where the envelope was packed with it the client goes on in its trace. */
static void encode_send(struct call *call)
{
	const struct send *s = call_op(call);

	if (s->pack && s->pack->envelope.num == s->row.envelope)
		call->traceparent = traceparent_of(call->api, &s->pack->envelope, 0, 0, call->op->arena);
	translate_write(call);
}

const struct route handoff_routes[] = {
	{HTTP_POST, "/v1/handoffs", &send_kind, &describe_deliver, NULL, encode_send},
	{HTTP_GET, "/v1/handoffs", &handoff_list_kind, &describe_list_handoffs, NULL, NULL},
	{HTTP_GET, "/v1/parked", &handoff_list_kind, &describe_list_parked, NULL, NULL},
	{HTTP_GET, "/v1/handoffs/{}", &handoff_get_kind, &describe_read_handoff, NULL, NULL},
	{0},
};
