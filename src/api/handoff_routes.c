/* Delivering envelopes, and looking at handoffs. */
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/handoff_json.h"
#include "api/notices.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/traceparent.h"
#include "engine/handoff_get.h"
#include "engine/handoff_list.h"
#include "engine/send.h"

enum { SEND_WAIT_MAX_MS = 600000 };

/* --- POST /v1/handoffs --- */

/* An envelope that is there, or one that is packed with the same call. */
static enum problem_code read_envelope(struct call *call, struct send *s)
{
	const struct json *whole = decode_member(&call->body, "envelope");
	struct problem *p = &call->op->problem;
	enum problem_code code = envelope_body_id(call, &s->order.envelope);

	if (code != P_OK || (s->order.envelope && whole == NULL))
		return code;
	if (s->order.envelope)
		return problem_set(p, P_INVALID_FIELD, "envelope", "envelope and envelope_id cannot both be given");
	if (whole == NULL)
		return problem_set(p, P_MISSING_FIELD, "envelope_id", "envelope_id is missing; POST /v1/envelopes "
				   "packs an envelope and tells its id, as in env-17; or give the envelope itself as "
				   "\"envelope\"");
	if (whole->type != JSON_OBJECT)
		return problem_set(p, P_INVALID_FIELD, "envelope", "envelope is %s; expected an object, as POST "
				   "/v1/envelopes takes it", json_type_name(whole->type));
	s->pack = arena_zalloc(call->op->arena, sizeof(*s->pack));
	code = envelope_decode(call, whole, s->pack);
	if (code == P_OK && s->pack->dry_run)
		code = problem_set(p, P_INVALID_FIELD, "envelope.dry_run", "a dry run is not sent; ask POST "
				   "/v1/envelopes for it");
	return code;
}

static enum problem_code decode_send(struct call *call)
{
	static const char *const known[] = {"envelope_id", "envelope", "to", "wait_s", "ack_timeout_s", "max_attempts",
					    "fallbacks", "priority", NULL};
	struct send *s = call_op(call);
	struct delivery_order *o = &s->order;
	const struct json *b = &call->body;
	struct problem *p = &call->op->problem;
	int64_t priority = DELIVERY_PRIORITY;
	enum problem_code code;

	call_warn_unknown_members(call, b, known, "");
	if ((code = read_envelope(call, s)) != P_OK ||
	    (code = decode_agent(b, "to", &o->to, p)) != P_OK ||
	    (code = decode_seconds(b, "wait_s", 0, SEND_WAIT_MAX_MS, &o->wait_ms, p)) != P_OK ||
	    (code = decode_seconds(b, "ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS, &o->ack_timeout_ms, p)) != P_OK ||
	    (code = decode_int(b, "max_attempts", 1, DELIVERY_ATTEMPTS_MAX, &o->max_attempts, p)) != P_OK ||
	    (code = decode_int(b, "priority", 0, DELIVERY_PRIORITY_MAX, &priority, p)) != P_OK)
		return code;
	s->given_to = o->to;
	o->priority = (int)priority;
	call->op->skips_index = s->pack == NULL;
	return decode_agents(b, "fallbacks", DELIVERY_FALLBACKS_MAX, &o->fallbacks, p);
}

static void encode_send(struct call *call)
{
	struct send *s = call_op(call);
	struct json_writer w;

	call->status = s->row.state >= HANDOFF_WORKING ? 200 : 202;
	call->location = arena_printf(call->op->arena, "/v1/handoffs/ho-%llu", (unsigned long long)s->row.num);
	if (s->pack && s->pack->envelope.num == s->row.envelope)
		call->traceparent = traceparent_of(call->api, &s->pack->envelope, 0, 0, call->op->arena);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &s->row);
	notices_put(&s->notices, &w);
	call_end_reply(call, &w);
}

const struct route handoff_routes[] = {
	{HTTP_POST, "/v1/handoffs", &send_kind, &describe_deliver, decode_send, encode_send},
	{HTTP_GET, "/v1/handoffs", &handoff_list_kind, &describe_list_handoffs, NULL, NULL},
	{HTTP_GET, "/v1/parked", &handoff_list_kind, &describe_list_parked, NULL, NULL},
	{HTTP_GET, "/v1/handoffs/{}", &handoff_get_kind, &describe_read_handoff, NULL, NULL},
	{0},
};
