/* Handoffs and events as the wire shows them. */
#ifndef SPINE_API_HANDOFF_JSON_H
#define SPINE_API_HANDOFF_JSON_H

#include "api/call.h"

/* Writes the members of a handoff into an object that is open. */
void handoff_json_members(struct json_writer *w, const struct handoff_row *h);
/* The same as an object of its own. */
void handoff_json_put(struct json_writer *w, const struct handoff_row *h);
void handoff_json_put_event(struct json_writer *w, const struct event_row *event);
/* Members "result", "result_memory", "gaps", "input_tokens", and "result_state" where it was forgotten. */
void handoff_json_result(struct json_writer *w, const struct result_row *r);
/* "result_memory":"ms-12"; null where num is 0. */
void handoff_json_result_memory(struct json_writer *w, uint64_t num);

/* The id in the address. */
enum problem_code handoff_path_id(struct call *call, uint64_t *ret);

#endif
