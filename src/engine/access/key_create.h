/* A new key. */
#ifndef SPINE_ENGINE_ACCESS_KEY_CREATE_H
#define SPINE_ENGINE_ACCESS_KEY_CREATE_H

#include "core/access/access_key.h"
#include "engine/op.h"

/* What is asked for; for the operation, and for who makes a key in a store that no server has. */
struct key_order {
	struct str name;
	struct str space;		/* p == NULL: as who asks; "*": all of them */
	struct str agent;		/* p == NULL: any */
	unsigned scopes;		/* 0: read, write and receive; of the first key, admin */
	bool has_trust;
	enum trust trust;
	int64_t expires_at_ms;		/* 0: never, unless ttl_ms says it */
	int64_t ttl_ms;			/* 0: see expires_at_ms */
	uint8_t random[ACCESS_KEY_RANDOM];
};

struct key_create {
	struct op op;
	struct key_order order;
	/* Out. */
	struct access_key_row row;
	struct str text;		/* the secret, once */
	bool is_first;
};

extern const struct op_kind key_create_kind;

#endif
