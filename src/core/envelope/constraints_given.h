/* What somebody was given further down a chain holds for them, though they go on from further up.
 *
 * A parent may have any number of children: branches live side by side, and what is set in one does not hold in the
 * others. But who was given a later hop, and then names an older one as the parent, knows what was set in between: that
 * holds in what they pack, as if it was inherited. What they set there themselves does not: it was meant for that
 * branch. Who wants to be rid of it waives it, as any other.
 */
#ifndef SPINE_CORE_CONSTRAINTS_GIVEN_H
#define SPINE_CORE_CONSTRAINTS_GIVEN_H

#include "core/envelope/envelope.h"
#include "core/problem.h"

/* The hops from one that the sender was given up to the child of the one that it goes on from. */
struct given_line {
	const struct envelope *const *hops;
	size_t count;
};

struct given_input {
	const struct envelope *before;		/* what it goes on from */
	const struct given_line *lines;		/* the newest first */
	size_t line_count;
	const struct str *senders;		/* names of the one who packs */
	size_t sender_count;
	const struct json *waive;		/* what it waives, an array; may be NULL */
};

/* What is inherited then, in the arena. */
struct given_constraints {
	struct json constraints;		/* an object */
	struct json locked;			/* an array of keys */
	/* Of each that is not `before`'s own: its key and the envelope that has it. */
	const struct json_member **added;
	uint64_t *added_by;
	size_t added_count;
};

/* Two lines that say different things are P_CONSTRAINT_CONFLICT, unless the key is waived. */
enum problem_code constraints_given(const struct given_input *in, struct arena *arena, struct given_constraints *ret,
				    struct problem *problem);

#endif
