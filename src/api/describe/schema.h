/* JSON Schema (2020-12) of fields and shapes, as OpenAPI 3.1 and MCP want it. */
#ifndef SPINE_API_DESCRIBE_SCHEMA_H
#define SPINE_API_DESCRIBE_SCHEMA_H

#include "api/describe/describe.h"

/* Types with a name of their own that are neither shapes nor enumerations; ended by one of TYPE_END. The name is in
 * .component. */
extern const struct field schema_types[];

/* What a named shape, enumeration or type is. */
void schema_put_shape(struct json_writer *w, const struct shape *s);
void schema_put_words(struct json_writer *w, const struct words *words);
void schema_put_named_type(struct json_writer *w, const struct field *type);
/* A shape where it is used: a reference where it has a name. */
void schema_put_use(struct json_writer *w, const struct shape *s);
/* The value of a parameter: neither null nor with the sentence, which stands beside it. */
void schema_put_parameter(struct json_writer *w, const struct field *f);

/* Members of JSON that is given as text, with ' for ". */
void schema_put_members(struct json_writer *w, const char *text);
/* The same for a value, behind its key. */
void schema_put_value(struct json_writer *w, const char *text);

#endif
