/* Keys that let their holders in, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#define KEY_COLUMNS \
	"SELECT id, name, space, agent, scopes, trust, created_at, created_by, expires_at, revoked_at, revoked_why, " \
	"hash, old_hash, old_until FROM access_key "

static void read_mode(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	/* Whatever it is that stands there: only 0 lets everybody in. */
	*(bool *)ret = sqlite3_column_type(s, 0) != SQLITE_INTEGER || sqlite3_column_int64(s, 0) != 0;
}

enum store_status sqlite_access_mode(struct store_conn *c, bool *ret_needs_key)
{
	static const char sql[] = "SELECT needs_key FROM access_mode WHERE id = 1";

	return sqlite_read_one(c, sqlite_statement(c, sql), read_mode, NULL, ret_needs_key);
}

enum store_status sqlite_access_set_mode(struct store_conn *c, bool needs_key)
{
	static const char sql[] = "INSERT OR REPLACE INTO access_mode VALUES (1, ?1)";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int(s, 1, needs_key);
	return sqlite_run(c, s);
}

enum store_status sqlite_access_key_next(struct store_conn *c, uint64_t *ret)
{
	static const char sql[] = "SELECT " SQLITE_NEXT_ID("access_key");
	int64_t next;
	enum store_status status = sqlite_read_int(c, sqlite_statement(c, sql), &next);

	if (status == STORE_OK)
		*ret = (uint64_t)next;
	return status;
}

static void bind_end(sqlite3_stmt *s, const struct access_key_row *key)
{
	sqlite3_bind_int64(s, 1, (int64_t)key->num);
	sqlite3_bind_int64(s, 2, key->expires_at_ms);
	sqlite3_bind_int64(s, 3, key->revoked_at_ms);
	sqlite_bind_str(s, 4, key->revoked_why);
	sqlite3_bind_blob(s, 5, key->hash, sizeof(key->hash), SQLITE_STATIC);
	sqlite3_bind_blob(s, 6, key->old_hash, sizeof(key->old_hash), SQLITE_STATIC);
	sqlite3_bind_int64(s, 7, key->old_until_ms);
}

enum store_status sqlite_access_key_insert(struct store_conn *c, const struct access_key_row *key)
{
	static const char sql[] =
		"INSERT INTO access_key (id, expires_at, revoked_at, revoked_why, hash, old_hash, old_until, name, "
		"space, agent, scopes, trust, created_at, created_by) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
		"?11, ?12, ?13, ?14 WHERE ?1 >= " SQLITE_NEXT_ID("access_key");
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	bind_end(s, key);
	sqlite_bind_str(s, 8, key->name);
	sqlite_bind_str(s, 9, key->space);
	sqlite_bind_str(s, 10, key->agent);
	sqlite3_bind_int64(s, 11, key->scopes);
	sqlite3_bind_int(s, 12, (int)key->trust);
	sqlite3_bind_int64(s, 13, key->created_at_ms);
	sqlite_bind_str(s, 14, key->created_by);
	status = sqlite_run_change(c, s);
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

enum store_status sqlite_access_key_put(struct store_conn *c, const struct access_key_row *key)
{
	static const char sql[] =
		"UPDATE access_key SET expires_at = ?2, revoked_at = ?3, revoked_why = ?4, hash = ?5, old_hash = ?6, "
		"old_until = ?7 WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	bind_end(s, key);
	return sqlite_run_change(c, s);
}

static void read_key(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct access_key_row *row = ret;

	*row = (struct access_key_row){
		.num = (uint64_t)sqlite3_column_int64(s, 0),
		.name = sqlite_column_str(s, 1, arena),
		.space = sqlite_column_str(s, 2, arena),
		.agent = sqlite_column_str(s, 3, arena),
		.scopes = (unsigned)sqlite_column_ruling(s, 4),
		.trust = (enum trust)sqlite_column_ruling(s, 5),
		.created_at_ms = sqlite3_column_int64(s, 6),
		.created_by = sqlite_column_str(s, 7, arena),
		.expires_at_ms = sqlite_column_ruling(s, 8),
		.revoked_at_ms = sqlite_column_ruling(s, 9),
		.revoked_why = sqlite_column_str(s, 10, arena),
		.old_until_ms = sqlite_column_ruling(s, 13),
	};
	sqlite_column_digest(s, 11, row->hash);
	sqlite_column_digest(s, 12, row->old_hash);
}

enum store_status sqlite_access_key_get(struct store_conn *c, uint64_t num, struct arena *arena,
					struct access_key_row *ret)
{
	static const char sql[] = KEY_COLUMNS "WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, (int64_t)num);
	return sqlite_read_one(c, s, read_key, arena, ret);
}

enum store_status sqlite_access_keys(struct store_conn *c, struct str space, uint64_t after, size_t max,
				     struct arena *arena, struct access_key_row *ret, size_t *ret_count)
{
	static const char sql[] = KEY_COLUMNS "WHERE id > ?1 AND (?2 IS NULL OR space = ?2) ORDER BY id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, (int64_t)after);
	sqlite_bind_str(s, 2, space);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_key, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_access_keys_revoke(struct store_conn *c, struct str space, int64_t at_ms, struct str why,
					    int64_t *ret_count)
{
	static const char count[] =
		"SELECT count(*) FROM access_key WHERE space = ?1 AND revoked_at = 0 AND (expires_at = 0 OR "
		"expires_at > ?2)";
	static const char sql[] =
		"UPDATE access_key SET revoked_at = ?2, revoked_why = ?3 WHERE space = ?1 AND revoked_at = 0";
	sqlite3_stmt *s = sqlite_statement(c, count);
	enum store_status status;

	sqlite_bind_str(s, 1, space);
	sqlite3_bind_int64(s, 2, at_ms);
	status = sqlite_read_int(c, s, ret_count);
	if (status != STORE_OK)
		return status;
	s = sqlite_statement(c, sql);
	sqlite_bind_str(s, 1, space);
	sqlite3_bind_int64(s, 2, at_ms);
	sqlite_bind_str(s, 3, why);
	return sqlite_run(c, s);
}

static enum store_status keep_number(struct store_conn *c)
{
	static const char sql[] = SQLITE_KEEP_ID("access_key");

	return sqlite_run(c, sqlite_statement(c, sql));
}

enum store_status sqlite_access_keys_prune(struct store_conn *c, int64_t before_ms)
{
	static const char sql[] =
		"DELETE FROM access_key WHERE (revoked_at > 0 AND revoked_at < ?1) OR (expires_at > 0 AND "
		"expires_at < ?1)";
	enum store_status status = keep_number(c);
	sqlite3_stmt *s;

	if (status != STORE_OK)
		return status;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, before_ms);
	return sqlite_run(c, s);
}

enum store_status sqlite_access_reset(struct store_conn *c)
{
	static const char sql[] = "DELETE FROM access_key";
	enum store_status status = keep_number(c);

	if (status == STORE_OK)
		status = sqlite_run(c, sqlite_statement(c, sql));
	return status == STORE_OK ? sqlite_access_set_mode(c, false) : status;
}
