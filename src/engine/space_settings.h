/* The settings of the space that an operation is about; and the list of all spaces, for whoever runs the server. */
#ifndef SPINE_ENGINE_SPACE_SETTINGS_H
#define SPINE_ENGINE_SPACE_SETTINGS_H

#include "codec/json.h"
#include "core/guard/redact.h"
#include "engine/op.h"
#include "engine/page.h"

#define SPACE_GUARD_UNSAID ((enum redact_policy)-1)

struct space_settings {
	struct op op;
	/* In, of space_set_kind; out, of space_get_kind. */
	enum redact_policy guard;	/* SPACE_GUARD_UNSAID: as it is where there are locks to set, else off */
	struct json locked;		/* keys of constraints that no agent waives, an array; JSON_NULL: as they are */
	/* Out. */
	int64_t memories;
};

extern const struct op_kind space_get_kind;
extern const struct op_kind space_set_kind;

struct space_listed {
	struct space_row row;
	int64_t open;			/* handoffs that are queued or at work */
	int64_t parked;
};

struct space_list {
	struct op op;
	/* In. */
	struct page page;		/* its position is a space's id */
	/* Out. */
	struct space_listed *spaces;
	size_t count;
};

extern const struct op_kind space_list_kind;

#endif
