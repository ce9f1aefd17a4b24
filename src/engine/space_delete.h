/* A space goes, with everything in it. It is gone with the commit: its name is free, everybody forgets its number, and
 * its keys are revoked: whoever makes a space of that name anew has not let their holders in.
 * Its rows are taken away afterwards, by retention.h. */
#ifndef SPINE_ENGINE_SPACE_DELETE_H
#define SPINE_ENGINE_SPACE_DELETE_H

#include "engine/op.h"

/* A space that goes, from the transaction that takes it away to the end of it. */
struct space_leaving {
	int64_t id;
	struct str name;
	struct agent_place *hooked;	/* its agents that had a webhook */
	size_t hooked_count;
	int64_t at_ms;
	bool keeps_keys;		/* it was idle: whoever comes back is let in */
	int64_t keys;			/* that were valid, and are no more */
};

struct space_delete {
	struct op op;
	/* In: the space is the operation's. */
	struct str confirm;		/* its name once more */
	/* Out: what was in it. */
	int64_t memories;
	int64_t open;			/* handoffs that were queued or at work */
	int64_t parked;
	struct space_leaving leaving;
};

extern const struct op_kind space_delete_kind;

/* Within a transaction, on the writer's thread: the space goes. id and name are set; the rest is found, in the arena.
 * Whoever calls it tells the event, after it: those who follow the space see it as the last of its events. */
enum store_status space_delete_begin(struct engine *e, struct store_conn *c, struct arena *arena,
				     struct space_leaving *leaving, int64_t now_ms);
/* After the commit: everybody who knows it is told. */
void space_delete_end(struct engine *e, const struct space_leaving *leaving);

#endif
