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

/* tokenizer_measure(t, text), remembered. c may be NULL: then it is counted. */
size_t token_cache_measure(struct token_cache *c, const struct tokenizer *t, struct str text);

#endif
