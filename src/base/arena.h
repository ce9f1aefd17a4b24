/* Memory that lives as long as one request: many allocations, one release.
 *
 * Freed memory is poisoned for AddressSanitizer, so that a pointer that outlives its request is caught.
 */
#ifndef SPINE_BASE_ARENA_H
#define SPINE_BASE_ARENA_H

#include "base/mem.h"
#include "base/str.h"

#include <stdarg.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;	/* the newest first */
	char *at;			/* free space of the newest block */
	char *end;
};

void arena_init(struct arena *a);
/* The same, with heap memory of the caller's (aligned for any type) to be used up first: borrowed until the release. */
void arena_init_room(struct arena *a, void *room, size_t size);
/* Frees everything; the arena is then as after arena_init. */
void arena_release(struct arena *a);
/* The same for what holds a secret: all of it is overwritten, the caller's own room (NULL: none), too. */
void arena_release_wiped(struct arena *a, void *room, size_t size);

/* Borrowed from the arena until its release; aligned for any type. arena_zalloc's is zeroed. */
void *arena_alloc(struct arena *a, size_t size) MEM_NOT_NULL;
void *arena_zalloc(struct arena *a, size_t size) MEM_NOT_NULL;
void *arena_calloc(struct arena *a, size_t count, size_t size) MEM_NOT_NULL;
/* Copies; cstr results are terminated. */
char *arena_cstr(struct arena *a, struct str s) MEM_NOT_NULL;
struct str arena_str(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
