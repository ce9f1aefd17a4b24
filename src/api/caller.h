/* Who asks, where, and for which task, as the caller says it beside the request: Spine-Agent, Spine-Space,
 * Spine-Task. */
#ifndef SPINE_API_CALLER_H
#define SPINE_API_CALLER_H

#include "api/call.h"

/* Into the operation; what is wrong is its problem. With keys, what is not said is as the key says it, and what the key
 * does not allow is forbidden. */
enum problem_code caller_read(struct call *call);
/* The space that the request is about: as it says, or else as its key does. */
struct str caller_space(const struct call *call);
/* Idempotency-Key, where the operation takes one: the answer is kept for it, and given again to a request that says the
 * same. body: what was asked, in the form that it came in. */
enum problem_code caller_read_key(struct call *call, struct str body);
/* The problem of a request that is no JSON. */
enum problem_code caller_json_problem(struct call *call, const struct json_error *error);

#endif
