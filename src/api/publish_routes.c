/* Publishing to a channel: one handoff per receiver, all or none; and join, which waits for what they make of it. */
#include "api/decode.h"
#include "api/envelope_decode.h"
#include "api/handoff_json.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/delivery/channel.h"
#include "engine/delivery/join.h"
#include "engine/delivery/publish.h"

enum { JOIN_WAIT_MAX_MS = 60000 };

/* --- POST /v1/channels/{name}/publish --- */

static enum problem_code read_envelope_id(struct call *call, uint64_t *ret)
{
	enum problem_code code = envelope_body_id(call, ret);

	if (code == P_OK && *ret == 0)
		code = call_refuse(call, P_MISSING_FIELD, "envelope_id", "envelope_id is missing; it is what "
				   "POST /v1/envelopes answered, as in env-17");
	return code;
}

/* An empty list is none. */
static enum problem_code read_receivers(struct call *call, struct publish *p)
{
	const struct json *list = NULL;
	struct str *names;
	enum problem_code code = decode_agents(&call->body, "receivers", PUBLISH_RECEIVERS_MAX, &list,
					       &call->op->problem);

	if (code != P_OK || list == NULL || list->count == 0)
		return code;
	names = arena_calloc(call->op->arena, list->count, sizeof(*names));
	for (uint32_t i = 0; i < list->count; i++)
		names[i] = list->items[i].s;
	p->receivers = names;
	p->receiver_count = list->count;
	return P_OK;
}

static enum problem_code decode_publish(struct call *call)
{
	static const char *const known[] = {"envelope_id", "receivers", "delivery", "priority", "ack_timeout_s",
					    "max_attempts", NULL};
	struct publish *p = call_op(call);
	struct str delivery = STR("at-least-once");
	int64_t priority = DELIVERY_PRIORITY;
	const struct json *b = &call->body;
	struct problem *problem = &call->op->problem;
	enum problem_code code;

	p->name = call->params[0];
	call_warn_unknown_members(call, b, known, "");
	if ((code = decode_check_name(call->params[0], "name", CHANNEL_NAME_MAX, problem)) != P_OK ||
	    (code = read_envelope_id(call, &p->order.envelope)) != P_OK || (code = read_receivers(call, p)) != P_OK ||
	    (code = decode_int(b, "priority", 0, DELIVERY_PRIORITY_MAX, &priority, problem)) != P_OK ||
	    (code = decode_seconds(b, "ack_timeout_s", 1, DELIVERY_TIMEOUT_MAX_MS, &p->order.ack_timeout_ms,
				   problem)) != P_OK ||
	    (code = decode_int(b, "max_attempts", 1, DELIVERY_ATTEMPTS_MAX, &p->order.max_attempts, problem)) != P_OK ||
	    (code = decode_str(b, "delivery", 1, 64, &delivery, problem)) != P_OK)
		return code;
	if (!str_is(delivery, "at-least-once"))
		return problem_set(problem, P_INVALID_FIELD, "delivery", "delivery is \"%.*s\"; this server has "
				   "at-least-once", STR_ARG(delivery));
	p->order.priority = (int)priority;
	return P_OK;
}

static void encode_publish(struct call *call)
{
	struct publish *p = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "channel", call->params[0]);
	json_key(&w, "handoffs");
	json_begin_array(&w);
	for (size_t i = 0; i < p->count; i++)
		handoff_json_put(&w, &p->rows[i]);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- POST /v1/channels/{name}/join --- */

static const char *const join_names[] = {"waiting", "joined", "failed", "deadline"};

static enum problem_code read_need(struct call *call, struct join *j)
{
	const struct json *need = decode_member(&call->body, "need");

	if (need == NULL || (need->type == JSON_STRING && str_is(need->s, "all")))
		return P_OK;
	j->need = 1;
	if (need->type == JSON_STRING && str_is(need->s, "any"))
		return P_OK;
	if (json_as_int(need, &j->need) && j->need >= 1)
		return P_OK;
	return call_refuse(call, P_INVALID_FIELD, "need", "need is how many receivers must complete; "
			   "expected \"all\", \"any\" or a whole number from 1");
}

static enum problem_code decode_join(struct call *call)
{
	static const char *const known[] = {"envelope_id", "need", "wait_s", "deadline", NULL};
	struct join *j = call_op(call);
	int64_t wait_ms = 0;
	enum problem_code code = decode_check_name(call->params[0], "name", CHANNEL_NAME_MAX, &call->op->problem);

	j->name = call->params[0];
	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK)
		code = read_envelope_id(call, &j->envelope);
	if (code == P_OK)
		code = read_need(call, j);
	if (code == P_OK)
		code = decode_seconds(&call->body, "wait_s", 0, JOIN_WAIT_MAX_MS, &wait_ms, &call->op->problem);
	if (code == P_OK)
		code = decode_time(&call->body, "deadline", &j->deadline_ms, &call->op->problem);
	if (code != P_OK)
		return code;
	if (j->deadline_ms && j->deadline_ms - call->op->now_ms < wait_ms)
		wait_ms = j->deadline_ms - call->op->now_ms;
	op_may_wait(call->op, wait_ms);
	return P_OK;
}

static void encode_join(struct call *call)
{
	struct join *j = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "state", join_names[j->state]);
	json_member_int(&w, "receivers", (int64_t)j->count);
	json_member_int(&w, "completed", (int64_t)j->tally.completed);
	json_member_int(&w, "need", j->need ? j->need : (int64_t)j->count);
	json_key(&w, "results");
	json_begin_array(&w);
	for (size_t i = 0; i < j->count; i++) {
		json_begin_object(&w);
		handoff_json_members(&w, &j->rows[i]);
		if (j->has_result[i])
			handoff_json_result(&w, &j->results[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	call_end_reply(call, &w);
}

const struct route publish_routes[] = {
	{HTTP_POST, "/v1/channels/{}/publish", &publish_kind, &describe_publish, decode_publish, encode_publish},
	{HTTP_POST, "/v1/channels/{}/join", &join_kind, &describe_join, decode_join, encode_join},
	{0},
};
