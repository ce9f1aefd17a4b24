/* Memories in memory. */
#include "store/ram/ram_internal.h"

#include <assert.h>

struct ram_memory *ram_memory_at(const struct ram_store *s, int64_t key)
{
	return ram_index_find(&s->memories, &(struct ram_memory){
		.state = {.space = key >> 40, .num = (uint64_t)key & MEMORY_NUM_MAX}});
}

static bool has_its_texts(const struct memory *m)
{
	return m->content.p && m->kind.p && m->tags.p && m->metadata.p;
}

static int64_t bytes_of(const struct memory *m)
{
	return (int64_t)(m->content.n + m->summary.n + m->metadata.n);
}

static struct ram_version *new_version(struct ram_store *s, const struct memory *m, struct ram_version *older)
{
	struct ram_version *v = ram_new(s, sizeof(*v));

	v->row = *m;
	v->row.content = ram_text(s, m->content);
	v->row.summary = ram_text(s, m->summary);
	v->row.kind = ram_text(s, m->kind);
	v->row.tags = ram_text(s, m->tags);
	v->row.agent = ram_text(s, m->agent);
	v->row.task = ram_text(s, m->task);
	v->row.metadata = ram_text(s, m->metadata);
	v->row.origin = ram_text(s, m->origin);
	v->older = older;
	return v;
}

enum store_status ram_memory_next(struct store_conn *c, int64_t space, uint64_t *ret)
{
	const struct ram_space *s = ram_index_at(&ram_of(c)->spaces, space);

	if (s == NULL)
		return STORE_NOT_FOUND;
	*ret = s->next_memory;
	return STORE_OK;
}

enum store_status ram_memory_insert(struct store_conn *c, struct memory *m)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_index_at(&s->spaces, m->space);
	struct ram_memory *made;
	uint64_t num;

	if (space == NULL)
		return STORE_NOT_FOUND;
	num = m->num ? m->num : space->next_memory;
	if (num > MEMORY_NUM_MAX || ram_memory_at(s, ram_key(m->space, num)))
		return STORE_EXISTS;
	if (!has_its_texts(m))
		return STORE_REFUSED;
	ram_save(s, RAM_BYTES, space, sizeof(*space));
	space->row.memories++;
	space->row.bytes += bytes_of(m);
	if (space->next_memory <= num)
		space->next_memory = num + 1;
	m->num = num;
	m->version = m->current_version = 1;
	made = ram_new(s, sizeof(*made));
	made->state = (struct memory){
		.space = m->space, .num = num, .current_version = 1, .pinned = m->pinned,
		.created_at_ms = m->created_at_ms, .supersedes = m->supersedes,
	};
	made->newest = new_version(s, m, NULL);
	ram_insert(s, &s->memories, made);
	return STORE_OK;
}

/* The memory, which is about to change. */
static struct ram_memory *to_change(struct ram_store *s, int64_t space, uint64_t num)
{
	struct ram_memory *m = ram_memory_at(s, ram_key(space, num));

	if (m)
		ram_save(s, RAM_BYTES, m, sizeof(*m));
	return m;
}

enum store_status ram_memory_add_version(struct store_conn *c, const struct memory *m)
{
	struct ram_memory *kept = to_change(ram_of(c), m->space, m->num);

	assert(m->version > 1);
	if (kept == NULL)
		return STORE_NOT_FOUND;
	if (!has_its_texts(m))
		return STORE_REFUSED;
	kept->state.current_version = m->version;
	ram_count_bytes(ram_of(c), m->space, bytes_of(m));
	kept->newest = new_version(ram_of(c), m, kept->newest);
	return STORE_OK;
}

enum store_status ram_memory_set_pinned(struct store_conn *c, int64_t space, uint64_t num, bool pinned)
{
	struct ram_memory *m = to_change(ram_of(c), space, num);

	if (m)
		m->state.pinned = pinned;
	return m ? STORE_OK : STORE_NOT_FOUND;
}

enum store_status ram_memory_set_superseded(struct store_conn *c, int64_t space, uint64_t num, uint64_t by)
{
	struct ram_memory *m = to_change(ram_of(c), space, num);

	if (m)
		m->state.superseded_by = by;
	return m ? STORE_OK : STORE_NOT_FOUND;
}

enum store_status ram_memory_set_quarantined(struct store_conn *c, int64_t space, uint64_t num, int64_t at_ms)
{
	struct ram_memory *m = to_change(ram_of(c), space, num);

	if (m)
		m->state.quarantined_at_ms = at_ms;
	return m ? STORE_OK : STORE_NOT_FOUND;
}

/* The replies that tell of it look for themselves: see ram_reply_get. */
enum store_status ram_memory_forget(struct store_conn *c, int64_t space_id, uint64_t num, int64_t now_ms)
{
	struct ram_store *s = ram_of(c);
	struct ram_space *space = ram_index_at(&s->spaces, space_id);
	struct ram_memory *m = to_change(s, space_id, num);

	if (m == NULL || m->state.forgotten_at_ms)
		return STORE_NOT_FOUND;
	ram_save(s, RAM_BYTES, space, sizeof(*space));
	for (const struct ram_version *v = m->newest; v; v = v->older)
		space->row.bytes -= bytes_of(&v->row);
	space->row.memories--;
	m->state.forgotten_at_ms = now_ms;
	m->state.quarantined_at_ms = 0;
	m->state.pinned = false;
	m->newest = NULL;
	return STORE_OK;
}

enum store_status ram_memory_set_keys(struct store_conn *c, int64_t space, uint64_t num, struct str keys)
{
	struct ram_memory *m = to_change(ram_of(c), space, num);

	if (m == NULL || m->state.forgotten_at_ms == 0)
		return STORE_NOT_FOUND;
	m->state.keys = ram_text(ram_of(c), keys);
	return STORE_OK;
}

/* --- Reading --- */

/* A version, with the state that all of them share. */
static struct memory row_of(const struct ram_memory *m, const struct ram_version *v)
{
	struct memory row = v ? v->row : (struct memory){0};

	row.space = m->state.space;
	row.num = m->state.num;
	row.current_version = m->state.current_version;
	row.pinned = m->state.pinned;
	row.created_at_ms = m->state.created_at_ms;
	row.supersedes = m->state.supersedes;
	row.superseded_by = m->state.superseded_by;
	row.forgotten_at_ms = m->state.forgotten_at_ms;
	row.quarantined_at_ms = m->state.quarantined_at_ms;
	row.keys = m->state.keys;
	return row;
}

enum store_status ram_memory_get(struct store_conn *c, int64_t space, uint64_t num, uint32_t version,
				 struct arena *arena, struct memory *ret)
{
	const struct ram_memory *m = ram_memory_at(ram_of(c), ram_key(space, num));
	const struct ram_version *v = m ? m->newest : NULL;

	(void)arena;
	while (v && version && v->row.version != version)
		v = v->older;
	if (m == NULL || (v == NULL && m->state.forgotten_at_ms == 0) || version > m->state.current_version)
		return STORE_NOT_FOUND;
	*ret = row_of(m, v);
	if (v == NULL)
		ret->version = version ? version : m->state.current_version;
	return STORE_OK;
}

enum store_status ram_memory_versions(struct store_conn *c, int64_t space, uint64_t num, uint32_t below, size_t max,
				      struct arena *arena, struct memory *ret, size_t *ret_count)
{
	const struct ram_memory *m = ram_memory_at(ram_of(c), ram_key(space, num));
	size_t count = 0;

	(void)arena;
	for (const struct ram_version *v = m ? m->newest : NULL; v && count < max; v = v->older)
		if (below == 0 || v->row.version < below)
			ret[count++] = row_of(m, v);
	*ret_count = count;
	return STORE_OK;
}

enum wanted { WANTED_LIVE, WANTED_QUARANTINED, WANTED_TRACED };

static bool is_wanted(const struct ram_memory *m, enum wanted wanted)
{
	if (m->newest == NULL)
		return wanted == WANTED_TRACED && m->state.keys.p;
	return wanted != WANTED_QUARANTINED || m->state.quarantined_at_ms;
}

static size_t scan(struct ram_store *s, int64_t space, uint64_t after, size_t max, enum wanted wanted,
		   struct memory *ret)
{
	struct ram_memory from = {.state = {.space = space, .num = after + 1}};
	size_t count = 0;

	for (size_t i = ram_index_from(&s->memories, &from); i < s->memories.count && count < max; i++) {
		const struct ram_memory *m = s->memories.rows[i];

		if (m->state.space != space)
			break;
		if (!is_wanted(m, wanted))
			continue;
		ret[count] = row_of(m, m->newest);
		ret[count++].version = m->state.current_version;
	}
	return count;
}

enum store_status ram_memory_scan(struct store_conn *c, int64_t space, uint64_t after, size_t max, struct arena *arena,
				  struct memory *ret, size_t *ret_count)
{
	(void)arena;
	*ret_count = scan(ram_of(c), space, after, max, WANTED_LIVE, ret);
	return STORE_OK;
}

enum store_status ram_memories_quarantined(struct store_conn *c, int64_t space, uint64_t after, size_t max,
					   struct arena *arena, struct memory *ret, size_t *ret_count)
{
	(void)arena;
	*ret_count = scan(ram_of(c), space, after, max, WANTED_QUARANTINED, ret);
	return STORE_OK;
}

enum store_status ram_memories_traced(struct store_conn *c, int64_t space, uint64_t after, size_t max,
				      struct arena *arena, struct memory *ret, size_t *ret_count)
{
	(void)arena;
	*ret_count = scan(ram_of(c), space, after, max, WANTED_TRACED, ret);
	return STORE_OK;
}
