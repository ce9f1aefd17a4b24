/* Where something came into a task, and where it was lost. */
#ifndef SPINE_ENGINE_BLAME_H
#define SPINE_ENGINE_BLAME_H

#include "core/envelope/fidelity.h"
#include "engine/op.h"

enum blame_verdict { BLAME_NEVER, BLAME_STILL, BLAME_RESOLVED, BLAME_LOST };

/* num 0 where there is no such envelope. */
struct blame {
	struct op op;
	/* In. */
	struct str task;
	struct str key;			/* a constraint, a memory's id, an open decision, or "intent" */
	/* Out. */
	enum blame_verdict verdict;
	struct envelope introduced;
	struct envelope without;	/* the one to blame, or the first of those that were made good */
	const struct fidelity_item *fate;	/* in it; NULL: not mentioned */
};

extern const struct op_kind blame_kind;

#endif
