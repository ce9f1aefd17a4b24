/* Memories that somebody names by their ids: those that were found, and those that were not, with the reason. What is
 * beyond PAGE_BYTES_MAX of text is "not_given": it was not looked for, and may be asked for again. */
#ifndef SPINE_ENGINE_MEMORY_LOOKUP_H
#define SPINE_ENGINE_MEMORY_LOOKUP_H

#include "core/envelope/envelope.h"
#include "core/memory/mention.h"
#include "engine/op.h"

struct memory_lookup {
	struct mention_list seen;	/* an id that is named twice is answered once */
	struct memory *found;
	size_t found_count;
	size_t found_bytes;
	struct envelope_missing *missing;
	size_t missing_count;
};

/* For at most room ids, MENTION_MAX of them at the most. Memory from the operation's arena. */
void memory_lookup_init(struct op *op, size_t room, struct memory_lookup *ret);
enum problem_code memory_lookup_one(struct op *op, struct store_conn *c, struct memory_id id, struct memory_lookup *l);
enum problem_code memory_lookup_all(struct op *op, struct store_conn *c, const struct memory_id *ids, size_t count,
			     struct memory_lookup *ret);
/* What goes to the receiver of an envelope goes by its guard. */
enum problem_code memory_lookup_guard(struct op *op, struct store_conn *c, uint64_t envelope, struct memory_lookup *l);
/* Within a run: notes that the agent has opened those that were found, for the envelope's receipts and in op->told. */
enum problem_code memory_lookup_note(struct op *op, struct store_conn *c, uint64_t envelope, struct str agent,
			      const struct memory_lookup *l);

#endif
