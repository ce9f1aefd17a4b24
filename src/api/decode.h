/* Fields of a JSON object, checked one by one. Each returns P_OK with *ret set, or the problem that names the field.
 * Absent and null are the same here: *ret is left as it is. */
#ifndef SPINE_API_DECODE_H
#define SPINE_API_DECODE_H

#include "codec/json.h"
#include "core/problem.h"

/* The member, or NULL where it is absent or null. */
const struct json *decode_member(const struct json *obj, const char *name);

enum problem_code decode_str(const struct json *obj, const char *name, size_t min, size_t max, struct str *ret,
			     struct problem *problem);
enum problem_code decode_int(const struct json *obj, const char *name, int64_t min, int64_t max, int64_t *ret,
			     struct problem *problem);
enum problem_code decode_array(const struct json *obj, const char *name, size_t max, const struct json **ret,
			       struct problem *problem);

/* The checks themselves, for values that come from elsewhere (a header, the query). */
enum problem_code decode_check_text(struct str value, const char *name, size_t min, size_t max,
				    struct problem *problem);
/* The same, and no control characters: names. */
enum problem_code decode_check_name(struct str value, const char *name, size_t max, struct problem *problem);
/* The name of an agent that work can go to: of everybody but "next". */
enum problem_code decode_check_agent(struct str value, const char *name, struct problem *problem);

#endif
