/* What came later than the rest: `since` of an operation and of the fields that a request has, the highest of them. A
 * number of core/cluster/protocol.h; 0: all of it was there from the first on.
 */
#ifndef SPINE_API_DESCRIBE_NEWER_H
#define SPINE_API_DESCRIBE_NEWER_H

#include "api/describe/describe.h"

/* Of a body, or a part of one, that is such a shape. What is no object, and members that are not known, say nothing. */
int newer_of(const struct shape *s, const struct json *value);
/* Of a body that is one of the operation's. */
int newer_of_body(const struct description *d, const struct json *body);
/* Of a parameter of the query. */
int newer_of_parameter(const struct description *d, struct str name);

#endif
