/* Envelopes, tasks and receipts in SQLite. */
#include "store/sqlite/sqlite_internal.h"

/* --- Tasks --- */

static enum store_status find_task(struct store_conn *c, int64_t space, struct str name, int64_t *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TASK_FIND);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, name);
	return sqlite_read_int(c, s, ret);
}

static enum store_status make_task(struct store_conn *c, const struct envelope_row *row, int64_t *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TASK_CREATE);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, row->space);
	sqlite_bind_str(s, 2, row->task);
	sqlite3_bind_int64(s, 3, row->created_at_ms);
	sqlite3_bind_int64(s, 4, sqlite_memory_key(row->space, row->num));
	status = sqlite_run(c, s);
	if (status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0)
		return STORE_EXISTS;
	if (status == STORE_OK)
		*ret = sqlite_memory_key(row->space, row->num);
	return status;
}

/* The first envelope of a chain mostly begins a task, the others never do. */
static enum store_status find_or_make_task(struct store_conn *c, const struct envelope_row *row, int64_t *ret,
					   bool *ret_made)
{
	enum store_status status = row->parent ? find_task(c, row->space, row->task, ret) : STORE_NOT_FOUND;

	*ret_made = false;
	if (status != STORE_NOT_FOUND)
		return status;
	status = make_task(c, row, ret);
	*ret_made = status == STORE_OK;
	if (status == STORE_EXISTS)
		status = find_task(c, row->space, row->task, ret);
	/* It was not the name that is taken, but the number. */
	return status == STORE_NOT_FOUND ? STORE_EXISTS : status;
}

enum store_status sqlite_tasks(struct store_conn *c, int64_t space, int64_t before, size_t max, struct arena *arena,
			      struct task_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TASKS);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, before ? before : sqlite_memory_key(space + 1, 0));
	sqlite3_bind_int64(s, 3, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		ret[count++] = (struct task_row){sqlite3_column_int64(s, 0), sqlite_column_str(s, 1, arena),
						 sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3)};
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

/* --- Envelopes --- */

enum store_status sqlite_envelope_insert(struct store_conn *c, const struct envelope_row *row)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ENVELOPE_INSERT);
	int64_t task = 0;
	bool made = false;
	enum store_status status = s ? find_or_make_task(c, row, &task, &made) : STORE_FAILED;

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
	if (status == STORE_OK && sqlite3_changes(sqlite_of(c)->db) == 0) {
		/* The number is taken. A task that was made for this envelope must not stay. */
		if (made)
			status = sqlite_run_on(c, SQL_TASK_DELETE, task, 0);
		return status == STORE_OK ? STORE_EXISTS : status;
	}
	if (status == STORE_OK)
		sqlite_cache_add(c, &sqlite_envelope_shape, sqlite_memory_key(row->space, row->num), row);
	return status;
}

/* Reads a row of SQLITE_ENVELOPE_COLUMNS. */
static void read_envelope(sqlite3_stmt *s, struct arena *arena, struct envelope_row *ret)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);

	*ret = (struct envelope_row){
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
	sqlite_column_digest(s, 5, ret->digest);
	sqlite_column_digest(s, 8, ret->body_digest);
}

enum store_status sqlite_envelope_get(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				     struct envelope_row *ret)
{
	int64_t key = sqlite_memory_key(space, num);
	uint64_t seen = sqlite_cache_seen(c);
	enum store_status status;
	sqlite3_stmt *s;

	if (sqlite_cache_get(c, &sqlite_envelope_shape, key, STR_NULL, arena, ret))
		return STORE_OK;
	s = sqlite_statement(c, SQL_ENVELOPE_GET);
	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, key);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK) {
		read_envelope(s, arena, ret);
		sqlite_cache_put(c, &sqlite_envelope_shape, seen, key, STR_NULL, ret);
	}
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_envelope_considered(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
					    struct str *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ENVELOPE_CONSIDERED);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		*ret = sqlite_column_str(s, 0, arena);
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_envelope_last(struct store_conn *c, int64_t space, uint64_t *ret_num)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_ENVELOPE_LAST);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, 0));
	sqlite3_bind_int64(s, 2, sqlite_memory_key(space + 1, 0));
	status = sqlite_status(c, sqlite3_step(s));
	if (status == STORE_OK)
		*ret_num = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX;
	sqlite3_reset(s);
	return status;
}

enum store_status sqlite_task_envelopes(struct store_conn *c, int64_t space, struct str task, uint64_t after, size_t max,
				       struct arena *arena, struct envelope_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TASK_ENVELOPES);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	sqlite3_bind_int64(s, 3, sqlite_memory_key(space, after));
	sqlite3_bind_int64(s, 4, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		read_envelope(s, arena, &ret[count++]);
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}

enum store_status sqlite_task_find(struct store_conn *c, int64_t space, struct str task)
{
	int64_t id;

	return find_task(c, space, task, &id);
}

enum store_status sqlite_task_last(struct store_conn *c, int64_t space, struct str task, struct arena *arena,
				  struct envelope_row *ret)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_TASK_LAST);
	enum store_status status;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, space);
	sqlite_bind_str(s, 2, task);
	status = sqlite_step_row(c, s);
	if (status == STORE_OK)
		read_envelope(s, arena, ret);
	sqlite3_reset(s);
	return status;
}

/* --- Receipts --- */

enum store_status sqlite_receipt_put(struct store_conn *c, int64_t space, uint64_t envelope,
				    const struct receipt_row *receipt)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_RECEIPT_PUT);

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, (int64_t)receipt->memory);
	sqlite_bind_str(s, 3, receipt->agent);
	sqlite3_bind_int64(s, 4, receipt->at_ms);
	return sqlite_run(c, s);
}

enum store_status sqlite_receipts(struct store_conn *c, int64_t space, uint64_t envelope, size_t max,
				 struct arena *arena, struct receipt_row *ret, size_t *ret_count)
{
	sqlite3_stmt *s = sqlite_statement(c, SQL_RECEIPTS);
	size_t count = 0;
	int rc;

	if (s == NULL)
		return STORE_FAILED;
	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, envelope));
	sqlite3_bind_int64(s, 2, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max)
		ret[count++] = (struct receipt_row){(uint64_t)sqlite3_column_int64(s, 0),
						    sqlite_column_str(s, 1, arena), sqlite3_column_int64(s, 2)};
	sqlite3_reset(s);
	*ret_count = count;
	return sqlite_status(c, rc);
}
