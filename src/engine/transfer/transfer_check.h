/* Is a row that somebody wants to import one that a server can have written? The store and everything above it believe
 * what they read: nothing may get there by this way that could not get there by the usual calls. */
#ifndef SPINE_ENGINE_TRANSFER_CHECK_H
#define SPINE_ENGINE_TRANSFER_CHECK_H

#include "engine/transfer/transfer.h"

/* Each returns NULL where it may be written, else what is wrong with it: the end of a sentence. */
const char *transfer_check_memory(const struct transfer_memory *one, struct arena *arena);
const char *transfer_check_envelope(const struct transfer_envelope *one, struct arena *arena);
const char *transfer_check_handoff(const struct transfer_handoff *one, struct arena *arena);

/* May the result be kept in that memory? What is called JSON is answered as it is. */
bool transfer_is_result(const struct result_row *result, const struct memory *memory, struct arena *arena);

#endif
