/* What the files of `assemble` share. */
#ifndef SPINE_CORE_ASSEMBLE_INTERNAL_H
#define SPINE_CORE_ASSEMBLE_INTERNAL_H

#include "core/assemble.h"

/* assemble_results.c: the results of the parent's handoffs, which count as cited: adds them to the draft, each with a
 * step of the history that names it. *ret_reserve: so many tokens are kept free for a result that is still to come. */
enum problem_code assemble_results(const struct assemble_tools *tools, const struct assemble_input *in,
				   struct handoff_draft *draft, int64_t *ret_reserve, struct problem *problem);

/* assemble_refs.c: the references and what is missing, each resolved to a version, all in the form "full". Sets
 * requested and resolved. */
enum problem_code assemble_refs(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *e,
				struct problem *problem);

#endif
