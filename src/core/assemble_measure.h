/* How many tokens the parts of a prompt take, and the prompt that is made of them: for whoever packs an envelope.
 *
 * Counting the prompt is adding up, not rendering it. Tokens do not add up over any concatenation, but they do where
 * a line begins with something visible (tokenizer_cuts), and every part of the prompt does, behind the empty line
 * that sets it off. That empty line belongs to the end of the part before: a fence and two line ends are other
 * tokens than a fence and one. So each part has two measures, for standing before another part, and for standing
 * last. The parts of a memory's block are the same in one envelope after the other, and are looked up.
 */
#ifndef SPINE_CORE_ASSEMBLE_MEASURE_H
#define SPINE_CORE_ASSEMBLE_MEASURE_H

#include "core/envelope.h"
#include "token/token_cache.h"

/* Of a part without the empty line before it. */
struct measures {
	size_t inside;		/* with the empty line behind it */
	size_t last;
};

/* Borrows all but the scratch buffer. The envelope may change between the calls; its core, only before measure_core. */
struct measure {
	const struct envelope *e;
	const struct tokenizer *tokenizer;
	struct token_cache *tokens;	/* NULL: everything is counted anew */
	struct buf scratch;
	size_t line_end;		/* measure of an empty line that sets a block off */
	struct measures core;
};

void measure_init(struct measure *m, const struct envelope *e, const struct tokenizer *tokenizer,
		  struct token_cache *tokens);
void measure_release(struct measure *m);

/* What the text of a memory's block is remembered by. Make all keys first: each measure is slow to reach in memory. */
struct token_key measure_key(const struct measure *m, struct str text);
/* A memory's block in the form that r has; the key is that of its text, where it has one. */
struct measures measure_ref(struct measure *m, const struct envelope_ref *r, struct token_key key);
/* In tokens, what the block adds to a prompt. */
int64_t measure_cost(const struct measure *m, struct measures ref);

/* Task, constraints, expected output: before the first measure_before_refs, and whenever the budget has changed. */
void measure_core(struct measure *m);
/* The prompt up to the first memory, then with each of them, and how many tokens it has with all that follows. */
struct measures measure_before_refs(struct measure *m);
void measure_append(struct measures *sum, struct measures part);
int64_t measure_tokens(struct measure *m, struct measures sum);

#endif
