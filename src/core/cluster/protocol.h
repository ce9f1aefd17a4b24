/* What a server knows, as a number that it tells the others.
 *
 * While servers are upgraded one after the other, a new one may be asked for something that the owner of the space does
 * not know yet. The owner would answer that there is no such thing, or leave out what it does not understand. So a
 * request is not passed on to an owner whose number is below that of the operation, or of a field that the request has.
 *
 * Raise the number in the release that adds an operation or a field, and write it there: `.since` in api/describe.
 */
#ifndef SPINE_CORE_CLUSTER_PROTOCOL_H
#define SPINE_CORE_CLUSTER_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

enum { PROTOCOL_FIRST = 1, PROTOCOL_NOW = 1 };

/* Does a server with this number know what came with that one? since 0: it was there from the first on. */
bool protocol_knows(int64_t number, int since);

#endif
