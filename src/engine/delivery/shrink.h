/* What is parked because it is too large: a new envelope with what the old one carried, in a smaller budget, takes its
 * place. Same parent, same place in the chain. */
#ifndef SPINE_ENGINE_SHRINK_H
#define SPINE_ENGINE_SHRINK_H

#include "engine/delivery/decide.h"
#include "engine/envelope/pack.h"

struct shrink {
	struct decide decision;		/* its row is the new handoff's */
	/* In. */
	int64_t max_tokens;
	/* Out. */
	struct packing pack;
	struct handoff_row old;
};

extern const struct op_kind shrink_kind;

#endif
