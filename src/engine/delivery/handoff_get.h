/* One handoff: where it stands, its result, and what has happened to it. */
#ifndef SPINE_ENGINE_HANDOFF_GET_H
#define SPINE_ENGINE_HANDOFF_GET_H

#include "core/delivery/attempts.h"
#include "engine/board/about.h"

struct handoff_get {
	struct op op;
	/* In. */
	uint64_t num;
	/* Out. */
	struct handoff_row row;
	struct result_row result;
	bool has_result;
	struct event_row *events;	/* in order; of many the newest */
	size_t shown;
	int64_t event_count;
	struct attempt *attempts;	/* as far as these events tell of them */
	size_t attempt_count;
	struct about about;
	bool is_held;			/* somebody has a lease or a work lease */
};

extern const struct op_kind handoff_get_kind;

#endif
