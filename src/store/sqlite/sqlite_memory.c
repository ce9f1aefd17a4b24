/* Memories in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>

#define MEMORY_COLUMNS \
	"SELECT m.id, m.version, m.pinned, m.created_at, m.supersedes, m.superseded_by, m.forgotten_at, v.version, " \
	"v.updated_at, v.expires_at, v.importance, v.trust, v.content, v.summary, v.kind, v.tags, v.agent, v.task, " \
	"v.metadata, v.digest, v.origin, m.quarantined_at, m.keys "

static enum store_status insert_version(struct store_conn *c, const struct memory *m)
{
	static const char sql[] =
		"INSERT INTO memory_version (memory, version, updated_at, expires_at, importance, trust, content, "
		"summary, kind, tags, agent, task, metadata, digest, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
		"?9, ?10, ?11, ?12, ?13, ?14, ?15)";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite3_bind_int64(s, 1, sqlite_memory_key(m->space, m->num));
	sqlite3_bind_int64(s, 2, m->version);
	sqlite3_bind_int64(s, 3, m->updated_at_ms);
	sqlite3_bind_int64(s, 4, m->expires_at_ms);
	sqlite3_bind_int(s, 5, (int)m->importance);
	sqlite3_bind_int(s, 6, (int)m->trust);
	sqlite_bind_str(s, 7, m->content);
	sqlite_bind_str(s, 8, m->summary);
	sqlite_bind_str(s, 9, m->kind);
	sqlite_bind_str(s, 10, m->tags);
	sqlite_bind_str(s, 11, m->agent);
	sqlite_bind_str(s, 12, m->task);
	sqlite_bind_str(s, 13, m->metadata);
	sqlite3_bind_blob(s, 14, m->digest, sizeof(m->digest), SQLITE_STATIC);
	sqlite_bind_str(s, 15, m->origin);
	status = sqlite_run(c, s);
	if (status == STORE_OK)
		status = sqlite_tally_add(c, m->space, (int64_t)(m->content.n + m->summary.n + m->metadata.n), 0);
	return status;
}

enum store_status sqlite_tally_flush(struct store_conn *c)
{
	static const char sql[] =
		"UPDATE space SET memories = memories + ?3, next_memory = max(next_memory, ?2), bytes = bytes + ?4, "
		"agents = agents + ?5 WHERE id = ?1";
	struct sqlite_tally tally = sqlite_of(c)->tally;
	sqlite3_stmt *s;

	sqlite_of(c)->tally = (struct sqlite_tally){0};
	if (tally.added == 0 && tally.bytes == 0 && tally.agents == 0)
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, tally.space);
	sqlite3_bind_int64(s, 2, tally.next_memory);
	sqlite3_bind_int64(s, 3, tally.added);
	sqlite3_bind_int64(s, 4, tally.bytes);
	sqlite3_bind_int64(s, 5, tally.agents);
	return sqlite_run(c, s);
}

enum store_status sqlite_memory_next(struct store_conn *c, int64_t space, uint64_t *ret)
{
	static const char sql[] = "SELECT next_memory FROM space WHERE id = ?1";
	const struct sqlite_tally *tally = &sqlite_of(c)->tally;
	sqlite3_stmt *s;

	if (tally->space == space) {
		*ret = (uint64_t)tally->next_memory;
		return STORE_OK;
	}
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, space);
	return sqlite_read_int(c, s, (int64_t *)ret);
}

/* Makes the tally that of the space. STORE_NOT_FOUND where there is no such space. */
static enum store_status open_tally(struct store_conn *c, int64_t space)
{
	enum store_status status = STORE_OK;
	uint64_t next;

	/* After some errors (no memory) SQLite has rolled back by itself, and who was told may have gone on. */
	if (sqlite3_get_autocommit(sqlite_of(c)->db))
		return sqlite_status(c, SQLITE_ABORT_ROLLBACK);
	if (sqlite_of(c)->tally.space == space)
		return STORE_OK;
	status = sqlite_tally_flush(c);
	if (status == STORE_OK)
		status = sqlite_memory_next(c, space, &next);
	if (status == STORE_OK)
		sqlite_of(c)->tally = (struct sqlite_tally){.space = space, .next_memory = (int64_t)next};
	return status;
}

enum store_status sqlite_tally_add(struct store_conn *c, int64_t space, int64_t bytes, int64_t agents)
{
	enum store_status status = open_tally(c, space);

	/* Of a space that is not there nothing is counted. */
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	sqlite_of(c)->tally.bytes += bytes;
	sqlite_of(c)->tally.agents += agents;
	return STORE_OK;
}

static void count_memory(struct sqlite_tally *tally, uint64_t num)
{
	tally->added++;
	if (tally->next_memory <= (int64_t)num)
		tally->next_memory = (int64_t)num + 1;
}

enum store_status sqlite_memory_insert(struct store_conn *c, struct memory *m)
{
	static const char sql[] =
		"INSERT INTO memory (id, version, pinned, created_at, supersedes) "
		"VALUES (?1, 1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status = open_tally(c, m->space);
	uint64_t num;

	if (status != STORE_OK)
		return status;
	num = m->num ? m->num : (uint64_t)sqlite_of(c)->tally.next_memory;
	if (num > MEMORY_NUM_MAX)
		return STORE_EXISTS;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(m->space, num));
	sqlite3_bind_int(s, 2, m->pinned);
	sqlite3_bind_int64(s, 3, m->created_at_ms);
	sqlite3_bind_int64(s, 4, (int64_t)m->supersedes);
	status = sqlite_run(c, s);
	if (status == STORE_OK && !sqlite_changed(c))
		return STORE_EXISTS;
	if (status != STORE_OK)
		return status;
	/* Who reads it before the end of the transaction must not keep it for others. */
	sqlite_cache_change(c, &row_memory, sqlite_memory_key(m->space, num), STR_NULL);
	count_memory(&sqlite_of(c)->tally, num);
	m->num = num;
	m->version = m->current_version = 1;
	return insert_version(c, m);
}

/* Changes one column of a memory. */
static enum store_status set_of_memory(struct store_conn *c, const char *sql, int64_t space, uint64_t num,
				       int64_t value)
{
	int64_t key = sqlite_memory_key(space, num);

	sqlite_cache_change(c, &row_memory, key, STR_NULL);
	return sqlite_run_on(c, sql, key, value);
}

enum store_status sqlite_memory_add_version(struct store_conn *c, const struct memory *m)
{
	static const char sql[] = "UPDATE memory SET version = ?2 WHERE id = ?1";
	enum store_status status = set_of_memory(c, sql, m->space, m->num, m->version);

	assert(m->version > 1);
	return status == STORE_OK ? insert_version(c, m) : status;
}

enum store_status sqlite_memory_set_pinned(struct store_conn *c, int64_t space, uint64_t num, bool pinned)
{
	return set_of_memory(c, "UPDATE memory SET pinned = ?2 WHERE id = ?1", space, num, pinned);
}

enum store_status sqlite_memory_set_superseded(struct store_conn *c, int64_t space, uint64_t num, uint64_t by)
{
	return set_of_memory(c, "UPDATE memory SET superseded_by = ?2 WHERE id = ?1", space, num, (int64_t)by);
}

enum store_status sqlite_memory_set_quarantined(struct store_conn *c, int64_t space, uint64_t num, int64_t at_ms)
{
	return set_of_memory(c, "UPDATE memory SET quarantined_at = ?2 WHERE id = ?1", space, num, at_ms);
}

/* How many bytes its versions have. */
static enum store_status read_bytes(struct store_conn *c, int64_t key, int64_t *ret)
{
	static const char sql[] =
		"SELECT coalesce(sum(length(CAST(content AS BLOB)) + coalesce(length(CAST(summary AS BLOB)), 0) + "
		"length(CAST(metadata AS BLOB))), 0) FROM memory_version WHERE memory = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, key);
	return sqlite_read_int(c, s, ret);
}

static enum store_status forget(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	static const char mark[] =
		"UPDATE memory SET forgotten_at = ?2, pinned = 0, quarantined_at = 0 WHERE id = ?1 AND "
		"forgotten_at = 0";
	static const char empty[] =
		"UPDATE reply SET body = '' WHERE id IN (SELECT reply FROM reply_memory WHERE memory = ?1)";
	int64_t key = sqlite_memory_key(space, num);
	enum store_status status = set_of_memory(c, mark, space, num, now_ms);
	int64_t bytes = 0;

	if (status == STORE_OK)
		status = read_bytes(c, key, &bytes);
	if (status == STORE_OK)
		status = sqlite_tally_add(c, space, -bytes, 0);
	if (status != STORE_OK)
		return status;
	status = sqlite_run_on(c, empty, key, 0);
	if (status == STORE_OK || status == STORE_NOT_FOUND)	/* most memories have no kept reply */
		status = sqlite_run_on(c, "DELETE FROM memory_version WHERE memory = ?1", key, 0);
	if (status == STORE_OK)
		status = sqlite_run_on(c, "UPDATE space SET memories = memories - 1 WHERE id = ?1", space, 0);
	return status;
}

enum store_status sqlite_memory_forget(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	enum store_status status = forget(c, space, num, now_ms);

	if (status == STORE_OK)
		sqlite_of(c)->forgot = true;
	return status;
}

enum store_status sqlite_memory_set_keys(struct store_conn *c, int64_t space, uint64_t num, struct str keys)
{
	static const char sql[] = "UPDATE memory SET keys = ?2 WHERE id = ?1 AND forgotten_at > 0";
	int64_t key = sqlite_memory_key(space, num);
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite_cache_change(c, &row_memory, key, STR_NULL);
	sqlite_of(c)->forgot |= keys.p == NULL;
	sqlite3_bind_int64(s, 1, key);
	sqlite_bind_str(s, 2, keys);
	return sqlite_run_change(c, s);
}

/* The log is not emptied for it: that would hold up the writes. */
enum store_status sqlite_memory_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	static const char sql[] = "DELETE FROM left_result WHERE memory = ?1";
	enum store_status status = sqlite_run_on(c, sql, sqlite_memory_key(space, num), 0);

	return status == STORE_OK || status == STORE_NOT_FOUND ? forget(c, space, num, now_ms) : status;
}

/* Reads a row of MEMORY_COLUMNS. */
static void read_memory(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct memory *m = ret;
	uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);

	*m = (struct memory){
		.space = (int64_t)(key >> 40),
		.num = key & MEMORY_NUM_MAX,
		.current_version = (uint32_t)sqlite3_column_int64(s, 1),
		.pinned = sqlite3_column_int(s, 2) != 0,
		.created_at_ms = sqlite3_column_int64(s, 3),
		.supersedes = (uint64_t)sqlite3_column_int64(s, 4),
		.superseded_by = (uint64_t)sqlite3_column_int64(s, 5),
		.forgotten_at_ms = sqlite3_column_int64(s, 6),
		.version = (uint32_t)sqlite3_column_int64(s, 7),
		.updated_at_ms = sqlite3_column_int64(s, 8),
		.expires_at_ms = sqlite3_column_int64(s, 9),
		.importance = (enum importance)sqlite3_column_int(s, 10),
		.trust = (enum trust)sqlite3_column_int(s, 11),
		.content = sqlite_column_str(s, 12, arena),
		.summary = sqlite_column_str(s, 13, arena),
		.kind = sqlite_column_str(s, 14, arena),
		.tags = sqlite_column_str(s, 15, arena),
		.agent = sqlite_column_str(s, 16, arena),
		.task = sqlite_column_str(s, 17, arena),
		.metadata = sqlite_column_str(s, 18, arena),
		.origin = sqlite_column_str(s, 20, arena),
		.quarantined_at_ms = sqlite3_column_int64(s, 21),
		.keys = sqlite_column_str(s, 22, arena),
	};
	sqlite_column_digest(s, 19, m->digest);
}

static const char memory_get_version_sql[] =
	MEMORY_COLUMNS
	"FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = ?2 WHERE m.id = ?1";
static const char memory_get_sql[] =
	MEMORY_COLUMNS
	"FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = m.version WHERE m.id = ?1";

enum store_status sqlite_memory_get(struct store_conn *c, int64_t space, uint64_t num, uint32_t version,
				    struct arena *arena, struct memory *ret)
{
	int64_t key = sqlite_memory_key(space, num);
	uint64_t seen = sqlite_cache_seen(c);
	struct memory m = {0};
	enum store_status status;
	sqlite3_stmt *s;

	/* Only the newest version is kept. */
	if (sqlite_cache_get(c, &row_memory, key, STR_NULL, arena, &m) &&
	    (version == 0 || version == m.version)) {
		*ret = m;
		return STORE_OK;
	}
	s = sqlite_statement(c, version ? memory_get_version_sql : memory_get_sql);
	sqlite3_bind_int64(s, 1, key);
	if (version)
		sqlite3_bind_int64(s, 2, version);
	status = sqlite_read_one(c, s, read_memory, arena, &m);
	/* The text of a forgotten memory is gone, its row is not; every other row has its text. */
	if (status == STORE_OK && m.forgotten_at_ms != 0) {
		if (version > m.current_version)
			return STORE_NOT_FOUND;
		m.version = version ? version : m.current_version;
	} else if (status == STORE_OK && m.version == 0) {
		return STORE_NOT_FOUND;
	}
	if (status == STORE_OK && version == 0)
		sqlite_cache_put(c, &row_memory, seen, key, STR_NULL, &m);
	if (status == STORE_OK)
		*ret = m;
	return status;
}

enum store_status sqlite_memory_versions(struct store_conn *c, int64_t space, uint64_t num, uint32_t below, size_t max,
					 struct arena *arena, struct memory *ret, size_t *ret_count)
{
	static const char sql[] =
		MEMORY_COLUMNS
		"FROM memory_version v JOIN memory m ON m.id = v.memory WHERE v.memory = ?1 "
		"AND v.version < ?2 ORDER BY v.version DESC LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	sqlite3_bind_int64(s, 2, below ? (int64_t)below : INT64_MAX);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_memory, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_memory_scan(struct store_conn *c, int64_t space, uint64_t after, size_t max,
				     struct arena *arena, struct memory *ret, size_t *ret_count)
{
	static const char sql[] =
		MEMORY_COLUMNS
		"FROM memory m CROSS JOIN memory_version v ON v.memory = m.id AND v.version = m.version "
		"WHERE m.id > ?1 AND m.id < ?2 ORDER BY m.id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_memory, arena, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_memories_traced(struct store_conn *c, int64_t space, uint64_t after, size_t max,
					 struct arena *arena, struct memory *ret, size_t *ret_count)
{
	static const char sql[] =
		MEMORY_COLUMNS
		"FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = m.version WHERE "
		"m.id > ?1 AND m.id < ?2 AND (v.id IS NOT NULL OR m.keys IS NOT NULL) ORDER BY m.id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	status = sqlite_read_list(c, s, read_memory, arena, ret, sizeof(*ret), max, ret_count);
	for (size_t i = 0; status == STORE_OK && i < *ret_count; i++)
		ret[i].version = ret[i].current_version;
	return status;
}

enum store_status sqlite_memories_quarantined(struct store_conn *c, int64_t space, uint64_t after, size_t max,
					      struct arena *arena, struct memory *ret, size_t *ret_count)
{
	static const char sql[] =
		MEMORY_COLUMNS
		"FROM memory m INDEXED BY memory_quarantined CROSS JOIN memory_version v ON v.memory = m.id AND "
		"v.version = m.version WHERE m.quarantined_at > 0 AND m.id > ?1 AND m.id < ?2 ORDER BY m.id LIMIT ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return sqlite_read_list(c, s, read_memory, arena, ret, sizeof(*ret), max, ret_count);
}
