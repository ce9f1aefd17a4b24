/* Answers, written by their descriptions. */
#ifndef SPINE_API_DESCRIBE_WRITE_H
#define SPINE_API_DESCRIBE_WRITE_H

#include "api/describe/describe.h"

/* A member that is to be written, and of an object or of each item of a list, what of it. A writer whose `only` is a
 * list of these leaves out all other fields of tables; what is written by hand stays whole. */
struct shown {
	const char *name;		/* NULL ends a list */
	const struct shown *within;	/* NULL: all of it */
};

/* Writes a struct as an object. What is not set (a text whose p is NULL, an id or a time of 0, a number that is the
 * field's unset) is absent or null, whichever the field says. A field without a member, and without a function of its
 * own, is left out. `with` is handed to such functions: what they need and the struct does not hold. Allocates
 * nothing. */
void shape_write_with(const struct shape *s, const void *from, const void *with, struct json_writer *w);
/* Only the members, into an object that the caller has begun and ends. from NULL: none. */
void shape_write_members(const struct shape *s, const void *from, const void *with, struct json_writer *w);

/* One field, of a value that stands elsewhere than in its struct: what its type says (a number or a word as int64_t).
 * For functions of fields. */
void field_write(const struct field *f, const void *value, struct json_writer *w);

#endif
