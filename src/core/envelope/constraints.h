/* Constraints: what a hop inherits, may add, may narrow, and may not drop.
 *
 * An inherited constraint holds at every later hop. A hop may give the same key again with the same value, or with a
 * narrower one: a smaller number for a maximum ("max_…", "…_max", "limit", "at_most"), a larger one for a minimum
 * ("min_…", "…_min", "at_least"), an earlier time for a deadline, a longer list of prohibitions ("do_not", "forbidden",
 * "never", …), a shorter list of permissions ("allowed", "only"). Anything else is a conflict. Who must get rid of a
 * constraint waives it, by name and with a reason; the waiver is kept for ever. "max_tokens" is not inherited: it
 * belongs to the receiver, hop by hop.
 */
#ifndef SPINE_CORE_CONSTRAINTS_H
#define SPINE_CORE_CONSTRAINTS_H

#include "codec/json.h"
#include "core/problem.h"

enum { CONSTRAINTS_MAX = 256, CONSTRAINT_KEY_MAX = 128, WAIVERS_MAX = 256 };

struct constraints_input {
	const struct json *inherited;	/* the parent's constraints, an object; NULL at the root */
	const struct json *waived;	/* the parent's waivers, an array; NULL at the root */
	const struct json *given;	/* what this hop says, an object; may be NULL */
	const struct json *waive;	/* [{"key","reason"}]; may be NULL */
	struct str by;			/* who waives */
	int64_t hop;
};

/* The constraints and waivers of the new envelope, in the arena: *ret_constraints an object with sorted members,
 * *ret_waived an array of {at_hop, by, key, reason, value}. A conflict is P_CONSTRAINT_CONFLICT with the field
 * "constraints.KEY". */
enum problem_code constraints_inherit(const struct constraints_input *in, struct arena *arena,
				      struct json *ret_constraints, struct json *ret_waived, struct problem *problem);

/* Is `next` the same as `before`, or narrower? */
bool constraints_narrows(struct str key, const struct json *before, const struct json *next);

#endif
