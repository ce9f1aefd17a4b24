/* The figures of several parts of a node in one text of Prometheus: the samples of a family stand together. What is of
 * the process is told once. */
#ifndef SPINE_API_METRICS_MERGE_H
#define SPINE_API_METRICS_MERGE_H

#include "base/buf.h"

struct metrics_text {
	int shard;
	struct str text;
};

/* own: the text of the node's own part, which says which families there are, and what the process is like. The other
 * samples are those of the parts; where there is more than one, each has the label shard. Without any they are own's.
 */
void metrics_merge(struct buf *out, struct str own, const struct metrics_text *parts, size_t count);

#endif
