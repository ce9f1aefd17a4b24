#include "core/cluster/shard.h"

/* The finalizer of MurmurHash3: each bit of the input reaches each of the output. */
static uint64_t spread(uint64_t h)
{
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

uint64_t shard_hash(struct str text, uint64_t salt)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < text.n; i++)
		h = (h ^ (unsigned char)text.p[i]) * UINT64_C(0x100000001b3);
	return spread(h ^ spread(salt));
}

int shard_of(struct str space)
{
	return (int)(shard_hash(space, 0) % SHARDS);
}
