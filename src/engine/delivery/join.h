/* Waiting for what the receivers of a publish make of it. */
#ifndef SPINE_ENGINE_JOIN_H
#define SPINE_ENGINE_JOIN_H

#include "engine/op.h"

enum join_state { JOIN_WAITING, JOIN_JOINED, JOIN_FAILED, JOIN_DEADLINE };

struct join {
	struct op op;
	/* In. */
	struct str name;		/* of the channel */
	uint64_t envelope;
	int64_t need;			/* how many must have completed; 0: all */
	int64_t deadline_ms;		/* 0: none */
	/* Out. */
	enum join_state state;
	struct channel_row channel;
	struct wait_tally tally;
	struct handoff_row *rows;	/* read when it answers */
	size_t count;
	struct result_row *results;
	bool *has_result;
};

extern const struct op_kind join_kind;

#endif
