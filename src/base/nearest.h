/* "Did you mean …?": the known name that is closest to a misspelt one. */
#ifndef SPINE_BASE_NEAREST_H
#define SPINE_BASE_NEAREST_H

#include "base/str.h"

/* Collects the best of the names offered to it. */
struct nearest {
	struct str wanted;	/* borrowed */
	const char *best;	/* borrowed; NULL while none is close enough to be worth suggesting */
	size_t distance;
};

void nearest_init(struct nearest *n, struct str wanted);
/* Borrows name. The first of several equally close ones is kept. */
void nearest_offer(struct nearest *n, const char *name);

#endif
