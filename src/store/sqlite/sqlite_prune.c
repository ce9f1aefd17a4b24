/* What retention takes away, and what stays of it, in SQLite. The one path that removes events, envelopes and handoffs:
 * triggers (sqlite_schema.c) refuse a DELETE of a row of which nothing is left. So that is written first. */
#include "store/sqlite/sqlite_internal.h"

static sqlite3_stmt *with_key(struct store_conn *c, const char *sql, int64_t space, uint64_t num)
{
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, num));
	return s;
}

/* --- Envelopes and handoffs --- */

enum store_status sqlite_envelope_ended(struct store_conn *c, int64_t space, uint64_t num, unsigned states,
					int64_t before_ms, bool *ret)
{
	static const char sql[] =
		"SELECT count(*) > 0 AND sum((?2 >> state) & 1 AND changed_at < ?3) = count(*) "
		"FROM handoff INDEXED BY handoff_envelope WHERE envelope = ?1";
	sqlite3_stmt *s = with_key(c, sql, space, num);
	enum store_status status;
	int64_t ended = 0;

	sqlite3_bind_int64(s, 2, states);
	sqlite3_bind_int64(s, 3, before_ms);
	status = sqlite_read_int(c, s, &ended);
	if (status == STORE_OK)
		*ret = ended != 0;
	return status;
}

/* Each with the key of the envelope as ?1, in this order. */
static const char *const leave[] = {
	"INSERT INTO pruned_envelope (id, parent, created_at, digest) SELECT id, parent, created_at, digest "
	"FROM envelope WHERE id = ?1",
	"INSERT INTO pruned_handoff (id, envelope, created_at, lasted, state) SELECT id, ?1 & 1099511627775, "
	"created_at, changed_at - created_at, state FROM handoff WHERE envelope = ?1",
	"DELETE FROM result WHERE handoff IN (SELECT id FROM handoff WHERE envelope = ?1)",
	"DELETE FROM receipt WHERE envelope = ?1",
	"DELETE FROM citation WHERE envelope = ?1",
};
/* The key of the task is that of the envelope which began it: nobody else may have it. */
static const char *const remove_rest[] = {
	"DELETE FROM task WHERE id = (SELECT task FROM envelope WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM "
	"envelope e WHERE e.task = task.id AND e.id <> ?1)",
	"DELETE FROM envelope WHERE id = ?1",
};

_Static_assert(MEMORY_NUM_MAX == 1099511627775, "& 1099511627775");

static enum store_status run_each(struct store_conn *c, const char *const *list, size_t count, int64_t space,
				  uint64_t num)
{
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < count; i++)
		status = sqlite_run(c, with_key(c, list[i], space, num));
	return status;
}

/* Of the handoffs of an envelope, which go. */
static enum store_status forget_handoffs(struct store_conn *c, int64_t space, uint64_t num)
{
	sqlite3_stmt *s = with_key(c, "SELECT id FROM handoff WHERE envelope = ?1", space, num);
	int rc = s ? SQLITE_ROW : SQLITE_ERROR;

	while (rc == SQLITE_ROW && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		sqlite_cache_change(c, &row_handoff, sqlite3_column_int64(s, 0), STR_NULL);
		sqlite_cache_change(c, &row_result, sqlite3_column_int64(s, 0), STR_NULL);
	}
	sqlite3_reset(s);
	sqlite_cache_change(c, &row_handed, sqlite_memory_key(space, num), STR_NULL);
	return sqlite_status(c, rc);
}

/* The bytes of its body go from what the space has. */
static enum store_status count_body(struct store_conn *c, int64_t space, uint64_t num)
{
	static const char sql[] = "SELECT length(CAST(body AS BLOB)) FROM envelope WHERE id = ?1";
	int64_t bytes = 0;
	enum store_status status = sqlite_read_int(c, with_key(c, sql, space, num), &bytes);

	return status == STORE_OK ? sqlite_tally_add(c, space, -bytes, 0) : status;
}

enum store_status sqlite_envelope_prune(struct store_conn *c, int64_t space, uint64_t num, int64_t *ret_handoffs)
{
	static const char handoffs[] = "DELETE FROM handoff WHERE envelope = ?1";
	static const char count[] = "UPDATE space SET handoffs_pruned = handoffs_pruned + ?2 WHERE id = ?1";
	enum store_status status = sqlite_run_change(c, with_key(c, leave[0], space, num));
	int64_t gone = 0;

	if (status == STORE_OK)
		status = count_body(c, space, num);
	if (status == STORE_OK)
		status = forget_handoffs(c, space, num);
	if (status == STORE_OK)
		status = run_each(c, leave + 1, sizeof(leave) / sizeof(leave[0]) - 1, space, num);
	if (status == STORE_OK)
		status = sqlite_run(c, with_key(c, handoffs, space, num));
	if (status == STORE_OK)
		gone = sqlite3_changes(sqlite_of(c)->db);
	if (status == STORE_OK)
		status = run_each(c, remove_rest, sizeof(remove_rest) / sizeof(remove_rest[0]), space, num);
	if (status == STORE_OK)
		status = sqlite_run_on(c, count, space, gone);
	if (status != STORE_OK)
		return status;
	sqlite_cache_change(c, &row_envelope, sqlite_memory_key(space, num), STR_NULL);
	*ret_handoffs = gone;
	return STORE_OK;
}

static void read_pruned_envelope(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct pruned_envelope *row = ret;

	(void)arena;
	*row = (struct pruned_envelope){
		.num = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX,
		.parent = (uint64_t)sqlite3_column_int64(s, 1),
		.created_at_ms = sqlite3_column_int64(s, 2),
	};
	sqlite_column_digest(s, 3, row->digest);
}

enum store_status sqlite_pruned_envelope(struct store_conn *c, int64_t space, uint64_t num, struct pruned_envelope *ret)
{
	static const char sql[] = "SELECT id, parent, created_at, digest FROM pruned_envelope WHERE id = ?1";

	return sqlite_read_one(c, with_key(c, sql, space, num), read_pruned_envelope, NULL, ret);
}

static void read_pruned_handoff(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct pruned_handoff *)ret = (struct pruned_handoff){
		.num = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX,
		.envelope = (uint64_t)sqlite3_column_int64(s, 1),
		.state = (enum handoff_state)sqlite3_column_int(s, 2),
		.created_at_ms = sqlite3_column_int64(s, 3),
		.changed_at_ms = sqlite3_column_int64(s, 3) + sqlite3_column_int64(s, 4),
	};
}

enum store_status sqlite_pruned_handoff(struct store_conn *c, int64_t space, uint64_t num, struct pruned_handoff *ret)
{
	static const char sql[] = "SELECT id, envelope, state, created_at, lasted FROM pruned_handoff WHERE id = ?1";

	return sqlite_read_one(c, with_key(c, sql, space, num), read_pruned_handoff, NULL, ret);
}

/* --- What was left elsewhere --- */

/* A row with that key; STORE_EXISTS where sql finds one. */
static enum store_status is_free(struct store_conn *c, const char *sql, int64_t space, uint64_t num)
{
	int64_t one;
	enum store_status status = sqlite_read_int(c, with_key(c, sql, space, num), &one);

	return status == STORE_OK ? STORE_EXISTS : status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum store_status sqlite_pruned_envelope_put(struct store_conn *c, int64_t space, const struct pruned_envelope *left)
{
	static const char taken[] = "SELECT 1 FROM envelope WHERE id = ?1 UNION ALL SELECT 1 FROM pruned_envelope "
				    "WHERE id = ?1 LIMIT 1";
	static const char sql[] = "INSERT INTO pruned_envelope (id, parent, created_at, digest) "
				  "VALUES (?1, ?2, ?3, ?4)";
	enum store_status status = is_free(c, taken, space, left->num);
	sqlite3_stmt *s;

	if (status != STORE_OK)
		return status;
	s = with_key(c, sql, space, left->num);
	sqlite3_bind_int64(s, 2, (int64_t)left->parent);
	sqlite3_bind_int64(s, 3, left->created_at_ms);
	sqlite3_bind_blob(s, 4, left->digest, sizeof(left->digest), SQLITE_STATIC);
	return sqlite_run(c, s);
}

enum store_status sqlite_pruned_handoff_put(struct store_conn *c, int64_t space, const struct pruned_handoff *left)
{
	static const char taken[] = "SELECT 1 FROM handoff WHERE id = ?1 UNION ALL SELECT 1 FROM pruned_handoff "
				    "WHERE id = ?1 LIMIT 1";
	static const char sql[] = "INSERT INTO pruned_handoff (id, envelope, created_at, lasted, state) "
				  "VALUES (?1, ?2, ?3, ?4, ?5)";
	static const char count[] = "UPDATE space SET handoffs_pruned = handoffs_pruned + ?2 WHERE id = ?1";
	enum store_status status = is_free(c, taken, space, left->num);
	sqlite3_stmt *s;

	if (status != STORE_OK)
		return status;
	s = with_key(c, sql, space, left->num);
	sqlite3_bind_int64(s, 2, (int64_t)left->envelope);
	sqlite3_bind_int64(s, 3, left->created_at_ms);
	sqlite3_bind_int64(s, 4, left->changed_at_ms - left->created_at_ms);
	sqlite3_bind_int(s, 5, (int)left->state);
	status = sqlite_run(c, s);
	if (sqlite_of(c)->last_space == space && sqlite_of(c)->last_handoff < left->num)
		sqlite_of(c)->last_handoff = left->num;
	return status == STORE_OK ? sqlite_run_on(c, count, space, 1) : status;
}

/* --- Results --- */

static void read_key_num(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(uint64_t *)ret = (uint64_t)sqlite3_column_int64(s, 0) & MEMORY_NUM_MAX;
}

enum store_status sqlite_citations(struct store_conn *c, int64_t space, uint64_t envelope, size_t max, uint64_t *ret,
				   size_t *ret_count)
{
	static const char sql[] = "SELECT memory FROM citation WHERE envelope = ?1 ORDER BY memory LIMIT ?2";
	sqlite3_stmt *s = with_key(c, sql, space, envelope);

	sqlite3_bind_int64(s, 2, (int64_t)max);
	return sqlite_read_list(c, s, read_key_num, NULL, ret, sizeof(*ret), max, ret_count);
}

enum store_status sqlite_cited_by(struct store_conn *c, int64_t space, uint64_t memory, uint64_t but, uint64_t *ret_num)
{
	static const char sql[] = "SELECT envelope FROM citation WHERE memory = ?1 AND envelope <> ?2 LIMIT 1";
	sqlite3_stmt *s = with_key(c, sql, space, memory);

	sqlite3_bind_int64(s, 2, sqlite_memory_key(space, but));
	return sqlite_read_num(c, s, ret_num);
}

enum store_status sqlite_result_leave(struct store_conn *c, int64_t space, uint64_t memory)
{
	static const char sql[] = "INSERT INTO left_result (memory) VALUES (?1) ON CONFLICT DO NOTHING";

	return sqlite_run(c, with_key(c, sql, space, memory));
}

enum store_status sqlite_result_left(struct store_conn *c, int64_t space, uint64_t memory)
{
	static const char sql[] = "SELECT 1 FROM left_result WHERE memory = ?1";
	int64_t one;

	return sqlite_read_int(c, with_key(c, sql, space, memory), &one);
}

/* --- Events --- */

enum store_status sqlite_events_prune(struct store_conn *c, int64_t space, const int64_t *numbers, size_t count)
{
	static const char raise[] = "UPDATE space SET events_pruned = max(events_pruned, ?2) WHERE id = ?1";
	static const char remove[] = "DELETE FROM event WHERE space = ?1 AND number = ?2";
	enum store_status status = sqlite_events_flush(c);

	if (count && status == STORE_OK)
		status = sqlite_run(c, sqlite_statement(c, SQLITE_KEEP_ID("event")));
	if (count && status == STORE_OK)
		status = sqlite_run_on(c, raise, space, numbers[count - 1]);
	for (size_t i = 0; status == STORE_OK && i < count; i++)
		status = sqlite_run_on(c, remove, space, numbers[i]);
	return status;
}

/* --- Pages --- */

/* Each page is moved from the end of the file into a free one, or is free itself. So many take some milliseconds. */
#define GIVEN_BACK "64"

enum { PAGE_SIZE = 4096 };

enum store_status sqlite_free_bytes(struct store_conn *c, int64_t *ret)
{
	int64_t kind = 0, pages = 0;
	enum store_status status = sqlite_read_int(c, sqlite_statement(c, "PRAGMA auto_vacuum"), &kind);

	if (status == STORE_OK)
		status = sqlite_read_int(c, sqlite_statement(c, "PRAGMA freelist_count"), &pages);
	if (status == STORE_OK)
		*ret = kind ? pages * PAGE_SIZE : 0;
	return status;
}

enum store_status sqlite_give_back(struct store_conn *c, int64_t *ret_bytes)
{
	sqlite3_stmt *s = sqlite_statement(c, "PRAGMA incremental_vacuum(" GIVEN_BACK ")");
	int64_t before = 0, after = 0;
	enum store_status status = sqlite_free_bytes(c, &before);
	int rc = s ? SQLITE_ROW : SQLITE_ERROR;

	while (status == STORE_OK && rc == SQLITE_ROW)
		rc = sqlite3_step(s);
	sqlite3_reset(s);
	if (status == STORE_OK)
		status = sqlite_status(c, rc);
	if (status == STORE_OK)
		status = sqlite_free_bytes(c, &after);
	if (status == STORE_OK)
		*ret_bytes = before - after;
	return status;
}
