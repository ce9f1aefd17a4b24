#include "engine/channel.h"

enum problem_code channel_find(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret)
{
	enum store_status status = op->space ? store_channel_get(c, op->space, name, op->arena, ret)
					       : STORE_NOT_FOUND;

	if (status == STORE_NOT_FOUND)
		return problem_set(&op->problem, P_CHANNEL_NOT_FOUND, "name", "there is no channel \"%.*s\" in this "
				   "space", STR_ARG(name));
	return op_stored(op, status);
}

enum problem_code channel_make(struct op *op, struct store_conn *c, struct str name, struct channel_row *ret)
{
	enum store_status status = store_channel_get(c, op->space, name, op->arena, ret);

	if (status == STORE_NOT_FOUND) {
		status = store_channel_put(c, op->space, name, STR_NULL, op->now_ms);
		if (status == STORE_OK)
			status = store_channel_get(c, op->space, name, op->arena, ret);
	}
	return op_stored(op, status);
}
