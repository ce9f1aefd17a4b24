/* What an envelope left out or missed, fetched later: who opened what is noted. */
#ifndef SPINE_ENGINE_RESOLVE_H
#define SPINE_ENGINE_RESOLVE_H

#include "engine/memory/memory_lookup.h"

struct resolve {
	struct op op;
	/* In. */
	uint64_t num;			/* of the envelope */
	const struct memory_id *ids;	/* which must be the envelope's; NULL: all that is not there in full */
	size_t count;
	/* Out. */
	struct memory_lookup lookup;
};

extern const struct op_kind resolve_kind;

#endif
