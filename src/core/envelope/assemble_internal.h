/* What the files of `assemble` share. */
#ifndef SPINE_CORE_ASSEMBLE_INTERNAL_H
#define SPINE_CORE_ASSEMBLE_INTERNAL_H

#include "core/envelope/assemble.h"
#include "core/memory/mention.h"

/* A memory on its way into the envelope. A memory is taken for the first reason that is found for it. */
struct collected {
	enum envelope_why why;
	double relevance;
	uint64_t repeats;	/* 0: nothing */
};

/* What is collected: ids, each once, and what is known of each by its position. */
struct collection {
	struct mention_list ids;
	struct collected *known;
	size_t known_cap;
	struct arena *arena;
};

/* Gives what was added to the ids since `from` a reason. */
void collection_note(struct collection *c, size_t from, enum envelope_why why);

/* It is trusted less than what goes along with its text. */
static inline bool assemble_is_below_floor(const struct envelope *e, const struct envelope_ref *r)
{
	return e->has_floor && r->trust > e->trust_floor;
}

/* assemble_relevant.c: adds what is relevant, up to include_recent, and says of everything how relevant it is. What was
 * looked at and passed over is noted in the envelope. */
void assemble_relevant(const struct assemble_tools *t, const struct assemble_input *in, struct envelope *e,
		       struct collection *c);

/* assemble_results.c: the results of the parent's handoffs, which count as cited: adds them to the draft, each with a
 * step of the history that names it. *ret_reserve: so many tokens are kept free for a result that is still to come. */
enum problem_code assemble_results(const struct assemble_tools *tools, const struct assemble_input *in,
				   struct envelope_draft *draft, int64_t *ret_reserve, struct problem *problem);

/* assemble_refs.c: the references and what is missing, each resolved to a version, all in the form "full". Sets
 * requested and resolved. */
enum problem_code assemble_refs(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *e,
				struct problem *problem);

#endif
