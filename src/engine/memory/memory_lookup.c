#include "engine/memory/memory_lookup.h"

#include "core/envelope/unpack.h"
#include "core/guard/redact.h"

#include <assert.h>

void memory_lookup_init(struct op *op, size_t room, struct memory_lookup *ret)
{
	assert(room <= MENTION_MAX);
	*ret = (struct memory_lookup){
		.found = arena_calloc(op->arena, room + 1, sizeof(*ret->found)),
		.missing = arena_calloc(op->arena, room + 1, sizeof(*ret->missing)),
	};
}

enum problem_code memory_lookup_one(struct op *op, struct store_conn *c, struct memory_id id, struct memory_lookup *l)
{
	size_t before = l->seen.count;
	struct memory *m = &l->found[l->found_count];
	char text[MEMORY_ID_SIZE];
	enum store_status status = STORE_NOT_FOUND;

	mention_add(&l->seen, id, op->arena);
	if (l->seen.count == before)
		return P_OK;
	if (op->space)
		status = store_memory_get(c, op->space, id.num, id.version, op->arena, m);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(&op->problem, status);
	if (status == STORE_OK && m->forgotten_at_ms == 0 && m->quarantined_at_ms == 0) {
		l->found_count++;
		return P_OK;
	}
	memory_id_format(id.num, id.version, text);
	l->missing[l->missing_count++] = (struct envelope_missing){
		arena_str(op->arena, str_of(text)), status != STORE_OK ? STR("unknown") :
		m->forgotten_at_ms ? STR("forgotten") : STR("quarantined"),
	};
	return P_OK;
}

enum problem_code memory_lookup_all(struct op *op, struct store_conn *c, const struct memory_id *ids, size_t count,
			     struct memory_lookup *ret)
{
	enum problem_code code = P_OK;

	memory_lookup_init(op, count, ret);
	for (size_t i = 0; code == P_OK && i < count; i++)
		code = memory_lookup_one(op, c, ids[i], ret);
	return code;
}

enum problem_code memory_lookup_guard(struct op *op, struct store_conn *c, uint64_t envelope, struct memory_lookup *l)
{
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = unpack_find(c, op->space, envelope, NULL, op->arena, &row, &op->problem);

	if (code == P_OK)
		code = unpack_skeleton(&row, op->arena, &e, &op->problem);
	for (size_t i = 0; code == P_OK && e.guard.type == JSON_OBJECT && i < l->found_count; i++)
		redact_memory(&l->found[i], op->arena);
	return code;
}

enum problem_code memory_lookup_note(struct op *op, struct store_conn *c, uint64_t envelope, struct str agent,
			      const struct memory_lookup *l)
{
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < l->found_count; i++) {
		struct receipt_row receipt = {l->found[i].num, agent, op->now_ms};

		status = store_receipt_put(c, op->space, envelope, &receipt);
	}
	op->told.note = arena_printf(op->arena, "%zu memor%s", l->found_count, l->found_count == 1 ? "y" : "ies");
	return op_stored(op, status);
}
