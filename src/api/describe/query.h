/* The parameters of a query, read by their description. */
#ifndef SPINE_API_DESCRIBE_QUERY_H
#define SPINE_API_DESCRIBE_QUERY_H

#include "api/describe/read.h"

struct query_pair;

/* Reads the pairs, decoded, into a struct as shape_read does. page_token is not read: whoever gave it out checks it. */
enum problem_code query_read(const struct shape *s, enum query_kind kind, const struct query_pair *pairs, size_t count,
			     void *into, struct shape_reader *r);

/* Reads one value as its type does, for functions of fields that only add to that. */
enum problem_code query_value(const struct field *f, struct str value, void *into, struct shape_reader *r);

#endif
