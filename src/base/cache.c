#include "base/cache.h"

#include "base/hash.h"
#include "base/list.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Several parts with a lock each, so that threads seldom meet. */
enum { SHARDS = 16, GROUPS = 1024, TABLE_MIN = 64 };

struct entry {
	struct entry *next;	/* with the same place in the table */
	struct list used;
	uint64_t hash;
	uint32_t key_len;
	uint32_t value_len;
	char bytes[];		/* the value, so that it is aligned, then the key */
};

struct shard {
	pthread_mutex_t lock;
	uint64_t changed[GROUPS];	/* the transaction that changed a key of the group last */
	struct entry **table;
	size_t table_size;		/* a power of two */
	size_t count;
	size_t bytes;
	struct list used;		/* the longest unused first */
};

struct cache {
	uint64_t seed;
	size_t shard_max_bytes;
	_Atomic uint64_t now;
	struct shard shards[SHARDS];
};

struct cache *cache_new(size_t max_bytes, uint64_t seed)
{
	struct cache *c = mem_zalloc(sizeof(*c));

	c->seed = seed;
	c->shard_max_bytes = max_bytes / SHARDS;
	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *s = &c->shards[i];

		pthread_mutex_init(&s->lock, NULL);
		s->table_size = TABLE_MIN;
		s->table = mem_calloc(s->table_size, sizeof(struct entry *));
		list_init(&s->used);
	}
	return c;
}

static size_t entry_bytes(size_t key_len, size_t value_len)
{
	return sizeof(struct entry) + key_len + value_len + sizeof(struct entry *);
}

static struct entry **place_of(struct shard *s, uint64_t hash, struct str key)
{
	struct entry **place = &s->table[hash & (s->table_size - 1)];

	while (*place && ((*place)->hash != hash ||
			  !str_eq((struct str){(*place)->bytes + (*place)->value_len, (*place)->key_len}, key)))
		place = &(*place)->next;
	return place;
}

/* *place is e. */
static void drop(struct shard *s, struct entry **place, struct entry *e)
{
	*place = e->next;
	list_remove(&e->used);
	s->count--;
	s->bytes -= entry_bytes(e->key_len, e->value_len);
	free(e);
}

static void drop_entry(struct shard *s, struct entry *e)
{
	drop(s, place_of(s, e->hash, (struct str){e->bytes + e->value_len, e->key_len}), e);
}

static void grow(struct shard *s)
{
	size_t size = s->table_size * 2;
	struct entry **table = mem_calloc(size, sizeof(struct entry *));

	for (size_t i = 0; i < s->table_size; i++) {
		struct entry *e = s->table[i], *next;

		for (; e; e = next) {
			next = e->next;
			e->next = table[e->hash & (size - 1)];
			table[e->hash & (size - 1)] = e;
		}
	}
	free(s->table);
	s->table = table;
	s->table_size = size;
}

void cache_free(struct cache *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *s = &c->shards[i];

		while (!list_is_empty(&s->used))
			drop_entry(s, LIST_ELEMENT(s->used.next, struct entry, used));
		free(s->table);
		pthread_mutex_destroy(&s->lock);
	}
	free(c);
}

uint64_t cache_now(const struct cache *c)
{
	return atomic_load(&c->now);
}

/* The shard, locked; the hash's upper bits choose it and the group, the lower ones the place in its table. */
static struct shard *lock_shard(struct cache *c, struct str key, uint64_t *ret_hash, uint64_t **ret_changed)
{
	uint64_t hash = hash_bytes(key.p, key.n, c->seed);
	struct shard *s = &c->shards[hash >> 60];

	pthread_mutex_lock(&s->lock);
	*ret_hash = hash;
	*ret_changed = &s->changed[hash >> 50 & (GROUPS - 1)];
	return s;
}

bool cache_get(struct cache *c, uint64_t seen, struct str key, void *head, size_t head_size, struct arena *arena,
	       struct str *ret_rest)
{
	uint64_t hash, *changed;
	struct shard *s = lock_shard(c, key, &hash, &changed);
	struct entry *e = *changed <= seen ? *place_of(s, hash, key) : NULL;

	if (e) {
		assert(e->value_len >= head_size);
		list_remove(&e->used);
		list_add(&s->used, &e->used);
		memcpy(head, e->bytes, head_size);
		*ret_rest = (struct str){e->bytes + head_size, e->value_len - head_size};
		if (ret_rest->n)
			*ret_rest = arena_str(arena, *ret_rest);
		else
			ret_rest->p = "";
	}
	pthread_mutex_unlock(&s->lock);
	return e != NULL;
}

static struct entry *make_entry(uint64_t hash, struct str key, const struct str *parts, size_t count, size_t len)
{
	struct entry *e = mem_alloc(sizeof(*e) + len + key.n);
	char *at = e->bytes;

	e->hash = hash;
	e->key_len = (uint32_t)key.n;
	e->value_len = (uint32_t)len;
	list_init(&e->used);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].n)
			memcpy(at, parts[i].p, parts[i].n);
		at += parts[i].n;
	}
	memcpy(at, key.p, key.n);
	return e;
}

static void add(struct cache *c, struct shard *s, struct entry *e)
{
	struct entry **place = &s->table[e->hash & (s->table_size - 1)];

	e->next = *place;
	*place = e;
	list_add(&s->used, &e->used);
	s->bytes += entry_bytes(e->key_len, e->value_len);
	if (++s->count > s->table_size)
		grow(s);
	while (s->bytes > c->shard_max_bytes)
		drop_entry(s, LIST_ELEMENT(s->used.next, struct entry, used));
}

/* The bytes of a value that is to be kept: one must not push out many. */
static bool may_be_kept(const struct cache *c, struct str key, const struct str *parts, size_t count, size_t *ret_len)
{
	*ret_len = 0;
	for (size_t i = 0; i < count; i++)
		*ret_len += parts[i].n;
	return entry_bytes(key.n, *ret_len) <= c->shard_max_bytes / 8;
}

void cache_put(struct cache *c, uint64_t seen, struct str key, const struct str *parts, size_t count)
{
	uint64_t hash, *changed;
	struct shard *s;
	size_t len;

	if (!may_be_kept(c, key, parts, count, &len))
		return;
	s = lock_shard(c, key, &hash, &changed);
	if (*changed <= seen && *place_of(s, hash, key) == NULL)
		add(c, s, make_entry(hash, key, parts, count, len));
	pthread_mutex_unlock(&s->lock);
}

/* What is kept of the key goes. The lock of its shard is held when it returns. */
static struct shard *lock_changed(struct cache *c, struct str key, uint64_t *ret_hash)
{
	uint64_t *changed;
	struct shard *s = lock_shard(c, key, ret_hash, &changed);
	struct entry **place = place_of(s, *ret_hash, key);

	*changed = atomic_load(&c->now) + 1;
	if (*place)
		drop(s, place, *place);
	return s;
}

void cache_change(struct cache *c, struct str key)
{
	uint64_t hash;

	pthread_mutex_unlock(&lock_changed(c, key, &hash)->lock);
}

void cache_add(struct cache *c, struct str key, const struct str *parts, size_t count)
{
	uint64_t hash;
	struct shard *s = lock_changed(c, key, &hash);
	size_t len;

	if (may_be_kept(c, key, parts, count, &len))
		add(c, s, make_entry(hash, key, parts, count, len));
	pthread_mutex_unlock(&s->lock);
}

void cache_commit(struct cache *c)
{
	atomic_fetch_add(&c->now, 1);
}

void cache_clear(struct cache *c)
{
	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *s = &c->shards[i];

		pthread_mutex_lock(&s->lock);
		for (size_t j = 0; j < GROUPS; j++)
			s->changed[j] = atomic_load(&c->now) + 1;
		while (!list_is_empty(&s->used))
			drop_entry(s, LIST_ELEMENT(s->used.next, struct entry, used));
		pthread_mutex_unlock(&s->lock);
	}
	cache_commit(c);
}

size_t cache_bytes(struct cache *c)
{
	size_t bytes = 0;

	for (size_t i = 0; i < SHARDS; i++) {
		pthread_mutex_lock(&c->shards[i].lock);
		bytes += c->shards[i].bytes;
		pthread_mutex_unlock(&c->shards[i].lock);
	}
	return bytes;
}
