/* A sender is told on its next call what became of its handoffs: which of them were parked since. */
#ifndef SPINE_ENGINE_NOTICES_H
#define SPINE_ENGINE_NOTICES_H

#include "engine/op.h"

enum { NOTICES_MAX = 20 };

struct notices {
	struct handoff_row *rows;
	size_t count;
};

/* Within a run: those of the caller that it was not told of, which are told now. */
enum problem_code notices_take(struct op *op, struct store_conn *c, struct notices *ret);

#endif
