#include "engine/delivery/route_rules.h"

#include "codec/json_member.h"
#include "core/delivery/successor.h"
#include "core/watch/event.h"

/* All routes of the space: they are few. *ret is the one of that name; *ret_count says how many there are. */
static enum store_status look_through(struct route_rule *r, struct store_conn *c, struct route_row *ret,
				      size_t *ret_count)
{
	struct route_row *rows = arena_calloc(r->op.arena, SUCCESSOR_ROUTES_MAX, sizeof(*rows));
	enum store_status status = STORE_OK;

	*ret_count = 0;
	if (r->op.space)
		status = store_routes(c, r->op.space, STR_NULL, SUCCESSOR_ROUTES_MAX, r->op.arena, rows, ret_count);
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
	size_t count;
	enum store_status status = look_through(r, c, &r->row, &count);

	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_ROUTE_NOT_FOUND, "name", "there is no route \"%.*s\" in this space",
				   STR_ARG(r->name));
	return op_stored(op, status);
}

/* One that nobody looks at would be a route that silently does not lead anywhere. */
static enum problem_code check_room(struct route_rule *r, struct store_conn *c)
{
	size_t count;
	enum store_status status = look_through(r, c, &r->row, &count);

	if (status == STORE_NOT_FOUND && count == SUCCESSOR_ROUTES_MAX)
		return problem_set(&r->op.problem, P_TOO_LARGE, "name", "this space has %d routes, and there may be no "
				   "more", SUCCESSOR_ROUTES_MAX);
	return status == STORE_NOT_FOUND ? P_OK : op_stored(&r->op, status);
}

static enum problem_code set(struct op *op, struct store_conn *c)
{
	struct route_rule *r = (struct route_rule *)op;
	struct route_row row = {.name = r->name, .created_at_ms = op->now_ms, .updated_at_ms = op->now_ms};
	enum store_status status;
	enum problem_code code = check_room(r, c);

	if (code != P_OK)
		return code;
	row.settings = json_canonical(r->settings, SUCCESSOR_SETTINGS_MAX, op->arena);
	if (row.settings.p == NULL)
		return problem_set(&op->problem, P_TOO_LARGE, NULL, "the route is larger than %d bytes",
				   SUCCESSOR_SETTINGS_MAX);
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
	enum store_status status = STORE_OK;

	l->rows = arena_calloc(op->arena, max, sizeof(*l->rows));
	if (op->space)
		status = store_routes(c, op->space, STR_NULL, max, op->arena, l->rows, &l->count);
	l->rows += page_skip(&l->page, &l->count);
	l->has_more = page_cut(&l->page, &l->count);
	return op_stored(op, status);
}

const struct op_kind route_rule_get_kind = {.name = "route_rule_get", .size = sizeof(struct route_rule), .read = get};
const struct op_kind route_rule_set_kind = {
	.name = "route_rule_set", .size = sizeof(struct route_rule), .flags = OP_CREATES, .run = set,
};
const struct op_kind route_rule_delete_kind = {
	.name = "route_rule_delete", .size = sizeof(struct route_rule), .run = delete,
};
const struct op_kind route_rule_list_kind = {
	.name = "route_rule_list", .size = sizeof(struct route_rule_list), .read = list,
};
