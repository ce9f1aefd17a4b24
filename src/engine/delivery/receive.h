/* A receiver takes what is queued for its agent, or waits for it. Before that it may settle what it has finished: that
 * is committed before any waiting, and together with what is taken at once. */
#ifndef SPINE_ENGINE_RECEIVE_H
#define SPINE_ENGINE_RECEIVE_H

#include "engine/delivery/settle.h"

struct receive {
	struct op op;
	/* In. */
	struct str agent;
	int64_t wait_ms;
	int64_t lease_ms;		/* 0: the handoff's ack timeout */
	int64_t max;
	struct str instance;		/* p == NULL: not told */
	bool with_envelope;
	bool with_prompt;
	struct settling *settles;	/* what is settled first, each by itself; they tell what came of them */
	size_t settle_count;
	/* Of a stream: the handoff that the receiver has not settled yet; 0: none. */
	uint64_t held;
	int64_t held_lease;
	/* Of a stream: posted to its owner, with the operation, which is still the engine's, when it was not refused
	 * and begins to wait for its first handoff. NULL: nobody asks. */
	void (*begins)(void *op);
	/* Out. */
	struct handoff_row *rows;
	size_t count;
};

extern const struct op_kind receive_kind;
/* One after the other: the next is given when the last was settled, or taken back. */
extern const struct op_kind receive_stream_kind;

#endif
