/* The routes that say who comes next. */
#include "api/decode.h"
#include "api/page.h"
#include "api/routes.h"
#include "codec/json_member.h"
#include "core/delivery/successor.h"

enum { NAME_MAX_BYTES = 128, DEPTH = 1000 };

static const char *const route_fields[] = {"from", "to", "when", "order", "description", NULL};

struct successor {
	struct route_row row;
};

static enum problem_code decode_name(struct call *call)
{
	call->input = arena_zalloc(call->op->arena, sizeof(struct successor));
	return decode_check_name(call->params[0], "name", NAME_MAX_BYTES, &call->op->problem);
}

static enum problem_code decode_put(struct call *call)
{
	enum problem_code code = decode_name(call);
	const struct json *description = decode_member(&call->body, "description");

	call_warn_unknown_members(call, &call->body, route_fields, "");
	if (code == P_OK && description && description->type != JSON_STRING)
		code = problem_set(&call->op->problem, P_INVALID_FIELD, "description", "description is %s; expected a "
				   "string", json_type_name(description->type));
	return code == P_OK ? successor_check(&call->body, &call->op->problem) : code;
}

/* All routes of the space: they are few. Returns the one that the address names, NULL where there is none. */
static enum problem_code look_through(struct call *call, struct store_conn *c, const struct route_row **ret,
				      size_t *ret_count)
{
	struct route_row *rows = arena_calloc(call->op->arena, SUCCESSOR_ROUTES_MAX, sizeof(*rows));
	size_t count = 0;
	enum store_status status = call->op->space ? store_routes(c, call->op->space, STR_NULL, SUCCESSOR_ROUTES_MAX,
							      call->op->arena, rows, &count) : STORE_OK;

	if (status != STORE_OK)
		return problem_of_store(&call->op->problem, status);
	*ret = NULL;
	for (size_t i = 0; i < count; i++)
		if (str_eq(rows[i].name, call->params[0]))
			*ret = &rows[i];
	*ret_count = count;
	return P_OK;
}

static enum problem_code find(struct call *call, struct store_conn *c, struct route_row *ret)
{
	const struct route_row *found;
	size_t count;
	enum problem_code code = look_through(call, c, &found, &count);

	if (code == P_OK && found == NULL)
		code = problem_set(&call->op->problem, P_ROUTE_NOT_FOUND, "name", "there is no route \"%.*s\" in this "
				   "space", STR_ARG(call->params[0]));
	if (code == P_OK)
		*ret = *found;
	return code;
}

/* One that nobody looks at would be a route that silently does not lead anywhere. */
static enum problem_code check_room(struct call *call, struct store_conn *c)
{
	const struct route_row *found;
	size_t count;
	enum problem_code code = look_through(call, c, &found, &count);

	if (code == P_OK && found == NULL && count == SUCCESSOR_ROUTES_MAX)
		code = problem_set(&call->op->problem, P_TOO_LARGE, "name", "this space has %d routes, and there may be no "
				   "more", SUCCESSOR_ROUTES_MAX);
	return code;
}

static enum problem_code write_put(struct call *call, struct store_conn *c)
{
	struct successor *s = call->input;
	struct route_row row = {.name = call->params[0], .created_at_ms = call->op->now_ms, .updated_at_ms = call->op->now_ms};
	enum store_status status;
	enum problem_code code = check_room(call, c);

	if (code != P_OK)
		return code;
	row.settings = json_canonical(&call->body, SUCCESSOR_SETTINGS_MAX, call->op->arena);
	if (row.settings.p == NULL)
		return problem_set(&call->op->problem, P_TOO_LARGE, NULL, "the route is larger than %d bytes",
				   SUCCESSOR_SETTINGS_MAX);
	call->op->told = (struct event_row){.kind = EVENT_ROUTE_SET, .note = call->params[0]};
	status = store_route_put(c, call->op->space, &row);
	return status == STORE_OK ? find(call, c, &s->row) : problem_of_store(&call->op->problem, status);
}

static enum problem_code read_get(struct call *call, struct store_conn *c)
{
	struct successor *s = call->input;

	return find(call, c, &s->row);
}

static enum problem_code write_delete(struct call *call, struct store_conn *c)
{
	struct successor *s = call->input;
	enum problem_code code = find(call, c, &s->row);
	enum store_status status = code == P_OK ? store_route_delete(c, call->op->space, call->params[0]) : STORE_OK;

	call->op->told = (struct event_row){.kind = EVENT_ROUTE_DELETED, .note = call->params[0]};
	return status == STORE_OK ? code : problem_of_store(&call->op->problem, status);
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
	struct successor *s = call->input;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	put_route(call, &w, &s->row);
	call_end_reply(call, &w);
}

static void encode_delete(struct call *call)
{
	call->status = 204;
}

/* --- List --- */

struct successor_list {
	struct page page;
	struct route_row *rows;
	size_t count;
};

static enum problem_code decode_list(struct call *call)
{
	static const char *const known[] = {NULL};
	struct successor_list *l = arena_zalloc(call->op->arena, sizeof(*l));
	enum problem_code code;

	call->input = l;
	code = page_read_only(call, known, &l->page);
	if (code == P_OK && l->page.position > SUCCESSOR_ROUTES_MAX)
		code = problem_set(&call->op->problem, P_INVALID_PAGE_TOKEN, "page_token", "page_token is not one of this "
				   "list");
	return code;
}

static enum problem_code read_list(struct call *call, struct store_conn *c)
{
	struct successor_list *l = call->input;
	size_t max = (size_t)l->page.position + l->page.size + 1;
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(call->op->arena, max, sizeof(*l->rows));
	if (call->op->space)
		status = store_routes(c, call->op->space, STR_NULL, max, call->op->arena, l->rows, &l->count);
	return status == STORE_OK ? P_OK : problem_of_store(&call->op->problem, status);
}

static void encode_list(struct call *call)
{
	struct successor_list *l = call->input;
	size_t from = (size_t)l->page.position, to = from + l->page.size;
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "routes");
	json_begin_array(&w);
	for (size_t i = from; i < l->count && i < to; i++) {
		json_begin_object(&w);
		put_route(call, &w, &l->rows[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	page_put_next(call, &l->page, &w, l->count > to, to, 0);
	call_end_reply(call, &w);
}

const struct route successor_routes[] = {
	{HTTP_GET, "/v1/routes", 0, .decode = decode_list, .read = read_list, .encode = encode_list},
	{HTTP_GET, "/v1/routes/{}", 0, .decode = decode_name, .read = read_get, .encode = encode_route},
	{HTTP_PUT, "/v1/routes/{}", ROUTE_BODY | ROUTE_CREATES, .decode = decode_put, .write = write_put,
	 .encode = encode_route},
	{HTTP_DELETE, "/v1/routes/{}", 0, .decode = decode_name, .write = write_delete, .encode = encode_delete},
	{0},
};
