/* How the store has grown: its size now and then, so that whoever asks sees where it leads. In memory, of the last day
 * at most; it begins anew with each start. */
#ifndef SPINE_ENGINE_GROWTH_H
#define SPINE_ENGINE_GROWTH_H

#include "store/store.h"

struct growth;

/* Returns owned. */
struct growth *growth_new(void);
/* NULL-safe. */
void growth_free(struct growth *g);
/* On the writer's thread, after a transaction: looks at the store, where it is time for that. */
void growth_note(struct growth *g, struct store_conn *c, int64_t now_ms);
/* Any thread: the size about a day ago, or at the start, and when that was; 0: nobody has looked yet. */
void growth_since(struct growth *g, int64_t now_ms, int64_t *ret_bytes, int64_t *ret_at_ms);

#endif
