#include "engine/delivery/unknown_agent.h"

#include "core/delivery/agent_name.h"
#include "core/delivery/route_rule.h"

enum { LOOKED_AT_MAX = 1000 };	/* names, for the nearest */

static bool is_known(struct op *op, struct store_conn *c, const struct agent_row *row)
{
	struct target_row target;
	int64_t id;

	return row->is_registered || (store_agent_id(c, op->space, row->name, false, 0, &id) == STORE_OK &&
				      store_target_get(c, id, &target) == STORE_OK && target.seen_at_ms);
}

/* p == NULL: none is near. */
static struct str nearest(struct op *op, struct store_conn *c, struct str name)
{
	struct agent_row *rows = arena_calloc(op->arena, LOOKED_AT_MAX, sizeof(*rows));
	struct str best = STR_NULL;
	int least = AGENT_NAME_FAR;
	size_t count = 0;

	if (store_agents(c, op->space, STR_NULL, LOOKED_AT_MAX, op->arena, rows, &count) != STORE_OK)
		return STR_NULL;
	for (size_t i = 0; i < count; i++) {
		int distance = str_eq(rows[i].name, name) ? AGENT_NAME_FAR : agent_name_distance(name, rows[i].name);

		if (distance < least && is_known(op, c, &rows[i])) {
			least = distance;
			best = rows[i].name;
		}
	}
	return best;
}

void unknown_agent_warn(struct op *op, struct store_conn *c, const char *field, struct str name)
{
	struct agent_row row;
	struct str near;
	enum store_status status;

	if (op->space == 0 || name.p == NULL || route_rule_is_next(name))
		return;
	status = store_agent_get(c, op->space, name, op->arena, &row);
	if (status != STORE_NOT_FOUND && (status != STORE_OK || is_known(op, c, &row)))
		return;
	near = nearest(op, c, name);
	op_warn(op, "agent_never_seen", str_of(field),
		arena_printf(op->arena, "nobody has registered %.*s, and nobody has ever received as it; it waits "
			     "there until somebody does%s%.*s%s",
			     STR_ARG(name), near.p ? ". Did you mean \"" : "", STR_ARG(near), near.p ? "\"?" : ""));
}

void unknown_agents_warn(struct op *op, struct store_conn *c, const char *field, const struct str *names, size_t count)
{
	for (size_t i = 0; i < count && op->warning_count < OP_WARNINGS_MAX; i++)
		unknown_agent_warn(op, c, arena_printf(op->arena, "%s[%zu]", field, i).p, names[i]);
}
