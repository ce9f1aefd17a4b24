/* Keys, as they are listed: those that whoever asks may see. */
#ifndef SPINE_ENGINE_ACCESS_KEY_LIST_H
#define SPINE_ENGINE_ACCESS_KEY_LIST_H

#include "core/access/access_key.h"
#include "engine/op.h"
#include "engine/page.h"

struct key_listed {
	struct access_key_row row;
	enum access_key_state state;
};

struct key_list {
	struct op op;
	struct page page;
	/* Out. */
	struct key_listed *keys;
	size_t count;
};

struct key_get {
	struct op op;
	uint64_t num;
	/* Out. */
	struct key_listed key;
};

/* The key, where who asks may see it; P_KEY_NOT_FOUND as for one that there is not. */
enum problem_code key_find(struct op *op, struct store_conn *c, uint64_t num, struct access_key_row *ret);

extern const struct op_kind key_list_kind, key_get_kind;

#endif
