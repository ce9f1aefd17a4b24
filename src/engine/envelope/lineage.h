/* Where in a chain an envelope that is to be packed belongs.
 *
 * No hop falls out of its chain. Who names a task that has one and no parent goes on from what it holds of the task,
 * else from where the chain ends; where that is not clear, the call is refused with what to say. A second root is made
 * by asking for it. Claims (a digest, an envelope that is sent back) are checked, and refused where they are wrong.
 */
#ifndef SPINE_ENGINE_LINEAGE_H
#define SPINE_ENGINE_LINEAGE_H

#include "engine/envelope/pack.h"

struct lineage {
	const struct envelope *parent;	/* NULL: it is a root */
	const struct envelope *repacks;	/* whose place it takes; NULL: nobody's */
};

/* Sets p->parent to what was found, too. Everything lives in the operation's arena. */
enum problem_code lineage_find(struct op *op, struct store_conn *c, struct packing *p, struct lineage *ret);
/* The envelopes of a task that nothing was packed from, in order; the newest max of them. */
enum problem_code lineage_ends(struct op *op, struct store_conn *c, struct str task, uint64_t *ret, size_t max,
			       size_t *ret_count);

#endif
