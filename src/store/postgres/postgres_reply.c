/* Replies kept for Idempotency-Key. */
#include "store/postgres/postgres_internal.h"

static void read_reply(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct kept_reply *reply = ret;

	*reply = (struct kept_reply){
		.status = (int)postgres_column_int(r, 1),
		.etag = postgres_column_str(r, 2, arena),
		.location = postgres_column_str(r, 3, arena),
		.body = postgres_column_str(r, 4, arena),
		.at_ms = postgres_column_int(r, 5),
		.is_quarantined = postgres_column_int(r, 6),
	};
	postgres_column_digest(r, 0, reply->request_digest);
}

enum store_status postgres_reply_get(struct store_conn *c, int64_t space, struct str key, struct arena *arena,
				     struct kept_reply *ret)
{
	static const char sql[] =
		"SELECT digest, status, etag, location, body, at, (SELECT count(*) FROM reply_memory AS l "
		"JOIN memory AS m ON m.shard = $1 AND m.id = l.memory WHERE l.shard = $1 AND l.space = $2 AND "
		"l.key = $3 AND m.quarantined_at != 0 AND reply.body != '') "
		"FROM reply WHERE shard = $1 AND space = $2 AND key = $3";
	struct postgres_query q;

	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, key);
	return postgres_read_one(&q, read_reply, arena, ret);
}

/* Where the memory is forgotten, while the reply was being made, its body is emptied. */
static enum store_status link_memory(struct store_conn *c, int64_t space, struct str key, uint64_t memory)
{
	static const char sql[] =
		"WITH m AS (SELECT id FROM memory WHERE shard = $1 AND id = $4 AND forgotten_at = 0), "
		"linked AS (INSERT INTO reply_memory (shard, space, key, memory) SELECT $1, $2, $3, id FROM m "
		"ON CONFLICT DO NOTHING) "
		"UPDATE reply SET body = ''::bytea WHERE shard = $1 AND space = $2 AND key = $3 AND "
		"NOT EXISTS (SELECT 1 FROM m)";
	struct postgres_query q;

	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, key);
	postgres_bind_int(&q, 4, postgres_key(space, memory));
	return postgres_run(&q);
}

/* What the one before was linked to goes first. One that replaces another has the last place, too. */
static const char put_sql[] =
	"WITH unlinked AS (DELETE FROM reply_memory WHERE shard = $1 AND space = $2 AND key = $3) "
	"INSERT INTO reply (shard, space, key, digest, status, etag, location, body, at, place) VALUES ($1, $2, $3, "
	"$4, $5, $6, $7, $8, $9, coalesce((SELECT max(place) FROM reply WHERE shard = $1), 0) + 1) "
	"ON CONFLICT (shard, space, key) DO UPDATE SET digest = excluded.digest, status = excluded.status, "
	"etag = excluded.etag, location = excluded.location, body = excluded.body, at = excluded.at, "
	"place = excluded.place";

enum store_status postgres_reply_put(struct store_conn *c, int64_t space, struct str key,
				     const struct kept_reply *reply, const uint64_t *memories, size_t memory_count)
{
	struct postgres_query q;
	enum store_status status;

	if (key.p == NULL || reply->body.p == NULL)
		return STORE_REFUSED;
	postgres_query_apart(&q, c, put_sql);
	postgres_bind_int(&q, 2, space);
	postgres_bind_str(&q, 3, key);
	postgres_bind_digest(&q, 4, reply->request_digest);
	postgres_bind_int(&q, 5, reply->status);
	postgres_bind_str(&q, 6, reply->etag);
	postgres_bind_str(&q, 7, reply->location);
	postgres_bind_str(&q, 8, reply->body);
	postgres_bind_int(&q, 9, reply->at_ms);
	status = postgres_run(&q);
	for (size_t i = 0; status == STORE_OK && i < memory_count; i++)
		status = link_memory(c, space, key, memories[i]);
	return status;
}

enum store_status postgres_reply_oldest(struct store_conn *c, int64_t *ret_ms)
{
	static const char sql[] = "SELECT at FROM reply WHERE shard = $1 ORDER BY place LIMIT 1";
	struct postgres_query q;

	postgres_query_apart(&q, c, sql);
	return postgres_read_int(&q, ret_ms);
}

enum store_status postgres_reply_prune(struct store_conn *c, int64_t before_ms, int max)
{
	static const char sql[] =
		"WITH first AS MATERIALIZED (SELECT space, key, at FROM reply WHERE shard = $1 ORDER BY place "
		"LIMIT $3), "
		"unlinked AS (DELETE FROM reply_memory l USING first WHERE first.at < $2 AND l.shard = $1 AND "
		"l.space = first.space AND l.key = first.key) "
		"DELETE FROM reply USING first WHERE first.at < $2 AND reply.shard = $1 AND "
		"reply.space = first.space AND reply.key = first.key";
	struct postgres_query q;

	postgres_query_apart(&q, c, sql);
	postgres_bind_int(&q, 2, before_ms);
	postgres_bind_int(&q, 3, max);
	return postgres_run(&q);
}
