/* What came out of handoffs, in SQLite. */
#include "store/sqlite/sqlite_internal.h"

/* Where a result is. The numbers are in the files of all stores, so none of them may ever change its meaning. */
_Static_assert(RESULT_KEPT == 0 && RESULT_TEXT == 1 && RESULT_JSON == 2 && RESULT_LARGE == 3, "stored");

enum store_status sqlite_result_put(struct store_conn *c, int64_t space, uint64_t handoff,
				    const struct result_row *result)
{
	static const char sql[] =
		"INSERT INTO result (handoff, result, gaps, input_tokens, form, memory) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (handoff) DO UPDATE SET result = ?2, gaps = ?3, "
		"input_tokens = ?4, form = ?5, memory = ?6";
	struct row_result_place place = {result->form, result->memory};
	sqlite3_stmt *s = sqlite_statement(c, sql);
	enum store_status status;

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	sqlite_bind_str(s, 2, result->result);
	sqlite_bind_str(s, 3, result->gaps);
	sqlite3_bind_int64(s, 4, result->input_tokens);
	sqlite3_bind_int(s, 5, (int)result->form);
	sqlite3_bind_int64(s, 6, (int64_t)result->memory);
	status = sqlite_run(c, s);
	if (status == STORE_OK)
		sqlite_cache_add(c, &row_result, sqlite_memory_key(space, handoff), &place);
	return status;
}

enum store_status sqlite_result_hand_on(struct store_conn *c, int64_t space, uint64_t handoff, uint64_t then,
					const uint8_t digest[32])
{
	static const char sql[] =
		"INSERT INTO result (handoff, input_tokens, then_handoff, then_digest) VALUES (?1, -1, ?2, ?3) "
		"ON CONFLICT (handoff) DO UPDATE SET then_handoff = ?2, then_digest = ?3";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	sqlite3_bind_int64(s, 2, (int64_t)then);
	sqlite3_bind_blob(s, 3, digest, 32, SQLITE_STATIC);
	return sqlite_run(c, s);
}

static void read_result(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	struct result_row *r = ret;

	*r = (struct result_row){
		.result = sqlite_column_str(s, 0, arena),
		.gaps = sqlite_column_str(s, 1, arena),
		.input_tokens = sqlite3_column_int64(s, 2),
		.form = (enum result_form)sqlite3_column_int(s, 3),
		.memory = (uint64_t)sqlite3_column_int64(s, 4),
		.then = (uint64_t)sqlite3_column_int64(s, 5),
	};
	if (r->then && sqlite3_column_bytes(s, 6) == sizeof(r->then_digest))
		memcpy(r->then_digest, sqlite3_column_blob(s, 6), sizeof(r->then_digest));
}

enum store_status sqlite_result_get(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
				    struct result_row *ret)
{
	static const char sql[] =
		"SELECT result, gaps, input_tokens, form, memory, then_handoff, then_digest FROM result "
		"WHERE handoff = ?1";
	sqlite3_stmt *s = sqlite_statement(c, sql);

	sqlite3_bind_int64(s, 1, sqlite_memory_key(space, handoff));
	return sqlite_read_one(c, s, read_result, arena, ret);
}

static void read_result_place(sqlite3_stmt *s, struct arena *arena, void *ret)
{
	(void)arena;
	*(struct row_result_place *)ret =
		(struct row_result_place){sqlite3_column_int64(s, 0), (uint64_t)sqlite3_column_int64(s, 1)};
}

/* What is handed on with it (sqlite_result_hand_on) is not asked for here, so it changes nothing that is kept. */
enum store_status sqlite_result_find(struct store_conn *c, int64_t space, uint64_t handoff, struct result_row *ret)
{
	static const char sql[] = "SELECT form, memory FROM result WHERE handoff = ?1";
	int64_t key = sqlite_memory_key(space, handoff);
	uint64_t seen = sqlite_cache_seen(c);
	struct row_result_place place;
	enum store_status status = STORE_OK;
	sqlite3_stmt *s;

	if (!sqlite_cache_get(c, &row_result, key, STR_NULL, NULL, &place)) {
		s = sqlite_statement(c, sql);
		sqlite3_bind_int64(s, 1, key);
		status = sqlite_read_one(c, s, read_result_place, NULL, &place);
		if (status == STORE_OK)
			sqlite_cache_put(c, &row_result, seen, key, STR_NULL, &place);
	}
	if (status == STORE_OK)
		*ret = (struct result_row){.form = (enum result_form)place.form, .memory = place.memory};
	return status;
}
