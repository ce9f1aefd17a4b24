/* Channels and their subscribers. (What is done with them is in publish_routes.c.) */
#include "engine/channel.h"
#include "api/decode.h"
#include "api/page.h"
#include "api/routes.h"
#include "codec/json_member.h"

enum { DESCRIPTION_MAX = 4096, LISTED_MAX = 1000000 };

static void put_channel(struct json_writer *w, const struct channel_row *row)
{
	json_member_str(w, "name", row->name);
	json_member_optional(w, "description", row->description);
	json_member_int(w, "subscriber_count", row->subscribers);
	json_member_time(w, "created_at", row->created_at_ms);
}

/* --- PUT, GET /v1/channels/{name} --- */

struct channel {
	struct channel_row row;
	struct str description;
	struct str *names;
	size_t count;
};

static enum problem_code decode_channel(struct call *call)
{
	static const char *const known[] = {"description", NULL};
	struct channel *ch = arena_zalloc(call->op->arena, sizeof(*ch));
	enum problem_code code = decode_check_name(call->params[0], "name", CHANNEL_NAME_MAX, &call->op->problem);

	call->input = ch;
	if (call->body.type == JSON_OBJECT)
		call_warn_unknown_members(call, &call->body, known, "");
	return code == P_OK ? decode_str(&call->body, "description", 0, DESCRIPTION_MAX, &ch->description,
					 &call->op->problem) : code;
}

static enum problem_code read_channel(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	enum problem_code code = channel_find(call->op, c, call->params[0], &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	ch->names = arena_calloc(call->op->arena, (size_t)ch->row.subscribers + 1, sizeof(*ch->names));
	status = store_subscribers(c, ch->row.id, (size_t)ch->row.subscribers + 1, call->op->arena, ch->names, &ch->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static enum problem_code write_channel(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	enum store_status status;

	call->op->told = (struct event_row){.kind = EVENT_CHANNEL_SET, .note = call->params[0]};
	status = store_channel_put(c, call->op->space, call->params[0], ch->description, call->op->now_ms);

	return status == STORE_OK ? read_channel(call, c) : problem_of_store(&call->op->problem, status);
}

static void encode_channel(struct call *call)
{
	struct channel *ch = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_channel(&w, &ch->row);
	json_key(&w, "subscribers");
	json_begin_array(&w);
	for (size_t i = 0; i < ch->count; i++)
		json_put_str(&w, ch->names[i]);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- PUT, DELETE /v1/channels/{name}/subscribers/{agent} --- */

static enum problem_code decode_subscriber(struct call *call)
{
	enum problem_code code = decode_channel(call);

	return code == P_OK ? decode_check_agent(call->params[1], "agent", &call->op->problem) : code;
}

static enum problem_code write_subscribe(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	int64_t agent = 0;
	enum problem_code code = channel_make(call->op, c, call->params[0], &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_agent_id(c, call->op->space, call->params[1], true, call->op->now_ms, &agent);
	call->op->told = (struct event_row){.kind = EVENT_CHANNEL_SUBSCRIBED, .agent = call->params[1],
					.note = call->params[0]};
	if (status == STORE_OK)
		status = store_subscriber_put(c, ch->row.id, agent, call->op->now_ms);
	return status == STORE_OK ? read_channel(call, c) : problem_of_store(&call->op->problem, status);
}

static enum problem_code write_unsubscribe(struct call *call, struct store_conn *c)
{
	struct channel *ch = call->input;
	int64_t agent = 0;
	enum problem_code code = channel_find(call->op, c, call->params[0], &ch->row);
	enum store_status status;

	if (code != P_OK)
		return code;
	status = store_agent_id(c, call->op->space, call->params[1], false, call->op->now_ms, &agent);
	call->op->told = (struct event_row){.kind = EVENT_CHANNEL_UNSUBSCRIBED, .agent = call->params[1],
					.note = call->params[0]};
	if (status == STORE_OK)
		status = store_subscriber_delete(c, ch->row.id, agent);
	if (status == STORE_NOT_FOUND)
		return problem_set(&call->op->problem, P_AGENT_NOT_FOUND, "agent", "%.*s does not subscribe to this "
				   "channel", STR_ARG(call->params[1]));
	return status == STORE_OK ? read_channel(call, c) : problem_of_store(&call->op->problem, status);
}

/* --- GET /v1/channels --- */

struct channel_list {
	struct page page;
	struct channel_row *rows;
	size_t count;
};

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct channel_list *l = arena_zalloc(call->op->arena, sizeof(*l));
	enum problem_code code;

	call->input = l;
	code = page_read_only(call, known, &l->page);
	if (code == P_OK && l->page.position > LISTED_MAX)
		code = problem_set(&call->op->problem, P_INVALID_PAGE_TOKEN, "page_token", "page_token is not one of this "
				   "list");
	return code;
}

/* Channels are few; a page is found by counting from the start. */
static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct channel_list *l = call->input;
	size_t max = (size_t)l->page.position + l->page.size + 1;
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(call->op->arena, max, sizeof(*l->rows));
	if (call->op->space)
		status = store_channels(c, call->op->space, STR_NULL, max, call->op->arena, l->rows, &l->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_list(struct call *call)
{
	struct channel_list *l = call->input;
	size_t from = (size_t)l->page.position, to = from + l->page.size;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "channels");
	json_begin_array(&w);
	for (size_t i = from; i < l->count && i < to; i++) {
		json_begin_object(&w);
		put_channel(&w, &l->rows[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->count > to, to, 0);
	call_end_reply(call, &w);
}

const struct route channel_routes[] = {
	{HTTP_GET, "/v1/channels", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/channels/{}", 0, .decode = decode_channel, .read = read_channel, .encode = encode_channel},
	{HTTP_PUT, "/v1/channels/{}", ROUTE_BODY_OPTIONAL | ROUTE_CREATES,
	 .decode = decode_channel, .write = write_channel, .encode = encode_channel},
	{HTTP_PUT, "/v1/channels/{}/subscribers/{}", ROUTE_MAKES_SPACE,
	 .decode = decode_subscriber, .write = write_subscribe, .encode = encode_channel},
	{HTTP_DELETE, "/v1/channels/{}/subscribers/{}", 0,
	 .decode = decode_subscriber, .write = write_unsubscribe, .encode = encode_channel},
	{0},
};
