/* A space, moved to another server or another kind of store: its memories with all versions, its envelopes, its
 * handoffs, as rows. Numbers, digests, times and states stay what they were, so a chain verifies, a lease is good, and
 * what is due is due at the same moment.
 *
 * Rows are read in the order of their numbers, and written in that order. A row that is there already, the same, is
 * left alone: what was broken off is begun again. One that is there and differs ends the import, with nothing of the
 * call done. What stays behind: events (the ids of a server's history are its own), replies that are kept for keys,
 * receipts, waivers, breakers, alerts. Settings, agents, channels and routes have calls of their own.
 */
#ifndef SPINE_ENGINE_TRANSFER_H
#define SPINE_ENGINE_TRANSFER_H

#include "engine/op.h"

/* One version. A memory that was forgotten is one row, without text. */
struct transfer_memory {
	struct memory row;
	bool is_claimed;		/* its origin was made a claim: a run may come again */
};

struct transfer_envelope {
	struct envelope_row row;
	struct str digest;		/* hexadecimal */
	struct str body_digest;		/* p == NULL: none */
	bool is_pruned;			/* number, parent, time and digest are left */
};

struct transfer_handoff {
	struct handoff_row row;
	struct str from_channel;	/* p == NULL: none */
	bool has_result;
	struct result_row result;
	struct str then_digest;		/* p == NULL: nothing was handed on */
	bool is_pruned;			/* number, envelope, state and times are left */
};

struct transfer_rows {
	struct transfer_memory *memories;
	size_t memory_count;
	struct transfer_envelope *envelopes;
	size_t envelope_count;
	struct transfer_handoff *handoffs;
	size_t handoff_count;
};

enum transfer_part { TRANSFER_MEMORIES, TRANSFER_ENVELOPES, TRANSFER_HANDOFFS };

struct transfer_out {
	struct op op;
	/* In. */
	enum transfer_part part;
	uint64_t after;			/* numbers above this */
	size_t limit;			/* rows, about: a memory comes with all of its versions */
	/* Out. */
	struct transfer_rows rows;
	uint64_t next;			/* everything up to here was looked at */
	bool has_more;
};

struct transfer_in {
	struct op op;
	struct transfer_rows rows;	/* in */
	int64_t imported;		/* out */
	int64_t unchanged;
};

extern const struct op_kind transfer_out_kind, transfer_in_kind;

#endif
