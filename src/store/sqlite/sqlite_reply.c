/* Replies kept for Idempotency-Key. */
#include "store/sqlite/sqlite_internal.h"

enum store_status store_reply_get(struct store_conn *c, int64_t space, struct str key, struct arena *arena,
				  struct kept_reply *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_REPLY_GET);
	enum store_status status;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	rc = sqlite3_step(s);
	status = rc == SQLITE_DONE ? STORE_NOT_FOUND : sqlite_status(c, rc);
	if (status == STORE_OK) {
		struct str digest = sqlite_column_str(s, 0, arena);

		*ret = (struct kept_reply){
			.status = sqlite3_column_int(s, 1),
			.etag = sqlite_column_str(s, 2, arena),
			.location = sqlite_column_str(s, 3, arena),
			.body = sqlite_column_str(s, 4, arena),
			.at_ms = sqlite3_column_int64(s, 5),
		};
		if (digest.n == sizeof(ret->request_digest))
			memcpy(ret->request_digest, digest.p, digest.n);
	}
	sqlite3_reset(s);
	return status;
}

enum store_status store_reply_put(struct store_conn *c, int64_t space, struct str key, const struct kept_reply *reply,
				  const uint64_t *memories, size_t memory_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_REPLY_PUT);
	enum store_status status;
	int64_t id;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	sqlite3_bind_blob(s, 3, reply->request_digest, sizeof(reply->request_digest), SQLITE_STATIC);
	sqlite3_bind_int(s, 4, reply->status);
	sqlite_bind_str(s, 5, reply->etag);
	sqlite_bind_str(s, 6, reply->location);
	sqlite_bind_str(s, 7, reply->body);
	sqlite3_bind_int64(s, 8, reply->at_ms);
	status = sqlite_run(c, s);
	id = sqlite3_last_insert_rowid(c->db);
	for (size_t i = 0; status == STORE_OK && i < memory_count; i++)
		status = sqlite_run_on(c, SQL_MEMORY_SET_REPLY, sqlite_memory_key(space, memories[i]), id);
	return status;
}

enum store_status store_reply_prune(struct store_conn *c, int64_t before_ms, int max)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_REPLY_PRUNE);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, before_ms);
	sqlite3_bind_int(s, 2, max);
	return sqlite_run(c, s);
}
