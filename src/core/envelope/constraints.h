/* Constraints: what a hop inherits, may add, may narrow, and may not drop.
 *
 * An inherited constraint holds at every later hop. A hop may give the same key again with the same value, or with a
 * narrower one: a smaller number for a maximum ("max_…", "…_max", "limit", "at_most"), a larger one for a minimum
 * ("min_…", "…_min", "at_least"), an earlier time for a deadline, a longer list of prohibitions ("do_not", "forbidden",
 * "never", …), a shorter list of permissions ("allowed", "only"). Anything else is a conflict. Who must get rid of a
 * constraint waives it, by name and with a reason; the waiver is kept for ever. "max_tokens" is not inherited: it
 * belongs to the receiver, hop by hop.
 *
 * LOCKS. A constraint that a hop or the space's policy has locked, and what the guard reads, is not waived by any
 * agent; its lock lasts as long as it does. A person may waive it for the whole task: such a standing waiver takes the
 * constraint out of the next envelope of each line of the task, once; who sets the key anew after that has set it.
 *
 * KEYS. Keys are compared as a reader sees them (text/lookalike.h): one that can be taken for another does not stand
 * beside it.
 */
#ifndef SPINE_CORE_CONSTRAINTS_H
#define SPINE_CORE_CONSTRAINTS_H

#include "codec/json.h"
#include "core/problem.h"

enum { CONSTRAINTS_MAX = 256, CONSTRAINT_KEY_MAX = 128, WAIVERS_MAX = 256, WAIVER_REASON_MAX = 2048 };

/* A waiver that a person made for the task. */
struct constraints_waiver {
	int64_t id;			/* grows */
	struct str key;
	struct str by;
	struct str reason;
	bool is_checked;		/* by whom is known, by their key */
};

struct constraints_input {
	const struct json *inherited;	/* the parent's constraints, an object; NULL at the root */
	const struct json *waived;	/* the parent's waivers, an array; NULL at the root */
	const struct json *given;	/* what this hop says, an object; may be NULL */
	const struct json *waive;	/* [{"key","reason"}]; may be NULL */
	struct str by;			/* who waives */
	int64_t hop;
	const struct json *locked;	/* the parent's locks, an array of keys; may be NULL, as the next two */
	const struct json *lock;	/* what this hop locks */
	const struct json *policy;	/* what the space locks */
	const struct constraints_waiver *standing;	/* in the order of their ids */
	size_t standing_count;
	struct str task;		/* to be named in a refusal */
};

/* Of the new envelope, in the arena. */
struct constraints {
	struct json all;		/* an object */
	struct json waived;		/* an array of {at_hop, by, key, reason, value}, with {waiver} where a
					 * person did it, and {unauthenticated} where nobody checked who */
	struct json locked;		/* an array of keys, sorted */
};

/* A conflict is P_CONSTRAINT_CONFLICT with the field "constraints.KEY"; a waiver of what is locked
 * P_CONSTRAINT_LOCKED. */
enum problem_code constraints_inherit(const struct constraints_input *in, struct arena *arena, struct constraints *ret,
				      struct problem *problem);

/* Is `next` the same as `before`, or narrower? */
bool constraints_narrows(struct str key, const struct json *before, const struct json *next);

#endif
