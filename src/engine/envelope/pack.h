/* Packing: an envelope is made on the owner's thread, and stored in a transaction. */
#ifndef SPINE_ENGINE_PACK_H
#define SPINE_ENGINE_PACK_H

#include "core/envelope/assemble.h"
#include "core/envelope/considered.h"
#include "engine/op.h"

/* What one of the usual budgets would lose. */
struct pack_dry {
	int64_t max_tokens;
	bool fits;
	struct envelope envelope;
	struct problem problem;
	const struct problem *refusal;	/* NULL: it fits */
};

/* An envelope on its way; a part of every operation that makes one. */
struct packing {
	/* In. */
	struct envelope_draft draft;
	uint64_t parent;		/* 0: none */
	struct str parent_digest;	/* p == NULL: it must be there; else only where it is this one */
	bool is_v1;
	struct str tokenizer;		/* p == NULL: the receiver's */
	bool dry_run;
	const struct coming_result *coming;	/* of the handoff that is completed with it; NULL: none is */
	/* Out. */
	struct envelope envelope;
	struct str considered;		/* what it was chosen from, to be kept beside it */
	bool has_agent_budget;		/* the receiver's settings have one */
	bool has_texts;			/* of memories, which may be forgotten: then the next is set */
	uint8_t body_digest[32];
	struct problem refusal;		/* the chain may not go on: its last envelope is parked when that is written */
	struct pack_dry *dry;
	size_t dry_count;
	struct considered dry_considered;
};

struct pack {
	struct op op;
	struct packing packing;
};

extern const struct op_kind pack_kind;

/* For operations that pack something themselves. Finds the next agent where it is asked for, and packs the envelope. */
enum problem_code pack_prepare(struct op *op, struct store_conn *c, struct packing *p);
/* Stores it. Where the chain may not go on (hop limit, loop) its last envelope is parked instead, and that is the
 * problem. */
enum problem_code pack_write(struct op *op, struct store_conn *c, struct packing *p);

#endif
