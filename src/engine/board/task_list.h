/* The tasks of a space, as people work from them: how each stands, who has it, since when, and what it is about.
 *
 * The newest change comes first. That order is the history's: the list goes through the events from the newest on, a
 * bounded part of them for each page. Where only what is open is asked for, the handoffs that are open lead to their
 * tasks, and where something is searched for, the words that tasks are known by. So nothing is kept for these lists,
 * and no write pays for them. */
#ifndef SPINE_ENGINE_TASK_LIST_H
#define SPINE_ENGINE_TASK_LIST_H

#include "engine/op.h"
#include "engine/page.h"

struct task_listed {
	struct task_row row;
	struct task_work work;
	enum task_state state;
	int64_t changed_at_ms;
	int64_t open;			/* handoffs that something is still to happen to */
	struct event_row *last_event;	/* of its handoffs; NULL: there is none */
};

struct task_list {
	struct op op;
	/* In. */
	struct page page;
	unsigned states;		/* a set of 1 << enum task_state; 0: all */
	struct str agent;		/* that has it, or had it last; p == NULL: any */
	struct str text;		/* in its name, intent or summary; p == NULL: whatever */
	int64_t older_than_ms;		/* begun so long ago at least; 0: whenever */
	int64_t changed_since_ms;	/* 0: whenever */
	/* Out. */
	struct task_listed *tasks;
	size_t count;
};

extern const struct op_kind task_list_kind;

#endif
