/* A person waives a constraint for a task, locked or not.
 *
 * Envelopes are never changed, and agents go on from the ones that they hold: so the waiver stands beside the task, and
 * the next envelope of each of its lines goes without the constraint and says who waived it
 * (core/envelope/constraints.h). While the server has no keys, a person is who says so (op->person), and that is what
 * is recorded: unauthenticated. With keys it takes one with the scope admin, whose name is recorded.
 */
#ifndef SPINE_ENGINE_WAIVE_H
#define SPINE_ENGINE_WAIVE_H

#include "codec/json.h"
#include "engine/op.h"

struct waive {
	struct op op;
	/* In. */
	struct str task;
	struct str key;
	struct str reason;
	/* Out. */
	struct waiver_row row;
	struct json value;		/* what it says where the task ends now */
	uint64_t envelope;		/* there */
	bool unauthenticated;
};

extern const struct op_kind waive_kind;

#endif
