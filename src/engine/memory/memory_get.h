/* Reading memories: one, its versions, several by their ids. */
#ifndef SPINE_ENGINE_MEMORY_GET_H
#define SPINE_ENGINE_MEMORY_GET_H

#include "core/memory/memory.h"
#include "engine/memory/memory_lookup.h"
#include "engine/page.h"

struct memory_get {
	struct op op;
	/* In. */
	struct memory_id id;
	/* Out. */
	struct memory memory;
};

extern const struct op_kind memory_get_kind;

struct memory_versions {
	struct op op;
	/* In. */
	uint64_t num;
	struct page page;		/* its position is a version */
	/* Out. */
	struct memory *versions;
	size_t count;
};

extern const struct op_kind memory_versions_kind;

struct memory_fetch {
	struct op op;
	/* In. */
	const struct memory_id *ids;
	size_t count;
	/* Out. */
	struct memory_lookup lookup;
};

extern const struct op_kind memory_fetch_kind;

#endif
