/* Rows that are read again and again, kept in memory and shared by the writing connection and those who read beside it.
 *
 * SQLite empties a reader's page cache with every commit of somebody else, so that on a busy server each row costs a
 * walk through the tree with reads from the file. base/cache.h says why nobody sees an old row.
 *
 * A row is kept as the bytes of its struct, followed by its texts in the order of its shape. Envelopes and handoffs are
 * kept apart: they are large or many, and read a few times, shortly after they were made; they must not push out what
 * is read often.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite_internal.h"

#include <stdlib.h>

enum { MAX_BYTES = 128 << 20, BODIES_PART = 4, ADDED_MAX = 2048, KEY_NAME_MAX = 512 };

struct added {
	const struct sqlite_shape *shape;
	int64_t id;
};

struct sqlite_cache {
	struct cache *rows;
	struct cache *bodies;
	/* What the transaction under way has added: the writer's. */
	struct added added[ADDED_MAX];
	size_t added_count;
};

struct key {
	char bytes[1 + sizeof(int64_t) + KEY_NAME_MAX];
	struct str s;
};

const struct sqlite_shape sqlite_memory_shape = {
	'm', false, sizeof(struct memory), 8,
	{offsetof(struct memory, content), offsetof(struct memory, summary), offsetof(struct memory, kind),
	 offsetof(struct memory, tags), offsetof(struct memory, agent), offsetof(struct memory, task),
	 offsetof(struct memory, metadata), offsetof(struct memory, origin)},
};
const struct sqlite_shape sqlite_envelope_shape = {
	'e',
	true,
	sizeof(struct envelope_row),
	2,
	{offsetof(struct envelope_row, task), offsetof(struct envelope_row, body)},
};
const struct sqlite_shape sqlite_agent_shape = {
	'a',
	false,
	sizeof(struct agent_row),
	2,
	{offsetof(struct agent_row, name), offsetof(struct agent_row, settings)},
};
const struct sqlite_shape sqlite_handoff_shape = {
	'h',
	true,
	sizeof(struct handoff_row),
	5,
	{offsetof(struct handoff_row, from), offsetof(struct handoff_row, receiver),
	 offsetof(struct handoff_row, fallbacks), offsetof(struct handoff_row, reason),
	 offsetof(struct handoff_row, progress)},
};
const struct sqlite_shape sqlite_handed_shape = {'f', true, sizeof(struct sqlite_handed), 0, {0}};
const struct sqlite_shape sqlite_result_shape = {'r', true, sizeof(struct sqlite_result_place), 0, {0}};
const struct sqlite_shape sqlite_agent_name_shape = {'n', false, sizeof(struct str), 1, {0}};
const struct sqlite_shape sqlite_agent_id_shape = {'i', false, sizeof(int64_t), 0, {0}};
const struct sqlite_shape sqlite_target_shape = {'t', false, sizeof(struct target_row), 0, {0}};
const struct sqlite_shape sqlite_guard_shape = {'g', false, sizeof(int64_t), 0, {0}};
const struct sqlite_shape sqlite_locked_shape = {'l', false, sizeof(struct str), 1, {0}};
const struct sqlite_shape sqlite_waived_shape = {'w', false, sizeof(int64_t), 0, {0}};

static struct sqlite_cache *new_of(size_t max_bytes)
{
	struct sqlite_cache *cache = mem_zalloc(sizeof(*cache));
	uint64_t seed;

	sqlite3_randomness(sizeof(seed), &seed);
	cache->rows = cache_new(max_bytes - max_bytes / BODIES_PART, seed);
	cache->bodies = cache_new(max_bytes / BODIES_PART, seed);
	return cache;
}

struct sqlite_cache *sqlite_cache_new(void)
{
	return new_of(MAX_BYTES);
}

void sqlite_cache_free(struct sqlite_cache *cache)
{
	if (cache == NULL)
		return;
	cache_free(cache->rows);
	cache_free(cache->bodies);
	free(cache);
}

void sqlite_share(struct store_conn *reader, const struct store_conn *writer)
{
	sqlite_of(reader)->cache = sqlite_of(writer)->cache;
}

void sqlite_set_direct(struct store_conn *c, bool is_direct)
{
	sqlite_of(c)->is_direct = is_direct;
}

void sqlite_set_cache(struct store_conn *writer, size_t max_bytes)
{
	sqlite_cache_free(sqlite_of(writer)->cache);
	sqlite_of(writer)->cache = new_of(max_bytes);
}

size_t sqlite_cache_bytes(const struct store_conn *writer)
{
	const struct sqlite_cache *cache = sqlite_of(writer)->cache;

	return cache_bytes(cache->rows) + cache_bytes(cache->bodies);
}

static struct cache *cache_of(const struct store_conn *c, const struct sqlite_shape *shape)
{
	return shape->is_body ? sqlite_of(c)->cache->bodies : sqlite_of(c)->cache->rows;
}

/* False where a row with this name is not kept. */
static bool make_key(const struct store_conn *c, const struct sqlite_shape *shape, int64_t id, struct str name,
		     struct key *ret)
{
	if (sqlite_of(c)->cache == NULL || name.n > KEY_NAME_MAX)
		return false;
	ret->bytes[0] = shape->kind;
	memcpy(ret->bytes + 1, &id, sizeof(id));
	if (name.n)
		memcpy(ret->bytes + 1 + sizeof(id), name.p, name.n);
	ret->s = (struct str){ret->bytes, 1 + sizeof(id) + name.n};
	return true;
}

/* The two count the same transactions, so that one number serves for both. */
uint64_t sqlite_cache_seen(const struct store_conn *c)
{
	const struct sqlite_conn *own = sqlite_of(c);

	if (own->cache == NULL)
		return 0;
	return own->snapshot == SNAPSHOT_NONE ? cache_now(own->cache->rows) : own->snapshot_seen;
}

bool sqlite_cache_get(struct store_conn *c, const struct sqlite_shape *shape, int64_t id, struct str name,
		      struct arena *arena, void *ret)
{
	struct key key;
	struct str rest;

	if (sqlite_of(c)->is_direct || !make_key(c, shape, id, name, &key) ||
	    !cache_get(cache_of(c, shape), sqlite_cache_seen(c), key.s, ret, shape->size, arena, &rest))
		return false;
	for (size_t i = 0; i < shape->text_count; i++) {
		struct str *text = (struct str *)(void *)((char *)ret + shape->texts[i]);

		if (text->p == NULL)
			continue;
		text->p = rest.p;
		rest.p += text->n;
	}
	return true;
}

static size_t take_parts(const struct sqlite_shape *shape, const void *row, struct str *parts)
{
	parts[0] = (struct str){row, shape->size};
	for (size_t i = 0; i < shape->text_count; i++)
		parts[1 + i] = *(const struct str *)(const void *)((const char *)row + shape->texts[i]);
	return 1 + shape->text_count;
}

void sqlite_cache_put(struct store_conn *c, const struct sqlite_shape *shape, uint64_t seen, int64_t id,
		      struct str name, const void *row)
{
	struct str parts[1 + sizeof(shape->texts) / sizeof(shape->texts[0])];
	struct key key;

	if (make_key(c, shape, id, name, &key))
		cache_put(cache_of(c, shape), seen, key.s, parts, take_parts(shape, row, parts));
}

void sqlite_cache_change(struct store_conn *c, const struct sqlite_shape *shape, int64_t id, struct str name)
{
	struct key key;

	if (make_key(c, shape, id, name, &key))
		cache_change(cache_of(c, shape), key.s);
}

void sqlite_cache_add(struct store_conn *c, const struct sqlite_shape *shape, int64_t id, const void *row)
{
	struct str parts[1 + sizeof(shape->texts) / sizeof(shape->texts[0])];
	struct key key;

	if (!make_key(c, shape, id, STR_NULL, &key))
		return;
	if (sqlite_of(c)->cache->added_count == ADDED_MAX) {
		cache_change(cache_of(c, shape), key.s);
		return;
	}
	sqlite_of(c)->cache->added[sqlite_of(c)->cache->added_count++] = (struct added){shape, id};
	cache_add(cache_of(c, shape), key.s, parts, take_parts(shape, row, parts));
}

void sqlite_cache_commit(struct store_conn *c)
{
	if (sqlite_of(c)->cache == NULL)
		return;
	sqlite_of(c)->cache->added_count = 0;
	cache_commit(sqlite_of(c)->cache->bodies);
	cache_commit(sqlite_of(c)->cache->rows);
}

void sqlite_cache_rollback(struct store_conn *c)
{
	if (sqlite_of(c)->cache == NULL || c->is_reader)
		return;
	for (size_t i = 0; i < sqlite_of(c)->cache->added_count; i++)
		sqlite_cache_change(c, sqlite_of(c)->cache->added[i].shape, sqlite_of(c)->cache->added[i].id, STR_NULL);
	sqlite_of(c)->cache->added_count = 0;
}
