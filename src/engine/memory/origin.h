/* Where a version of a memory comes from, as the server saw it: the key that was used, the protocol, and what the
 * client called itself. The first two cannot be forged; the third is the client's word. Callers cannot set any of it.
 *
 *     {"client":"memory-spine-python/1.4.0","key":"key-7","protocol":"http"}
 *
 * What is moved from another server is that server's word: it is kept as "claimed", and the rest says who moved it.
 */
#ifndef SPINE_ENGINE_ORIGIN_H
#define SPINE_ENGINE_ORIGIN_H

#include "engine/op.h"

enum { ORIGIN_CLIENT_MAX = 128 };

/* Canonical JSON, in the operation's arena. */
struct str origin_of(const struct op *op);
/* The same of what was moved, with what the file says of it; p == NULL, or no JSON object: it says nothing. */
struct str origin_moved(const struct op *op, struct str claimed);

#endif
