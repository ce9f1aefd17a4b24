/* Spaces in memory. */
#include "store/ram/ram_internal.h"

enum { SPACE_MAX = (1 << 23) - 1 };	/* so that a key of 63 bits holds it above a number */

static struct ram_space *space_named(const struct ram_store *s, struct str name)
{
	return ram_index_find(&s->space_names, &(struct ram_space){.row.name = name});
}

struct ram_space *ram_space_at(const struct ram_store *s, int64_t id)
{
	struct ram_space *space = ram_index_at(&s->spaces, id);

	return space && space->removed_at_ms == 0 ? space : NULL;
}

static struct space_row row_of(const struct ram_space *space)
{
	struct space_row row = space->row;

	row.guard = space->guard;
	return row;
}

enum store_status ram_space_get(struct store_conn *c, int64_t id, struct arena *arena, struct space_row *ret)
{
	const struct ram_space *space = ram_space_at(ram_of(c), id);

	(void)arena;
	if (space == NULL)
		return STORE_NOT_FOUND;
	*ret = row_of(space);
	return STORE_OK;
}

enum store_status ram_space_set_keep(struct store_conn *c, int64_t id, const struct space_keep *keep)
{
	struct ram_space *space = ram_space_at(ram_of(c), id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	ram_save(ram_of(c), RAM_BYTES, &space->row.keep, sizeof(space->row.keep));
	space->row.keep = *keep;
	return STORE_OK;
}

enum store_status ram_space_set_quota(struct store_conn *c, int64_t id, const struct space_quota *quota)
{
	struct ram_space *space = ram_space_at(ram_of(c), id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	ram_save(ram_of(c), RAM_BYTES, &space->row.quota, sizeof(space->row.quota));
	space->row.quota = *quota;
	return STORE_OK;
}

enum store_status ram_space_set_floor(struct store_conn *c, int64_t id, enum trust floor)
{
	struct ram_space *space = ram_space_at(ram_of(c), id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	ram_save(ram_of(c), RAM_BYTES, &space->row.trust_floor, sizeof(space->row.trust_floor));
	space->row.trust_floor = floor;
	return STORE_OK;
}

void ram_count_bytes(struct ram_store *s, int64_t id, int64_t bytes)
{
	struct ram_space *space = ram_index_at(&s->spaces, id);

	if (space == NULL)
		return;
	ram_save(s, RAM_BYTES, &space->row.bytes, sizeof(space->row.bytes));
	space->row.bytes += bytes;
}

void ram_count_agents(struct ram_store *s, int64_t id, int64_t agents)
{
	struct ram_space *space = ram_index_at(&s->spaces, id);

	if (space == NULL)
		return;
	ram_save(s, RAM_BYTES, &space->row.agents, sizeof(space->row.agents));
	space->row.agents += agents;
}

enum store_status ram_space_find(struct store_conn *c, struct str name, int64_t *ret_id)
{
	const struct ram_space *space = space_named(ram_of(c), name);

	if (space == NULL)
		return STORE_NOT_FOUND;
	*ret_id = space->row.id;
	return STORE_OK;
}

enum store_status ram_space_create(struct store_conn *c, struct str name, int64_t now_ms, int64_t *ret_id)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space;

	if (name.p == NULL)
		return STORE_REFUSED;
	if (space_named(s, name))
		return STORE_EXISTS;
	if (s->spaces.count >= SPACE_MAX)
		return STORE_FULL;
	space = ram_new(s, sizeof(*space));
	*space = (struct ram_space){
		.row = {.id = (int64_t)s->spaces.count + 1, .name = ram_text(s, name), .created_at_ms = now_ms,
			.keep = {KEEP_AS_SERVER, KEEP_AS_SERVER, KEEP_AS_SERVER},
			.quota = {QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER, QUOTA_AS_SERVER},
			.trust_floor = TRUST_EXTERNAL},
		.next_memory = 1,
	};
	ram_insert(s, &s->spaces, space);
	ram_insert(s, &s->space_names, space);
	*ret_id = space->row.id;
	return STORE_OK;
}

enum store_status ram_space_count(struct store_conn *c, int64_t id, int64_t *ret_memories)
{
	const struct ram_space *space = ram_space_at(ram_of(c), id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	*ret_memories = space->row.memories;
	return STORE_OK;
}

enum store_status ram_spaces(struct store_conn *c, int64_t after, size_t max, struct arena *arena,
			     struct space_row *ret, size_t *ret_count)
{
	const struct ram_index *spaces = &ram_of(c)->spaces;
	size_t count = 0;

	(void)arena;
	for (size_t i = after < 0 ? 0 : (size_t)after; i < spaces->count && count < max; i++) {
		const struct ram_space *space = spaces->rows[i];

		if (space->removed_at_ms == 0)
			ret[count++] = row_of(space);
	}
	*ret_count = count;
	return STORE_OK;
}

enum store_status ram_space_guard(struct store_conn *c, int64_t id, int64_t *ret_guard)
{
	const struct ram_space *space = ram_space_at(ram_of(c), id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	*ret_guard = space->guard;
	return STORE_OK;
}

enum store_status ram_space_set_guard(struct store_conn *c, int64_t id, int64_t guard)
{
	struct ram_space *space = ram_space_at(ram_of(c), id);

	if (space == NULL)
		return STORE_NOT_FOUND;
	ram_save(ram_of(c), RAM_BYTES, &space->guard, sizeof(space->guard));
	space->guard = guard;
	return STORE_OK;
}

enum store_status ram_space_name(struct store_conn *c, int64_t id, struct arena *arena, struct str *ret)
{
	const struct ram_space *space = ram_space_at(ram_of(c), id);

	(void)arena;
	if (space == NULL)
		return STORE_NOT_FOUND;
	*ret = space->row.name;
	return STORE_OK;
}
