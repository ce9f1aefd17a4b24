/* Requests, read by their descriptions: bodies, and the pieces of an address. Queries are in query.h. */
#ifndef SPINE_API_DESCRIBE_READ_H
#define SPINE_API_DESCRIBE_READ_H

#include "api/describe/describe.h"

/* What a reading needs besides the request; borrowed. */
struct shape_reader {
	struct arena *arena;
	struct problem *problem;
	void (*warn)(void *ctx, struct str field);	/* told of each field that is not known; NULL: nobody is */
	void *ctx;					/* for warn, and for fields with a function of their own */
	const struct access *access;			/* of who asks; NULL: nobody is known */
	const struct json *object;			/* set by shape_read: the object being read */
};

/* Reads obj into a struct, field by field in the order of the table; what it says lives as long as obj and the arena.
 * A field that is absent leaves its member as it is, so that the caller sets defaults before. prefix stands before
 * fields that are not known when they are warned of. obj may be JSON_NULL: then everything is absent.
 *
 * The first problem ends the reading; it is in r->problem, with its field. */
enum problem_code shape_read(const struct shape *s, const struct json *obj, const char *prefix, void *into,
			     struct shape_reader *r);

/* Warns of what is not known, and reads nothing. */
void shape_warn_unknown(const struct shape *s, const struct json *obj, const char *prefix, struct shape_reader *r);

/* Reads one value into the field's member, whatever stands beside it; for functions of fields that only add to that. */
enum problem_code field_read(const struct field *f, const struct json *value, void *into, struct shape_reader *r);

/* Reads a piece of an address: *ret is what the type says (struct str, uint64_t, struct memory_id, int64_t). An id that
 * is none is not found. */
enum problem_code path_read(const struct field *f, struct str piece, void *ret, struct problem *problem);

/* May who asks name that? value.p == NULL: nobody, where somebody was named before. */
enum problem_code read_check_names(const struct field *f, struct str value, const struct access *access,
				   struct problem *problem);

#endif
