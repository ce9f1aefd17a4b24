/* What a handoff is about, for lists that people read: its task, and the beginning of what is to be done. */
#ifndef SPINE_ENGINE_ABOUT_H
#define SPINE_ENGINE_ABOUT_H

#include "engine/op.h"

struct about {
	struct str task;		/* p == NULL: its envelope cannot be read */
	struct str summary;
};

/* A handoff in such a list. */
struct about_handoff {
	struct handoff_row row;
	struct about about;
};

/* In the arena of the operation. An envelope that cannot be read is nobody's problem here: spine check and verify say
 * what is wrong with it. */
enum store_status about_read(struct op *op, struct store_conn *c, uint64_t envelope, struct about *ret);
/* The same for a list of rows. */
enum store_status about_all(struct op *op, struct store_conn *c, const struct handoff_row *rows, size_t count,
			    struct about_handoff **ret);

#endif
