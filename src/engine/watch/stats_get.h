/* How delivery goes, over the last minute, five minutes, hour or day: of a space, or of all, and of their agents. */
#ifndef SPINE_ENGINE_STATS_GET_H
#define SPINE_ENGINE_STATS_GET_H

#include "core/watch/stats.h"
#include "engine/op.h"

/* Of one agent, or of all together. */
struct stats_target {
	int64_t space;
	struct str space_name;		/* p == NULL: the one that was asked for */
	struct str agent;		/* p == NULL: all */
	struct stats_view view;
	struct target_counts counts;
	int breaker;			/* enum breaker_state; -1: of all together there is none */
};

struct stats_get {
	struct op op;
	/* In. */
	enum stats_window window;
	bool all_spaces;
	/* Out. */
	struct stats_target overall;
	struct stats_target *targets;	/* by space, then by agent */
	size_t target_count;
	struct stats_point *points;
	size_t point_count;
	int64_t step_s;
};

extern const struct op_kind stats_get_kind;

#endif
