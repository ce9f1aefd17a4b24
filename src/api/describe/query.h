/* The parameters of a query, read by their description.
 *
 * Three kinds of operations differ in what they say of parameters that they do not know, and of one that stands twice:
 *
 *     QUERY_LOOSE   the first one counts; what is not known is ignored
 *     QUERY_OPEN    each is read, in their order; what is not known is warned of
 *     QUERY_LIST    each may stand once; what is not known is warned of
 */
#ifndef SPINE_API_DESCRIBE_QUERY_H
#define SPINE_API_DESCRIBE_QUERY_H

#include "api/describe/read.h"

enum query_kind { QUERY_LOOSE, QUERY_OPEN, QUERY_LIST };

struct query_pair;

/* Reads the pairs, decoded, into a struct as shape_read does. page_token is not read: whoever gave it out checks it. */
enum problem_code query_read(const struct shape *s, enum query_kind kind, const struct query_pair *pairs, size_t count,
			     void *into, struct shape_reader *r);

#endif
