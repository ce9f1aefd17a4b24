/* What persons waived for tasks, and what spaces lock, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

enum store_status sqlite_space_locked(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret)
{
	static const char sql[] = "SELECT locked FROM space WHERE id = ?1";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &row_locked, space, STR_NULL, arena, ret))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, space);
	status = sqlite_read_one(c, s, sqlite_read_str, arena, ret);
	if (status == STORE_OK)
		sqlite_cache_put(c, &row_locked, seen, space, STR_NULL, ret);
	return status;
}

enum store_status sqlite_space_set_locked(struct store_conn *c, int64_t space, struct str locked)
{
	static const char sql[] = "UPDATE space SET locked = ?2 WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite_cache_change(c, &row_locked, space, STR_NULL);
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, locked);
	return sqlite_run_change(c, s);
}

enum store_status sqlite_waiver_add(struct store_conn *c, int64_t space, struct str task, struct waiver_row *waiver)
{
	static const char sql[] =
		"INSERT INTO waiver (id, task, key, reason, author, at, access_key) SELECT " SQLITE_NEXT_ID("waiver")
		", id, ?3, ?4, ?5, ?6, ?7 FROM task WHERE space = ?1 AND name = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite_cache_change(c, &row_waived, 0, STR_NULL);
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	sqlite_bind_str(s, 3, waiver->key);
	sqlite_bind_str(s, 4, waiver->reason);
	sqlite_bind_str(s, 5, waiver->by);
	sqlite3_bind_int64(s, 6, waiver->at_ms);
	sqlite3_bind_int64(s, 7, (int64_t)waiver->access_key);
	status = sqlite_run(c, s);
	if (status == STORE_OK && !sqlite_changed(c))
		return STORE_NOT_FOUND;
	if (status == STORE_OK)
		waiver->id = sqlite_last_id(c);
	return status;
}

static void read_waiver(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct waiver_row *)ret = (struct waiver_row){
		sqlite3_column_int64(s, 0), sqlite_column_str(s, 1, arena), sqlite_column_str(s, 2, arena),
		sqlite_column_str(s, 3, arena), sqlite3_column_int64(s, 4), (uint64_t)sqlite3_column_int64(s, 5),
	};
}

/* Most stores have none, and those who pack ask each time. */
static enum store_status has_any(struct store_conn *c, int64_t *ret)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM waiver)";
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;

	if (sqlite_cache_get(c, &row_waived, 0, STR_NULL, NULL, ret))
		return STORE_OK;
	status = sqlite_read_int(c, sqlite_statement(c, sql), ret);
	if (status == STORE_OK)
		sqlite_cache_put(c, &row_waived, seen, 0, STR_NULL, ret);
	return status;
}

enum store_status sqlite_waivers(struct store_conn *c, int64_t space, struct str task, size_t max, struct arena *arena,
				 struct waiver_row *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT w.id, w.key, w.reason, w.author, w.at, w.access_key FROM task t JOIN waiver w "
		"ON w.task = t.id WHERE t.space = ?1 AND t.name = ?2 ORDER BY w.id LIMIT ?3";
	int64_t any = 0;
	enum store_status status = has_any(c, &any);
	sqlite3_stmt *s;

	*ret_count = 0;
	if (status != STORE_OK || !any)
		return status;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_waiver, arena, ret, sizeof(*ret), max, ret_count);
}
