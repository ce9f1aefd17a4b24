/* Remembers how many tokens texts have that are counted again and again: parts of prompts.
 *
 * A table of a fixed number of entries. A text is known by 104 bits of two keyed hashes; nothing of it is kept. A new
 * entry takes the place of another one where the table has no room near its slot. The memory is taken from the system
 * as it is used, 16 bytes an entry.
 *
 * THREADS. Any number may use a cache at the same time, without a lock: an entry is two words, and the first is stored
 * with the second mixed in, so that words of two different entries do not pass for one.
 */
#ifndef SPINE_TOKEN_TOKEN_CACHE_H
#define SPINE_TOKEN_TOKEN_CACHE_H

#include "token/token.h"

struct token_cache;

/* entries: a power of two. seed: random, so that nobody can prepare two texts that pass for the same. Returns owned. */
struct token_cache *token_cache_new(size_t entries, uint64_t seed);
/* NULL-safe. */
void token_cache_free(struct token_cache *c);

/* What something is remembered by that a text was made into, and how that is measured. */
struct token_key {
	uint64_t first;
	uint64_t second;
};

/* made_into: a number above 0 for the way it is made, which must depend on nothing but the text. Says also that it will
 * be asked for soon: where there are many, make all keys first. c may be NULL. */
struct token_key token_cache_key(const struct token_cache *c, const struct tokenizer *t, struct str text,
				 uint32_t made_into);
/* False where it is not remembered. */
bool token_cache_get(const struct token_cache *c, struct token_key key, size_t *ret_measure);
void token_cache_put(struct token_cache *c, struct token_key key, size_t measure);

/* tokenizer_measure(t, text), remembered. c may be NULL: then it is counted. */
size_t token_cache_measure(struct token_cache *c, const struct tokenizer *t, struct str text);

#endif
