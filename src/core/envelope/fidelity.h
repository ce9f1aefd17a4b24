/* What a hop kept, added, waived and dropped: one envelope against another, and a chain hop by hop.
 */
#ifndef SPINE_CORE_FIDELITY_H
#define SPINE_CORE_FIDELITY_H

#include "core/envelope/envelope.h"

/* Their words are in api/describe/words.c, in this order. */
enum fidelity_fate { FATE_KEPT, FATE_ADDED, FATE_NARROWED, FATE_CHANGED, FATE_WAIVED, FATE_DROPPED };

enum fidelity_kind { KIND_INTENT, KIND_CONSTRAINT, KIND_DECISION, KIND_STEP, KIND_REF };

/* What became of one thing on the way from one envelope to another. */
struct fidelity_item {
	enum fidelity_kind kind;
	enum fidelity_fate fate;
	struct str key;			/* a constraint's key, a memory's id, a text; p == NULL for the intent */
	const struct json *before;	/* of constraints; NULL where there was none */
	const struct json *after;
	struct str reason;		/* of what was waived or dropped; p == NULL: none is known */
	struct str by;			/* who waived it */
	bool unauthenticated;		/* a person did, as they say themselves */
};

struct fidelity {
	struct fidelity_item *items;
	size_t count;
	size_t total;			/* things that the earlier envelope had */
	size_t kept;			/* of them, those that are kept or narrowed */
	size_t waived;			/* of them, those that somebody gave up, with a reason: neither kept nor lost */
	double score;			/* kept / total; 1 where there was nothing */
};

/* Everything that is in one of them; borrows from both. */
void fidelity_compare(const struct envelope *before, const struct envelope *after, struct arena *arena,
		      struct fidelity *ret);

/* kept / total, cut to four digits; 1 where there was nothing. */
double fidelity_score(size_t kept, size_t total);

/* Is the thing named by key (a constraint, a memory's id, a decision, "intent") in the envelope? */
bool fidelity_has(const struct envelope *e, struct str key);

#endif
