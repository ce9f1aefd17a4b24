/* Publishing an envelope to a channel: one handoff for each receiver, all or none. */
#ifndef SPINE_ENGINE_PUBLISH_H
#define SPINE_ENGINE_PUBLISH_H

#include "core/delivery/delivery.h"
#include "engine/op.h"

enum { PUBLISH_RECEIVERS_MAX = 10000 };

struct publish {
	struct op op;
	/* In. */
	struct str name;		/* of the channel */
	struct delivery_order order;
	const struct str *receivers;	/* NULL: the subscribers */
	size_t receiver_count;
	/* Out. */
	struct channel_row channel;
	struct handoff_row *rows;
	size_t count;
};

extern const struct op_kind publish_kind;

/* Reads the handoffs that publishing the envelope to the channel has made into the arena. */
enum store_status publish_members(struct store_conn *c, int64_t space, uint64_t envelope, int64_t channel,
				  struct arena *arena, struct handoff_row **ret, size_t *ret_count);

#endif
