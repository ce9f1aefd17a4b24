/* The settings of the space that an operation is about; and the list of all spaces, for whoever runs the server. */
#ifndef SPINE_ENGINE_SPACE_SETTINGS_H
#define SPINE_ENGINE_SPACE_SETTINGS_H

#include "codec/json.h"
#include "core/guard/redact.h"
#include "engine/op.h"
#include "engine/page.h"
#include "engine/quota.h"

struct space_settings {
	struct op op;
	/* In, of space_set_kind: SPACE_GUARD_STAYS and SPACE_STAYS leave it as it is. */
	enum redact_policy asked_guard;
	struct json asked_locked;	/* keys of constraints that no agent waives, an array; JSON_NULL: as they are */
	struct space_keep asked;
	int asked_floor;		/* an enum trust; SPACE_FLOOR_STAYS */
	struct space_quota asked_quota;
	/* Out. */
	enum redact_policy guard;
	struct json locked;		/* an array */
	struct space_keep keep;
	int64_t memories;
	struct space_keep kept;		/* what holds, by the space's word or the server's; 0: for ever */
	int64_t handoffs_pruned;
	enum trust trust_floor;
	struct space_quota quota;
	struct quota_state state;	/* what holds, by the space's word or the server's, and what there is */
};

#define SPACE_STAYS INT64_MIN
#define SPACE_FLOOR_STAYS (-1)
#define SPACE_GUARD_STAYS ((enum redact_policy)-1)
/* Nobody means less by it, and much more is for ever. */
#define SPACE_KEEP_MIN_MS INT64_C(1000)
#define SPACE_KEEP_MAX_MS (INT64_C(100) * 366 * 86400 * 1000)

extern const struct op_kind space_get_kind;
extern const struct op_kind space_set_kind;

struct queues;

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
/* The same from another store, on any thread: what is known of its queues, and the commits of its writer. */
enum problem_code space_list_read(struct space_list *l, struct store_conn *c, struct queues *queues, uint64_t commits);

#endif
