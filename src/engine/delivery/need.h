/* A receiver asks for memories that it misses: its lease lives on, and what it opens is noted. */
#ifndef SPINE_ENGINE_NEED_H
#define SPINE_ENGINE_NEED_H

#include "engine/memory/memory_lookup.h"
#include "engine/delivery/settle.h"

struct need {
	struct settle settle;		/* a sign of life */
	/* In. */
	const struct memory_id *ids;
	size_t count;
	/* Out. */
	struct memory_lookup lookup;
};

extern const struct op_kind need_kind;

#endif
