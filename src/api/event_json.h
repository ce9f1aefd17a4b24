/* Events as the wire shows them: CloudEvents 1.0, and entries of the audit trail. */
#ifndef SPINE_API_EVENT_JSON_H
#define SPINE_API_EVENT_JSON_H

#include "base/arena.h"
#include "codec/json.h"
#include "store/records.h"

/* A CloudEvent in the JSON event format. The arena is for the short term. */
void event_json_put(struct json_writer *w, const struct event_row *event, struct str space_name, struct arena *arena);
/* Who did what to which object, and when. */
void event_json_put_entry(struct json_writer *w, const struct event_row *event, struct str space_name,
			  struct arena *arena);

#endif
