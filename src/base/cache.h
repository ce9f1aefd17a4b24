/* A cache of bytes by key, for rows that one writer changes in transactions while many readers look at them.
 *
 * Transactions have numbers. The writer says of each key that it changes it (cache_change) before the transaction ends,
 * and counts the transaction (cache_commit) once everybody can see what it wrote. A reader asks for the number before
 * it looks at the rows (cache_now), and names it with every get and put: `seen` says "what I read is not older than
 * this". A value is given, or kept, only where its key has not been changed by a later transaction, not even by one
 * that is just ending; so a reader never gets a row that is older than `seen`, nor one that the writer has not
 * committed.
 *
 * The number of the last change is kept for groups of keys, not for each: a change makes others of its group miss once.
 * What was not used for the longest time goes first. Any thread may call anything; cache_change and cache_commit are
 * the writer's.
 */
#ifndef SPINE_BASE_CACHE_H
#define SPINE_BASE_CACHE_H

#include "base/arena.h"

#include <stdint.h>

struct cache;

/* Holds at most max_bytes, the bookkeeping of its values included; 0: nothing. Returns owned. */
struct cache *cache_new(size_t max_bytes, uint64_t seed);
/* NULL-safe. */
void cache_free(struct cache *c);

/* The number of the last transaction that everybody can see. */
uint64_t cache_now(const struct cache *c);

/* Copies the first head_size bytes of the value to head and the rest into the arena (NULL where all values of the kind
 * have none). False where it is not here, or changed after `seen`. */
bool cache_get(struct cache *c, uint64_t seen, struct str key, void *head, size_t head_size, struct arena *arena,
	       struct str *ret_rest);
/* Keeps the parts, one after the other, as the value. Does nothing where the key was changed after `seen`, or the value
 * is too large. */
void cache_put(struct cache *c, uint64_t seen, struct str key, const struct str *parts, size_t count);

/* The transaction under way changes this key. Where it is rolled back after all nothing more is to be done. */
void cache_change(struct cache *c, struct str key);
/* The same, with the value that all who begin after its end will get. Where it is rolled back, cache_change must
 * follow. */
void cache_add(struct cache *c, struct str key, const struct str *parts, size_t count);
/* The transaction has ended, and is seen by all who begin from now on. */
void cache_commit(struct cache *c);

/* Any key may be another one from now on, and who looks at rows already keeps none of them. Of the writer, and not
 * while a transaction is under way. */
void cache_clear(struct cache *c);

/* What it holds now, for those who watch. */
size_t cache_bytes(struct cache *c);

#endif
