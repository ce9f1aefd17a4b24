/* An envelope as others read it: the prompt for a model, and version 1 for old agents. Pure functions of the envelope.
 *
 * The prompt is made of parts, so that whoever packs an envelope can count what each of them takes: the core (task,
 * constraints, expected output: whole, always), the history's entries, the memories, and at the end what is not in it
 * and how to get it.
 */
#ifndef SPINE_CORE_RENDER_H
#define SPINE_CORE_RENDER_H

#include "core/envelope/envelope.h"

enum { RENDER_MAX_BYTES = 64 * 1024 * 1024 };

/* In the form of the envelope's minor. */
void render_prompt(const struct envelope *e, struct buf *out);

/* The parts, in the form of ENVELOPE_MINOR. Each ends with the end of a line. The history and what is left out begin
 * with an empty line, as does the head of the memories, so that the prompt may be cut for counting (token/token.h,
 * tokenizer_cuts) behind the first character of these, and before each memory. */
void render_core(const struct envelope *e, struct buf *out);
/* Nothing where there is no history; without the entries that are among e->trimmed. */
void render_history(const struct envelope *e, struct buf *out);
void render_history_entry(const struct envelope *e, size_t index, struct buf *out);
void render_memory_head(struct buf *out);
/* Does the memory stand behind the other, of the same envelope? What was named comes first, as the envelope has it;
 * what came by relevance follows, in the order of the ids. */
bool render_follows(const struct envelope_ref *a, const struct envelope_ref *b);
/* A memory: its head, then its text, or what there is instead. It may be cut between the two, and the head at ret_cuts,
 * of which it returns how many there are: behind the id, and behind what is the same for many memories of an author.
 * Where there is a text, the second part depends on nothing but that. */
enum { RENDER_HEAD_CUTS = 2 };
size_t render_ref_head(const struct envelope *e, const struct envelope_ref *ref, struct buf *out,
		       size_t ret_cuts[RENDER_HEAD_CUTS]);
void render_ref_text(const struct envelope_ref *ref, struct buf *out);
static inline bool render_ref_has_text(const struct envelope_ref *ref)
{
	return ref->form != FORM_REF && ref->text.p;
}

/* A list for e->trimmed with which history and left-out line are as long as any list can make them, of memories up to
 * e->highest. */
struct envelope_trim *render_longest_trimmed(const struct envelope *e, struct arena *arena, size_t *ret_count);

/* Nothing where nothing is left out. */
void render_left_out(const struct envelope *e, struct buf *out);

/* {"version":1, target, summary, constraints, history, memory_ids, context}; unknown fields that came with a version 1
 * envelope are given back. */
void render_v1(const struct envelope *e, struct buf *out);

#endif
