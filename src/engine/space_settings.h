/* The settings of the space that an operation is about; and the list of all spaces, for whoever runs the server. */
#ifndef SPINE_ENGINE_SPACE_SETTINGS_H
#define SPINE_ENGINE_SPACE_SETTINGS_H

#include "core/guard/redact.h"
#include "engine/op.h"
#include "engine/page.h"

struct space_settings {
	struct op op;
	/* In, of space_set_kind; out, of space_get_kind. */
	enum redact_policy guard;
	/* Out. */
	int64_t memories;
};

extern const struct op_kind space_get_kind;
extern const struct op_kind space_set_kind;

struct space_list {
	struct op op;
	/* In. */
	struct page page;		/* its position is a space's id */
	/* Out. */
	struct space_row *rows;
	struct target_counts *queued;	/* of each: what is queued, at work and parked */
	size_t count;
	bool more;
};

extern const struct op_kind space_list_kind;

#endif
