/* Keys that let their holders in, on PostgreSQL. They are of the database: every shard's verbs use the rows of shard 0.
 *
 * So several writers may meet here, as nowhere else. Whoever reads or changes keys in a transaction first locks the row
 * of the mode, and has all keys for itself until the end of it: a number is given once, and nobody writes over what was
 * changed meanwhile. Each change raises the version in that row, and the nodes are told.
 */
#include "store/postgres/postgres_internal.h"

static void query(struct postgres_query *q, struct store_conn *c, const char *sql)
{
	postgres_query(q, c, sql);
	postgres_bind_int(q, 1, 0);
}

/* Nothing of it is waited for: whatever needs an answer comes behind it. Readers lock nothing. */
static enum store_status lock_keys(struct store_conn *c)
{
	static const char sql[] = "SELECT 1 FROM access_mode WHERE shard = $1 FOR UPDATE";
	struct postgres_query q;

	if (!postgres_of(c)->in_transaction)
		return STORE_OK;
	query(&q, c, sql);
	return postgres_run(&q);
}

/* Before a change: locks them, too. */
static enum store_status note_change(struct store_conn *c)
{
	static const char sql[] =
		"UPDATE access_mode SET version = version + 1 WHERE shard = $1 RETURNING pg_notify('spine', '')";
	struct postgres_query q;

	query(&q, c, sql);
	return postgres_run_change(&q);
}

#define KEY_COLUMNS \
	"SELECT id, name, space, agent, scopes, trust, created_at, created_by, expires_at, revoked_at, revoked_why, " \
	"hash, old_hash, old_until FROM access_key "

static void read_mode(const struct postgres_row *r, struct arena *arena, void *ret)
{
	(void)arena;
	/* Whatever it is that stands there: only 0 lets everybody in. */
	*(bool *)ret = postgres_column_is_null(r, 0) || postgres_column_int(r, 0) != 0;
}

enum store_status postgres_access_mode(struct store_conn *c, bool *ret_needs_key)
{
	static const char sql[] = "SELECT needs_key FROM access_mode WHERE shard = $1";
	struct postgres_query q;
	enum store_status status = lock_keys(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	return postgres_read_one(&q, read_mode, NULL, ret_needs_key);
}

enum store_status postgres_access_set_mode(struct store_conn *c, bool needs_key)
{
	static const char sql[] =
		"UPDATE access_mode SET needs_key = $2, version = version + 1 WHERE shard = $1 "
		"RETURNING pg_notify('spine', '')";
	struct postgres_query q;

	query(&q, c, sql);
	postgres_bind_int(&q, 2, needs_key);
	return postgres_run_change(&q);
}

enum store_status postgres_access_key_next(struct store_conn *c, uint64_t *ret)
{
	static const char sql[] = "SELECT " POSTGRES_NEXT_ID("access_key");
	struct postgres_query q;
	enum store_status status = lock_keys(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	return postgres_read_int(&q, (int64_t *)ret);
}

static void bind_end(struct postgres_query *q, const struct access_key_row *key)
{
	postgres_bind_int(q, 2, (int64_t)key->num);
	postgres_bind_int(q, 3, key->expires_at_ms);
	postgres_bind_int(q, 4, key->revoked_at_ms);
	postgres_bind_str(q, 5, key->revoked_why);
	postgres_bind_digest(q, 6, key->hash);
	postgres_bind_digest(q, 7, key->old_hash);
	postgres_bind_int(q, 8, key->old_until_ms);
}

enum store_status postgres_access_key_insert(struct store_conn *c, const struct access_key_row *key)
{
	static const char sql[] =
		"INSERT INTO access_key (shard, id, expires_at, revoked_at, revoked_why, hash, old_hash, old_until, "
		"name, space, agent, scopes, trust, created_at, created_by) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, "
		"$10, $11, $12, $13, $14, $15 WHERE $2 >= " POSTGRES_NEXT_ID("access_key");
	struct postgres_query q;
	enum store_status status = note_change(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	bind_end(&q, key);
	postgres_bind_str(&q, 9, key->name);
	postgres_bind_str(&q, 10, key->space);
	postgres_bind_str(&q, 11, key->agent);
	postgres_bind_int(&q, 12, key->scopes);
	postgres_bind_int(&q, 13, key->trust);
	postgres_bind_int(&q, 14, key->created_at_ms);
	postgres_bind_str(&q, 15, key->created_by);
	status = postgres_run_change(&q);
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

enum store_status postgres_access_key_put(struct store_conn *c, const struct access_key_row *key)
{
	static const char sql[] =
		"UPDATE access_key SET expires_at = $3, revoked_at = $4, revoked_why = $5, hash = $6, old_hash = $7, "
		"old_until = $8 WHERE shard = $1 AND id = $2";
	struct postgres_query q;
	enum store_status status = note_change(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	bind_end(&q, key);
	return postgres_run_change(&q);
}

static void read_key(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct access_key_row *row = ret;

	*row = (struct access_key_row){
		.num = (uint64_t)postgres_column_int(r, 0),
		.name = postgres_column_str(r, 1, arena),
		.space = postgres_column_str(r, 2, arena),
		.agent = postgres_column_str(r, 3, arena),
		.scopes = (unsigned)postgres_column_int(r, 4),
		.trust = (enum trust)postgres_column_int(r, 5),
		.created_at_ms = postgres_column_int(r, 6),
		.created_by = postgres_column_str(r, 7, arena),
		.expires_at_ms = postgres_column_int(r, 8),
		.revoked_at_ms = postgres_column_int(r, 9),
		.revoked_why = postgres_column_str(r, 10, arena),
		.old_until_ms = postgres_column_int(r, 13),
	};
	postgres_column_digest(r, 11, row->hash);
	postgres_column_digest(r, 12, row->old_hash);
}

enum store_status postgres_access_key_get(struct store_conn *c, uint64_t num, struct arena *arena,
					  struct access_key_row *ret)
{
	static const char sql[] = KEY_COLUMNS "WHERE shard = $1 AND id = $2";
	struct postgres_query q;
	enum store_status status = lock_keys(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	postgres_bind_int(&q, 2, (int64_t)num);
	return postgres_read_one(&q, read_key, arena, ret);
}

enum store_status postgres_access_keys(struct store_conn *c, struct str space, uint64_t after, size_t max,
				       struct arena *arena, struct access_key_row *ret, size_t *ret_count)
{
	static const char sql[] =
		KEY_COLUMNS
		"WHERE shard = $1 AND id > $2 AND ($3::bytea IS NULL OR space = $3) ORDER BY id LIMIT $4";
	struct postgres_query q;

	query(&q, c, sql);
	postgres_bind_int(&q, 2, (int64_t)after);
	postgres_bind_str(&q, 3, space);
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_key, arena, ret, sizeof(*ret), max, ret_count);
}

/* Before keys go. */
static enum store_status keep_number(struct store_conn *c)
{
	static const char sql[] = POSTGRES_KEEP_ID("access_key");
	struct postgres_query q;
	enum store_status status = note_change(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	return postgres_run(&q);
}

enum store_status postgres_access_keys_revoke(struct store_conn *c, struct str space, int64_t at_ms, struct str why,
					      int64_t *ret_count)
{
	static const char sql[] =
		"WITH ended AS (UPDATE access_key SET revoked_at = $3, revoked_why = $4 WHERE shard = $1 "
		"AND space = $2 AND revoked_at = 0 RETURNING expires_at) "
		"SELECT count(*) FROM ended WHERE expires_at = 0 OR expires_at > $3";
	struct postgres_query q;
	enum store_status status = note_change(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	postgres_bind_str(&q, 2, space);
	postgres_bind_int(&q, 3, at_ms);
	postgres_bind_str(&q, 4, why);
	return postgres_read_int(&q, ret_count);
}

enum store_status postgres_access_keys_prune(struct store_conn *c, int64_t before_ms)
{
	static const char sql[] =
		"DELETE FROM access_key WHERE shard = $1 AND ((revoked_at > 0 AND revoked_at < $2) OR "
		"(expires_at > 0 AND expires_at < $2))";
	struct postgres_query q;
	enum store_status status = keep_number(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	postgres_bind_int(&q, 2, before_ms);
	return postgres_run(&q);
}

enum store_status postgres_access_reset(struct store_conn *c)
{
	static const char sql[] = "DELETE FROM access_key WHERE shard = $1";
	struct postgres_query q;
	enum store_status status = keep_number(c);

	if (status != STORE_OK)
		return status;
	query(&q, c, sql);
	status = postgres_run(&q);
	return status == STORE_OK ? postgres_access_set_mode(c, false) : status;
}
