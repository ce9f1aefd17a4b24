/* What the forms of the prompt share. */
#ifndef SPINE_CORE_RENDER_INTERNAL_H
#define SPINE_CORE_RENDER_INTERNAL_H

#include "core/envelope/render.h"

/* render_prompt_0.c: the form of envelopes with envelope_minor 0. */
void render_prompt_0(const struct envelope *e, struct buf *out);

/* Which steps of the history the budget has no room for: those that stand among what was trimmed as "history[3]".
 * Returns owned. */
bool *render_hidden_steps(const struct envelope *e);

/* The memories that are not in the prompt at all, "ms-3, ms-7 to ms-12". A list that would take a good part of the
 * budget ends early: *ret_unlisted says how many more there are. Returns how many there are in all. */
size_t render_trimmed_ids(const struct envelope *e, struct buf *out, size_t *ret_unlisted);

/* The memories that are not in the prompt at all: how many there are, and where in e->trimmed those are that are worth
 * most, the best first. */
enum { RENDER_NAMED = 3 };
size_t render_best_trimmed(const struct envelope *e, size_t ret_best[RENDER_NAMED]);

/* Is a memory in the prompt, but not all of it? */
bool render_has_parts(const struct envelope *e);

#endif
