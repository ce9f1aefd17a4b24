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
	struct str parent_digest;	/* what the sender says that it is; p == NULL: nothing */
	uint64_t copied;		/* the envelope that was sent back, as a whole; 0: none */
	struct str copied_digest;
	bool new_root;			/* a second chain in a task that has one, because somebody asks for it */
	bool is_v1;
	bool is_v2;			/* `waive` has all waivers of the envelope that was sent back */
	struct str tokenizer;		/* p == NULL: the receiver's */
	bool dry_run;
	bool looks_up_task;		/* whether the name of a new task is free: where the run has written before */
	const struct coming_result *coming;	/* of the handoff that is completed with it; NULL: none is */
	/* Out. */
	struct envelope envelope;
	uint64_t num;			/* its number, which it keeps where it is prepared again; 0: none yet */
	bool names_task;		/* it begins a task, which was given a name here */
	struct str considered;		/* what it was chosen from, to be kept beside it */
	bool has_agent_budget;		/* the receiver's settings have one */
	bool has_texts;			/* of memories, which may be forgotten: then the next is set */
	uint8_t body_digest[32];
	struct problem refusal;		/* it may not be packed, and that is to be written */
	uint32_t waived_before;		/* of the envelope's waivers, those that it has inherited */
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
/* Stores it. Where it was refused (hop limit, loop, credentials) that is told in an event, and is the problem; nothing
 * else changes, so it must be called before anything else is written. */
enum problem_code pack_write(struct op *op, struct store_conn *c, struct packing *p);

#endif
