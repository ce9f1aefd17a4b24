/* The envelopes of a task, and what each hop kept of what was there before it. */
#ifndef SPINE_ENGINE_TASK_GET_H
#define SPINE_ENGINE_TASK_GET_H

#include "core/envelope/fidelity.h"
#include "engine/op.h"
#include "engine/page.h"

/* A page of them. Their memories' texts are not read: what is told here does not need them. */
struct task_get {
	struct op op;
	/* In. */
	struct str task;
	struct page page;		/* its position is an envelope */
	/* Out. */
	struct envelope *envelopes;
	size_t count;
	struct envelope newest;		/* of all pages */
	bool is_pruned;			/* what is before one of them is not kept any more */
	struct waiver_row *waivers;	/* of persons, for the whole task; task_get alone reads them */
	size_t waiver_count;
};

extern const struct op_kind task_get_kind;

struct task_score {
	double score;
	double core;			/* the intent and the constraints alone: what must never be lost */
};

/* What there is none of, or what is gone, is not compared with: NULL. */
struct task_hop {
	const struct envelope *envelope;
	bool is_new_root;			/* it begins another chain in the task */
	const struct fidelity *kept;		/* of the parent */
	const struct task_score *of_root;
	bool is_pruned;				/* the parent, or the root, is not kept any more */
};

struct task_fidelity {
	struct task_get task;
	/* Out. */
	struct task_hop *hops;			/* one for each envelope of the page */
	const struct task_score *score;		/* what the newest envelope has of the first one */
};

extern const struct op_kind task_fidelity_kind;

#endif
