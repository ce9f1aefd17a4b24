/* An agent that has no open work is not known any more. */
#ifndef SPINE_ENGINE_AGENT_DELETE_H
#define SPINE_ENGINE_AGENT_DELETE_H

#include "engine/op.h"

struct agent_delete {
	struct op op;
	/* In. */
	struct str name;
	/* agent_delete.c's own. */
	int64_t id;
};

extern const struct op_kind agent_delete_kind;

#endif
