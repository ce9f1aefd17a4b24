/* Which shard a space belongs to. */
#ifndef SPINE_CORE_CLUSTER_SHARD_H
#define SPINE_CORE_CLUSTER_SHARD_H

#include "base/str.h"

/* How many a database has: fixed when its schema is made. */
enum { SHARDS = 64 };

/* From 0 to SHARDS - 1. What is in a database stands on it, so it never changes. */
int shard_of(struct str space);

/* FNV-1a, spread over all bits by the finalizer of MurmurHash3. It never changes either; base/hash.h, which is for
 * memory, may. */
uint64_t shard_hash(struct str text, uint64_t salt);

#endif
