/* How delivery goes, over the last minute, five minutes, hour or day: of a space, or of all, and of their agents. */
#ifndef SPINE_ENGINE_STATS_GET_H
#define SPINE_ENGINE_STATS_GET_H

#include "core/watch/stats.h"
#include "engine/op.h"

/* Of one agent. */
struct stats_target {
	int64_t space;
	struct str space_name;
	struct str agent;
	struct stats_view view;
	struct target_counts counts;
	struct target_row state;
};

struct stats_get {
	struct op op;
	/* In. */
	enum stats_window window;
	bool all_spaces;
	/* Out. */
	struct stats_view overall;
	struct target_counts counts;
	struct stats_target *targets;	/* by space, then by agent */
	size_t target_count;
	struct stats_point points[STATS_POINTS_MAX];
	size_t point_count;
};

extern const struct op_kind stats_get_kind;

#endif
