/* What persons waived for tasks, and what spaces lock, on PostgreSQL. */
#include "store/postgres/postgres_internal.h"

enum store_status postgres_space_locked(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT locked FROM space WHERE shard = $1 AND id = $2";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_locked, space, STR_NULL, arena, ret))
		return STORE_OK;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	status = postgres_read_one(&q, postgres_read_str, arena, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_locked, seen, space, STR_NULL, ret);
	return status;
}

enum store_status postgres_space_set_locked(struct store_conn *c, int64_t space, struct str locked)
{
	static const char sql[] = "UPDATE space SET locked = $3 WHERE shard = $1 AND id = $2";
	struct postgres_query q;

	postgres_cache_change(c, &row_locked, space, STR_NULL);
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, locked);
	return postgres_run_change(&q);
}

enum store_status postgres_waiver_add(struct store_conn *c, int64_t space, struct str task, struct waiver_row *waiver)
{
	static const char sql[] =
		"INSERT INTO waiver (shard, id, task, key, reason, author, at, access_key) "
		"SELECT $1, " POSTGRES_NEXT_ID("waiver") ", id, $4, $5, $6, $7, $8 FROM task "
		"WHERE shard = $1 AND space = $2 AND name = $3 RETURNING id";
	struct postgres_query q;

	postgres_cache_change(c, &row_waived, 0, STR_NULL);
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, task);
	postgres_bind_str(&q, 4, waiver->key);
	postgres_bind_str(&q, 5, waiver->reason);
	postgres_bind_str(&q, 6, waiver->by);
	postgres_bind_int(&q, 7, waiver->at_ms);
	postgres_bind_int(&q, 8, (int64_t)waiver->access_key);
	return postgres_read_int(&q, &waiver->id);
}

static void read_waiver(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct waiver_row *)ret = (struct waiver_row){
		postgres_column_int(r, 0), postgres_column_str(r, 1, arena), postgres_column_str(r, 2, arena),
		postgres_column_str(r, 3, arena), postgres_column_int(r, 4), (uint64_t)postgres_column_int(r, 5),
	};
}

/* Most shards have none, and those who pack ask each time. */
static enum store_status has_any(struct store_conn *c, int64_t *ret)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM waiver WHERE shard = $1)";
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	enum store_status status;

	if (postgres_cache_get(c, &row_waived, 0, STR_NULL, NULL, ret))
		return STORE_OK;
	postgres_query_apart(&q, c, sql);
	status = postgres_read_int(&q, ret);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_waived, seen, 0, STR_NULL, ret);
	return status;
}

enum store_status postgres_waivers(struct store_conn *c, int64_t space, struct str task, size_t max,
				   struct arena *arena, struct waiver_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT id, key, reason, author, at, access_key FROM waiver WHERE shard = $1 AND task = "
		"(SELECT id FROM task WHERE shard = $1 AND space = $2 AND name = $3) ORDER BY id LIMIT $4";
	int64_t any = 0;
	enum store_status status = has_any(c, &any);
	struct postgres_query q;

	*ret_count = 0;
	if (status != STORE_OK || !any)
		return status;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, task);
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_waiver, arena, ret, sizeof(*ret), max, ret_count);
}
