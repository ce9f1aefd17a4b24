/* Rows that are kept in memory (store/row_cache.h), on PostgreSQL: each costs a round trip otherwise. */
#include "store/postgres/postgres_internal.h"

#include <unistd.h>

enum { MAX_BYTES = 128 << 20 };

static struct row_cache *new_of(size_t max_bytes)
{
	uint64_t seed = 0;

	/* Where chance is not to be had, keys are only spread as anybody may guess. */
	if (getentropy(&seed, sizeof(seed)) != 0)
		seed = (uint64_t)getpid();
	return row_cache_new(max_bytes, seed);
}

struct row_cache *postgres_cache_new(void)
{
	return new_of(MAX_BYTES);
}

/* --- What the engine asks for --- */

static void share(struct store_conn *reader, const struct store_conn *writer)
{
	if (postgres_of(reader)->shard == postgres_of(writer)->shard)
		postgres_of(reader)->cache = postgres_of(writer)->cache;
}

static void set_cache(struct store_conn *writer, size_t max_bytes)
{
	row_cache_free(postgres_of(writer)->cache);
	postgres_of(writer)->cache = new_of(max_bytes);
}

static size_t kept_bytes(const struct store_conn *writer)
{
	return postgres_of(writer)->cache ? row_cache_bytes(postgres_of(writer)->cache) : 0;
}

static void set_direct(struct store_conn *c, bool is_direct)
{
	postgres_of(c)->is_direct = is_direct;
}

const struct store_embedded postgres_embedded = {
	.share = share, .set_cache = set_cache, .cache_bytes = kept_bytes, .set_direct = set_direct,
};

/* --- What the verbs ask for --- */

uint64_t postgres_cache_seen(const struct store_conn *c)
{
	return postgres_of(c)->cache ? row_cache_now(postgres_of(c)->cache) : 0;
}

/* Within its transaction the writer sees what it has added. */
bool postgres_cache_get(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name,
			struct arena *arena, void *ret)
{
	const struct postgres_conn *own = postgres_of(c);

	return own->cache && !own->is_direct &&
	       row_cache_get(own->cache, shape, postgres_cache_seen(c) + own->in_transaction, id, name, arena, ret);
}

void postgres_cache_put(struct store_conn *c, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
			const void *row)
{
	if (postgres_of(c)->cache)
		row_cache_put(postgres_of(c)->cache, shape, seen, id, name, row);
}

void postgres_cache_change(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name)
{
	if (postgres_of(c)->cache && !c->is_reader)
		row_cache_change(postgres_of(c)->cache, shape, id, name);
}

void postgres_cache_add(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name,
			const void *row)
{
	if (postgres_of(c)->cache && !c->is_reader)
		row_cache_add(postgres_of(c)->cache, shape, id, name, row);
}

void postgres_cache_commit(struct store_conn *c)
{
	if (postgres_of(c)->cache && !c->is_reader)
		row_cache_commit(postgres_of(c)->cache);
}

void postgres_cache_rollback(struct store_conn *c)
{
	if (postgres_of(c)->cache && !c->is_reader)
		row_cache_rollback(postgres_of(c)->cache);
}
