/* The figures of the parts of a node in one text of Prometheus: the samples of a family stand together. What is of the
 * process, the cluster as it sees it included, is told once. */
#ifndef SPINE_API_METRICS_MERGE_H
#define SPINE_API_METRICS_MERGE_H

#include "base/buf.h"

struct metrics_text {
	int shard;
	struct str text;
};

/* own: the text of the node's own part, which says which families there are, and what the process is like. The other
 * samples are those of the parts. Each has the label shard, however many parts there are: a series that lost and got
 * it as shards come and go would be another one each time. */
void metrics_merge(struct buf *out, struct str own, const struct metrics_text *parts, size_t count);

#endif
