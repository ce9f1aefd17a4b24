/* One handoff: where it stands, its result, and what has happened to it. */
#ifndef SPINE_ENGINE_HANDOFF_GET_H
#define SPINE_ENGINE_HANDOFF_GET_H

#include "engine/op.h"

struct handoff_get {
	struct op op;
	/* In. */
	uint64_t num;
	/* Out. */
	struct handoff_row row;
	struct result_row result;
	bool has_result;
	struct event_row *events;	/* the newest first */
	size_t shown;
	int64_t event_count;
};

extern const struct op_kind handoff_get_kind;

#endif
