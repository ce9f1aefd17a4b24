/* agent_handoff: packs an envelope. Collects the references, inherits what the parent carries, resolves, and trims to
 * the budget.
 *
 * It only reads. The same input (and the same memories) gives the same envelope, byte for byte, but for ids and times,
 * which are arguments.
 */
#ifndef SPINE_CORE_ASSEMBLE_H
#define SPINE_CORE_ASSEMBLE_H

#include "core/envelope/constraints.h"
#include "core/envelope/envelope.h"
#include "core/memory/recall.h"
#include "core/guard/redact.h"
#include "token/token_cache.h"

/* What is less relevant does not come along unless it was named or pinned. So relevant is what has one word of a
 * summary of five, all of them rare; of a summary of six it is not enough. */
#define HANDOFF_RELEVANCE_MIN (1.0 / 13)

enum {
	PACK_TEXT_MAX = 256 * 1024,
	PACK_REFS_MAX = 10000,
	PACK_RECENT_MAX = 500,
	PACK_QUERY_MAX = 4096,
	/* What the search for a summary looks at: its rarest words, as many as that allows. */
	HANDOFF_QUERY_POSTINGS = 3 << 14,
	HANDOFF_DECISIONS_KEPT = 100,	/* memories of the kind "decision" of a task that are inherited, the newest */
	PACK_HISTORY_MAX = 10000,
	PACK_DECISIONS_MAX = 1000,
	PACK_HOPS_MAX = 64,
	HANDOFF_HOPS_DEFAULT = 12,
	HANDOFF_TOKENS_DEFAULT = 8000,
	PACK_TOKENS_MAX = 10000000,
};

/* What the sender asked for. Trees are of the right type (checked by whoever decoded them) or JSON_NULL where absent.
 */
struct envelope_draft {
	struct str from;		/* p == NULL: unknown */
	struct str to;
	struct str summary;
	struct str intent;		/* p == NULL: not given; the same for the next ones */
	struct str state;
	struct str task;
	struct str traceparent;
	int64_t include_recent;
	bool include_pins;
	struct json constraints;	/* object */
	struct json history;		/* array of objects */
	struct json expected_output;	/* object */
	struct json open_decisions;	/* array */
	struct json resolved_decisions;	/* array of {decision, outcome} */
	struct json waive;		/* array */
	struct json locked;		/* array of keys that this hop locks */
	struct str waived_by;		/* the author of what is waived; p == NULL: from */
	struct json extensions;		/* object */
	const struct memory_id *refs;
	const bool *ref_is_found;	/* of each ref: it had come along by relevance; NULL: none had */
	size_t ref_count;
	bool whole_space;		/* memories of other tasks may come along, too */
	enum envelope_strategy strategy;
	int64_t max_hops;		/* 0: inherited, or the default */
};

struct assemble_input {
	const struct envelope_draft *draft;
	const struct envelope *parent;	/* NULL: a root */
	/* The envelope whose place in the chain this one takes: what it says holds, as if it was inherited. Its parent
	 * is `parent`. NULL: none. */
	const struct envelope *repacks;
	/* The constraints and locks that are inherited, where they are more than what the envelope before has: see
	 * constraints_given.h. NULL: they are those. */
	const struct json *inherited;
	const struct json *inherited_locked;
	const struct json *policy_locked;	/* keys that the space locks, an array; NULL: none */
	const struct constraints_waiver *standing;	/* what persons waived for the task */
	size_t standing_count;
	int64_t space;			/* 0: there is nothing in it */
	struct str space_name;
	uint64_t num;			/* the envelope's; 0 in a dry run */
	struct str new_task;		/* the task of a root that names none */
	const struct tokenizer *tokenizer;
	int64_t max_tokens;		/* the receiver's, where the constraints do not say; 0: the default */
	enum envelope_fetch fetch_hint;	/* the receiver's */
	enum redact_policy policy;	/* of the space, about credentials */
	bool has_trust;			/* what the sender writes has this trust; else that of an agent */
	enum trust trust;
	bool has_floor;			/* of the space: see struct envelope */
	enum trust trust_floor;
	/* The handoff of the parent that is completed in the transaction that stores the envelope; NULL: none is. */
	const struct coming_result *coming;
	int64_t now_ms;
};

/* What it works with: borrowed. */
struct assemble_tools {
	struct recall *recall;
	struct recall_scratch *scratch;
	struct store_conn *conn;
	struct arena *arena;
	struct token_cache *tokens;	/* NULL: everything is counted anew */
	/* Asked as the texts become known, before they are looked through and counted: are so many bytes too much for
	 * now? Then `assemble` returns P_OVERLOADED and has done nothing. NULL: nothing is too much. */
	bool (*is_too_much)(void *ctx, size_t bytes);
	void *ctx;
};

/* *ret is whole, with its digest. */
enum problem_code assemble(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *ret,
			   struct problem *problem);
/* Trims an envelope that was assembled with everything in it to another budget, as `assemble` would have. */
enum problem_code assemble_trim(const struct assemble_tools *tools, const struct tokenizer *tokenizer,
				struct envelope *e, struct problem *problem);

#endif
