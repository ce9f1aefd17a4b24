/* Rows that are kept in memory (store/row_cache.h), for connections of SQLite.
 *
 * SQLite empties a reader's page cache with every commit of somebody else, so that on a busy server each row costs a
 * walk through the tree with reads from the file.
 */
#include "store/sqlite/sqlite_internal.h"

enum { MAX_BYTES = 128 << 20 };

static struct row_cache *new_of(size_t max_bytes)
{
	uint64_t seed;

	sqlite3_randomness(sizeof(seed), &seed);
	return row_cache_new(max_bytes, seed);
}

struct row_cache *sqlite_cache_new(void)
{
	return new_of(MAX_BYTES);
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
	row_cache_free(sqlite_of(writer)->cache);
	sqlite_of(writer)->cache = new_of(max_bytes);
}

size_t sqlite_cache_bytes(const struct store_conn *writer)
{
	return row_cache_bytes(sqlite_of(writer)->cache);
}

uint64_t sqlite_cache_seen(const struct store_conn *c)
{
	const struct sqlite_conn *own = sqlite_of(c);

	if (own->cache == NULL)
		return 0;
	return own->snapshot == SNAPSHOT_NONE ? row_cache_now(own->cache) : own->snapshot_seen;
}

bool sqlite_cache_get(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name,
		      struct arena *arena, void *ret)
{
	const struct sqlite_conn *own = sqlite_of(c);

	return own->cache && !own->is_direct &&
	       row_cache_get(own->cache, shape, sqlite_cache_seen(c), id, name, arena, ret);
}

void sqlite_cache_put(struct store_conn *c, const struct row_shape *shape, uint64_t seen, int64_t id, struct str name,
		      const void *row)
{
	if (sqlite_of(c)->cache)
		row_cache_put(sqlite_of(c)->cache, shape, seen, id, name, row);
}

void sqlite_cache_change(struct store_conn *c, const struct row_shape *shape, int64_t id, struct str name)
{
	if (sqlite_of(c)->cache)
		row_cache_change(sqlite_of(c)->cache, shape, id, name);
}

void sqlite_cache_add(struct store_conn *c, const struct row_shape *shape, int64_t id, const void *row)
{
	if (sqlite_of(c)->cache)
		row_cache_add(sqlite_of(c)->cache, shape, id, STR_NULL, row);
}

void sqlite_cache_commit(struct store_conn *c)
{
	if (sqlite_of(c)->cache)
		row_cache_commit(sqlite_of(c)->cache);
}

void sqlite_cache_rollback(struct store_conn *c)
{
	if (sqlite_of(c)->cache && !c->is_reader)
		row_cache_rollback(sqlite_of(c)->cache);
}
