/* JSON Schema of a field in as few words as a model needs: its type, its words, what a list has in it. Bounds are
 * left out: whoever passes them is told by the refusal. */
#ifndef SPINE_API_DESCRIBE_SCHEMA_BRIEF_H
#define SPINE_API_DESCRIBE_SCHEMA_BRIEF_H

#include "api/describe/describe.h"

/* Members of the schema's object. */
void schema_put_brief(struct json_writer *w, const struct field *f);

#endif
