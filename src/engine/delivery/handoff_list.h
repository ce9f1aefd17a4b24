/* A list of handoffs. */
#ifndef SPINE_ENGINE_HANDOFF_LIST_H
#define SPINE_ENGINE_HANDOFF_LIST_H

#include "engine/op.h"
#include "engine/page.h"

struct handoff_list {
	struct op op;
	/* In. */
	struct page page;
	struct handoff_filter filter;
	struct str to;			/* p == NULL: any agent */
	/* Out: one more than the page holds shows that there are more. */
	struct handoff_row *rows;
	size_t count;
};

extern const struct op_kind handoff_list_kind;

#endif
