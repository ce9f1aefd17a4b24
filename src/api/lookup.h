/* Memories by their ids, as the wire has them; see engine/lookup.h. */
#ifndef SPINE_API_LOOKUP_H
#define SPINE_API_LOOKUP_H

#include "api/http/call.h"
#include "engine/memory/memory_lookup.h"

/* The ids of an array of texts, the field of that name; the problem names the item that is not one. */
enum problem_code lookup_ids(struct call *call, const struct json *list, const char *field, struct memory_id **ret);
/* The members "memories" and "missing" of the reply. */
void lookup_put(struct call *call, struct json_writer *w, const struct memory_lookup *l);

#endif
