/* What an operation's description says of reading and writing it, carried out. A route that needs no more has no code
 * of its own. */
#ifndef SPINE_API_TRANSLATE_H
#define SPINE_API_TRANSLATE_H

#include "api/call.h"
#include "api/describe/read.h"

/* What reads the call by its description, and warns of what is not known. */
struct shape_reader translate_reader(struct call *call);
/* Fills in the operation: defaults, address, query, body, wait; then what the route adds. */
enum problem_code translate_decode(struct call *call);
/* Writes the reply: by the route, or by the description. */
void translate_encode(struct call *call);
/* By the description, for a route that only adds to that. */
void translate_write(struct call *call);

#endif
