/* The list of spaces. What one space holds is in the files of the other entities. */
#include "store/sqlite/sqlite_internal.h"

/* Asked for rarely, and by people: the statement is made for the call. */
enum store_status store_spaces(struct store_conn *c, int64_t after, size_t max, struct arena *arena,
			       struct space_row *ret, size_t *ret_count)
{
	static const char text[] = "SELECT id, name, memories, created_at FROM space WHERE id > ?1 "
				   "ORDER BY id LIMIT ?2";
	enum store_status status = sqlite_tally_flush(c);
	sqlite3_stmt *s = NULL;
	size_t count = 0;
	int rc;

	if (status != STORE_OK)
		return status;
	rc = sqlite3_prepare_v2(c->db, text, sizeof(text), &s, NULL);
	if (rc != SQLITE_OK)
		return sqlite_status(c, rc);
	sqlite3_bind_int64(s, 1, after);
	sqlite3_bind_int64(s, 2, (int64_t)max);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < max) {
		ret[count++] = (struct space_row){
			.id = sqlite3_column_int64(s, 0), .name = sqlite_column_str(s, 1, arena),
			.memories = sqlite3_column_int64(s, 2), .created_at_ms = sqlite3_column_int64(s, 3),
		};
	}
	status = sqlite_status(c, rc);
	sqlite3_finalize(s);
	*ret_count = count;
	return status;
}
