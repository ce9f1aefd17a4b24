/* Envelopes, tasks and receipts in SQLite. */
#include "store/sqlite/sqlite_internal.h"

#define ENVELOPE_COLUMNS \
	"SELECT e.id, t.name, e.parent, e.hop, e.created_at, e.digest, e.body, e.texts, e.body_digest "

/* --- Tasks --- */

static enum store_status find_task(struct store_conn *c, int64_t space, struct str name, int64_t *ret)
{
	static const char sql[] = "SELECT id FROM task WHERE space = ?1 AND name = ?2";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	return sqlite_read_int(c, s, ret);
}

static enum store_status make_task(struct store_conn *c, const struct envelope_row *row, int64_t *ret)
{
	static const char sql[] =
		"INSERT INTO task (space, name, created_at, id, hops, tokens, intent, summary) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite3_bind_int64(s, 1, row->space);
	sqlite_bind_str(s, 2, row->task);
	sqlite3_bind_int64(s, 3, row->created_at_ms);
	sqlite3_bind_int64(s, 4, sqlite_memory_key(row->space, row->num));
	sqlite3_bind_int64(s, 5, row->hop);
	sqlite3_bind_int64(s, 6, row->tokens);
	sqlite_bind_str(s, 7, row->intent);
	sqlite_bind_str(s, 8, row->summary);
	status = sqlite_run(c, s);
	if (status == STORE_OK && !sqlite_changed(c))
		return STORE_EXISTS;
	if (status == STORE_OK)
		*ret = sqlite_memory_key(row->space, row->num);
	return status;
}

/* The first envelope of a chain mostly begins a task, the others never do. */
static enum store_status find_or_make_task(struct store_conn *c, const struct envelope_row *row, int64_t *ret,
					   bool *ret_made)
{
	enum store_status status = row->parent && !row->begins_task ? find_task(c, row->space, row->task, ret)
								    : STORE_NOT_FOUND;

	*ret_made = false;
	if (status != STORE_NOT_FOUND)
		return status;
	status = make_task(c, row, ret);
	*ret_made = status == STORE_OK;
	if (status == STORE_EXISTS && !row->begins_task)
		status = find_task(c, row->space, row->task, ret);
	/* It was not the name that is taken, but the number. */
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

/* What the task is known by is what its newest envelope says. */
static enum store_status renew_task(struct store_conn *c, const struct envelope_row *row, int64_t task)
{
	static const char sql[] =
		"UPDATE task SET hops = max(hops, ?2), tokens = tokens + ?3, intent = ?4, summary = ?5 WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, task);
	sqlite3_bind_int64(s, 2, row->hop);
	sqlite3_bind_int64(s, 3, row->tokens);
	sqlite_bind_str(s, 4, row->intent);
	sqlite_bind_str(s, 5, row->summary);
	return sqlite_run(c, s);
}

/* --- Envelopes --- */

static enum store_status cite(struct store_conn *c, const struct envelope_row *row)
{
	static const char sql[] = "INSERT INTO citation (envelope, memory) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < row->result_count; i++) {
		sqlite3_stmt *s = sqlite_statement(c, sql);

		sqlite3_bind_int64(s, 1, sqlite_memory_key(row->space, row->num));
		sqlite3_bind_int64(s, 2, sqlite_memory_key(row->space, row->results[i]));
		status = sqlite_run(c, s);
	}
	return status;
}

enum store_status sqlite_envelope_insert(struct store_conn *c, const struct envelope_row *row)
{
	static const char sql[] =
		"INSERT INTO envelope (id, task, parent, hop, created_at, digest, body, texts, body_digest, "
		"considered) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
	sqlite3_stmt *s = sqlite_statement(c, sql);
	struct envelope_row kept = *row;
	int64_t task = 0;
	bool made = false;
	enum store_status status =
		row->num > MEMORY_NUM_MAX ? STORE_EXISTS : find_or_make_task(c, row, &task, &made);

	if (status != STORE_OK)
		return status;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(row->space, row->num));
	sqlite3_bind_int64(s, 2, task);
	sqlite3_bind_int64(s, 3, (int64_t)row->parent);
	sqlite3_bind_int64(s, 4, row->hop);
	sqlite3_bind_int64(s, 5, row->created_at_ms);
	sqlite3_bind_blob(s, 6, row->digest, sizeof(row->digest), SQLITE_STATIC);
	sqlite_bind_str(s, 7, row->body);
	sqlite3_bind_int64(s, 8, row->texts);
	sqlite3_bind_blob(s, 9, row->has_body_digest ? row->body_digest : NULL, sizeof(row->body_digest),
			  SQLITE_STATIC);
	sqlite_bind_str(s, 10, row->considered);
	status = sqlite_run(c, s);
	if (status == STORE_OK && !sqlite_changed(c)) {
		/* The number is taken. A task that was made for this envelope must not stay. */
		if (made)
			status = sqlite_run_on(c, "DELETE FROM task WHERE id = ?1", task, 0);
		return status == STORE_OK ? STORE_EXISTS : status;
	}
	if (status == STORE_OK && !made)
		status = renew_task(c, row, task);
	/* It is read without what is only written. */
	kept.begins_task = false;
	kept.considered = kept.intent = kept.summary = STR_NULL;
	kept.tokens = 0;
	kept.results = NULL;
	kept.result_count = 0;
	if (status == STORE_OK)
		status = cite(c, row);
	if (status == STORE_OK)
		status = sqlite_tally_add(c, row->space, (int64_t)row->body.n, 0);
	if (status != STORE_OK)
		return status;
	sqlite_cache_add(c, &row_envelope, sqlite_memory_key(row->space, row->num), &kept);
	sqlite_of(c)->new_envelope = sqlite_memory_key(row->space, row->num);
	sqlite_of(c)->new_is_root = row->parent == 0;
	return STORE_OK;
}

/* Reads a row of ENVELOPE_COLUMNS. */
static void read_envelope(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct envelope_row *row = ret;
	uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);

	*row = (struct envelope_row){
		.space = (int64_t)(key >> 40),
		.num = key & MEMORY_NUM_MAX,
		.task = sqlite_column_str(s, 1, arena),
		.parent = (uint64_t)sqlite3_column_int64(s, 2),
		.hop = sqlite3_column_int64(s, 3),
		.created_at_ms = sqlite3_column_int64(s, 4),
		.body = sqlite_column_str(s, 6, arena),
		.texts = sqlite3_column_int64(s, 7),
		.has_body_digest = sqlite3_column_type(s, 8) != SQLITE_NULL,
	};
	sqlite_column_digest(s, 5, row->digest);
	sqlite_column_digest(s, 8, row->body_digest);
}

enum store_status sqlite_envelope_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				      struct envelope_row *ret)
{
	static const char sql[] = ENVELOPE_COLUMNS "FROM envelope e JOIN task t ON t.id = e.task WHERE e.id = ?1";
	int64_t key = sqlite_memory_key(space, num);
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &row_envelope, key, STR_NULL, arena, ret))
		return STORE_OK;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, key);
	status = sqlite_read_one(c, s, read_envelope, arena, ret);
	if (status == STORE_OK)
		sqlite_cache_put(c, &row_envelope, seen, key, STR_NULL, ret);
	return status;
}

enum store_status sqlite_envelope_considered(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
					     struct str *ret)
{
	static const char sql[] = "SELECT considered FROM envelope WHERE id = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	return sqlite_read_one(c, s, sqlite_read_str, arena, ret);
}

enum store_status sqlite_envelope_last(struct store_conn *c, int64_t space, uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT max(coalesce((SELECT max(id) FROM envelope WHERE id > ?1 AND id < ?2), 0), "
		"coalesce((SELECT max(id) FROM pruned_envelope WHERE id > ?1 AND id < ?2), 0))";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	return sqlite_read_num(c, s, ret_num);
}

enum store_status sqlite_envelope_next(struct store_conn *c, int64_t space, uint64_t after, uint64_t *ret_num)
{
	static const char sql[] =
		"SELECT coalesce(min(id), 0) FROM (SELECT min(id) AS id FROM envelope WHERE id > ?1 AND id < ?2 "
		"UNION ALL SELECT min(id) FROM pruned_envelope WHERE id > ?1 AND id < ?2)";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	return sqlite_read_num(c, s, ret_num);
}

enum store_status sqlite_task_envelopes(struct store_conn *c, int64_t space, struct str task, uint64_t after,
					size_t max, struct arena *arena, struct envelope_row *ret, size_t *ret_count)
{
	static const char sql[] =
		ENVELOPE_COLUMNS
		"FROM task t JOIN envelope e ON e.task = t.id WHERE t.space = ?1 AND t.name = ?2 "
		"AND e.id > ?3 ORDER BY e.id LIMIT ?4";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	sqlite3_bind_int64(s, 3, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_read_list(c, s, read_envelope, arena, ret, sizeof(*ret), max, ret_count);
}

static void read_link(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct envelope_link *)ret = (struct envelope_link){(uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX,
							      (uint64_t)sqlite3_column_int64(s, 1)};
}

enum store_status sqlite_task_links(struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max,
				    struct envelope_link *ret, size_t *ret_count)
{
	static const char sql[] =
		"SELECT e.id, e.parent FROM task t JOIN envelope e ON e.task = t.id "
		"WHERE t.space = ?1 AND t.name = ?2 AND e.id > ?3 ORDER BY e.id LIMIT ?4";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	sqlite3_bind_int64(s, 3, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 4, (int64_t)max);
	return sqlite_read_list(c, s, read_link, NULL, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_task_find(struct store_conn *c, int64_t space, struct str task)
{
	int64_t id;

	return find_task(c, space, task, &id);
}

enum store_status sqlite_task_last(struct store_conn *c, int64_t space, struct str task, struct arena *arena,
				   struct envelope_row *ret)
{
	static const char sql[] =
		ENVELOPE_COLUMNS
		"FROM task t JOIN envelope e ON e.task = t.id WHERE t.space = ?1 "
		"AND t.name = ?2 ORDER BY e.id DESC LIMIT 1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	return sqlite_read_one(c, s, read_envelope, arena, ret);
}

/* --- Receipts --- */

enum store_status sqlite_receipt_put(struct store_conn *c, int64_t space, uint64_t envelope,
				     const struct receipt_row *receipt)
{
	static const char sql[] =
		"INSERT INTO receipt (envelope, memory, agent, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, (int64_t)receipt->memory);
	sqlite_bind_str(s, 3, receipt->agent);
	sqlite3_bind_int64(s, 4, receipt->at_ms);
	return sqlite_run(c, s);
}

static void read_receipt(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	*(struct receipt_row *)ret = (struct receipt_row){(uint64_t)sqlite3_column_int64(s, 0),
							  sqlite_column_str(s, 1, arena), sqlite3_column_int64(s, 2)};
}

enum store_status sqlite_receipts(struct store_conn *c, int64_t space, uint64_t envelope, size_t max,
				  struct arena *arena, struct receipt_row *ret, size_t *ret_count)
{
	/* Most have none, and sorting nothing takes longer than looking. */
	static const char any_sql[] = "SELECT 1 FROM receipt WHERE envelope = ?1 LIMIT 1";
	static const char sql[] =
		"SELECT memory, agent, at FROM receipt WHERE envelope = ?1 ORDER BY at, memory, agent LIMIT ?2";
	sqlite3_stmt *s = sqlite_statement(c, any_sql);
	enum store_status status;
	int64_t any = 0;

	*ret_count = 0;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	status = sqlite_read_int(c, s, &any);
	if (status != STORE_OK)
		return status == STORE_NOT_FOUND ? STORE_OK : status;
	s = sqlite_statement(c, sql);
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, (int64_t)max);
	return sqlite_read_list(c, s, read_receipt, arena, ret, sizeof(*ret), max, ret_count);
}
