/* The last look before an answer leaves: may it?
 *
 * What is of a commit may: the database has refused whatever came from a server that does not own the space any more.
 * Everything else (reads, refusals, answers that were kept, a receive without a handoff) is from memory, and leaves
 * only while the node's lease lasts (core/cluster/lease.h). The embedded server has no lease, and no gate.
 */
#ifndef SPINE_API_GATE_H
#define SPINE_API_GATE_H

#include "api/api.h"
#include "engine/op.h"

/* On the HTTP thread, when the operation is over. False: the answer is the problem no_owner now. */
bool gate_pass(const struct api *api, struct op *op);
/* The problem: nobody owns the space just now, or nobody knows who does. Says which in `why`. */
enum problem_code gate_refuse(struct problem *problem, const char *why);

#endif
