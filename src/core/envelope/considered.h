/* What an envelope was chosen from: for who wonders "why did it not know that?".
 *
 * The envelope itself says what it carries and what it had no room for. What was looked at and passed over is recorded
 * beside it, when it is packed: it belongs neither to the envelope nor to its digest.
 */
#ifndef SPINE_CORE_CONSIDERED_H
#define SPINE_CORE_CONSIDERED_H

#include "core/envelope/assemble.h"

struct considered_item {
	uint64_t num;
	enum envelope_why why;
	double relevance;	/* in thousandths */
	int64_t tokens;		/* that it takes, or would have taken; 0: not known */
	struct str fate;	/* "full", "summary", "ref", "left_out" (no room), "passed_over" (not chosen at all) */
	struct str reason;	/* p == NULL: it is there in full. "budget", "repetition", "not_relevant", … */
	uint64_t repeats;	/* of "repetition": the memory that says the same; 0: not known */
	struct str text;	/* the beginning of the memory, in one line; p == NULL: gone */
};

struct considered {
	bool is_recorded;	/* what was passed over is known */
	double floor;		/* what is less relevant was passed over */
	int64_t include_recent;
	bool whole_space;
	struct considered_item *items;	/* as the envelope has them, then those that were passed over */
	size_t count;
};

/* The record of an envelope that was just packed, in the arena. */
struct str considered_record(const struct envelope *e, const struct envelope_draft *draft, struct arena *arena);

/* All of it. record: what store_envelope_considered gives. Everything lives in the arena. */
enum store_status considered_read(struct store_conn *c, int64_t space, const struct envelope *e, struct str record,
				  struct arena *arena, struct considered *ret);

#endif
