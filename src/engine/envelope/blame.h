/* Where something came into a task, and where it was lost. */
#ifndef SPINE_ENGINE_BLAME_H
#define SPINE_ENGINE_BLAME_H

#include "core/envelope/fidelity.h"
#include "engine/op.h"

/* Lost: nobody says why. Waived: somebody gave it up, by name. Left behind: another chain of the task began without. */
enum blame_verdict { BLAME_NEVER, BLAME_STILL, BLAME_RESOLVED, BLAME_LOST, BLAME_WAIVED, BLAME_LEFT_BEHIND };

struct blame_hop {
	struct envelope envelope;	/* num 0: none */
	const struct fidelity_item *fate;	/* of the thing, in it; NULL: not mentioned */
};

struct blame {
	struct op op;
	/* In. */
	struct str task;
	struct str key;			/* a constraint, a memory's id, an open decision, or "intent" */
	/* Out. */
	enum blame_verdict verdict;
	const struct blame_hop *introduced;	/* NULL: there is no such hop; the same for the next */
	const struct blame_hop *lost;		/* the one to blame */
	const struct blame_hop *resolved;
	const struct blame_hop *left_out;	/* the first of those that were made good */
	/* Between. */
	struct blame_hop first, without;
};

extern const struct op_kind blame_kind;

#endif
