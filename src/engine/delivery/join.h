/* Waiting for what the receivers of a publish make of it. */
#ifndef SPINE_ENGINE_JOIN_H
#define SPINE_ENGINE_JOIN_H

#include "engine/op.h"

enum join_state { JOIN_WAITING, JOIN_JOINED, JOIN_FAILED, JOIN_DEADLINE };

/* The handoff of a receiver, with what came of it. */
struct joined {
	struct handoff_row row;
	struct result_row result;
	bool has_result;
};

struct join {
	struct op op;
	/* In. */
	struct str name;		/* of the channel */
	uint64_t envelope;
	int64_t need;			/* how many must have completed; 0: all */
	int64_t wait_ms;		/* for op_may_wait */
	int64_t deadline_ms;		/* 0: none */
	/* Out. */
	enum join_state state;
	struct channel_row channel;
	struct wait_tally tally;
	int64_t needed;			/* how many must have completed, of all */
	struct joined *results;		/* read when it answers */
	size_t count;
};

extern const struct op_kind join_kind;

#endif
