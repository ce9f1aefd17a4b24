#include "engine/access/key_told.h"

#include "core/access/access_key.h"

/* A key may be there before its space is, and after it: then the space is made, for its history. Another space's is no
 * place for it, where others would read it. */
static enum problem_code open_space(struct op *op, struct store_conn *c, struct str name, int64_t *ret)
{
	enum store_status status = store_space_find(c, name, ret);

	if (status == STORE_NOT_FOUND)
		status = store_space_create(c, name, op->now_ms, ret);
	return op_stored(op, status);
}

enum problem_code key_told(struct op *op, struct store_conn *c, int kind, const struct access_key_row *key,
			   struct str why)
{
	int64_t own = op->space, space = own;
	enum problem_code code = key->space.p ? open_space(op, c, key->space, &space) : P_OK;

	if (code != P_OK)
		return code;
	op->told = (struct event_row){
		.kind = kind,
		.note = arena_printf(op->arena, "key-%llu %.*s%s%.*s", (unsigned long long)key->num,
				     STR_ARG(key->name), why.p ? ": " : "", STR_ARG(why)),
	};
	op->space = space;
	code = op_tell(op, c);
	op->space = own;
	return code;
}
