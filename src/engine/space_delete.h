/* A space goes, with everything in it. It is gone with the commit: its name is free, and everybody forgets its number.
 * Its rows are taken away afterwards, by retention.h. */
#ifndef SPINE_ENGINE_SPACE_DELETE_H
#define SPINE_ENGINE_SPACE_DELETE_H

#include "engine/op.h"

struct space_delete {
	struct op op;
	/* In: the space is the operation's. */
	struct str confirm;		/* its name once more */
	/* Out: what was in it. */
	int64_t memories;
	int64_t open;			/* handoffs that were queued or at work */
	int64_t parked;
	struct agent_place *hooked;	/* its agents that had a webhook */
	size_t hooked_count;
};

extern const struct op_kind space_delete_kind;

/* Within a run, or another job of the writer: the space goes. After the commit: everybody who knows it is told. */
enum store_status space_delete_begin(struct engine *e, struct store_conn *c, int64_t space, int64_t now_ms);
void space_delete_end(struct engine *e, struct str name, int64_t space);

#endif
