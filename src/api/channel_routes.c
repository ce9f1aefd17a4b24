/* Channels and their subscribers. (What is done with them is in publish_routes.c.) */
#include "api/decode.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/delivery/channel.h"

enum { DESCRIPTION_MAX = 4096, LISTED_MAX = 1000000 };

static void put_channel(struct json_writer *w, const struct channel_row *row)
{
	json_member_str(w, "name", row->name);
	json_member_optional(w, "description", row->description);
	json_member_int(w, "subscriber_count", row->subscribers);
	json_member_time(w, "created_at", row->created_at_ms);
}

/* --- PUT, GET /v1/channels/{name} --- */

static enum problem_code decode_channel(struct call *call)
{
	static const char *const known[] = {"description", NULL};
	struct channel *ch = call_op(call);
	enum problem_code code = decode_check_name(call->params[0], "name", CHANNEL_NAME_MAX, &call->op->problem);

	ch->name = call->params[0];
	call_warn_unknown_members(call, &call->body, known, "");
	return code == P_OK ? decode_str(&call->body, "description", 0, DESCRIPTION_MAX, &ch->description,
					 &call->op->problem) : code;
}

static void encode_channel(struct call *call)
{
	const struct channel *ch = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_channel(&w, &ch->row);
	json_key(&w, "subscribers");
	json_begin_array(&w);
	for (size_t i = 0; i < ch->count; i++)
		json_put_str(&w, ch->subscribers[i]);
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- PUT, DELETE /v1/channels/{name}/subscribers/{agent} --- */

static enum problem_code decode_subscriber(struct call *call)
{
	struct channel *ch = call_op(call);
	enum problem_code code = decode_channel(call);

	ch->agent = call->params[1];
	return code == P_OK ? decode_check_agent(ch->agent, "agent", &call->op->problem) : code;
}

/* --- GET /v1/channels --- */

static enum problem_code decode_list(struct call *call)
{
	struct channel_list *l = call_op(call);

	return page_read_counted(call, LISTED_MAX, &l->page);
}

static void encode_list(struct call *call)
{
	const struct channel_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "channels");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		json_begin_object(&w);
		put_channel(&w, &l->rows[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->has_more, l->page.position + l->page.size, 0);
	call_end_reply(call, &w);
}

const struct route channel_routes[] = {
	{HTTP_GET, "/v1/channels", &channel_list_kind, &describe_list_channels, decode_list, encode_list},
	{HTTP_GET, "/v1/channels/{}", &channel_get_kind, &describe_read_channel, decode_channel, encode_channel},
	{HTTP_PUT, "/v1/channels/{}", &channel_set_kind, &describe_make_channel, decode_channel, encode_channel},
	{HTTP_PUT, "/v1/channels/{}/subscribers/{}", &channel_subscribe_kind, &describe_subscribe, decode_subscriber, encode_channel},
	{HTTP_DELETE, "/v1/channels/{}/subscribers/{}", &channel_unsubscribe_kind, &describe_unsubscribe, decode_subscriber,
	 encode_channel},
	{0},
};
