/* The routes that say who comes next. */
#include "api/decode.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/delivery/successor.h"
#include "engine/delivery/route_rules.h"

enum { NAME_MAX_BYTES = 128, DEPTH = 1000 };

static const char *const route_fields[] = {"from", "to", "when", "order", "description", NULL};

static enum problem_code decode_name(struct call *call)
{
	struct route_rule *r = call_op(call);

	r->name = call->params[0];
	return decode_check_name(r->name, "name", NAME_MAX_BYTES, &call->op->problem);
}

static enum problem_code decode_put(struct call *call)
{
	enum problem_code code = decode_name(call);
	const struct json *description = decode_member(&call->body, "description");
	struct route_rule *r = call_op(call);

	r->settings = &call->body;
	call_warn_unknown_members(call, &call->body, route_fields, "");
	if (code == P_OK && description && description->type != JSON_STRING)
		code = call_refuse(call, P_INVALID_FIELD, "description", "description is %s; expected a "
				   "string", json_type_name(description->type));
	return code == P_OK ? successor_check(&call->body, &call->op->problem) : code;
}

static void put_member(struct json_writer *w, const char *name, const struct json *value)
{
	json_key(w, name);
	if (value)
		json_put(w, value);
	else
		json_put_null(w);
}

static void put_route(struct call *call, struct json_writer *w, const struct route_row *row)
{
	struct json settings = {.type = JSON_OBJECT};
	struct json_error error;
	int64_t order = SUCCESSOR_ORDER_DEFAULT;

	if (!json_parse(row->settings, DEPTH, call->op->arena, &settings, &error))
		settings = (struct json){.type = JSON_OBJECT};
	json_member_str(w, "name", row->name);
	put_member(w, "from", json_get(&settings, "from"));
	put_member(w, "to", json_get(&settings, "to"));
	put_member(w, "when", json_get(&settings, "when"));
	if (json_get(&settings, "order"))
		json_as_int(json_get(&settings, "order"), &order);
	json_member_int(w, "order", order);
	put_member(w, "description", json_get(&settings, "description"));
	json_member_time(w, "created_at", row->created_at_ms);
	json_member_time(w, "updated_at", row->updated_at_ms);
}

static void encode_route(struct call *call)
{
	const struct route_rule *r = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_route(call, &w, &r->row);
	call_end_reply(call, &w);
}

static void encode_delete(struct call *call)
{
	call->status = 204;
}

/* --- List --- */

static enum problem_code decode_list(struct call *call)
{
	struct route_rule_list *l = call_op(call);

	return page_read_counted(call, SUCCESSOR_ROUTES_MAX, &l->page);
}

static void encode_list(struct call *call)
{
	const struct route_rule_list *l = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "routes");
	json_begin_array(&w);
	for (size_t i = 0; i < l->count; i++) {
		json_begin_object(&w);
		put_route(call, &w, &l->rows[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->has_more, l->page.position + l->page.size, 0);
	call_end_reply(call, &w);
}

const struct route successor_routes[] = {
	{HTTP_GET, "/v1/routes", &route_rule_list_kind, &describe_list_routes, decode_list, encode_list},
	{HTTP_GET, "/v1/routes/{}", &route_rule_get_kind, &describe_read_route, decode_name, encode_route},
	{HTTP_PUT, "/v1/routes/{}", &route_rule_set_kind, &describe_put_route, decode_put, encode_route},
	{HTTP_DELETE, "/v1/routes/{}", &route_rule_delete_kind, &describe_delete_route, decode_name, encode_delete},
	{0},
};
