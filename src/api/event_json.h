/* Events as the wire shows them: CloudEvents 1.0 in the JSON event format. */
#ifndef SPINE_API_EVENT_JSON_H
#define SPINE_API_EVENT_JSON_H

#include "api/describe/describe.h"

/* What an event does not hold. */
struct event_place {
	struct str space_name;
	struct arena *arena;		/* for the short term */
};

/* Of a struct event_row, written with a struct event_place. */
extern const struct shape shape_cloud_event;

#endif
