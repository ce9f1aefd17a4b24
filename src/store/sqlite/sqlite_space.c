/* Spaces in SQLite. */
#include "store/sqlite/sqlite_internal.h"

enum store_status sqlite_space_find(struct store_conn *c, struct str name, int64_t *ret_id)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_SPACE_FIND);

	if (s == NULL)
		return STORE_FAILED;
	sqlite_bind_str(s, 1, name);
	return sqlite_read_int(c, s, ret_id);
}

enum store_status sqlite_space_create(struct store_conn *c, struct str name, int64_t now_ms, int64_t *ret_id)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_SPACE_CREATE);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite_bind_str(s, 1, name);
	sqlite3_bind_int64(s, 2, now_ms);
	status = sqlite_run(c, s);
	if (status == STORE_OK && sqlite3_last_insert_rowid(sqlite_of(c)->db) > SQLITE_SPACE_MAX)
		return STORE_FULL;
	if (status == STORE_OK)
		*ret_id = sqlite3_last_insert_rowid(sqlite_of(c)->db);
	return status;
}

enum store_status sqlite_space_count(struct store_conn *c, int64_t space, int64_t *ret_memories)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_SPACE_COUNT);
	enum store_status status = s ? sqlite_tally_flush(c) : STORE_FAILED;

	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, space);
	return sqlite_read_int(c, s, ret_memories);
}

enum store_status sqlite_space_guard(struct store_conn *c, int64_t space, int64_t *ret_guard)
{
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &sqlite_guard_shape, space, STR_NULL, NULL, ret_guard))
		return STORE_OK;
	s = sqlite_statement(c, SQL_SPACE_GUARD);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	status = sqlite_read_int(c, s, ret_guard);
	if (status == STORE_OK)
		sqlite_cache_put(c, &sqlite_guard_shape, seen, space, STR_NULL, ret_guard);
	return status;
}

enum store_status sqlite_space_set_guard(struct store_conn *c, int64_t space, int64_t guard)
{
	sqlite_cache_change(c, &sqlite_guard_shape, space, STR_NULL);
	return sqlite_run_on(c, SQL_SPACE_SET_GUARD, space, guard);
}

enum store_status sqlite_spaces(struct store_conn *c, int64_t after, size_t max, struct arena *arena,
			       struct space_row *ret, size_t *ret_count)
{
	enum store_status status = sqlite_tally_flush(c);
	sqlite3_stmt *s = sqlite_statement(c, SQL_SPACES);
	size_t count = 0;
	int rc;

	if (status != STORE_OK)
		return status;
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, after);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max) {
		ret[count++] = (struct space_row){
			.id = sqlite3_column_int64(s, 0), .name = sqlite_column_str(s, 1, arena),
			.memories = sqlite3_column_int64(s, 2), .created_at_ms = sqlite3_column_int64(s, 3),
		};
	}
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

enum store_status sqlite_space_name(struct store_conn *c, int64_t space, struct arena *arena, struct str *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_SPACE_NAME);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		*ret = sqlite_column_str(s, 0, arena);
	sqlite3_reset(s);
	return status;
}
