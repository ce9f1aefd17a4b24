/* Agents: what they are registered with, and how delivery to them goes. One, or a list. */
#ifndef SPINE_ENGINE_AGENT_GET_H
#define SPINE_ENGINE_AGENT_GET_H

#include "core/delivery/agent.h"
#include "engine/op.h"
#include "engine/page.h"

struct agent_view {
	struct agent agent;
	int64_t id;			/* 0: not known yet */
	struct target_row target;
	struct target_counts counts;
};

struct agent_get {
	struct op op;
	/* In. */
	struct str name;
	/* Out. */
	struct agent_view view;
};

extern const struct op_kind agent_get_kind;

struct agent_list {
	struct op op;
	/* In. */
	struct page page;
	/* Out. */
	struct agent_view *agents;
	size_t count;
	bool has_more;
};

extern const struct op_kind agent_list_kind;

/* Sets all but the agent itself: how delivery to it goes. */
enum problem_code agent_get_delivery(struct op *op, struct store_conn *c, struct agent_view *view);

#endif
