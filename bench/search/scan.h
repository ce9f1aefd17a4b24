/* The plain way to search: every text is scored, in double precision. Shares no code with the index but the
 * analysis. */
#ifndef SPINE_BENCH_SEARCH_SCAN_H
#define SPINE_BENCH_SEARCH_SCAN_H

#include "corpus.h"
#include "text/index.h"

struct scan;

/* Analyses the first `texts` texts. Returns owned. */
struct scan *scan_new(const struct corpus *c, uint64_t texts);
void scan_free(struct scan *s);

/* The k best texts; text i has the id i + 1. boost may be NULL: 1. */
size_t scan_top(const struct scan *s, const struct index_query *q, int64_t now_ms, float (*boost)(uint64_t i),
		int64_t (*created_ms)(uint64_t i, uint64_t n), size_t k, struct index_hit *ret);

#endif
