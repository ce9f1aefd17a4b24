/* What an agent would get next, looked at and not taken; or waits until there is something.
 *
 * It writes nothing: neither the agent nor the space comes into being by it, and the agent does not count as seen. */
#ifndef SPINE_ENGINE_PEEK_H
#define SPINE_ENGINE_PEEK_H

#include "engine/op.h"

struct peek {
	struct op op;
	/* In. */
	struct str agent;
	int64_t wait_ms;
	/* Out. */
	const struct handoff_row *next;	/* NULL: nothing is queued */
};

extern const struct op_kind peek_kind;

#endif
