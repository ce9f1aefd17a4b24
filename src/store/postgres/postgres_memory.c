/* Memories on PostgreSQL. */
#include "store/postgres/postgres_internal.h"
#include "store/postgres/postgres_kept.h"

#include <assert.h>

#define NUM_MAX "1099511627775"
_Static_assert(MEMORY_NUM_MAX == 1099511627775, NUM_MAX);

#define MEMORY_COLUMNS \
	"SELECT m.id, m.version, m.pinned, m.created_at, m.supersedes, m.superseded_by, m.forgotten_at, v.version, " \
	"v.updated_at, v.expires_at, v.importance, v.trust, v.content, v.summary, v.kind, v.tags, v.agent, v.task, " \
	"v.metadata, v.digest, v.origin, m.quarantined_at, m.keys "

enum store_status postgres_memory_next(struct store_conn *c, int64_t space, uint64_t *ret)
{
	static const char sql[] = "SELECT next_memory FROM space WHERE shard = $1 AND id = $2";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, space);
	return postgres_read_int(&q, (int64_t *)ret);
}

/* --- Writing --- */

/* Stores a version of each memory in m, and counts its bytes. $2 is the space, $18 how many bytes it has. */
#define ADD_VERSION \
	"version AS (INSERT INTO memory_version (shard, memory, version, updated_at, expires_at, importance, trust, " \
	"content, summary, kind, tags, agent, task, metadata, digest, origin) SELECT $1, id, $4, $5, $6, $7, $8, $9, " \
	"$10, $11, $12, $13, $14, $15, $16, $17 FROM m) "

static void bind_version(struct postgres_query *q, const struct memory *m, uint32_t version)
{
	postgres_bind_int(q, 2, m->space);
	postgres_bind_int(q, 4, version);
	postgres_bind_int(q, 5, m->updated_at_ms);
	postgres_bind_int(q, 6, m->expires_at_ms);
	postgres_bind_int(q, 7, m->importance);
	postgres_bind_int(q, 8, m->trust);
	postgres_bind_str(q, 9, m->content);
	postgres_bind_str(q, 10, m->summary);
	postgres_bind_str(q, 11, m->kind);
	postgres_bind_str(q, 12, m->tags);
	postgres_bind_str(q, 13, m->agent);
	postgres_bind_str(q, 14, m->task);
	postgres_bind_str(q, 15, m->metadata);
	postgres_bind_digest(q, 16, m->digest);
	postgres_bind_str(q, 17, m->origin);
	postgres_bind_int(q, 18, (int64_t)(m->content.n + m->summary.n + m->metadata.n));
}

/* $3 is the number, 0: the next. A row without a number says that it is taken, no row that there is no such space. */
static const char insert_sql[] =
	"WITH s AS (SELECT CASE WHEN $3 > 0 THEN $3 ELSE next_memory END AS num FROM space WHERE shard = $1 AND "
	"id = $2), "
	"m AS (INSERT INTO memory (shard, id, version, pinned, created_at, supersedes) "
	"SELECT $1, $2 << 40 | num, $4, $19, $20, $21 FROM s WHERE num <= " NUM_MAX " ON CONFLICT DO NOTHING "
	"RETURNING id, id & " NUM_MAX " AS num), "
	ADD_VERSION ", "
	"counted AS (UPDATE space SET memories = memories + 1, next_memory = greatest(next_memory, m.num + 1), "
	"bytes = bytes + $18 FROM m WHERE space.shard = $1 AND space.id = $2) "
	"SELECT m.num FROM s LEFT JOIN m ON true";

enum store_status postgres_memory_insert(struct store_conn *c, struct memory *m)
{
	struct postgres_query q;
	enum store_status status;
	int64_t num = 0;

	postgres_query(&q, c, insert_sql);
	bind_version(&q, m, 1);
	postgres_bind_int(&q, 3, (int64_t)m->num);
	postgres_bind_int(&q, 19, m->pinned);
	postgres_bind_int(&q, 20, m->created_at_ms);
	postgres_bind_int(&q, 21, (int64_t)m->supersedes);
	status = postgres_read_int(&q, &num);
	postgres_kept_space_changed(c, m->space);
	if (status != STORE_OK)
		return status;
	if (num == 0)
		return STORE_EXISTS;
	m->num = (uint64_t)num;
	m->version = m->current_version = 1;
	postgres_cache_change(c, &row_memory, postgres_key(m->space, m->num), STR_NULL);
	return STORE_OK;
}

/* Behind a statement that writes it, and maybe counts it in its space. */
static enum store_status changed(struct store_conn *c, int64_t space, uint64_t num, enum store_status status)
{
	postgres_cache_change(c, &row_memory, postgres_key(space, num), STR_NULL);
	postgres_kept_space_changed(c, space);
	return status;
}

enum store_status postgres_memory_add_version(struct store_conn *c, const struct memory *m)
{
	static const char sql[] =
		"WITH m AS (UPDATE memory SET version = $4 WHERE shard = $1 AND id = $3 RETURNING id), "
		ADD_VERSION ", "
		"counted AS (UPDATE space SET bytes = bytes + $18 FROM m WHERE space.shard = $1 AND space.id = $2) "
		"SELECT id FROM m";
	struct postgres_query q;

	assert(m->version > 1);
	postgres_query(&q, c, sql);
	bind_version(&q, m, m->version);
	postgres_bind_int(&q, 3, postgres_key(m->space, m->num));
	return changed(c, m->space, m->num, postgres_run_change(&q));
}

enum store_status postgres_memory_set_pinned(struct store_conn *c, int64_t space, uint64_t num, bool pinned)
{
	static const char sql[] = "UPDATE memory SET pinned = $3 WHERE shard = $1 AND id = $2";

	return changed(c, space, num, postgres_run_on(c, sql, postgres_key(space, num), pinned));
}

enum store_status postgres_memory_set_superseded(struct store_conn *c, int64_t space, uint64_t num, uint64_t by)
{
	static const char sql[] = "UPDATE memory SET superseded_by = $3 WHERE shard = $1 AND id = $2";

	return changed(c, space, num, postgres_run_on(c, sql, postgres_key(space, num), (int64_t)by));
}

enum store_status postgres_memory_set_quarantined(struct store_conn *c, int64_t space, uint64_t num, int64_t at_ms)
{
	static const char sql[] = "UPDATE memory SET quarantined_at = $3 WHERE shard = $1 AND id = $2";

	return changed(c, space, num, postgres_run_on(c, sql, postgres_key(space, num), at_ms));
}

/* --- Forgetting --- */

/* $2 is its key, $4 its space. */
#define FORGET \
	"m AS (UPDATE memory SET forgotten_at = $3, pinned = 0, quarantined_at = 0 WHERE shard = $1 AND id = $2 AND " \
	"forgotten_at = 0 RETURNING id), " \
	"v AS (DELETE FROM memory_version USING m WHERE memory_version.shard = $1 AND memory = m.id " \
	"RETURNING length(content) + coalesce(length(summary), 0) + length(metadata) AS bytes), " \
	"emptied AS (UPDATE reply SET body = ''::bytea FROM reply_memory l, m WHERE l.shard = $1 AND l.memory = m.id " \
	"AND reply.shard = $1 AND reply.space = l.space AND reply.key = l.key), " \
	"counted AS (UPDATE space SET memories = memories - 1, bytes = bytes - (SELECT coalesce(sum(bytes), 0) " \
	"FROM v) FROM m WHERE space.shard = $1 AND space.id = $4) " \
	"SELECT id FROM m"

static enum store_status forget(struct store_conn *c, const char *sql, int64_t space, uint64_t num, int64_t now_ms)
{
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, num));
	postgres_bind_int(&q, 3, now_ms);
	postgres_bind_int(&q, 4, space);
	return changed(c, space, num, postgres_run_change(&q));
}

enum store_status postgres_memory_forget(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	return forget(c, "WITH " FORGET, space, num, now_ms);
}

enum store_status postgres_memory_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	static const char sql[] =
		"WITH left_over AS (DELETE FROM left_result WHERE shard = $1 AND memory = $2), " FORGET;

	return forget(c, sql, space, num, now_ms);
}

enum store_status postgres_memory_set_keys(struct store_conn *c, int64_t space, uint64_t num, struct str keys)
{
	static const char sql[] = "UPDATE memory SET keys = $3 WHERE shard = $1 AND id = $2 AND forgotten_at > 0";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, num));
	postgres_bind_str(&q, 3, keys);
	return changed(c, space, num, postgres_run_change(&q));
}

/* --- Reading --- */

/* Reads a row of MEMORY_COLUMNS. */
static void read_memory(const struct postgres_row *r, struct arena *arena, void *ret)
{
	struct memory *m = ret;
	uint64_t key = (uint64_t)postgres_column_int(r, 0);

	*m = (struct memory){
		.space = (int64_t)(key >> 40),
		.num = key & MEMORY_NUM_MAX,
		.current_version = (uint32_t)postgres_column_int(r, 1),
		.pinned = postgres_column_int(r, 2) != 0,
		.created_at_ms = postgres_column_int(r, 3),
		.supersedes = (uint64_t)postgres_column_int(r, 4),
		.superseded_by = (uint64_t)postgres_column_int(r, 5),
		.forgotten_at_ms = postgres_column_int(r, 6),
		.version = (uint32_t)postgres_column_int(r, 7),
		.updated_at_ms = postgres_column_int(r, 8),
		.expires_at_ms = postgres_column_int(r, 9),
		.importance = (enum importance)postgres_column_int(r, 10),
		.trust = (enum trust)postgres_column_int(r, 11),
		.content = postgres_column_str(r, 12, arena),
		.summary = postgres_column_str(r, 13, arena),
		.kind = postgres_column_str(r, 14, arena),
		.tags = postgres_column_str(r, 15, arena),
		.agent = postgres_column_str(r, 16, arena),
		.task = postgres_column_str(r, 17, arena),
		.metadata = postgres_column_str(r, 18, arena),
		.origin = postgres_column_str(r, 20, arena),
		.quarantined_at_ms = postgres_column_int(r, 21),
		.keys = postgres_column_str(r, 22, arena),
	};
	postgres_column_digest(r, 19, m->digest);
}

/* $3 is the version, 0: the newest. */
static const char get_sql[] =
	MEMORY_COLUMNS
	"FROM memory m LEFT JOIN memory_version v ON v.shard = $1 AND v.memory = m.id AND "
	"v.version = CASE WHEN $3 > 0 THEN $3 ELSE m.version END WHERE m.shard = $1 AND m.id = $2";

enum store_status postgres_memory_get(struct store_conn *c, int64_t space, uint64_t num, uint32_t version,
				      struct arena *arena, struct memory *ret)
{
	int64_t key = postgres_key(space, num);
	uint64_t seen = postgres_cache_seen(c);
	struct postgres_query q;
	struct memory m = {0};
	enum store_status status;

	/* Only the newest version is kept. */
	if (postgres_cache_get(c, &row_memory, key, STR_NULL, arena, &m) && (version == 0 || version == m.version)) {
		*ret = m;
		return STORE_OK;
	}
	m = (struct memory){0};
	postgres_query_apart(&q, c, get_sql);
	postgres_bind_int(&q, 2, postgres_key(space, num));
	postgres_bind_int(&q, 3, version);
	status = postgres_read_one(&q, read_memory, arena, &m);
	if (status != STORE_OK)
		return status;
	/* The text of a forgotten memory is gone, its row is not; every other row has its text. */
	if (m.forgotten_at_ms != 0) {
		if (version > m.current_version)
			return STORE_NOT_FOUND;
		m.version = version ? version : m.current_version;
	} else if (m.version == 0) {
		return STORE_NOT_FOUND;
	}
	if (version == 0)
		postgres_cache_put(c, &row_memory, seen, key, STR_NULL, &m);
	*ret = m;
	return STORE_OK;
}

enum store_status postgres_memory_versions(struct store_conn *c, int64_t space, uint64_t num, uint32_t below,
					   size_t max, struct arena *arena, struct memory *ret, size_t *ret_count)
{
	static const char sql[] =
		MEMORY_COLUMNS
		"FROM memory_version v JOIN memory m ON m.shard = $1 AND m.id = v.memory WHERE v.shard = $1 AND "
		"v.memory = $2 AND v.version < $3 ORDER BY v.version DESC LIMIT $4";
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, num));
	postgres_bind_int(&q, 3, below ? (int64_t)below : INT64_MAX);
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_memory, arena, ret, sizeof(*ret), max, ret_count);
}

/* Those behind a number, each with its newest version: LIMIT 1 has each looked up by itself, where a join of the two
 * tables might go through all versions of the shard. */
#define PAGE_JOINED(join, on, condition) \
	MEMORY_COLUMNS \
	"FROM memory m " join " JOIN LATERAL (SELECT * FROM memory_version WHERE shard = $1 AND memory = m.id AND " \
	"version = m.version LIMIT 1) v " on " WHERE m.shard = $1 AND m.id > $2 AND m.id < $3 AND " condition \
	" ORDER BY m.id LIMIT $4"
#define PAGE(condition) PAGE_JOINED("CROSS", "", condition)

static enum store_status read_page(struct store_conn *c, const char *sql, int64_t space, uint64_t after, size_t max,
				   struct arena *arena, struct memory *ret, size_t *ret_count)
{
	struct postgres_query q;

	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, after));
	postgres_bind_int(&q, 3, postgres_key(space + 1, 0));
	postgres_bind_int(&q, 4, (int64_t)max);
	return postgres_read_list(&q, read_memory, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status postgres_memory_scan(struct store_conn *c, int64_t space, uint64_t after, size_t max,
				       struct arena *arena, struct memory *ret, size_t *ret_count)
{
	return read_page(c, PAGE("m.forgotten_at = 0"), space, after, max, arena, ret, ret_count);
}

enum store_status postgres_memories_quarantined(struct store_conn *c, int64_t space, uint64_t after, size_t max,
						struct arena *arena, struct memory *ret, size_t *ret_count)
{
	return read_page(c, PAGE("m.quarantined_at > 0"), space, after, max, arena, ret, ret_count);
}

enum store_status postgres_memories_traced(struct store_conn *c, int64_t space, uint64_t after, size_t max,
					   struct arena *arena, struct memory *ret, size_t *ret_count)
{
	static const char sql[] = PAGE_JOINED("LEFT", "ON true", "(v.version IS NOT NULL OR m.keys IS NOT NULL)");
	enum store_status status = read_page(c, sql, space, after, max, arena, ret, ret_count);

	for (size_t i = 0; status == STORE_OK && i < *ret_count; i++)
		ret[i].version = ret[i].current_version;
	return status;
}
