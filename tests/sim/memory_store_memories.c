/* Memories in the engine in memory: what a result becomes. Nobody changes one here. */
#include "memory_store_internal.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum store_status store_memory_insert(struct store_conn *c, struct memory *m)
{
	enum store_status status = memory_enter(c, true);
	struct kept_space *space = &c->spaces[m->space];

	if (status != STORE_OK)
		return status;
	assert(m->num == 0);
	if (space->memory_count == space->memory_cap) {
		space->memory_cap = 2 * space->memory_cap + 256;
		space->memories = mem_reallocarray(space->memories, space->memory_cap, sizeof(*space->memories));
	}
	m->num = space->memory_count + 1;
	m->version = m->current_version = 1;
	space->memories[space->memory_count++] = memory_store_text(c, m->content);
	memory_note(c, UNDO_MEMORY)->agent = m->space;
	return STORE_OK;
}

enum store_status store_memory_get(struct store_conn *c, int64_t space, uint64_t num, uint32_t version,
				   struct arena *arena, struct memory *ret)
{
	enum store_status status = memory_enter(c, false);

	(void)arena;
	assert(version <= 1);
	if (status != STORE_OK || num < 1 || num > c->spaces[space].memory_count)
		return status != STORE_OK ? status : STORE_NOT_FOUND;
	*ret = (struct memory){.space = space, .num = num, .version = 1, .current_version = 1,
			       .content = c->spaces[space].memories[num - 1]};
	return STORE_OK;
}

/* Delivery does none of these. */

enum store_status store_memory_add_version(struct store_conn *c, const struct memory *m)
{
	(void)c;
	(void)m;
	abort();
}

enum store_status store_memory_set_pinned(struct store_conn *c, int64_t space, uint64_t num, bool pinned)
{
	(void)c;
	(void)space;
	(void)num;
	(void)pinned;
	abort();
}

enum store_status store_memory_set_superseded(struct store_conn *c, int64_t space, uint64_t num, uint64_t by)
{
	(void)c;
	(void)space;
	(void)num;
	(void)by;
	abort();
}

enum store_status store_memory_forget(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	(void)c;
	(void)space;
	(void)num;
	(void)now_ms;
	abort();
}

enum store_status store_savepoint(struct store_conn *c)
{
	(void)c;
	abort();
}

enum store_status store_release(struct store_conn *c)
{
	(void)c;
	abort();
}

enum store_status store_rollback_to(struct store_conn *c)
{
	(void)c;
	abort();
}
