#include "engine/access/key_list.h"

enum problem_code key_find(struct op *op, struct store_conn *c, uint64_t num, struct access_key_row *ret)
{
	const struct access *a = op->access;
	enum store_status status = store_access_key_get(c, num, op->arena, ret);

	if (status == STORE_OK && a && a->space.p && (ret->space.p == NULL || !str_eq(a->space, ret->space)))
		status = STORE_NOT_FOUND;
	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_KEY_NOT_FOUND, "id", "there is no key-%llu; spine key list shows "
				   "those that there are", (unsigned long long)num);
	return op_stored(op, status);
}

static struct key_listed listed(const struct access_key_row *row, int64_t now_ms)
{
	return (struct key_listed){*row, access_key_state(row, now_ms)};
}

static enum problem_code list(struct op *op, struct store_conn *c)
{
	struct key_list *l = (struct key_list *)op;
	size_t max = l->page.size + 1;
	struct access_key_row *rows = arena_calloc(op->arena, max, sizeof(*rows));
	struct str space = op->access ? op->access->space : STR_NULL;
	enum store_status status = store_access_keys(c, space, l->page.position, max, op->arena, rows, &l->count);

	l->page.has_more = page_cut(&l->page, &l->count);
	l->page.next = l->count ? rows[l->count - 1].num : 0;
	l->keys = arena_calloc(op->arena, max, sizeof(*l->keys));
	for (size_t i = 0; i < l->count; i++)
		l->keys[i] = listed(&rows[i], op->now_ms);
	return op_stored(op, status);
}

static enum problem_code get(struct op *op, struct store_conn *c)
{
	struct key_get *g = (struct key_get *)op;
	struct access_key_row row;
	enum problem_code code = key_find(op, c, g->num, &row);

	if (code == P_OK)
		g->key = listed(&row, op->now_ms);
	return code;
}

const struct op_kind key_list_kind = {
	.name = "key_list", .size = sizeof(struct key_list), .flags = OP_NO_SPACE, .read = list,
};
const struct op_kind key_get_kind = {
	.name = "key_get", .size = sizeof(struct key_get), .flags = OP_NO_SPACE, .read = get,
};
