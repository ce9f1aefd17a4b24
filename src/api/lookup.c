#include "api/lookup.h"

#include "api/memory_json.h"
#include "codec/json_member.h"
#include "core/guard/redact.h"
#include "core/envelope/unpack.h"

#include <assert.h>

void lookup_init(struct call *call, size_t room, struct lookup *ret)
{
	assert(room <= MENTION_MAX);
	*ret = (struct lookup){
		.found = arena_calloc(call->op->arena, room + 1, sizeof(*ret->found)),
		.missing = arena_calloc(call->op->arena, room + 1, sizeof(*ret->missing)),
	};
}

enum problem_code lookup_one(struct call *call, struct store_conn *c, struct memory_id id, struct lookup *l)
{
	size_t before = l->seen.count;
	struct memory *m = &l->found[l->found_count];
	char text[MEMORY_ID_SIZE];
	enum store_status status = STORE_NOT_FOUND;

	mention_add(&l->seen, id, call->op->arena);
	if (l->seen.count == before)
		return P_OK;
	if (call->op->space)
		status = store_memory_get(c, call->op->space, id.num, id.version, call->op->arena, m);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(&call->op->problem, status);
	if (status == STORE_OK && m->forgotten_at_ms == 0) {
		l->found_count++;
		return P_OK;
	}
	memory_id_format(id.num, id.version, text);
	l->missing[l->missing_count++] = (struct envelope_missing){
		arena_str(call->op->arena, str_of(text)), status == STORE_OK ? STR("forgotten") : STR("unknown"),
	};
	return P_OK;
}

enum problem_code lookup_list(struct call *call, struct store_conn *c, const struct json *ids, const char *field,
			      struct lookup *ret)
{
	enum problem_code code = P_OK;

	lookup_init(call, ids->count, ret);
	for (uint32_t i = 0; code == P_OK && i < ids->count; i++) {
		const struct json *item = &ids->items[i];
		struct memory_id id;

		if (item->type == JSON_STRING && memory_id_parse(item->s, &id)) {
			code = lookup_one(call, c, id, ret);
			continue;
		}
		code = problem_set(&call->op->problem, P_INVALID_FIELD, NULL, "%s[%u] is not an id of a memory; expected "
				   "one as in ms-4821 or ms-4821@2", field, i);
		problem_prefix(&call->op->problem, field, i);
	}
	return code;
}

enum problem_code lookup_guard(struct call *call, struct store_conn *c, uint64_t envelope, struct lookup *l)
{
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = unpack_find(c, call->op->space, envelope, NULL, call->op->arena, &row, &call->op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, call->op->arena, &e, &call->op->problem);
	for (size_t i = 0; code == P_OK && e.guard.type == JSON_OBJECT && i < l->found_count; i++)
		redact_memory(&l->found[i], call->op->arena);
	return code;
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
