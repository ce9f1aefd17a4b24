/* Memories named in a text: "ms-4821", "ms-4821 through ms-4825", "ms-4821 to ms-4825", "ms-4821-ms-4825",
 * "ms-4821..ms-4825", and lists of them. What a person would read as a range is one.
 */
#ifndef SPINE_CORE_MENTION_H
#define SPINE_CORE_MENTION_H

#include "base/arena.h"
#include "core/memory/memory_id.h"

/* A text names at most this many; what is beyond is reported by *ret_truncated. */
enum { MENTION_MAX = 10000 };

struct mention_list {
	struct memory_id *ids;	/* in the order of the text, each once (an id and a version of it are two) */
	size_t count;
	size_t cap;
	bool truncated;		/* there were more than MENTION_MAX */
	uint32_t *slots;	/* hash table of 1 + position in ids; 0 is free */
	size_t slot_count;	/* a power of two, at least twice cap */
};

/* Adds what text names to the list; memory from the arena. */
void mention_collect(struct mention_list *list, struct str text, struct arena *arena);
/* Is the id there, of that very version? */
bool mention_has(const struct mention_list *list, struct memory_id id);
/* Adds one id, unless it is there. */
void mention_add(struct mention_list *list, struct memory_id id, struct arena *arena);

#endif
