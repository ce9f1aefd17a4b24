/* Agents: what they are registered with, and how delivery to them goes. One, or a list. */
#ifndef SPINE_ENGINE_AGENT_GET_H
#define SPINE_ENGINE_AGENT_GET_H

#include "core/delivery/agent.h"
#include "core/delivery/delivery.h"
#include "engine/board/about.h"
#include "engine/page.h"

/* Where an agent is, told by what it does: at work, waiting for work with a call that is open now, or neither. */
enum agent_presence { PRESENCE_NEVER_SEEN, PRESENCE_WAITING, PRESENCE_WORKING, PRESENCE_AWAY };

enum { AGENT_WORK_MAX = 10 };

struct agent_view {
	struct agent agent;
	int64_t id;			/* 0: not known yet */
	struct target_row target;
	struct target_counts counts;
	/* What holds, and what is shown of it. */
	struct str description;		/* p == NULL: none */
	int64_t ack_timeout_ms;
	int64_t max_attempts;
	int64_t queue_timeout_ms;
	enum breaker_state breaker;
	int64_t reset_at_ms;		/* 0: the breaker is not open */
	enum agent_presence presence;
	int64_t receivers;		/* calls of it that wait for work now */
	struct about_handoff *work;	/* what it is at work on; of many the first AGENT_WORK_MAX */
	size_t work_count;
	struct str secret;		/* told where it is set only; p == NULL: not told */
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
};

extern const struct op_kind agent_list_kind;

/* The agent of that name; one that nobody knows has no id. */
enum problem_code agent_get_view(struct op *op, struct store_conn *c, struct str name, struct agent_view *view);
/* Sets all but the agent itself: how delivery to it goes. */
enum problem_code agent_get_delivery(struct op *op, struct store_conn *c, struct agent_view *view);

#endif
