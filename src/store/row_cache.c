/* Envelopes and handoffs are kept apart: they are large or many, and read a few times, shortly after they were made;
 * they must not push out what is read often. */
#include "store/row_cache.h"

#include "base/cache.h"
#include "base/mem.h"
#include "store/records.h"

#include <stdlib.h>

/* A transaction that adds more than that leaves the rest to be read again. */
enum { BODIES_PART = 4, ADDED_MAX = 16384, KEY_NAME_MAX = 512, KEY_MAX = 1 + sizeof(int64_t) + KEY_NAME_MAX };

/* The key of a row that the transaction under way has added. */
struct added {
	struct cache *in;
	size_t at, len;		/* in the bytes of the keys */
};

struct row_cache {
	struct cache *rows;
	struct cache *bodies;
	/* The writer's. */
	struct added *added;
	size_t added_count, added_cap;
	char *keys;
	size_t keys_len, keys_cap;
};

struct key {
	char bytes[KEY_MAX];
	struct str s;
};

const struct row_shape row_memory = {
	'm', false, sizeof(struct memory), 9,
	{offsetof(struct memory, content), offsetof(struct memory, summary), offsetof(struct memory, kind),
	 offsetof(struct memory, tags), offsetof(struct memory, agent), offsetof(struct memory, task),
	 offsetof(struct memory, metadata), offsetof(struct memory, origin), offsetof(struct memory, keys)},
};
const struct row_shape row_envelope = {
	'e', true, sizeof(struct envelope_row), 2,
	{offsetof(struct envelope_row, task), offsetof(struct envelope_row, body)},
};
const struct row_shape row_agent = {
	'a', false, sizeof(struct agent_row), 2,
	{offsetof(struct agent_row, name), offsetof(struct agent_row, settings)},
};
const struct row_shape row_handoff = {
	'h', true, sizeof(struct handoff_row), 5,
	{offsetof(struct handoff_row, from), offsetof(struct handoff_row, receiver),
	 offsetof(struct handoff_row, fallbacks), offsetof(struct handoff_row, reason),
	 offsetof(struct handoff_row, progress)},
};
const struct row_shape row_handed = {'f', true, sizeof(struct row_handed), 0, {0}};
const struct row_shape row_result = {'r', true, sizeof(struct row_result_place), 0, {0}};
const struct row_shape row_agent_name = {'n', false, sizeof(struct str), 1, {0}};
const struct row_shape row_agent_id = {'i', false, sizeof(int64_t), 0, {0}};
const struct row_shape row_target = {'t', false, sizeof(struct target_row), 0, {0}};
const struct row_shape row_guard = {'g', false, sizeof(int64_t), 0, {0}};
const struct row_shape row_locked = {'l', false, sizeof(struct str), 1, {0}};
const struct row_shape row_channel_name = {'c', false, sizeof(struct str), 1, {0}};
const struct row_shape row_task = {'k', false, sizeof(int64_t), 0, {0}};
const struct row_shape row_space = {
	's', false, sizeof(struct space_row), 1, {offsetof(struct space_row, name)},
};
const struct row_shape row_waived = {'w', false, sizeof(int64_t), 0, {0}};

struct row_cache *row_cache_new(size_t max_bytes, uint64_t seed)
{
	struct row_cache *cache = mem_zalloc(sizeof(*cache));

	cache->rows = cache_new(max_bytes - max_bytes / BODIES_PART, seed);
	cache->bodies = cache_new(max_bytes / BODIES_PART, seed);
	return cache;
}

void row_cache_free(struct row_cache *cache)
{
	if (cache == NULL)
		return;
	cache_free(cache->rows);
	cache_free(cache->bodies);
	free(cache->added);
	free(cache->keys);
	free(cache);
}

size_t row_cache_bytes(const struct row_cache *cache)
{
	return cache_bytes(cache->rows) + cache_bytes(cache->bodies);
}

static struct cache *of_shape(const struct row_cache *cache, const struct row_shape *shape)
{
	return shape->is_body ? cache->bodies : cache->rows;
}

/* False where a row with this name is not kept. */
static bool make_key(const struct row_shape *shape, int64_t id, struct str name, struct key *ret)
{
	if (name.n > KEY_NAME_MAX)
		return false;
	ret->bytes[0] = shape->kind;
	memcpy(ret->bytes + 1, &id, sizeof(id));
	if (name.n)
		memcpy(ret->bytes + 1 + sizeof(id), name.p, name.n);
	ret->s = (struct str){ret->bytes, 1 + sizeof(id) + name.n};
	return true;
}

/* The two count the same transactions, so that one number serves for both. */
uint64_t row_cache_now(const struct row_cache *cache)
{
	return cache_now(cache->rows);
}

bool row_cache_get(struct row_cache *cache, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
		   struct arena *arena, void *ret)
{
	struct key key;
	struct str rest;

	if (!make_key(shape, id, name, &key) ||
	    !cache_get(of_shape(cache, shape), seen, key.s, ret, shape->size, arena, &rest))
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

static size_t take_parts(const struct row_shape *shape, const void *row, struct str *parts)
{
	parts[0] = (struct str){row, shape->size};
	for (size_t i = 0; i < shape->text_count; i++)
		parts[1 + i] = *(const struct str *)(const void *)((const char *)row + shape->texts[i]);
	return 1 + shape->text_count;
}

void row_cache_put(struct row_cache *cache, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
		   const void *row)
{
	struct str parts[1 + sizeof(shape->texts) / sizeof(shape->texts[0])];
	struct key key;

	if (make_key(shape, id, name, &key))
		cache_put(of_shape(cache, shape), seen, key.s, parts, take_parts(shape, row, parts));
}

void row_cache_change(struct row_cache *cache, const struct row_shape *shape, int64_t id, struct str name)
{
	struct key key;

	if (make_key(shape, id, name, &key))
		cache_change(of_shape(cache, shape), key.s);
}

static void note_added(struct row_cache *cache, struct cache *in, struct str key)
{
	if (cache->added_count == cache->added_cap) {
		cache->added_cap = cache->added_cap ? cache->added_cap * 2 : 64;
		cache->added = mem_reallocarray(cache->added, cache->added_cap, sizeof(*cache->added));
	}
	while (cache->keys_len + key.n > cache->keys_cap) {
		cache->keys_cap = cache->keys_cap ? cache->keys_cap * 2 : 4096;
		cache->keys = mem_realloc(cache->keys, cache->keys_cap);
	}
	memcpy(cache->keys + cache->keys_len, key.p, key.n);
	cache->added[cache->added_count++] = (struct added){in, cache->keys_len, key.n};
	cache->keys_len += key.n;
}

void row_cache_add(struct row_cache *cache, const struct row_shape *shape, int64_t id, struct str name,
		   const void *row)
{
	struct str parts[1 + sizeof(shape->texts) / sizeof(shape->texts[0])];
	struct key key;

	if (!make_key(shape, id, name, &key))
		return;
	if (cache->added_count == ADDED_MAX) {
		cache_change(of_shape(cache, shape), key.s);
		return;
	}
	note_added(cache, of_shape(cache, shape), key.s);
	cache_add(of_shape(cache, shape), key.s, parts, take_parts(shape, row, parts));
}

void row_cache_commit(struct row_cache *cache)
{
	cache->added_count = cache->keys_len = 0;
	cache_commit(cache->bodies);
	cache_commit(cache->rows);
}

void row_cache_rollback(struct row_cache *cache)
{
	for (size_t i = 0; i < cache->added_count; i++)
		cache_change(cache->added[i].in, (struct str){cache->keys + cache->added[i].at, cache->added[i].len});
	cache->added_count = cache->keys_len = 0;
}

void row_cache_clear(struct row_cache *cache)
{
	cache->added_count = cache->keys_len = 0;
	cache_clear(cache->bodies);
	cache_clear(cache->rows);
}
