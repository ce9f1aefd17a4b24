/* What the files of `assemble` share. */
#ifndef SPINE_CORE_ASSEMBLE_INTERNAL_H
#define SPINE_CORE_ASSEMBLE_INTERNAL_H

#include "core/assemble.h"

/* assemble_refs.c: the references and what is missing, each resolved to a version, all in the form "full". Sets
 * requested and resolved. */
enum problem_code assemble_refs(const struct assemble_tools *tools, const struct assemble_input *in, struct envelope *e,
				struct problem *problem);

#endif
