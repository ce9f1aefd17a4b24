/* What is parked, with what it is about and how much of it there is. */
#ifndef SPINE_ENGINE_PARKED_LIST_H
#define SPINE_ENGINE_PARKED_LIST_H

#include "engine/board/about.h"
#include "engine/page.h"

struct parked_list {
	struct op op;
	/* In. */
	struct page page;
	struct handoff_filter filter;
	struct str to;			/* p == NULL: any agent */
	/* Out. */
	struct about_handoff *rows;
	size_t count;
	int64_t total;			/* of all pages */
};

extern const struct op_kind parked_list_kind;

#endif
