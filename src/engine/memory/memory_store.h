/* Storing memories, one or many at once. */
#ifndef SPINE_ENGINE_MEMORY_STORE_H
#define SPINE_ENGINE_MEMORY_STORE_H

#include "core/memory/memory.h"
#include "engine/op.h"

/* What a draft does not say it gets from whoever asks: the agent, and the task unless it is given as none. */
struct memory_store {
	struct op op;
	/* In. */
	struct memory_draft draft;
	/* Out. */
	struct memory made;
};

extern const struct op_kind memory_store_kind;

struct memory_batch {
	struct op op;
	/* In. */
	struct memory_draft *drafts;
	size_t count;
	/* Out. */
	struct memory *made;
	uint64_t *nums;
};

/* All of them or none. */
extern const struct op_kind memory_batch_kind;

#endif
