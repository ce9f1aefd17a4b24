/* Replies kept for Idempotency-Key. */
#include "store/sqlite/sqlite_internal.h"

enum store_status sqlite_reply_get(struct store_conn *c, int64_t space, struct str key, struct arena *arena,
				  struct kept_reply *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_REPLY_GET);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	status = sqlite_step_row(c, s);
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

/* What was kept for the key before is replaced, so what it was linked to must go first. */
static enum store_status unlink_old(struct store_conn *c, int64_t space, struct str key)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_REPLY_UNLINK);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	return sqlite_run(c, s);
}

static enum store_status link_memory(struct store_conn *c, int64_t reply, int64_t memory)
{
	enum store_status status = sqlite_run_on(c, SQL_REPLY_LINK, memory, reply);

	/* Forgotten while the reply was being made. */
	return status == STORE_NOT_FOUND ? sqlite_run_on(c, SQL_REPLY_EMPTY, reply, 0) : status;
}

enum store_status sqlite_reply_put(struct store_conn *c, int64_t space, struct str key, const struct kept_reply *reply,
				  const uint64_t *memories, size_t memory_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_REPLY_PUT);
	enum store_status status;
	int64_t id;

	if (s == NULL)
		return STORE_FAILED;
	status = unlink_old(c, space, key);
	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	sqlite3_bind_blob(s, 3, reply->request_digest, sizeof(reply->request_digest), SQLITE_STATIC);
	sqlite3_bind_int(s, 4, reply->status);
	sqlite_bind_str(s, 5, reply->etag);
	sqlite_bind_str(s, 6, reply->location);
	sqlite_bind_str(s, 7, reply->body);
	sqlite3_bind_int64(s, 8, reply->at_ms);
	status = sqlite_run(c, s);
	id = sqlite3_last_insert_rowid(sqlite_of(c)->db);
	for (size_t i = 0; status == STORE_OK && i < memory_count; i++)
		status = link_memory(c, id, sqlite_memory_key(space, memories[i]));
	return status;
}

enum store_status sqlite_reply_prune(struct store_conn *c, int64_t before_ms, int max)
{
	enum store_status status = sqlite_run_on(c, SQL_REPLY_PRUNE_LINKS, before_ms, max);

	if (status == STORE_OK || status == STORE_NOT_FOUND)
		status = sqlite_run_on(c, SQL_REPLY_PRUNE, before_ms, max);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}
