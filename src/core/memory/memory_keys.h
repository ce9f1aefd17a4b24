/* With which keys the versions of a memory were written. Of a memory that is forgotten this is all that stays of who
 * wrote it: numbers, no name. So whoever has stored something cannot hide by forgetting it that it was stored with
 * that key, nor whom it had reached.
 *
 * As text, the newest first: each key with the newest version that was written with it, "9@3 7@2".
 */
#ifndef SPINE_CORE_MEMORY_KEYS_H
#define SPINE_CORE_MEMORY_KEYS_H

#include "base/arena.h"
#include "store/records.h"

struct memory_key {
	uint64_t key;			/* 7 of key-7 */
	uint32_t version;
};

struct memory_keys {
	struct memory_key *keys;	/* in the arena that they were added with */
	size_t count, cap;
};

/* The number of the key that an origin names (engine/memory/origin.h); 0: none, or not known. */
uint64_t memory_keys_origin(struct str origin, struct arena *arena);

/* Of versions that come in falling order; key 0 adds nothing. */
void memory_keys_add(struct memory_keys *k, uint64_t key, uint32_t version, struct arena *arena);
/* p == NULL: there are none. */
struct str memory_keys_text(const struct memory_keys *k, struct arena *arena);
/* The first of the text, which is cut off it; false: there is none. */
bool memory_keys_next(struct str *text, struct memory_key *ret);

#endif
