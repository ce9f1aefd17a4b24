#include "api/lookup.h"

#include "api/memory_json.h"
#include "codec/json_member.h"

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

void lookup_put(struct call *call, struct json_writer *w, const struct lookup *l)
{
	json_key(w, "memories");
	json_begin_array(w);
	for (size_t i = 0; i < l->found_count; i++)
		memory_json_put(w, &l->found[i], call->op->now_ms);
	json_end_array(w);
	json_key(w, "missing");
	json_begin_array(w);
	for (size_t i = 0; i < l->missing_count; i++) {
		json_begin_object(w);
		json_member_str(w, "id", l->missing[i].id);
		json_member_str(w, "reason", l->missing[i].reason);
		json_end_object(w);
	}
	json_end_array(w);
}
