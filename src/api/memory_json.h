/* Memories as JSON: read from requests, written to replies. */
#ifndef SPINE_API_MEMORY_JSON_H
#define SPINE_API_MEMORY_JSON_H

#include "api/call.h"
#include "core/memory/memory.h"

/* Reads the fields of a memory from obj. patch: null clears, nothing is required, and what cannot be changed is
 * refused. prefix stands before unknown fields in the warnings. */
enum problem_code memory_json_read(struct call *call, const struct json *obj, bool patch, const char *prefix,
				   struct memory_draft *ret);

/* A memory of the reply, as one value; the caller may add members before json_end_object. */
void memory_json_begin(struct json_writer *w, const struct memory *m, int64_t now_ms);
void memory_json_put(struct json_writer *w, const struct memory *m, int64_t now_ms);

#endif
