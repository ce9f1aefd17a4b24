/* The tasks of a space, with what a person knows them again by. */
#ifndef SPINE_ENGINE_TASK_LIST_H
#define SPINE_ENGINE_TASK_LIST_H

#include "engine/op.h"
#include "engine/page.h"

struct task_listed {
	struct task_row row;
	struct str intent;	/* p == NULL: nobody said what the user wants */
	struct str summary;	/* what its first envelope asks for */
};

struct task_list {
	struct op op;
	/* In. */
	struct page page;	/* its position is a task's id */
	/* Out. */
	struct task_listed *tasks;
	size_t count;
};

extern const struct op_kind task_list_kind;

#endif
