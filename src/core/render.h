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
/* The same in three parts, which may be counted each by itself. The head may be cut, too: behind its empty line, behind
 * the id, and behind what is the same for many memories of an author. The text depends on nothing but the text; there
 * is none where the form or the memory has none. */
enum { RENDER_HEAD_CUTS = 3 };
void render_ref_head(const struct envelope *e, const struct envelope_ref *ref, struct buf *out,
		     size_t ret_cuts[RENDER_HEAD_CUTS]);
void render_ref_text(const struct envelope_ref *ref, struct buf *out);
void render_ref_end(const struct envelope_ref *ref, struct buf *out);
static inline bool render_ref_has_text(const struct envelope_ref *ref)
{
	return ref->form != FORM_REF && ref->text.p;
}

/* Nothing where nothing is left out. */
void render_left_out(const struct envelope *e, struct buf *out);

/* {"version":1, target, summary, constraints, history, memory_ids, context}; unknown fields that came with a version 1
 * envelope are given back. */
void render_v1(const struct envelope *e, struct buf *out);

#endif
