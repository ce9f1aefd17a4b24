#include "engine/delivery/route_rules.h"

#include "codec/json_member.h"
#include "core/delivery/route_rule.h"
#include "core/watch/event.h"

enum { DEPTH = 1000 };

static struct str text_of(const struct json *settings, const char *name)
{
	const struct json *value = json_get(settings, name);

	return value && value->type == JSON_STRING ? value->s : STR_NULL;
}

static void show(struct op *op, const struct route_row *row, struct route_view *ret)
{
	struct json settings = {.type = JSON_OBJECT};
	struct json_error error;
	const struct json *order;

	if (!json_parse(row->settings, DEPTH, op->arena, &settings, &error))
		settings = (struct json){.type = JSON_OBJECT};
	*ret = (struct route_view){
		.row = *row, .from = text_of(&settings, "from"), .to = text_of(&settings, "to"),
		.description = text_of(&settings, "description"), .when = json_get(&settings, "when"),
		.order = ROUTE_RULE_ORDER_DEFAULT,
	};
	order = json_get(&settings, "order");
	if (order)
		json_as_int(order, &ret->order);
}

/* All routes of the space: they are few. *ret is the one of that name; *ret_count says how many there are. */
static enum store_status look_through(struct route_rule *r, struct store_conn *c, struct route_row *ret,
				      size_t *ret_count)
{
	struct route_row *rows = arena_calloc(r->op.arena, ROUTE_RULE_ROUTES_MAX, sizeof(*rows));
	enum store_status status = STORE_OK;

	*ret_count = 0;
	if (r->op.space)
		status = store_routes(c, r->op.space, STR_NULL, ROUTE_RULE_ROUTES_MAX, r->op.arena, rows, ret_count);
	for (size_t i = 0; status == STORE_OK && i < *ret_count; i++)
		if (str_eq(rows[i].name, r->name)) {
			*ret = rows[i];
			return STORE_OK;
		}
	return status == STORE_OK ? STORE_NOT_FOUND : status;
}

static enum problem_code get(struct op *op, struct store_conn *c)
{
	struct route_rule *r = (struct route_rule *)op;
	struct route_row row = {0};
	size_t count;
	enum store_status status = look_through(r, c, &row, &count);

	if (status == STORE_OK)
		show(op, &row, &r->view);
	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_ROUTE_NOT_FOUND, "name", "there is no route \"%.*s\" in this space",
				   STR_ARG(r->name));
	return op_stored(op, status);
}

/* One that nobody looks at would be a route that silently does not lead anywhere. */
static enum problem_code check_room(struct route_rule *r, struct store_conn *c)
{
	struct route_row row;
	size_t count;
	enum store_status status = look_through(r, c, &row, &count);

	if (status == STORE_NOT_FOUND && count == ROUTE_RULE_ROUTES_MAX)
		return problem_set(&r->op.problem, P_TOO_LARGE, "name", "this space has %d routes, and there may be no "
				   "more", ROUTE_RULE_ROUTES_MAX);
	return status == STORE_NOT_FOUND ? P_OK : op_stored(&r->op, status);
}

static enum problem_code check(struct op *op, struct store_conn *c)
{
	const struct json *settings = ((struct route_rule *)op)->settings;
	const struct json *description = json_get(settings, "description");

	(void)c;
	if (description && description->type != JSON_STRING && description->type != JSON_NULL)
		return problem_set(&op->problem, P_INVALID_FIELD, "description", "description is %s; expected a string",
				   json_type_name(description->type));
	return route_rule_check(settings, &op->problem);
}

static enum problem_code set(struct op *op, struct store_conn *c)
{
	struct route_rule *r = (struct route_rule *)op;
	struct route_row row = {.name = r->name, .created_at_ms = op->now_ms, .updated_at_ms = op->now_ms};
	enum store_status status;
	enum problem_code code = check_room(r, c);

	if (code != P_OK)
		return code;
	row.settings = json_canonical(r->settings, ROUTE_RULE_SETTINGS_MAX, op->arena);
	if (row.settings.p == NULL)
		return problem_set(&op->problem, P_TOO_LARGE, NULL, "the route is larger than %d bytes",
				   ROUTE_RULE_SETTINGS_MAX);
	op->told = (struct event_row){.kind = EVENT_ROUTE_SET, .note = r->name};
	status = store_route_put(c, op->space, &row);
	return status == STORE_OK ? get(op, c) : op_stored(op, status);
}

static enum problem_code delete(struct op *op, struct store_conn *c)
{
	struct route_rule *r = (struct route_rule *)op;
	enum problem_code code = get(op, c);

	op->told = (struct event_row){.kind = EVENT_ROUTE_DELETED, .note = r->name};
	return code == P_OK ? op_stored(op, store_route_delete(c, op->space, r->name)) : code;
}

static enum problem_code list(struct op *op, struct store_conn *c)
{
	struct route_rule_list *l = (struct route_rule_list *)op;
	size_t max = page_reach(&l->page);
	struct route_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	enum store_status status = STORE_OK;

	if (op_is_too_long(op, max))
		return P_OK;
	if (op->space)
		status = store_routes(c, op->space, STR_NULL, max, op->arena, rows, &l->count);
	rows += page_skip(&l->page, &l->count);
	page_end(&l->page, &l->count);
	l->routes = arena_calloc(op->arena, l->count, sizeof(*l->routes));
	for (size_t i = 0; i < l->count; i++)
		show(op, &rows[i], &l->routes[i]);
	return op_stored(op, status);
}

const struct op_kind route_rule_get_kind = {.name = "route_rule_get", .size = sizeof(struct route_rule), .read = get};
const struct op_kind route_rule_set_kind = {
	.name = "route_rule_set", .size = sizeof(struct route_rule), .flags = OP_CREATES, .prepare = check, .run = set,
};
const struct op_kind route_rule_delete_kind = {
	.name = "route_rule_delete", .size = sizeof(struct route_rule), .run = delete,
};
const struct op_kind route_rule_list_kind = {
	.name = "route_rule_list", .size = sizeof(struct route_rule_list), .read = list,
};
