/* The settings of the space that the request is about; and the list of all spaces, for whoever runs the server. */
#include "api/decode.h"
#include "api/page.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "engine/space_settings.h"

/* --- /v1/space --- */

static enum problem_code decode_space(struct call *call)
{
	static const char *const known[] = {"guard", NULL};
	struct space_settings *s = call_op(call);
	struct str name = STR("off");
	enum problem_code code = decode_str(&call->body, "guard", 1, 16, &name, &call->op->problem);

	call_warn_unknown_members(call, &call->body, known, "");
	if (code == P_OK && !redact_policy_parse(name, &s->guard))
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "guard",
				   "guard is \"%.*s\"; expected off, redact or refuse", STR_ARG(name));
	return code;
}

static void encode_space(struct call *call)
{
	const struct space_settings *s = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_str(&w, "name", call->op->space_name);
	json_member_cstr(&w, "guard", redact_policy_name(s->guard));
	json_member_int(&w, "memories", s->memories);
	call_end_reply(call, &w);
}

/* --- GET /v1/spaces --- */

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct space_list *l = call_op(call);

	return page_read_only(call, known, &l->page);
}

static void encode_list(struct call *call)
{
	const struct space_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "spaces");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		const struct target_counts *counts = &l->queued[i];

		json_begin_object(&w);
		json_member_str(&w, "name", l->rows[i].name);
		json_member_int(&w, "memories", l->rows[i].memories);
		json_member_int(&w, "handoffs_open", counts->queued + counts->leased + counts->working);
		json_member_int(&w, "parked", counts->parked);
		json_member_time(&w, "created_at", l->rows[i].created_at_ms);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->more, l->count ? (uint64_t)l->rows[l->count - 1].id : 0, 0);
	call_end_reply(call, &w);
}

const struct route space_routes[] = {
	{HTTP_GET, "/v1/spaces", 0, &space_list_kind, decode_list, encode_list},
	{HTTP_GET, "/v1/space", 0, &space_get_kind, NULL, encode_space},
	{HTTP_PUT, "/v1/space", ROUTE_BODY, &space_set_kind, decode_space, encode_space},
	{0},
};
