/* Numbers for strings: each distinct string has a small number, given back when the string is dropped.
 *
 * A string is known by its 64-bit hash alone. Two different strings of a million share one with a probability of
 * about 3 in 10^8; with a seed that nobody knows nobody can do anything about it. In return a string takes about 18
 * bytes, however long it is.
 *
 * Nothing here takes more than a fraction of a millisecond: the hash table is cut into shards that grow one at a
 * time.
 */
#ifndef SPINE_TEXT_DICTIONARY_H
#define SPINE_TEXT_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DICTIONARY_SHARDS = 64 };

#define DICTIONARY_NONE UINT32_MAX

struct dictionary_entry {
	uint32_t upper;		/* half of the hash; of a free entry the next free one */
	uint32_t holders;	/* documents with the string; kept by the caller */
};

struct dictionary_slot {
	uint32_t lower;		/* half of the hash */
	uint32_t number;	/* DICTIONARY_NONE: free */
};

struct dictionary_shard {
	struct dictionary_slot *slots;
	uint32_t slot_count;
	uint32_t used;
};

struct dictionary {
	struct dictionary_entry *entries;
	uint32_t entry_count;		/* free ones included */
	uint32_t entry_cap;
	uint32_t free_entry;		/* DICTIONARY_NONE: none */
	struct dictionary_shard shards[DICTIONARY_SHARDS];
};

void dictionary_init(struct dictionary *d);
void dictionary_release(struct dictionary *d);
/* Memory in use, in bytes, without the struct itself. */
size_t dictionary_bytes(const struct dictionary *d);

/* The number of the string with this hash, or DICTIONARY_NONE. */
uint32_t dictionary_find(const struct dictionary *d, uint64_t hash);
/* The same, but a new string gets a number, with no holders. */
uint32_t dictionary_intern(struct dictionary *d, uint64_t hash);
/* Forgets the string; its number may be given to another. It must have no holders. */
void dictionary_drop(struct dictionary *d, uint32_t number);

/* For many strings at once, each of which is slow to reach in memory: dictionary_prefetch for all of them, then
 * dictionary_guess, which says what the number is most probably (or DICTIONARY_NONE) and fetches its entry, then
 * dictionary_is, which knows. */
void dictionary_prefetch(const struct dictionary *d, uint64_t hash);
uint32_t dictionary_guess(const struct dictionary *d, uint64_t hash);
bool dictionary_is(const struct dictionary *d, uint32_t number, uint64_t hash);

#endif
