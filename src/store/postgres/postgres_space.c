/* Spaces on PostgreSQL. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

enum store_status postgres_space_find(struct store_conn *c, struct str name, int64_t *ret_id)
{
	static const char sql[] = "SELECT id FROM space WHERE shard = $1 AND name = $2";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_str(&q, 2, name);
	return postgres_read_int(&q, ret_id);
}

enum store_status postgres_space_create(struct store_conn *c, struct str name, int64_t now_ms, int64_t *ret_id)
{
	static const char sql[] =
		"INSERT INTO space (shard, id, name, next_memory, memories, created_at) "
		"VALUES ($1, " POSTGRES_NEXT_ID("space") ", $2, 1, 0, $3) ON CONFLICT DO NOTHING RETURNING id";
	struct postgres_query q;
	enum store_status status;
	int64_t id = 0;

	if (name.p == NULL)
		return STORE_REFUSED;
	postgres_query(&q, c, sql);
	postgres_bind_str(&q, 2, name);
	postgres_bind_int(&q, 3, now_ms);
	status = postgres_read_int(&q, &id);
	if (status == STORE_OK && id > POSTGRES_SPACE_MAX)
		return STORE_FULL;
	if (status == STORE_OK) {
		*ret_id = id;
		postgres_cache_change(c, &row_guard, id, STR_NULL);
		postgres_cache_change(c, &row_locked, id, STR_NULL);
		postgres_kept_space_changed(c, id);
	}
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

/* One integer of a space. */
static enum store_status read_of_space(struct store_conn *c, const char *sql, int64_t space, int64_t *ret)
{
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	return postgres_read_int(&q, ret);
}

enum store_status postgres_space_count(struct store_conn *c, int64_t space, int64_t *ret_memories)
{
	return read_of_space(c, "SELECT memories FROM space WHERE shard = $1 AND id = $2", space, ret_memories);
}

/* Behind a statement that writes its row: the one that is kept goes. */
static enum store_status changed(struct store_conn *c, int64_t space, enum store_status status)
{
	postgres_kept_space_changed(c, space);
	return status;
}

enum store_status postgres_space_guard(struct store_conn *c, int64_t space, int64_t *ret_guard)
{
	uint64_t seen = postgres_cache_seen(c);
	enum store_status status;

	if (postgres_cache_get(c, &row_guard, space, STR_NULL, NULL, ret_guard))
		return STORE_OK;
	status = read_of_space(c, "SELECT guard FROM space WHERE shard = $1 AND id = $2", space, ret_guard);
	if (status == STORE_OK)
		postgres_cache_put(c, &row_guard, seen, space, STR_NULL, ret_guard);
	return status;
}

enum store_status postgres_space_set_guard(struct store_conn *c, int64_t space, int64_t guard)
{
	postgres_cache_change(c, &row_guard, space, STR_NULL);
	return changed(c, space, postgres_run_on(c, "UPDATE space SET guard = $3 WHERE shard = $1 AND id = $2", space,
						 guard));
}

#define SPACE_COLUMNS \
	"SELECT id, name, memories, created_at, keep_events, keep_handoffs, keep_idle, events_pruned, " \
	"handoffs_pruned, guard, bytes, agents, quota_memories, quota_bytes, quota_handoffs, quota_waiting, " \
	"quota_agents, trust_floor FROM space "

static void read_space(const struct postgres_row *r, struct arena *arena, void *ret)
{
	*(struct space_row *)ret = (struct space_row){
		.id = postgres_column_int(r, 0),
		.name = postgres_column_str(r, 1, arena),
		.memories = postgres_column_int(r, 2),
		.created_at_ms = postgres_column_int(r, 3),
		.keep = {postgres_column_int(r, 4), postgres_column_int(r, 5), postgres_column_int(r, 6)},
		.events_pruned = postgres_column_int(r, 7),
		.handoffs_pruned = postgres_column_int(r, 8),
		.guard = postgres_column_int(r, 9),
		.bytes = postgres_column_int(r, 10),
		.agents = postgres_column_int(r, 11),
		.quota = {postgres_column_int(r, 12), postgres_column_int(r, 13), postgres_column_int(r, 14),
			  postgres_column_int(r, 15), postgres_column_int(r, 16)},
		.trust_floor = (enum trust)postgres_column_int(r, 17),
	};
}

enum store_status postgres_space_read(struct store_conn *c, int64_t space, struct arena *arena, struct space_row *ret)
{
	static const char sql[] = SPACE_COLUMNS "WHERE shard = $1 AND id = $2 AND removed_at = 0";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	return postgres_read_one(&q, read_space, arena, ret);
}

enum store_status postgres_space_get(struct store_conn *c, int64_t space, struct arena *arena, struct space_row *ret)
{
	uint64_t seen = postgres_cache_seen(c);
	enum store_status status = STORE_OK;

	/* The writer may have counted in it since: what is sent is right. */
	if (!c->is_reader || !postgres_cache_get(c, &row_space, space, STR_NULL, arena, ret)) {
		status = postgres_space_read(c, space, arena, ret);
		if (status == STORE_OK)
			postgres_cache_put(c, &row_space, seen, space, STR_NULL, ret);
	}
	return status;
}

enum store_status postgres_space_set_keep(struct store_conn *c, int64_t space, const struct space_keep *keep)
{
	static const char sql[] =
		"UPDATE space SET keep_events = $3, keep_handoffs = $4, keep_idle = $5 WHERE shard = $1 AND id = $2 "
		"AND removed_at = 0";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, keep->events_ms);
	postgres_bind_int(&q, 4, keep->handoffs_ms);
	postgres_bind_int(&q, 5, keep->idle_ms);
	return changed(c, space, postgres_run_change(&q));
}

enum store_status postgres_space_set_quota(struct store_conn *c, int64_t space, const struct space_quota *quota)
{
	static const char sql[] =
		"UPDATE space SET quota_memories = $3, quota_bytes = $4, quota_handoffs = $5, quota_waiting = $6, "
		"quota_agents = $7 WHERE shard = $1 AND id = $2 AND removed_at = 0";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_int(&q, 3, quota->memories);
	postgres_bind_int(&q, 4, quota->bytes);
	postgres_bind_int(&q, 5, quota->handoffs);
	postgres_bind_int(&q, 6, quota->waiting);
	postgres_bind_int(&q, 7, quota->agents);
	return changed(c, space, postgres_run_change(&q));
}

enum store_status postgres_space_set_floor(struct store_conn *c, int64_t space, enum trust floor)
{
	static const char sql[] = "UPDATE space SET trust_floor = $3 WHERE shard = $1 AND id = $2 AND removed_at = 0";

	return changed(c, space, postgres_run_on(c, sql, space, floor));
}

enum store_status postgres_spaces(struct store_conn *c, int64_t after, size_t max, struct arena *arena,
				  struct space_row *ret, size_t *ret_count)
{
	static const char sql[] =
		SPACE_COLUMNS
		"WHERE shard = $1 AND id > $2 AND removed_at = 0 ORDER BY id LIMIT $3";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, after);
	postgres_bind_int(&q, 3, (int64_t)max);
	return postgres_read_list(&q, read_space, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_space_name(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT name FROM space WHERE shard = $1 AND id = $2 AND removed_at = 0";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	return postgres_read_one(&q, postgres_read_str, arena, ret);
}
