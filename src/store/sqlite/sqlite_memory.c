/* Memories in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#include <assert.h>

static enum store_status insert_version(struct store_conn *c, const struct memory *m)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_VERSION_INSERT);

	if (s == NULL)
		return STORE_FAILED;
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
	return sqlite_run(c, s);
}

enum store_status sqlite_tally_flush(struct store_conn *c)
{
	struct sqlite_tally tally = sqlite_of(c)->tally;
	sqlite3_stmt *s;

	sqlite_of(c)->tally = (struct sqlite_tally){0};
	if (tally.added == 0)
		return STORE_OK;
	s = sqlite_statement(c, SQL_SPACE_ADDED);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, tally.space);
	sqlite3_bind_int64(s, 2, tally.next_memory);
	sqlite3_bind_int64(s, 3, tally.added);
	return sqlite_run(c, s);
}

/* Makes the tally that of the space. STORE_NOT_FOUND where there is no such space. */
static enum store_status open_tally(struct store_conn *c, int64_t space)
{
	enum store_status status = STORE_OK;
	sqlite3_stmt *s;
	int64_t next;

	assert(!sqlite3_get_autocommit(sqlite_of(c)->db));
	if (sqlite_of(c)->tally.space == space)
		return STORE_OK;
	status = sqlite_tally_flush(c);
	if (status != STORE_OK)
		return status;
	s = sqlite_statement(c, SQL_SPACE_NEXT);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	status = sqlite_read_int(c, s, &next);
	if (status == STORE_OK)
		sqlite_of(c)->tally = (struct sqlite_tally){.space = space, .next_memory = next};
	return status;
}

static void count_memory(struct sqlite_tally *tally, uint64_t num)
{
	tally->added++;
	if (tally->next_memory <= (int64_t)num)
		tally->next_memory = (int64_t)num + 1;
}

enum store_status sqlite_memory_insert(struct store_conn *c, struct memory *m)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_MEMORY_INSERT);
	enum store_status status = s ? open_tally(c, m->space) : STORE_FAILED;
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
	if (status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0)
		return STORE_EXISTS;
	if (status != STORE_OK)
		return status;
	count_memory(&sqlite_of(c)->tally, num);
	m->num = num;
	m->version = m->current_version = 1;
	return insert_version(c, m);
}

/* Changes one column of a memory. */
static enum store_status set_of_memory(struct store_conn *c, enum sqlite_statement which, int64_t space, uint64_t num,
				       int64_t value)
{
	int64_t key = sqlite_memory_key(space, num);

	sqlite_cache_change(c, &sqlite_memory_shape, key, STR_NULL);
	return sqlite_run_on(c, which, key, value);
}

enum store_status sqlite_memory_add_version(struct store_conn *c, const struct memory *m)
{
	enum store_status status = set_of_memory(c, SQL_MEMORY_SET_VERSION, m->space, m->num, m->version);

	assert(m->version > 1);
	return status == STORE_OK ? insert_version(c, m) : status;
}

enum store_status sqlite_memory_set_pinned(struct store_conn *c, int64_t space, uint64_t num, bool pinned)
{
	return set_of_memory(c, SQL_MEMORY_SET_PINNED, space, num, pinned);
}

enum store_status sqlite_memory_set_superseded(struct store_conn *c, int64_t space, uint64_t num, uint64_t by)
{
	return set_of_memory(c, SQL_MEMORY_SET_SUPERSEDED, space, num, (int64_t)by);
}

enum store_status sqlite_memory_forget(struct store_conn *c, int64_t space, uint64_t num, int64_t now_ms)
{
	int64_t key = sqlite_memory_key(space, num);
	enum store_status status = set_of_memory(c, SQL_MEMORY_SET_FORGOTTEN, space, num, now_ms);

	if (status != STORE_OK)
		return status;
	sqlite_of(c)->forgot = true;
	status = sqlite_run_on(c, SQL_REPLY_EMPTY_OF, key, 0);
	if (status == STORE_OK || status == STORE_NOT_FOUND)	/* most memories have no kept reply */
		status = sqlite_run_on(c, SQL_VERSION_DELETE, key, 0);
	if (status == STORE_OK)
		status = sqlite_run_on(c, SQL_SPACE_REMOVED, space, 0);
	return status;
}

/* Reads a row of SQLITE_MEMORY_COLUMNS. */
static void read_memory(sqlite3_stmt *s, struct arena *arena, struct memory *ret)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);

	*ret = (struct memory){
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
	};
	sqlite_column_digest(s, 19, ret->digest);
}

enum store_status sqlite_memory_get(struct store_conn *c, int64_t space, uint64_t num, uint32_t version,
				   struct arena *arena, struct memory *ret)
{
	int64_t key = sqlite_memory_key(space, num);
	uint64_t seen = sqlite_cache_seen(c);
	struct memory m = {0};
	enum store_status status;
	sqlite3_stmt *s;

	/* Only the newest version is kept. */
	if (sqlite_cache_get(c, &sqlite_memory_shape, key, STR_NULL, arena, &m) &&
	    (version == 0 || version == m.version)) {
		*ret = m;
		return STORE_OK;
	}
	s = sqlite_statement(c, version ? SQL_MEMORY_GET_VERSION : SQL_MEMORY_GET);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, key);
	if (version)
		sqlite3_bind_int64(s, 2, version);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		read_memory(s, arena, &m);
	sqlite3_reset(s);
	/* The text of a forgotten memory is gone, its row is not; every other row has its text. */
	if (status == STORE_OK && m.forgotten_at_ms != 0) {
		if (version > m.current_version)
			return STORE_NOT_FOUND;
		m.version = version ? version : m.current_version;
	} else if (status == STORE_OK && m.version == 0) {
		return STORE_NOT_FOUND;
	}
	if (status == STORE_OK && version == 0)
		sqlite_cache_put(c, &sqlite_memory_shape, seen, key, STR_NULL, &m);
	if (status == STORE_OK)
		*ret = m;
	return status;
}

static enum store_status read_memories(struct store_conn *c, sqlite3_stmt *s, size_t max, struct arena *arena,
				       struct memory *ret, size_t *ret_count)
{
	size_t count = 0;
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_memory(s, arena, &ret[count++]);
	sqlite3_reset(s);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		return sqlite_status(c, rc);
	*ret_count = count;
	return STORE_OK;
}

enum store_status sqlite_memory_versions(struct store_conn *c, int64_t space, uint64_t num, uint32_t below, size_t max,
					struct arena *arena, struct memory *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_MEMORY_VERSIONS);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	sqlite3_bind_int64(s, 2, below ? (int64_t)below : INT64_MAX);
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return read_memories(c, s, max, arena, ret, ret_count);
}

enum store_status sqlite_memory_scan(struct store_conn *c, int64_t space, uint64_t after, size_t max,
				    struct arena *arena, struct memory *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_MEMORY_SCAN);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	return read_memories(c, s, max, arena, ret, ret_count);
}
