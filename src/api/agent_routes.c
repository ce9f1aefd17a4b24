/* Agents: register, read, list. */
#include "api/decode.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/stats_json.h"
#include "codec/json_member.h"
#include "core/delivery/delivery.h"
#include "engine/delivery/agent_set.h"

enum { AGENTS_LISTED_MAX = 1000000 };

static const char *const agent_fields[] = {
	"accepts", "tokenizer", "max_tokens", "description", "fetch_hint", "ack_timeout_s", "max_attempts", "fallbacks",
	"webhook", "webhook_secret", NULL,
};

static enum problem_code decode_get(struct call *call)
{
	struct agent_get *g = call_op(call);

	g->name = call->params[0];
	return decode_check_name(g->name, "name", AGENT_NAME_MAX, &call->op->problem);
}

static enum problem_code decode_set(struct call *call)
{
	struct agent_set *s = call_op(call);
	struct str tag = call->op->if_tag;

	s->name = call->params[0];
	s->settings = &call->body;
	call_warn_unknown_members(call, &call->body, agent_fields, "");
	if (tag.p && !str_is(tag, "*") && (tag.n < 2 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"'))
		return call_refuse(call, P_INVALID_FIELD, "If-Match",
				   "If-Match is not an ETag of an agent; expected one of an answer, with the quotes");
	return decode_check_agent(s->name, "name", &call->op->problem);
}

static void put_delivery(struct json_writer *w, const struct agent_view *v, bool shows_secret, int64_t now_ms)
{
	const struct agent *a = &v->agent;
	enum breaker_state state = breaker_state(&v->target, now_ms);

	json_key(w, "ack_timeout_s");
	json_put_double(w, (double)(a->ack_timeout_ms ? a->ack_timeout_ms : DELIVERY_ACK_TIMEOUT_MS) / 1000);
	json_member_int(w, "max_attempts", a->max_attempts ? a->max_attempts : DELIVERY_ATTEMPTS);
	json_key(w, "fallbacks");
	if (a->fallbacks)
		json_put(w, a->fallbacks);
	else
		json_put_raw(w, STR("[]"));
	json_member_optional(w, "webhook", a->webhook);
	json_member_optional(w, "webhook_secret", shows_secret && a->webhook.p ? a->webhook_secret : STR_NULL);
	stats_json_queue(w, &v->counts);
	json_key(w, "breaker");
	json_begin_object(w);
	json_member_cstr(w, "state", breaker_name(state));
	json_member_int(w, "failures", v->target.failures);
	json_member_time_optional(w, "reset_at", state == BREAKER_OPEN ? v->target.open_until_ms : 0);
	json_end_object(w);
	json_member_time_optional(w, "last_seen_at", v->target.seen_at_ms);
}

static void put_agent(struct json_writer *w, const struct agent_view *v, bool shows_secret, int64_t now_ms)
{
	const struct agent *a = &v->agent;
	const struct json *description = json_get(&a->settings, "description");
	bool described = description && description->type == JSON_STRING;

	json_member_str(w, "name", a->name);
	json_key(w, "accepts");
	json_begin_array(w);
	if (a->accepts_v2)
		json_put_cstr(w, "2");
	if (a->accepts_v1)
		json_put_cstr(w, "1");
	json_end_array(w);
	json_member_optional(w, "tokenizer", a->tokenizer);
	if (a->max_tokens)
		json_member_int(w, "max_tokens", a->max_tokens);
	else
		json_member_null(w, "max_tokens");
	json_member_optional(w, "description", described ? description->s : STR_NULL);
	json_member_optional(w, "fetch_hint", str_of(envelope_fetch_name(a->fetch_hint)));
	put_delivery(w, v, shows_secret, now_ms);
	json_member_time(w, "created_at", a->created_at_ms);
	json_member_time(w, "updated_at", a->updated_at_ms);
}

static void put_reply(struct call *call, const struct agent_view *v, bool shows_secret)
{
	struct json_writer w;

	call->etag = agent_tag(&v->agent, call->op->arena);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_agent(&w, v, shows_secret, call->op->now_ms);
	call_end_reply(call, &w);
}

static void encode_get(struct call *call)
{
	const struct agent_get *g = call_op(call);

	put_reply(call, &g->view, false);
}

/* The secret is told once, to whoever registers the webhook. */
static void encode_set(struct call *call)
{
	const struct agent_set *s = call_op(call);

	put_reply(call, &s->view, true);
}

/* --- List --- */

static enum problem_code decode_list(struct call *call)
{
	struct agent_list *l = call_op(call);

	return page_read_counted(call, AGENTS_LISTED_MAX, &l->page);
}

static void encode_list(struct call *call)
{
	const struct agent_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "agents");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		json_begin_object(&w);
		put_agent(&w, &l->agents[i], false, call->op->now_ms);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->has_more, l->page.position + l->page.size, 0);
	call_end_reply(call, &w);
}

const struct route agent_routes[] = {
	{HTTP_GET, "/v1/agents", &agent_list_kind, &describe_list_agents, decode_list, encode_list},
	{HTTP_GET, "/v1/agents/{}", &agent_get_kind, &describe_read_agent, decode_get, encode_get},
	{HTTP_PUT, "/v1/agents/{}", &agent_set_kind, &describe_register_agent, decode_set, encode_set},
	{0},
};
