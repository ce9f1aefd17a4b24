/* Replies kept for Idempotency-Key. */
#include "store/sqlite/sqlite_internal.h"

#define OLD_REPLIES "(SELECT id FROM (SELECT id, at FROM reply ORDER BY id LIMIT ?2) WHERE at < ?1)"

static void read_reply(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct kept_reply *reply = ret;

	*reply = (struct kept_reply){
		.status = sqlite3_column_int(s, 1),
		.etag = sqlite_column_str(s, 2, arena),
		.location = sqlite_column_str(s, 3, arena),
		.body = sqlite_column_str(s, 4, arena),
		.at_ms = sqlite3_column_int64(s, 5),
		.is_quarantined = sqlite3_column_int(s, 6),
	};
	sqlite_column_digest(s, 0, reply->request_digest);
}

enum store_status sqlite_reply_get(struct store_conn *c, int64_t space, struct str key, struct arena *arena,
				   struct kept_reply *ret)
{
	static const char sql[] =
		"SELECT digest, status, etag, location, body, at, "
		"body != '' AND EXISTS (SELECT 1 FROM reply_memory AS l "
		"JOIN memory AS m ON m.id = l.memory WHERE l.reply = reply.id AND m.quarantined_at != 0) "
		"FROM reply WHERE space = ?1 AND key = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	return sqlite_read_one(c, s, read_reply, arena, ret);
}

/* What was kept for the key before is replaced, so what it was linked to must go first. */
static enum store_status unlink_old(struct store_conn *c, int64_t space, struct str key)
{
	static const char sql[] =
		"DELETE FROM reply_memory WHERE reply = (SELECT id FROM reply WHERE space = ?1 AND key = ?2)";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, key);
	return sqlite_run(c, s);
}

static enum store_status link_memory(struct store_conn *c, int64_t reply, int64_t memory)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO reply_memory (reply, memory) "
		"SELECT ?2, id FROM memory WHERE id = ?1 AND forgotten_at = 0";
	enum store_status status = sqlite_run_on(c, sql, memory, reply);

	if (status != STORE_NOT_FOUND)
		return status;
	/* Forgotten while the reply was being made. */
	return sqlite_run_on(c, "UPDATE reply SET body = '' WHERE id = ?1", reply, 0);
}

enum store_status sqlite_reply_put(struct store_conn *c, int64_t space, struct str key, const struct kept_reply *reply,
				   const uint64_t *memories, size_t memory_count)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO reply (space, key, digest, status, etag, location, body, at) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;
	int64_t id;

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
	id = sqlite_last_id(c);
	for (size_t i = 0; status == STORE_OK && i < memory_count; i++)
		status = link_memory(c, id, sqlite_memory_key(space, memories[i]));
	return status;
}

enum store_status sqlite_reply_oldest(struct store_conn *c, int64_t *ret_ms)
{
	return sqlite_read_int(c, sqlite_statement(c, "SELECT at FROM reply ORDER BY id LIMIT 1"), ret_ms);
}

enum store_status sqlite_reply_prune(struct store_conn *c, int64_t before_ms, int max)
{
	static const char links[] = "DELETE FROM reply_memory WHERE reply IN " OLD_REPLIES;
	enum store_status status = sqlite_run_on(c, links, before_ms, max);

	if (status == STORE_OK || status == STORE_NOT_FOUND)
		status = sqlite_run_on(c, "DELETE FROM reply WHERE id IN " OLD_REPLIES, before_ms, max);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}
