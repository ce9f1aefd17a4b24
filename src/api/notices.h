/* A sender is told on its next call what became of its handoffs: which of them were parked since. */
#ifndef SPINE_API_NOTICES_H
#define SPINE_API_NOTICES_H

#include "api/call.h"

enum { NOTICES_MAX = 20 };

struct notices {
	struct handoff_row *rows;
	size_t count;
};

/* Within a write: those of the caller that it was not told of, which are told now. */
enum problem_code notices_take(struct call *call, struct store_conn *c, struct notices *ret);
/* The member "notices", where there are any. */
void notices_put(const struct notices *n, struct json_writer *w);

#endif
