/* How many tokens the parts of a prompt take, and the prompt that is made of them: for whoever packs an envelope.
 *
 * Counting the prompt is adding up, not rendering it. Tokens do not add up over any concatenation, but they do where a
 * line begins with something visible, or a space follows something visible (tokenizer_cuts), and the parts of a prompt
 * are such that they do. An empty line that sets a part off belongs to the end of the part before: a fence and two line
 * ends are other tokens than a fence and one. So each part has two measures. The parts of a memory are the same in one
 * envelope after the other, and are looked up.
 */
#ifndef SPINE_CORE_ASSEMBLE_MEASURE_H
#define SPINE_CORE_ASSEMBLE_MEASURE_H

#include "core/envelope/envelope.h"
#include "token/token_cache.h"

/* Of a part without an empty line before it. */
struct measures {
	size_t apart;		/* with an empty line behind it */
	size_t close;		/* without: the next memory follows, or nothing */
};

/* Borrows all but the scratch buffer. The envelope may change between the calls, but for its task, constraints and
 * expected output. */
struct measure {
	const struct envelope *e;
	const struct tokenizer *tokenizer;
	struct token_cache *tokens;	/* NULL: everything is counted anew */
	struct buf scratch;
	struct measures core;		/* task, constraints, expected output */
	struct measures mention;	/* what stands in place of a memory's text; 0: not asked for yet */
};

void measure_init(struct measure *m, const struct envelope *e, const struct tokenizer *tokenizer,
		  struct token_cache *tokens);
void measure_release(struct measure *m);

/* What the text of a memory is remembered by. Make all keys first: each measure is slow to reach in memory. */
struct token_key measure_key(const struct measure *m, struct str text);
/* A memory in the form that r has; the key is that of its text, where it has one. */
struct measures measure_ref(struct measure *m, const struct envelope_ref *r, struct token_key key);
/* In tokens, what the memory adds to a prompt. */
int64_t measure_cost(const struct measure *m, struct measures ref);

/* In tokens, the heading of the memories. */
int64_t measure_memory_head(struct measure *m);
/* The prompt up to the first memory, then with each of them, and how many tokens it has with all that follows. */
struct measures measure_before_refs(struct measure *m);
void measure_append_ref(struct measures *sum, struct measures ref);
int64_t measure_tokens(struct measure *m, struct measures sum);

#endif
