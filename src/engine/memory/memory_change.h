/* Changing one memory: new values, an earlier version again, forgetting it. op.if_version is kept to. */
#ifndef SPINE_ENGINE_MEMORY_CHANGE_H
#define SPINE_ENGINE_MEMORY_CHANGE_H

#include "core/memory/memory.h"
#include "engine/op.h"

struct memory_change {
	struct op op;
	/* In. */
	uint64_t num;
	struct memory_draft draft;	/* of memory_update_kind */
	uint32_t to_version;		/* of memory_revert_kind */
	/* Out. */
	struct memory memory;		/* as it then is */
	bool changed;			/* else it was so before */
};

extern const struct op_kind memory_update_kind;
extern const struct op_kind memory_revert_kind;
extern const struct op_kind memory_forget_kind;

#endif
