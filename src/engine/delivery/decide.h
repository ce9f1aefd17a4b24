/* What a person decides: an envelope is parked; what is parked is tried again, given to another agent, or discarded;
 * what is queued is cancelled, or given to another agent; and what was decided last is undone. */
#ifndef SPINE_ENGINE_DECIDE_H
#define SPINE_ENGINE_DECIDE_H

#include "core/delivery/delivery.h"
#include "engine/op.h"

struct decide {
	struct op op;
	/* In. */
	uint64_t num;			/* a handoff's, or an envelope's where it is parked */
	struct str to;			/* p == NULL: the same agent */
	struct str why;
	struct str by;			/* p == NULL: the caller */
	/* Out. */
	struct handoff_row row;
	/* decide.c's own: who packed the envelope. */
	struct str from;
};

extern const struct op_kind decide_park_kind;
extern const struct op_kind decide_redrive_kind;
extern const struct op_kind decide_reroute_kind;
extern const struct op_kind decide_discard_kind;
extern const struct op_kind decide_cancel_kind;
extern const struct op_kind decide_move_kind;
/* Undoes the last decision. */
extern const struct op_kind decide_restore_kind;

/* A step of delivery on behalf of whoever decides; op begins a struct decide. */
struct delivery decide_delivery(struct op *op, struct store_conn *c);

#endif
