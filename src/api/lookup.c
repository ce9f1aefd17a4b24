#include "api/lookup.h"

#include "api/describe/shapes.h"
#include "api/describe/write.h"

enum problem_code lookup_ids(struct call *call, const struct json *list, const char *field, struct memory_id **ret)
{
	struct memory_id *ids = arena_calloc(call->op->arena, list->count + 1, sizeof(*ids));

	for (uint32_t i = 0; i < list->count; i++) {
		const struct json *item = &list->items[i];

		if (item->type == JSON_STRING && memory_id_parse(item->s, &ids[i]))
			continue;
		call_refuse(call, P_INVALID_FIELD, NULL, "%s[%u] is not an id of a memory; expected "
			    "one as in ms-4821 or ms-4821@2", field, i);
		problem_prefix(&call->op->problem, field, i);
		return call->op->problem.code;
	}
	*ret = ids;
	return P_OK;
}

void lookup_put(struct call *call, struct json_writer *w, const struct memory_lookup *l)
{
	shape_write_members(&shape_found, l, call, w);
}
