/* Rows that are read again and again, kept in memory and shared by the connection that writes and those that read
 * beside it, whatever the engine. base/cache.h says why nobody sees an old row.
 *
 * A row is kept as the bytes of its struct, followed by its texts in the order of its shape. Its key is the shape's
 * kind, a number (of a space, an agent, or a memory, envelope or handoff with its space) and, where that is a space's,
 * a name.
 */
#ifndef SPINE_STORE_ROW_CACHE_H
#define SPINE_STORE_ROW_CACHE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the struct of a kind looks like. */
struct row_shape {
	char kind;
	bool is_body;		/* large, and soon of no use any more */
	size_t size;
	size_t text_count;
	size_t texts[9];	/* where in the struct */
};

/* Where the result of a handoff is. */
struct row_result_place {
	int64_t form;
	uint64_t memory;
};

/* The handoffs of an envelope, in order. More than there is room for are only counted. */
enum { ROW_HANDED_MAX = 4 };

struct row_handed {
	int64_t count;
	bool is_there;		/* the envelope is known to be; false: nobody has looked */
	uint64_t nums[ROW_HANDED_MAX];
};

extern const struct row_shape row_memory, row_envelope, row_agent, row_handoff, row_target;	/* of records.h */
extern const struct row_shape row_space;
extern const struct row_shape row_agent_id, row_guard, row_waived, row_task;			/* int64_t */
extern const struct row_shape row_agent_name, row_channel_name, row_locked;			/* struct str */
extern const struct row_shape row_handed, row_result;						/* as above */

struct row_cache;

/* Holds about max_bytes. Returns owned. */
struct row_cache *row_cache_new(size_t max_bytes, uint64_t seed);
/* NULL-safe. */
void row_cache_free(struct row_cache *cache);
size_t row_cache_bytes(const struct row_cache *cache);

/* The number of the last transaction that everybody can see: `seen` of who begins to read now. The writer, within a
 * transaction, may name one more: so it sees what it has added itself. */
uint64_t row_cache_now(const struct row_cache *cache);
bool row_cache_get(struct row_cache *cache, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
		   struct arena *arena, void *ret);
void row_cache_put(struct row_cache *cache, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
		   const void *row);

/* The rest is the writer's. This row is another one from the end of the transaction on. */
void row_cache_change(struct row_cache *cache, const struct row_shape *shape, int64_t id, struct str name);
/* The same, and it is this one. */
void row_cache_add(struct row_cache *cache, const struct row_shape *shape, int64_t id, struct str name,
		   const void *row);
void row_cache_commit(struct row_cache *cache);
/* Of the transaction under way, or of a part of it: what was added since it began does not count. */
void row_cache_rollback(struct row_cache *cache);
/* No row that is kept counts any more, and none that somebody is reading. */
void row_cache_clear(struct row_cache *cache);

#endif
