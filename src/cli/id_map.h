/* A map from the numbers of memories to a number each. */
#ifndef SPINE_CLI_ID_MAP_H
#define SPINE_CLI_ID_MAP_H

#include "base/str.h"

struct id_map {
	uint64_t *keys;		/* 0: free; ids begin at 1 */
	uint64_t *values;
	size_t count;
	size_t room;		/* a power of two, or 0 */
};

/* A zeroed map is empty. */
void id_map_release(struct id_map *m);
/* id is not 0. A later value replaces the earlier. */
void id_map_put(struct id_map *m, uint64_t id, uint64_t value);
/* False, and *ret untouched, where there is none. */
bool id_map_get(const struct id_map *m, uint64_t id, uint64_t *ret);

/* "ms-4821" as 4821; 0 where it is no such id. */
uint64_t id_number(struct str id);

#endif
