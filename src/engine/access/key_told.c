#include "engine/access/key_told.h"

#include "core/access/access_key.h"

enum problem_code key_told(struct op *op, struct store_conn *c, int kind, const struct access_key_row *key,
			   struct str why)
{
	int64_t own = op->space, space;
	enum problem_code code;

	op->told = (struct event_row){
		.kind = kind,
		.note = arena_printf(op->arena, "key-%llu %.*s%s%.*s", (unsigned long long)key->num,
				     STR_ARG(key->name), why.p ? ": " : "", STR_ARG(why)),
	};
	if (key->space.p && store_space_find(c, key->space, &space) == STORE_OK)
		op->space = space;
	code = op_tell(op, c);
	op->space = own;
	return code;
}
