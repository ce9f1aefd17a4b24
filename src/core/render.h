/* An envelope as others read it: the prompt for a model, and version 1 for old agents. Pure functions of the envelope.
 *
 * The prompt is made of parts, so that whoever packs an envelope can count what each of them takes: the core (task,
 * constraints, expected output: whole, always), the history's entries, the memories' blocks, and at the end what is not
 * in it and how to get it.
 */
#ifndef SPINE_CORE_RENDER_H
#define SPINE_CORE_RENDER_H

#include "core/envelope.h"

enum { RENDER_MAX_BYTES = 64 * 1024 * 1024 };

void render_prompt(const struct envelope *e, struct buf *out);

/* The parts. Each but the core begins with an empty line, and each ends with the end of a line, so that the prompt
 * may be cut for counting (token/token.h, tokenizer_cuts) behind the first character of a part. */
void render_core(const struct envelope *e, struct buf *out);
/* Nothing where there is no history; without the entries that are among e->trimmed. */
void render_history(const struct envelope *e, struct buf *out);
void render_history_entry(const struct envelope *e, size_t index, struct buf *out);
void render_memory_head(struct buf *out);
void render_ref(const struct envelope *e, const struct envelope_ref *ref, struct buf *out);
/* The same, and where the block may be cut, too: positions within it, ascending. They make these pieces: the empty
 * line, the id, who wrote it and when, the text, and the end. */
enum { RENDER_REF_CUTS = 4 };
void render_ref_in_pieces(const struct envelope *e, const struct envelope_ref *ref, struct buf *out,
			  size_t ret_cuts[RENDER_REF_CUTS]);
/* Nothing where nothing is left out. */
void render_left_out(const struct envelope *e, struct buf *out);

/* {"version":1, target, summary, constraints, history, memory_ids, context}; unknown fields that came with a version 1
 * envelope are given back. */
void render_v1(const struct envelope *e, struct buf *out);

#endif
