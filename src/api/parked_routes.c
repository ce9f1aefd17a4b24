/* Parking an envelope, and what a person does with what is parked; and the breaker, which a person may close. */
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/handoff_json.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "core/delivery/handoff_id.h"
#include "engine/delivery/reset.h"
#include "engine/delivery/shrink.h"

enum { NAME_MAX_BYTES = 128, WHY_MAX = 4096 };

static enum problem_code read_why(struct call *call, struct decide *d, const char *name)
{
	enum problem_code code = decode_str(&call->body, name, 1, WHY_MAX, &d->why, &call->op->problem);

	if (code == P_OK)
		code = decode_str(&call->body, "by", 1, NAME_MAX_BYTES, &d->by, &call->op->problem);
	return code == P_OK && d->by.p ? decode_check_name(d->by, "by", NAME_MAX_BYTES, &call->op->problem) : code;
}

static void encode_row(struct call *call)
{
	struct decide *d = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &d->row);
	call_end_reply(call, &w);
}

/* --- POST /v1/envelopes/{id}/park --- */

static enum problem_code decode_park(struct call *call)
{
	static const char *const known[] = {"reason", "by", NULL};
	struct decide *d = call_op(call);
	enum problem_code code = envelope_path_id(call, &d->num);

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_why(call, d, "reason");
	if (code == P_OK && d->why.p == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "reason", "reason is missing; it is what a person "
				   "reads first");
	return code;
}

/* --- POST /v1/parked/{id}/redrive, /reroute, /discard --- */

static enum problem_code decode_decision(struct call *call)
{
	struct decide *d = call_op(call);
	enum problem_code code = handoff_path_id(call, &d->num);

	return code == P_OK ? read_why(call, d, "why") : code;
}

static enum problem_code decode_redrive(struct call *call)
{
	static const char *const known[] = {"why", "by", NULL};

	call_warn_unknown_members(call, &call->body, known, "");
	return decode_decision(call);
}

static enum problem_code decode_reroute(struct call *call)
{
	static const char *const known[] = {"to", "why", "by", NULL};
	enum problem_code code = decode_decision(call);
	struct decide *d = call_op(call);

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = decode_agent(&call->body, "to", &d->to, &call->op->problem);
	if (code == P_OK && d->to.p == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "to", "to is missing; it is the agent that gets "
				   "the work instead");
	return code;
}

static enum problem_code decode_discard(struct call *call)
{
	enum problem_code code = decode_redrive(call);
	struct decide *d = call_op(call);

	if (code == P_OK && d->why.p == NULL)
		code = call_refuse(call, P_MISSING_FIELD, "why", "why is missing; what is discarded is gone "
				   "from the queue for good, and somebody will ask");
	return code;
}

/* --- POST /v1/parked/{id}/shrink --- */

static enum problem_code decode_shrink(struct call *call)
{
	static const char *const known[] = {"max_tokens", "why", "by", NULL};
	struct shrink *s = call_op(call);
	enum problem_code code = handoff_path_id(call, &s->decision.num);

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_why(call, &s->decision, "why");
	if (code == P_OK)
		code = decode_int(&call->body, "max_tokens", 1, HANDOFF_TOKENS_MAX, &s->max_tokens, &call->op->problem);
	if (code == P_OK && s->max_tokens == 0)
		code = call_refuse(call, P_MISSING_FIELD, "max_tokens", "max_tokens is missing; it is the "
				   "budget that the new envelope must fit");
	return code;
}

static void encode_shrink(struct call *call)
{
	struct shrink *s = call_op(call);
	char id[HANDOFF_ID_SIZE];
	struct json_writer w;

	call->status = 201;
	call->location = arena_printf(call->op->arena, "/v1/handoffs/ho-%llu", (unsigned long long)s->decision.row.num);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	handoff_json_members(&w, &s->decision.row);
	handoff_id_format(s->old.num, id);
	json_member_cstr(&w, "replaces", id);
	json_member_int(&w, "token_count", s->pack.envelope.token_count);
	call_end_reply(call, &w);
}

/* --- POST /v1/agents/{name}/reset --- */

static enum problem_code decode_reset(struct call *call)
{
	((struct reset *)call_op(call))->agent = call->params[0];
	return decode_check_name(call->params[0], "name", NAME_MAX_BYTES, &call->op->problem);
}

static void encode_reset(struct call *call)
{
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "name", call->params[0]);
	json_member_cstr(&w, "breaker", breaker_name(BREAKER_CLOSED));
	call_end_reply(call, &w);
}

const struct route parked_routes[] = {
	{HTTP_POST, "/v1/envelopes/{}/park", &decide_park_kind, &describe_park, decode_park, encode_row},
	{HTTP_POST, "/v1/parked/{}/redrive", &decide_redrive_kind, &describe_redrive, decode_redrive, encode_row},
	{HTTP_POST, "/v1/parked/{}/reroute", &decide_reroute_kind, &describe_reroute, decode_reroute, encode_row},
	{HTTP_POST, "/v1/parked/{}/discard", &decide_discard_kind, &describe_discard, decode_discard, encode_row},
	{HTTP_POST, "/v1/parked/{}/shrink", &shrink_kind, &describe_shrink, decode_shrink, encode_shrink},
	{HTTP_POST, "/v1/agents/{}/reset", &reset_kind, &describe_reset_breaker, decode_reset, encode_reset},
	{0},
};
