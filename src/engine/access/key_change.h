/* A new secret for a key, and a key's end. */
#ifndef SPINE_ENGINE_ACCESS_KEY_CHANGE_H
#define SPINE_ENGINE_ACCESS_KEY_CHANGE_H

#include "engine/access/key_list.h"

struct key_change {
	struct op op;
	uint64_t num;
	int64_t grace_ms;		/* of a rotation: so long the secret before is valid, too */
	uint8_t random[ACCESS_KEY_RANDOM];
	struct str reason;		/* of a revocation; p == NULL: none */
	/* Out. */
	struct key_listed key;
	struct str text;		/* of a rotation: the secret, once */
};

/* Revoking again changes nothing, and is answered alike. */
extern const struct op_kind key_rotate_kind, key_revoke_kind;

#endif
