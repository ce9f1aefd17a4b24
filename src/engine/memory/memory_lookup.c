#include "engine/memory/memory_lookup.h"

#include "core/envelope/unpack.h"
#include "core/guard/redact.h"
#include "engine/page.h"

#include <assert.h>

void memory_lookup_init(struct op *op, size_t room, struct memory_lookup *ret)
{
	assert(room <= MENTION_MAX);
	*ret = (struct memory_lookup){
		.found = arena_calloc(op->arena, room + 1, sizeof(*ret->found)),
		.missing = arena_calloc(op->arena, room + 1, sizeof(*ret->missing)),
	};
}

static void miss(struct op *op, struct memory_id id, struct str reason, struct memory_lookup *l)
{
	char text[MEMORY_ID_SIZE];

	memory_id_format(id.num, id.version, text);
	l->missing[l->missing_count++] = (struct envelope_missing){arena_str(op->arena, str_of(text)), reason};
}

/* One that is too large for what is left of the page is the last that is read: a smaller one behind it would come
 * before it, and nobody could say where the page ends. */
static bool fits(struct memory_lookup *l, const struct memory *m)
{
	l->found_bytes += m->content.n + m->summary.n + m->metadata.n;
	return l->found_bytes <= PAGE_BYTES_MAX || l->found_count == 0;
}

enum problem_code memory_lookup_one(struct op *op, struct store_conn *c, struct memory_id id, struct memory_lookup *l)
{
	size_t before = l->seen.count;
	struct memory *m = &l->found[l->found_count];
	enum store_status status = STORE_NOT_FOUND;

	mention_add(&l->seen, id, op->arena);
	if (l->seen.count == before)
		return P_OK;
	if (l->found_bytes > PAGE_BYTES_MAX) {
		miss(op, id, STR("not_given"), l);
		return P_OK;
	}
	if (op->space)
		status = store_memory_get(c, op->space, id.num, id.version, op->arena, m);
	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(&op->problem, status);
	if (status == STORE_NOT_FOUND)
		miss(op, id, STR("unknown"), l);
	else if (m->forgotten_at_ms)
		miss(op, id, STR("forgotten"), l);
	else if (fits(l, m))
		l->found_count++;
	else
		miss(op, id, STR("not_given"), l);
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
