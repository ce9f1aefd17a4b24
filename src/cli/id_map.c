#include "cli/id_map.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

#define ID_MAX UINT64_C(1099511627775)

void id_map_release(struct id_map *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct id_map){0};
}

/* Where the id stands, or the free place where it would. */
static size_t place_of(const struct id_map *m, uint64_t id)
{
	size_t at = hash_bytes(&id, sizeof(id), 0) & (m->room - 1);

	while (m->keys[at] && m->keys[at] != id)
		at = (at + 1) & (m->room - 1);
	return at;
}

static void grow(struct id_map *m)
{
	struct id_map bigger = {.room = m->room ? m->room * 2 : FIRST_ROOM};

	bigger.keys = mem_calloc(bigger.room, sizeof(*bigger.keys));
	bigger.values = mem_calloc(bigger.room, sizeof(*bigger.values));
	for (size_t i = 0; i < m->room; i++)
		if (m->keys[i])
			id_map_put(&bigger, m->keys[i], m->values[i]);
	id_map_release(m);
	*m = bigger;
}

void id_map_put(struct id_map *m, uint64_t id, uint64_t value)
{
	size_t at;

	assert(id != 0);
	if (m->count * 4 >= m->room * 3)
		grow(m);
	at = place_of(m, id);
	if (m->keys[at] == 0)
		m->count++;
	m->keys[at] = id;
	m->values[at] = value;
}

bool id_map_get(const struct id_map *m, uint64_t id, uint64_t *ret)
{
	size_t at;

	if (m->room == 0 || id == 0)
		return false;
	at = place_of(m, id);
	if (m->keys[at] == 0)
		return false;
	*ret = m->values[at];
	return true;
}

uint64_t id_number(struct str id)
{
	uint64_t number;

	if (!str_has_prefix(id, STR("ms-")) || !str_to_u64(str_sub(id, 3, id.n), &number) || number > ID_MAX)
		return 0;
	return number;
}
