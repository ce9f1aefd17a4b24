/* Agents: register, read, list. */
#include "api/decode.h"
#include "api/page.h"
#include "api/routes.h"
#include "codec/base64.h"
#include "codec/json_member.h"
#include "core/delivery/agent.h"
#include "core/delivery/delivery.h"
#include "outbound/webhook.h"

#include <stdlib.h>
#include <unistd.h>

enum { AGENTS_LISTED_MAX = 1000000, SECRET_BYTES = 32 };

static const char *const agent_fields[] = {
	"accepts", "tokenizer", "max_tokens", "description", "fetch_hint", "ack_timeout_s", "max_attempts", "fallbacks",
	"webhook", "webhook_secret", NULL,
};

/* An agent, and how delivery to it goes. */
struct view {
	struct agent agent;		/* the first: decode_name's and encode_agent's callers see it as one */
	struct target_row target;
	struct target_counts counts;
	int64_t id;			/* 0: not known yet */
	int64_t now_ms;
	struct str new_secret;		/* for the webhook, where there is none yet */
	bool shows_secret;		/* it is told once, to whoever registers the webhook */
};

static enum problem_code read_view(struct call *call, struct store_conn *c, struct view *v)
{
	enum store_status status = STORE_NOT_FOUND;

	if (call->op->space)
		status = store_agent_id(c, call->op->space, v->agent.name, false, call->op->now_ms, &v->id);

	v->now_ms = call->op->now_ms;
	if (status == STORE_OK)
		status = store_target_get(c, v->id, &v->target);
	if (status == STORE_OK)
		status = store_target_counts(c, v->id, &v->counts);
	return status == STORE_OK || status == STORE_NOT_FOUND ? P_OK : problem_of_store(&call->op->problem, status);
}

static enum problem_code decode_name(struct call *call)
{
	call->input = arena_zalloc(call->op->arena, sizeof(struct view));
	return decode_check_name(call->params[0], "name", AGENT_NAME_MAX, &call->op->problem);
}

static struct str make_secret(struct arena *arena)
{
	unsigned char key[SECRET_BYTES];
	struct buf text;
	struct str copy;

	/* Of the kernel's randomness as much as is asked for here always comes. */
	if (getentropy(key, sizeof(key)) != 0)
		abort();
	buf_init(&text, 4 * sizeof(key));
	buf_puts(&text, "whsec_");
	base64_encode((struct str){(const char *)key, sizeof(key)}, BASE64_PADDED, &text);
	copy = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

/* What can be said of the webhook without the store. */
static enum problem_code decode_webhook(struct call *call)
{
	const struct json *webhook = json_get(&call->body, "webhook");
	struct view *v = call->input;

	if (webhook == NULL || webhook->type != JSON_STRING)
		return P_OK;
	v->new_secret = make_secret(call->op->arena);
	return webhook_check(call->api->webhook, webhook->s, &call->op->problem);
}

static enum problem_code decode_put(struct call *call)
{
	struct str tag = call->op->if_tag;
	enum problem_code code;

	call_warn_unknown_members(call, &call->body, agent_fields, "");
	if (tag.p && !str_is(tag, "*") && (tag.n < 2 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"'))
		return problem_set(&call->op->problem, P_INVALID_FIELD, "If-Match",
				   "If-Match is not an ETag of an agent; expected one of an answer, with the quotes");
	code = decode_name(call);
	if (code == P_OK)
		code = decode_check_agent(call->params[0], "name", &call->op->problem);
	return code == P_OK ? decode_webhook(call) : code;
}

/* If-Match: only where the agent is as it was when the caller read it; "*" only where there is one at all. */
static enum problem_code check_tag(struct call *call, struct store_conn *c)
{
	struct agent present;
	enum problem_code code;

	if (call->op->if_tag.p == NULL)
		return P_OK;
	code = agent_read(c, call->op->space, call->params[0], call->op->arena, &present, &call->op->problem);
	if (code != P_OK)
		return code;
	if (present.created_at_ms == 0)
		return problem_set(&call->op->problem, P_PRECONDITION_FAILED, NULL,
				   "nobody registered an agent of that name, so it has no ETag");
	if (!str_is(call->op->if_tag, "*") && !str_eq(call->op->if_tag, agent_tag(&present, call->op->arena)))
		return problem_set(&call->op->problem, P_PRECONDITION_FAILED, NULL,
				   "the agent was registered anew since; read it again and decide anew");
	return P_OK;
}

/* The settings with the secret of the webhook: the one given, else the one there is, else a new one. It stays when the
 * webhook is taken away, so that a receiver who gets it back can still verify. */
static enum problem_code settings_with_secret(struct call *call, struct store_conn *c, struct json *ret)
{
	const struct json *given = decode_member(&call->body, "webhook_secret");
	struct view *v = call->input;
	struct str secret = v->new_secret;
	struct agent present;
	enum problem_code code;

	*ret = call->body;
	if (given)
		return P_OK;
	code = agent_read(c, call->op->space, call->params[0], call->op->arena, &present, &call->op->problem);
	if (code != P_OK)
		return code;
	if (present.webhook_secret.p)
		secret = present.webhook_secret;
	if (secret.p == NULL)
		return P_OK;
	ret->members = arena_calloc(call->op->arena, (size_t)call->body.count + 1, sizeof(*ret->members));
	ret->count = 0;
	for (uint32_t i = 0; i < call->body.count; i++)
		if (!str_is(call->body.members[i].key, "webhook_secret"))
			ret->members[ret->count++] = call->body.members[i];
	ret->members[ret->count++] = (struct json_member){STR("webhook_secret"), {.type = JSON_STRING, .s = secret}};
	return P_OK;
}

static enum problem_code write_put(struct call *call, struct store_conn *c)
{
	struct json settings;
	enum problem_code code = check_tag(call, c);

	if (code == P_OK)
		code = settings_with_secret(call, c, &settings);
	if (code != P_OK)
		return code;
	call->op->told = (struct event_row){.kind = EVENT_AGENT_SET, .agent = call->params[0]};
	code = agent_write(c, call->op->space, call->params[0], &settings, call->op->now_ms, call->op->arena, call->input,
			   &call->op->problem);
	return code == P_OK ? read_view(call, c, call->input) : code;
}

static void put_committed(struct call *call)
{
	struct view *v = call->input;
	struct agent_place place = {
		.id = v->id, .space = call->op->space, .space_name = call->op->space_name, .name = v->agent.name,
	};

	webhook_set(call->api->webhook, &place, v->agent.webhook.p != NULL);
}

static enum problem_code read_get(struct call *call, struct store_conn *c)
{
	struct agent *a = call->input;
	enum problem_code code = agent_read(c, call->op->space, call->params[0], call->op->arena, a, &call->op->problem);

	if (code == P_OK && a->created_at_ms == 0)
		code = problem_set(&call->op->problem, P_AGENT_NOT_FOUND, "name", "nobody registered an agent of that "
				   "name");
	return code == P_OK ? read_view(call, c, call->input) : code;
}

static void put_delivery(struct json_writer *w, const struct view *v)
{
	const struct agent *a = &v->agent;
	enum breaker_state state = breaker_state(&v->target, v->now_ms);

	json_key(w, "ack_timeout_s");
	json_put_double(w, (double)(a->ack_timeout_ms ? a->ack_timeout_ms : DELIVERY_ACK_TIMEOUT_MS) / 1000);
	json_member_int(w, "max_attempts", a->max_attempts ? a->max_attempts : DELIVERY_ATTEMPTS);
	json_key(w, "fallbacks");
	if (a->fallbacks)
		json_put(w, a->fallbacks);
	else
		json_put_raw(w, STR("[]"));
	json_member_optional(w, "webhook", a->webhook);
	json_member_optional(w, "webhook_secret", v->shows_secret && a->webhook.p ? a->webhook_secret : STR_NULL);
	json_key(w, "queue");
	json_begin_object(w);
	json_member_int(w, "queued", v->counts.queued);
	json_member_int(w, "leased", v->counts.leased);
	json_member_int(w, "working", v->counts.working);
	json_member_int(w, "parked", v->counts.parked);
	json_end_object(w);
	json_key(w, "breaker");
	json_begin_object(w);
	json_member_cstr(w, "state", breaker_name(state));
	json_member_int(w, "failures", v->target.failures);
	json_member_time_optional(w, "reset_at", state == BREAKER_OPEN ? v->target.open_until_ms : 0);
	json_end_object(w);
	json_member_time_optional(w, "last_seen_at", v->target.seen_at_ms);
}

static void put_agent(struct json_writer *w, const struct view *v)
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
	put_delivery(w, v);
	json_member_time(w, "created_at", a->created_at_ms);
	json_member_time(w, "updated_at", a->updated_at_ms);
}

static void encode_agent(struct call *call)
{
	struct json_writer w;

	call->etag = agent_tag(call->input, call->op->arena);
	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_agent(&w, call->input);
	call_end_reply(call, &w);
}

static void encode_put(struct call *call)
{
	struct view *v = call->input;

	v->shows_secret = true;
	encode_agent(call);
}

/* --- List --- */

struct agent_list {
	struct page page;
	struct agent_row *rows;
	struct view *agents;
	size_t count;
};

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct agent_list *l = arena_zalloc(call->op->arena, sizeof(*l));
	enum problem_code code = page_read_only(call, known, &l->page);

	call->input = l;
	if (code == P_OK && l->page.position > AGENTS_LISTED_MAX)
		code = problem_set(&call->op->problem, P_INVALID_PAGE_TOKEN, "page_token", "page_token is not one of this "
				   "list");
	return code;
}

/* Agents are few; a page is found by counting from the start. */
static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct agent_list *l = call->input;
	size_t max = (size_t)l->page.position + l->page.size + 1;
	enum problem_code code = P_OK;
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(call->op->arena, max, sizeof(*l->rows));
	if (call->op->space)
		status = store_agents(c, call->op->space, STR_NULL, max, call->op->arena, l->rows, &l->count);
	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	l->agents = arena_calloc(call->op->arena, l->count, sizeof(*l->agents));
	for (size_t i = 0; code == P_OK && i < l->count; i++)
		code = agent_read(c, call->op->space, l->rows[i].name, call->op->arena, &l->agents[i].agent, &call->op->problem);
	for (size_t i = (size_t)l->page.position; code == P_OK && i < l->count; i++)
		code = read_view(call, c, &l->agents[i]);
	return code;
}

static void encode_list(struct call *call)
{
	struct agent_list *l = call->input;
	size_t from = (size_t)l->page.position, to = from + l->page.size;
	bool more = l->count > to;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "agents");
	json_begin_array(&w);
	for (size_t i = from; i < l->count && i < to; i++) {
		json_begin_object(&w);
		put_agent(&w, &l->agents[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, more, to, 0);
	call_end_reply(call, &w);
}

const struct route agent_routes[] = {
	{HTTP_GET, "/v1/agents", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/agents/{}", 0, .decode = decode_name, .read = read_get, .encode = encode_agent},
	{HTTP_PUT, "/v1/agents/{}", ROUTE_BODY | ROUTE_CREATES | ROUTE_IF_TAG,
	 .decode = decode_put, .write = write_put, .committed = put_committed, .encode = encode_put},
	{0},
};
