/* What one thread's index_search_near writes to. */
#ifndef SPINE_TEXT_INDEX_NEAR_H
#define SPINE_TEXT_INDEX_NEAR_H

struct index_near;

/* NULL-safe. */
void index_near_free(struct index_near *n);

#endif
