/* Envelopes that take long to read: several megabytes of history, or references to long memories. */
#ifndef SPINE_ENGINE_LARGE_ENVELOPE_H
#define SPINE_ENGINE_LARGE_ENVELOPE_H

#include "engine/op.h"

/* Within read or prepare, before the envelope is unpacked: would it hold up the owner's thread? Then the step returns
 * at once, and is begun again by a worker (op_is_too_large). False where there is no such envelope. */
bool envelope_is_large(struct op *op, struct store_conn *c, uint64_t num);
/* How much of its answer's prompt and JSON there would be to write, about, in bytes; 0 where it cannot be read. */
size_t envelope_weight(struct store_conn *c, int64_t space, uint64_t num);

#endif
