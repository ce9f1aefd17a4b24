/* Keys: what was asked twice is done once. The answer to an operation with a key is kept as bytes, which its owner
 * makes, and given again to whoever asks the same with that key. */
#ifndef SPINE_ENGINE_KEY_H
#define SPINE_ENGINE_KEY_H

#include "engine/op.h"

/* Puts the answer that was kept for the operation's key into op->kept. P_NOT_FOUND where there is none, or one that is
 * only still there because nothing has pruned it yet, or only the claim of an operation that was not answered yet: then
 * op->claim is set. */
enum problem_code key_replay(struct op *op, struct store_conn *c);
/* Within a run that was answered: keeps the answer. */
enum problem_code key_keep(struct op *op, struct store_conn *c);
/* Old answers go by the clock, a few at a time: e->keys_next_ms says when the engine is to look at them. Before the
 * first transaction; within one; after it. */
void key_start(struct engine *e, struct store_conn *c);
enum store_status key_begin(struct engine *e, struct store_conn *c, int64_t now_ms);
void key_after(struct engine *e, bool committed);

#endif
