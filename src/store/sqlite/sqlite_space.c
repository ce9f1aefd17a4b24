/* Spaces in SQLite. */
#include "store/sqlite/sqlite_internal.h"

enum store_status sqlite_space_find(struct store_conn *c, struct str name, int64_t *ret_id)
{
	static const char sql[] = "SELECT id FROM space WHERE name = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite_bind_str(s, 1, name);
	return sqlite_read_int(c, s, ret_id);
}

enum store_status sqlite_space_create(struct store_conn *c, struct str name, int64_t now_ms, int64_t *ret_id)
{
	static const char sql[] =
		"INSERT INTO space (id, name, next_memory, memories, created_at) "
		"VALUES (" SQLITE_NEXT_ID("space") ", ?1, 1, 0, ?2)";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite_bind_str(s, 1, name);
	sqlite3_bind_int64(s, 2, now_ms);
	status = sqlite_run(c, s);
	if (status == STORE_OK && sqlite_last_id(c) > SQLITE_SPACE_MAX)
		return STORE_FULL;
	if (status != STORE_OK)
		return status;
	*ret_id = sqlite_last_id(c);
	sqlite_cache_change(c, &row_guard, *ret_id, STR_NULL);
	sqlite_cache_change(c, &row_locked, *ret_id, STR_NULL);
	return STORE_OK;
}

enum store_status sqlite_space_count(struct store_conn *c, int64_t space, int64_t *ret_memories)
{
	static const char sql[] = "SELECT memories FROM space WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status = sqlite_tally_flush(c);

	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, space);
	return sqlite_read_int(c, s, ret_memories);
}

static void read_guard(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(int64_t *)ret = sqlite_column_ruling(s, 0);
}

enum store_status sqlite_space_guard(struct store_conn *c, int64_t space, int64_t *ret_guard)
{
	static const char sql[] = "SELECT guard FROM space WHERE id = ?1";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &row_guard, space, STR_NULL, NULL, ret_guard))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, space);
	status = sqlite_read_one(c, s, read_guard, NULL, ret_guard);
	if (status == STORE_OK)
		sqlite_cache_put(c, &row_guard, seen, space, STR_NULL, ret_guard);
	return status;
}

enum store_status sqlite_space_set_guard(struct store_conn *c, int64_t space, int64_t guard)
{
	sqlite_cache_change(c, &row_guard, space, STR_NULL);
	return sqlite_run_on(c, "UPDATE space SET guard = ?2 WHERE id = ?1", space, guard);
}

#define SPACE_COLUMNS \
	"SELECT id, name, memories, created_at, keep_events, keep_handoffs, keep_idle, events_pruned, " \
	"handoffs_pruned, guard, bytes, agents, quota_memories, quota_bytes, quota_handoffs, quota_waiting, " \
	"quota_agents, trust_floor FROM space "

/* What is no number is none that anybody has set, and not "no limit". */
static int64_t column_quota(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_INTEGER ? sqlite3_column_int64(s, column) : INT64_MIN;
}

static void read_space(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct space_row *)ret = (struct space_row){
		.id = sqlite3_column_int64(s, 0),
		.name = sqlite_column_str(s, 1, arena),
		.memories = sqlite3_column_int64(s, 2),
		.created_at_ms = sqlite3_column_int64(s, 3),
		.keep = {sqlite3_column_int64(s, 4), sqlite3_column_int64(s, 5), sqlite3_column_int64(s, 6)},
		.events_pruned = sqlite3_column_int64(s, 7),
		.handoffs_pruned = sqlite3_column_int64(s, 8),
		.guard = sqlite_column_ruling(s, 9),
		.bytes = sqlite3_column_int64(s, 10),
		.agents = sqlite3_column_int64(s, 11),
		.quota = {column_quota(s, 12), column_quota(s, 13), column_quota(s, 14), column_quota(s, 15),
			  column_quota(s, 16)},
		.trust_floor = (enum trust)sqlite_column_ruling(s, 17),
	};
}

enum store_status sqlite_space_get(struct store_conn *c, int64_t space, struct arena *arena, struct space_row *ret)
{
	static const char sql[] = SPACE_COLUMNS "WHERE id = ?1 AND removed_at = 0";
	enum store_status status = sqlite_tally_flush(c);
	sqlite3_stmt *s = sqlite_statement(c, sql);

	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, space);
	return sqlite_read_one(c, s, read_space, arena, ret);
}

enum store_status sqlite_space_set_keep(struct store_conn *c, int64_t space, const struct space_keep *keep)
{
	static const char sql[] =
		"UPDATE space SET keep_events = ?2, keep_handoffs = ?3, keep_idle = ?4 WHERE id = ?1 AND "
		"removed_at = 0";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, keep->events_ms);
	sqlite3_bind_int64(s, 3, keep->handoffs_ms);
	sqlite3_bind_int64(s, 4, keep->idle_ms);
	return sqlite_run_change(c, s);
}

enum store_status sqlite_space_set_quota(struct store_conn *c, int64_t space, const struct space_quota *quota)
{
	static const char sql[] =
		"UPDATE space SET quota_memories = ?2, quota_bytes = ?3, quota_handoffs = ?4, quota_waiting = ?5, "
		"quota_agents = ?6 WHERE id = ?1 AND removed_at = 0";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite3_bind_int64(s, 2, quota->memories);
	sqlite3_bind_int64(s, 3, quota->bytes);
	sqlite3_bind_int64(s, 4, quota->handoffs);
	sqlite3_bind_int64(s, 5, quota->waiting);
	sqlite3_bind_int64(s, 6, quota->agents);
	return sqlite_run_change(c, s);
}

enum store_status sqlite_space_set_floor(struct store_conn *c, int64_t space, enum trust floor)
{
	static const char sql[] = "UPDATE space SET trust_floor = ?2 WHERE id = ?1 AND removed_at = 0";

	return sqlite_run_on(c, sql, space, floor);
}

enum store_status sqlite_spaces(struct store_conn *c, int64_t after, size_t max, struct arena *arena,
				struct space_row *ret, size_t *ret_count)
{
	static const char sql[] =
		SPACE_COLUMNS
		"WHERE id > ?1 AND removed_at = 0 ORDER BY id LIMIT ?2";
	enum store_status status = sqlite_tally_flush(c);
	sqlite3_stmt *s = sqlite_statement(c, sql);

	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, after);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	return sqlite_read_list(c, s, read_space, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_space_name(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT name FROM space WHERE id = ?1 AND removed_at = 0";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	return sqlite_read_one(c, s, sqlite_read_str, arena, ret);
}
