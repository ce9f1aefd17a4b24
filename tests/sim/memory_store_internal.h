/* What the files of the engine in memory share. */
#ifndef SPINE_SIM_MEMORY_STORE_INTERNAL_H
#define SPINE_SIM_MEMORY_STORE_INTERNAL_H

#include "base/heap.h"
#include "memory_store.h"

enum { SPACES_MAX = 8, AGENTS_MAX = 256, SLAB = 512, TEXTS_MAX = 1 << 14 };

/* A handoff, and where it stands in the orders of the engine. */
struct kept {
	struct handoff_row row;
	struct result_row result;
	bool has_result;
	size_t queue_pos;			/* in its agent's queue */
	size_t due_pos;
	struct kept *next_of_envelope;
	uint64_t mark;				/* the step that changed it last */
};

struct kept_agent {
	int64_t space;
	struct agent_row row;
	struct target_row target;
	struct heap queue;
	int64_t counts[HANDOFF_STATES];
	uint64_t mark;
};

struct kept_space {
	struct kept **handoffs;			/* by number - 1 */
	size_t count, cap;
	struct kept **envelopes;		/* by number: the last handoff that was made of it */
	size_t envelope_cap;
	struct str *memories;			/* their contents, by number - 1 */
	size_t memory_count, memory_cap;
};

enum undo_kind { UNDO_INSERT, UNDO_PUT, UNDO_RESULT, UNDO_MEMORY, UNDO_AGENT_MADE, UNDO_AGENT, UNDO_TARGET };

/* How something was before. */
struct undo {
	enum undo_kind kind;
	int64_t agent;				/* of a memory: its space */
	struct kept *kept;
	union {
		struct handoff_row row;
		struct {
			struct result_row result;
			bool has_result;
		};
		struct agent_row agent_row;
		struct target_row target;
	};
};

struct store_conn {
	struct kept_space spaces[SPACES_MAX];
	struct kept_agent agents[AGENTS_MAX];	/* by id - 1 */
	size_t agent_count;
	struct heap due;
	struct event_row *events;
	size_t event_count, event_cap;
	struct undo *undo;
	size_t undo_count, undo_cap;
	size_t events_before;			/* when the transaction began */
	size_t mark_at;				/* where the log stood when the step began */
	uint64_t mark;
	bool in_transaction;

	struct kept **slabs;
	size_t slab_count, kept_count;
	struct str texts[TEXTS_MAX];
	size_t text_count;
	struct arena text_arena;

	enum store_status fail_status;
	uint64_t fail_after, fail_more;
	bool fail_commit, fail_is_kept;
	bool is_failed;				/* a commit has failed */
};

/* The order of a queue. */
bool memory_queue_before(const void *a, const void *b);
struct kept_agent *memory_agent_of(struct store_conn *c, int64_t id);
/* Out of the orders that it stands in, and back into those where it belongs. */
void memory_take_out(struct store_conn *c, struct kept *k);
void memory_put_in(struct store_conn *c, struct kept *k);
/* The row with texts that live as long as the store. */
struct handoff_row memory_with_own_texts(struct store_conn *c, const struct handoff_row *h);
/* With each verb: is it to fail? */
enum store_status memory_enter(struct store_conn *c, bool writes);
/* Room to write down how something was, before it changes. */
struct undo *memory_note(struct store_conn *c, enum undo_kind kind);

#endif
