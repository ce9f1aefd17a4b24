/* Agents: register, read, list. */
#include "api/decode.h"
#include "api/page.h"
#include "api/routes.h"
#include "base/clock.h"
#include "core/agent.h"

enum { AGENT_NAME_MAX = 128 };

static const char *const agent_fields[] = {"accepts", "tokenizer", "max_tokens", "description", NULL};

static enum problem_code decode_name(struct call *call)
{
	call->input = arena_zalloc(call->arena, sizeof(struct agent));
	return decode_check_name(call->params[0], "name", AGENT_NAME_MAX, &call->problem);
}

static enum problem_code decode_put(struct call *call)
{
	call_warn_unknown_members(call, &call->body, agent_fields, "");
	return decode_name(call);
}

static enum problem_code write_put(struct call *call, struct store_conn *c)
{
	return agent_write(c, call->space, call->params[0], &call->body, call->now_ms, call->arena, call->input, &call->problem);
}

static enum problem_code read_get(struct call *call, struct store_conn *c)
{
	struct agent *a = call->input;
	enum problem_code code = agent_read(c, call->space, call->params[0], call->arena, a, &call->problem);

	if (code == P_OK && a->created_at_ms == 0)
		code = problem_set(&call->problem, P_AGENT_NOT_FOUND, "name", "nobody registered an agent of that name");
	return code;
}

static void put_agent(struct json_writer *w, const struct agent *a)
{
	const struct json *description = json_get(&a->settings, "description");
	char at[CLOCK_TEXT_SIZE];

	json_member_str(w, "name", a->name);
	json_key(w, "accepts");
	json_begin_array(w);
	if (a->accepts_v2)
		json_put_cstr(w, "2");
	if (a->accepts_v1)
		json_put_cstr(w, "1");
	json_end_array(w);
	json_key(w, "tokenizer");
	if (a->tokenizer.p)
		json_put_str(w, a->tokenizer);
	else
		json_put_null(w);
	json_key(w, "max_tokens");
	if (a->max_tokens)
		json_put_int(w, a->max_tokens);
	else
		json_put_null(w);
	json_key(w, "description");
	if (description && description->type == JSON_STRING)
		json_put_str(w, description->s);
	else
		json_put_null(w);
	clock_format(a->created_at_ms, at);
	json_member_cstr(w, "created_at", at);
	clock_format(a->updated_at_ms, at);
	json_member_cstr(w, "updated_at", at);
}

static void encode_agent(struct call *call)
{
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_agent(&w, call->input);
	call_end_reply(call, &w);
}

/* --- List --- */

struct agent_list {
	struct page page;
	struct agent_row *rows;
	struct agent *agents;
	size_t count;
};

static enum problem_code decode_list(struct call *call)
{
	struct agent_list *l = arena_zalloc(call->arena, sizeof(*l));

	call->input = l;
	return page_read(call, &l->page);
}

/* Agents are few; a page is found by counting from the start. */
static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct agent_list *l = call->input;
	size_t max = (size_t)l->page.position + l->page.size + 1;
	enum problem_code code = P_OK;
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(call->arena, max, sizeof(*l->rows));
	if (call->space)
		status = store_agents(c, call->space, STR_NULL, max, call->arena, l->rows, &l->count);
	if (status != STORE_OK)
		return problem_of_store(&call->problem, status);
	l->agents = arena_calloc(call->arena, l->count, sizeof(*l->agents));
	for (size_t i = 0; code == P_OK && i < l->count; i++)
		code = agent_read(c, call->space, l->rows[i].name, call->arena, &l->agents[i], &call->problem);
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
	{HTTP_PUT, "/v1/agents/{}", ROUTE_BODY | ROUTE_CREATES, .decode = decode_put, .write = write_put, .encode = encode_agent},
	{0},
};
